"""The viewer in the browser, and pages that play without a server."""

from __future__ import annotations

from bodymotion.system.public import public

__all__, __getattr__ = public(__name__)
