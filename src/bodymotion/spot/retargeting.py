"""A recorded person or quadruped as an animation of Spot.

The plan of `bodymotion.retargeting.quadruped_plans` for Spot's nominal stand becomes
keyframes: where the feet are, which are in contact, and the pose of the body.
"""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from bodymotion.geometry.arrays import Floats, check_memory
from bodymotion.model.body import Body
from bodymotion.retargeting.quadruped_plans import Stand, make_plan
from bodymotion.retargeting.skeletons import Recorded, with_body
from bodymotion.spot.animation import GROUPS, Animation, Keyframes, Parameter
from bodymotion.spot.playback.dimensions import NOMINAL_FEET, NOMINAL_HEIGHT

STAND = Stand(NOMINAL_HEIGHT, NOMINAL_FEET)
# [s] Time between keyframes.
KEY_TIME = 0.05
# [bytes] Memory that a keyframe takes while the animation is made, estimated.
BYTES_PER_KEYFRAME = 1000
# [s] A keyframe is at a frame that is later by this much through rounding.
SAME_TIME = 1e-9
# Digits after the point of the numbers in keyframes: 0.1 mm.
DIGITS = 4
COLUMN_GROUPS = ("foot_pos", "contact", "body_pos", "body_euler_rpy")
# [slices] The time in which the body moves to the first keyframe.
ENTRY_SLICES = Parameter(0.0, 1.0, 4.0)


def retarget_to_spot(
    source: Recorded,
    *,
    source_body: Body | None = None,
    source_roles: Mapping[str, str] | None = None,
) -> Animation:
    """Return an animation of Spot that steps and leans as a recorded figure does.

    It moves legs and body; `bm.play` makes it a motion. It begins at its origin, facing
    along x. Parameters and errors are those of `retarget`.
    """
    motion, body = with_body(source, source_body)
    plan = make_plan(motion, body, source_roles, STAND)
    times = plan.times - plan.times[0]
    duration = times[-1]
    needed = int(BYTES_PER_KEYFRAME * duration / KEY_TIME)
    check_memory(needed, f"an animation of {duration:g} s")
    key_times: Floats = np.arange(0.0, duration + SAME_TIME, KEY_TIME, dtype=np.float64)
    frames = np.searchsorted(times, key_times - SAME_TIME).clip(0, len(times) - 1)
    columns = np.concatenate(
        (
            plan.feet.reshape(-1, 12),
            plan.contact.astype(np.float64),
            plan.body,
            plan.rpy,
        ),
        axis=1,
    )
    keyframes = Keyframes(
        columns=tuple(chain.from_iterable(map(GROUPS.__getitem__, COLUMN_GROUPS))),
        values=np.round(columns[frames], DIGITS),
        times=np.asarray(np.round(key_times, DIGITS)),
        header=("time", *COLUMN_GROUPS),
    )
    return Animation(
        options={"controls": ("legs", "body")},
        parameters={"body_entry_slices": ENTRY_SLICES},
        keyframes=keyframes,
    )
