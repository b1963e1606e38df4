"""Spot as the robot of a motion, for commands and scenes that know its joints only.

Modules that draw Spot are imported when a motion turns out to be one of Spot.
"""

from collections.abc import Sequence

from bodymotion.model.body import Body
from bodymotion.motion import Motion


def body_of(motion: Motion | None = None) -> Body:
    """Return Spot; with its arm where a motion has more joints than its legs."""
    from bodymotion.spot.playback.dimensions import LEG_JOINTS
    from bodymotion.spot.playback.robot import spot_body

    joints = None if motion is None else motion.joint_displacement
    return spot_body(arm=joints is not None and joints.num_parts > len(LEG_JOINTS))


def body_for(motion: Motion) -> Body | None:
    """Return Spot for a motion with the names of its joints, in its order."""
    joints = motion.joint_displacement
    if joints is None or not any(joints.part_labels):
        return None
    from bodymotion.spot.playback.dimensions import JOINT_NAMES, LEG_JOINTS

    if joints.part_labels in (LEG_JOINTS, JOINT_NAMES):
        return body_of(motion)
    return None


def joining_hint(only_first: Sequence[str], only_second: Sequence[str]) -> str:
    """Return how motions of Spot are joined of which one has no arm; "" for others."""
    from bodymotion.spot.playback.dimensions import ARM_JOINTS

    if {*only_first, *only_second} == {*ARM_JOINTS, "gripper"}:
        return "play both animations with arm=True"
    return ""
