"""Motions as NumPy archives (.npz) of named arrays.

Ours, in SI units:

========================== =========== =======================================================
``frame_rate``             ()          frames per second; or
``times``                  (T,)        the time of each frame
``joint_displacement``     (T, J)      joints, ``joint_names`` (J,) beside it where they are known
``link_position``          (T, L, 7)   x y z, quaternion w x y z; ``link_names`` (L,)
``zmp``                    (T, 3)      ``zmp_is_root_relative`` () beside it
========================== =========== =======================================================

The layout of BeyondMimic (``fps``, ``joint_pos``, ``joint_vel``, ``body_pos_w``, ``body_quat_w`` with w first, ``body_lin_vel_w``,
``body_ang_vel_w``), which holds no names, is read and written, too. Nothing in an archive is ever run: arrays of Python objects are
refused, and so are archives that unpack to far more than they are.
"""

from bodymotion.formats.npz.reader import read_npz
from bodymotion.formats.npz.writer import write_npz

__all__ = ["read_npz", "write_npz"]
