"""Compare two motions, bodies, animations or choreographies, or a recording with what was commanded.

Each difference has a text and numbers, with the frame and the joint of the largest one.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
