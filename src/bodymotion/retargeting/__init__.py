"""Transfer recorded motion of a person, or the motion of a robot, to another robot."""

from bodymotion.retargeting.comparing import RetargetComparison, compare_retarget
from bodymotion.retargeting.retargeting import retarget
from bodymotion.retargeting.side_by_side_view import side_by_side
from bodymotion.retargeting.skeletons import to_skeleton

__all__ = [
    "RetargetComparison",
    "compare_retarget",
    "retarget",
    "side_by_side",
    "to_skeleton",
]
