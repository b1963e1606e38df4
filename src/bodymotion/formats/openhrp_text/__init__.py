"""OpenHRP's plain text motions: several files of one name, one frame a line, numbers between blanks, the time [s] first.

========== ============================================================================================
``.pos``   time, joint displacements in order of joint id [rad or m]
``.waist`` time, position of the root link x y z [m], its orientation roll pitch yaw [rad] (or the nine
           numbers of its rotation matrix, row by row, which Choreonoid reads)
``.hip``   time, orientation of the root link roll pitch yaw [rad]
``.zmp``   time, zero moment point x y z [m], in the root link's frame
========== ============================================================================================

Any one of them names all: the others are found beside it. Times may begin anywhere; where the first is 0 and all are evenly apart, the
motion gets their rate, else it keeps them as time stamps, with the rate that they follow as the one wished.
"""

from bodymotion.formats.openhrp_text.reader import read_openhrp_text
from bodymotion.formats.openhrp_text.writer import write_openhrp_text

__all__ = ["read_openhrp_text", "write_openhrp_text"]
