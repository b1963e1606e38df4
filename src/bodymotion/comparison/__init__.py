"""Compare two motions, or two bodies.

Each difference has a text and numbers, with the frame and the joint of the largest one.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
