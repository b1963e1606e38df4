"""The values of a trajectory between its frames, and resampling to a fixed frame rate.

The .seq document holds values: a source frame takes effect at a destination frame and
lasts until the next one takes effect. The document has two versions of which
destination frame that is, and the reference program a third; each has a name here. The
document notes that interpolation would be smoother and defines none; the last three
methods are ours. Held values repeat frames, which is rough on a motor, so the default
interpolates:

========= ==========================================================
===========================================================
after     holds, from the nearest frame at or after the source's     Japanese original
nearest   holds, from the nearest frame                              English translation
before    holds, from the nearest frame at or before the source's    as the reference
program does
linear    straight lines                                             the default;
orientations: SLERP, at constant speed
cubic     spline with two continuous derivatives ("not a knot")      orientations: a
spline with continuous angular acceleration
pchip     cubics that never overshoot (Fritsch and Butland)          orientations: SLERP
========= ==========================================================
===========================================================

A source frame within `ON_FRAME` seconds of a destination frame counts as on it. Of two
sources on one destination the later one counts; before the first source frame its value
holds. The last destination frame is that of the last source frame. At the exact time of
a source frame every method returns the value unchanged, to the bit.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
