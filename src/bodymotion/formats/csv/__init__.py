"""Motions as tables of comma-separated values, one frame a line.

The names in the first line define the columns:

=================================================
==============================================================
``time``, ``t``, ``timestamp``                     time of the frame [s]
``root_x`` ``root_y`` ``root_z``                   position of the root link in the
world [m]
``root_qw`` ``root_qx`` ``root_qy`` ``root_qz``    its orientation; the columns may have
any order
``root_roll`` ``root_pitch`` ``root_yaw``          its orientation in angles [rad]
``zmp_x`` ``zmp_y`` ``zmp_z``                      zero moment point in the world's
frame [m]
``root_relative_zmp_x`` …                          zero moment point in the root link's
frame [m]
``link/NAME/x`` … ``link/NAME/qz``                 pose of a further link in the world
``fl_contact`` ``fr_contact`` ``hl_contact`` …     1 where a foot is in stance, 0 in
swing; all four or none
any other name                                     displacement of the joint of that
name [rad or m]
=================================================
==============================================================

``base_`` may stand for ``root_``. A unit in brackets counts: ``LEG_JOINT0 [deg]``,
``root_x [cm]``. A table without names has the layout "unitree" (x y z, qx qy qz qw,
joints, 30 frames/s: Unitree's retargeted LAFAN1 motions) where columns 4 to 7 are
quaternions, or its columns are named by ``columns=…``. The columns of BONES-SEED
(``root_translateX`` [cm], ``root_rotateX`` [deg], ``NAME_dof`` [deg]) are read, too.
Tables of Parquet and Arrow have the same names.
"""

from bodymotion.formats.csv.reader import read_csv
from bodymotion.formats.csv.writer import write_csv, write_parquet

__all__ = ["read_csv", "write_csv", "write_parquet"]
