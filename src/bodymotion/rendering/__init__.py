"""Images and videos of robots, drawn by VTK without a screen."""

from __future__ import annotations

from bodymotion.system.public import public

__all__, __getattr__ = public(__name__)
