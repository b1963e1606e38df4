"""Choreographies: their moves, their rules, and the motion of their animations."""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
