"""The viewer in the browser, and pages that play without a server."""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
