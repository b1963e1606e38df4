"""Sine and cosine of many angles at once, in a form that compilers turn into vector instructions.

The angle is brought to −π/4…π/4 by taking off a multiple of π/2, held in three parts so that no digits are lost (Cody and Waite, 1980);
there, sine and cosine are the minimax polynomials of Sun's fdlibm. Both are within one unit in the last place for angles up to `LARGEST`;
beyond it the C library takes over.
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats
from bodymotion.kernels.compiling import inlined

__all__ = ["LARGEST", "sines_and_cosines"]

LARGEST = 1e6
"""[rad] Up to here the multiple of π/2 times each of its parts is exact."""

_PART_1 = 1.5707963267341256e00
_PART_2 = 6.0771005063039660e-11
_PART_3 = 2.0222662487959506e-21
_S1, _S2, _S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
_S4, _S5, _S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
_C1, _C2, _C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
_C4, _C5, _C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@inlined
def sines_and_cosines(angles: Floats, sines: Floats, cosines: Floats) -> None:
    """Fill `sines` and `cosines` (N,) with those of `angles` (N,) [rad]."""
    beyond = 0
    for i in range(angles.shape[0]):
        x = angles[i]
        beyond += abs(x) > LARGEST
        quarter = np.rint(x * (2.0 / np.pi))
        r = ((x - quarter * _PART_1) - quarter * _PART_2) - quarter * _PART_3
        z = r * r
        sine = r + r * z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * _S6)))))
        cosine = 1.0 - 0.5 * z + z * z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * _C6)))))
        turn = np.int64(quarter)
        odd = (turn & 1) != 0
        a = cosine if odd else sine
        b = sine if odd else cosine
        sines[i] = -a if (turn & 2) else a
        cosines[i] = -b if ((turn + 1) & 2) else b
    if beyond:
        for i in range(angles.shape[0]):
            if abs(angles[i]) > LARGEST:
                sines[i] = np.sin(angles[i])
                cosines[i] = np.cos(angles[i])
