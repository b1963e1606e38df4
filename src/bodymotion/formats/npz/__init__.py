"""Motions as NumPy archives (.npz) of named arrays.

Ours, in SI units:

========================== ===========
=======================================================
``frame_rate``             ()          frames per second; or
``times``                  (T,)        the time of each frame
``joint_displacement``     (T, J)      joints, ``joint_names`` (J,) beside it where they
are known
``link_position``          (T, L, 7)   x y z, quaternion w x y z; ``link_names`` (L,)
``zmp``                    (T, 3)      ``zmp_is_root_relative`` () beside it
========================== ===========
=======================================================

Layouts of other programs are read (`layouts`); that of BeyondMimic is written, too.
Nothing in an archive is ever run: arrays of Python objects are refused, and so are
archives that unpack to far more than they are.
"""

from bodymotion.formats.npz.reader import read_npz
from bodymotion.formats.npz.writer import write_npz

__all__ = ["read_npz", "write_npz"]
