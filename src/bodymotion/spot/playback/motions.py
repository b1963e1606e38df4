"""Motions of Spot: what they are called here, and how their columns become arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, Motion, MultiSE3Seq, MultiValueSeq, Vector3Seq
from bodymotion.spot.playback.measures import ARM_JOINTS, JOINT_NAMES, LEG_JOINTS, STOWED

__all__ = ["FOOT_CONTACT", "REACH_ERROR", "SpotArrays", "spot_arrays"]

FOOT_CONTACT = "FootContact"
"""The content of the component with the contacts: (T, 4), 1 in stance, 0 in swing, in the order fl fr hl hr."""

REACH_ERROR = "ReachError"
"""The content of the component that says how far [m] each foot, and the hand, stays from where it should be; 0 where it is there."""

ALIASES: Mapping[str, str] = MappingProxyType(
    {
        **{f"{name[:2]}.{name[3:]}": name for name in LEG_JOINTS},
        **{f"{dot}{name}": name for name in ARM_JOINTS for dot in ("arm_", "arm0.", "arm0_")},
        **{f"{dot}f1x": "gripper" for dot in ("", "arm_", "arm0.", "arm0_")},
    }
)
"""Names that the joints have elsewhere: in the SDK's messages and in the URDF."""


@dataclass(frozen=True)
class SpotArrays:
    """A motion of Spot as arrays: `body` (T, 7) or None, `legs` (T, 4, 3), `arm` (T, 6), `gripper` (T,), `contacts` (T, 4) or None."""

    times: Floats
    body: Floats
    legs: Floats
    arm: Floats
    gripper: Floats
    has_body: bool
    has_arm: bool
    contacts: npt.NDArray[np.bool_] | None


def spot_arrays(motion: Motion) -> SpotArrays:
    """Return a motion of Spot as arrays.

    Joint columns go by their part labels, which are this package's names, those of the SDK (`fl.hx`, `arm0.sh0`) or of the URDF
    (`arm_sh0`); without labels twelve columns are the legs, and nineteen legs, arm and gripper. A motion without a root pose stands level
    at the nominal height.

    Raises
    ------
    ValueError
        When it has no joints, or not those of Spot; the message names what is missing.
    """
    if motion.joint_displacement is None:
        raise ValueError("the motion has no joint displacements: a motion of Spot has those of the legs")
    used: list[MultiValueSeq | MultiSE3Seq | Vector3Seq] = [
        c for c in (motion.joint_displacement, motion.link_position, _contacts(motion)) if c is not None
    ]
    if any(c.timeline != used[0].timeline for c in used):
        used = list(motion.replaced(*used).on_common_timeline().timed)
    joints = next(c for c in used if isinstance(c, MultiValueSeq) and c.content == JOINT_DISPLACEMENT)
    root = next((c for c in used if isinstance(c, MultiSE3Seq) and c.content == LINK_POSITION and c.num_parts), None)
    contact = next((c for c in used if c.content == FOOT_CONTACT), None)
    columns = _by_name(joints)
    missing = [name for name in LEG_JOINTS if name not in columns]
    if missing:
        raise ValueError(f"this is no motion of Spot: there are no joints {', '.join(missing)}")
    count = joints.num_frames
    legs = np.stack([columns[name] for name in LEG_JOINTS], axis=-1).reshape(count, 4, 3)
    arm = np.stack([columns.get(name, np.full(count, STOWED[k])) for k, name in enumerate(ARM_JOINTS)], axis=-1)
    from bodymotion.spot.playback.standing import stand

    return SpotArrays(
        times=joints.timeline.times,
        body=np.tile(stand().body, (count, 1)) if root is None else np.asarray(root.values[:, 0]),
        legs=legs,
        arm=arm,
        gripper=columns.get("gripper", np.zeros(count)),
        has_body=root is not None,
        has_arm=any(name in columns for name in (*ARM_JOINTS, "gripper")),
        contacts=None if contact is None else np.asarray(contact.values[:, :4] > 0.5),
    )


def _contacts(motion: Motion) -> MultiValueSeq | None:
    found = [c for c in motion.timed if isinstance(c, MultiValueSeq) and c.content == FOOT_CONTACT and c.num_parts == 4]
    return found[-1] if found else None


def _by_name(joints: MultiValueSeq) -> dict[str, Floats]:
    labels = joints.part_labels
    if not any(labels):
        if joints.num_parts not in (len(LEG_JOINTS), len(JOINT_NAMES)):
            raise ValueError(
                f"this is no motion of Spot: it has {joints.num_parts} joints without names, and Spot has "
                f"{len(LEG_JOINTS)}, or with its arm {len(JOINT_NAMES)}"
            )
        labels = JOINT_NAMES[: joints.num_parts]
    names = (ALIASES.get(label, label) for label in labels)
    return {name: np.asarray(joints.values[:, k]) for k, name in enumerate(names) if k < joints.num_parts}
