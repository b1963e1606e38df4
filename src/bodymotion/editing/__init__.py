"""Edit motions and bodies.

Motions: trim, join, hold, change speed, reverse, mirror, smooth, fill gaps, move,
convert. Bodies: scale, reroot.

Each function takes a motion, or a body, and returns a new one. Unknown components, keys
and labels of a motion are kept. What is lost, or cannot be done, is added to its
`problems`.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
