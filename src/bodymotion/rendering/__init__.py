"""Images and videos of robots, drawn by VTK without a screen."""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
