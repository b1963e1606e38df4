"""Measures of a motion.

Velocities, forces, balance, contacts, and the readings of its sensors. See
docs/dynamics.md.

>>> import bodymotion as bm
>>> body = bm.load_body("biped.wrl")               # doctest: +SKIP
>>> motion = bm.load_motion("biped_walk.seq")      # doctest: +SKIP
>>> measures = bm.dynamics.measure(body, motion)   # doctest: +SKIP
>>> measures.torques                               # doctest: +SKIP

Functions take arrays and return arrays, all frames at once. Vectors are along the
world's axes unless a docstring states otherwise.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
