"""What a trajectory is between its frames, and how it is put on a fixed frame rate.

The .seq document holds values: a source frame takes effect at a destination frame and lasts until the next one takes over. Which
destination frame that is, the document says in two ways and the reference program in a third; all are here by name. That interpolation
would be smoother, the document says, too, and has none; here it is:

========= ========================================================== ===========================================================
after     holds, from the nearest frame at or after the source's     Japanese original; the default
nearest   holds, from the nearest frame                              English translation
before    holds, from the nearest frame at or before the source's    what the reference program does
linear    straight lines                                             orientations: SLERP, the shorter arc at constant speed
cubic     spline with two continuous derivatives ("not a knot")      orientations: a spline with continuous angular acceleration
pchip     cubics that never overshoot (Fritsch and Butland)          orientations: SLERP
========= ========================================================== ===========================================================

A source frame within `ON_FRAME` seconds of a destination frame counts as on it. Of two sources on one destination the later one counts;
before the first source frame its value holds. The last destination frame is that of the last source frame. At the very time of a
source frame every method gives the value as it is, to the bit.
"""

from __future__ import annotations

from bodymotion.motion.interpolation.holding import frames_needed, held_frames, taking_effect
from bodymotion.motion.interpolation.methods import HOLDING, Method
from bodymotion.motion.interpolation.resampling import resampled
from bodymotion.motion.interpolation.room import check_room
from bodymotion.motion.interpolation.sampling import sampled
from bodymotion.motion.interpolation.wraps import Wrap, find_wraps, unwrapped

__all__ = [
    "HOLDING",
    "Method",
    "Wrap",
    "check_room",
    "find_wraps",
    "frames_needed",
    "held_frames",
    "resampled",
    "sampled",
    "taking_effect",
    "unwrapped",
]
