"""Motions of Spot as arrays, and as keyframes of an animation.

And the names of their components and joints.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Problem
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Bools, Floats
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
)
from bodymotion.motion.components import Timeline
from bodymotion.motion.feet import FOOT_CONTACT, LEGS, REACH_ERROR
from bodymotion.spot.animation import GROUPS, Animation, Keyframes
from bodymotion.spot.cha import move_name
from bodymotion.spot.losses import BODY_POSE
from bodymotion.spot.playback.dimensions import (
    ARM_JOINTS,
    JOINT_NAMES,
    LEG_JOINTS,
    STOWED,
)
from bodymotion.spot.playback.stance import (
    SpotPose,
    feet_in_world,
    footprint,
    inferred_contacts,
    stand,
)


def _aliases() -> dict[str, str]:
    """Return our name of each joint by its other names."""
    # The SDK writes `fl.hx` and `arm0.sh0`, the URDF `arm_sh0`; f1x is the gripper.
    aliases = {f"{name[:2]}.{name[3:]}": name for name in LEG_JOINTS}
    for prefix in ("arm_", "arm0.", "arm0_"):
        aliases |= {f"{prefix}{name}": name for name in ARM_JOINTS}
        aliases[f"{prefix}f1x"] = "gripper"
    aliases["f1x"] = "gripper"
    return aliases


# Names of the joints in the SDK's messages and in the URDF.
ALIASES: Mapping[str, str] = MappingProxyType(_aliases())


class SpotArrays(NamedTuple):
    """A motion of Spot as arrays over T frames.

    Attributes
    ----------
    times:
        (T,) [s].
    parts:
        `body` (T, 7), `legs` (T, 4, 3); with an arm `arm` (T, 6) and `gripper` (T,).
    contacts:
        (T, 4), or None where the motion has none.
    """

    times: Floats
    parts: dict[str, Floats]
    contacts: Bools | None


def spot_arrays(motion: Motion) -> SpotArrays:
    """Return a motion of Spot as arrays.

    Joint columns are identified by their part labels: this package's names, those of
    the SDK (`fl.hx`, `arm0.sh0`) or of the URDF (`arm_sh0`). Without labels twelve
    columns are the legs, and nineteen legs, arm and gripper. A motion without a root
    pose is level at the nominal height.

    Raises ValueError when it has no joints, or not those of Spot; the message lists the
    missing ones.
    """
    candidates = (motion.joint_displacement, motion.link_position, _contacts(motion))
    used = [component for component in candidates if component is not None]
    # Components of different rates are resampled to common times.
    if any(component.timeline != used[0].timeline for component in used):
        motion = motion.replaced(*used).synchronized()
    joints = motion.joint_displacement
    if joints is None:
        raise ValueError(
            "the motion has no joint displacements; a motion of Spot needs those of "
            "the legs"
        )
    columns = _by_name(joints)
    missing = [name for name in LEG_JOINTS if name not in columns]
    if missing:
        raise ValueError(
            f"the motion has no joints {', '.join(missing)}; a motion of Spot needs "
            "them"
        )
    count = joints.num_frames
    root = motion.link_position
    # The root is the first part of LinkPosition.
    if root is not None and root.num_parts:
        body = np.asarray(root.values[:, 0])
    else:
        body = np.tile(stand().body, (count, 1))
    # (T, 12) in the order of LEG_JOINTS, then one row of hx, hy, kn for each leg.
    legs = np.stack([columns[name] for name in LEG_JOINTS], axis=-1)
    parts = {"body": body, "legs": legs.reshape(count, 4, 3)}
    # A recording may lack single joints of the arm: those stay stowed.
    if any(name in columns for name in (*ARM_JOINTS, "gripper")):
        arm = np.tile(STOWED, (count, 1))
        for k, name in enumerate(ARM_JOINTS):
            if name in columns:
                arm[:, k] = columns[name]
        parts["arm"] = arm
        parts["gripper"] = columns.get("gripper", np.zeros(count))
    contacts = _contacts(motion)
    feet = None if contacts is None else np.asarray(contacts.values[:, :4] > 0.5)
    return SpotArrays(joints.timeline.times, parts, feet)


def components(
    timeline: Timeline,
    body: Floats,
    joints: Floats,
    contacts: npt.NDArray[Any],
    errors: Floats | None = None,
) -> tuple[MultiSE3Seq | MultiValueSeq, ...]:
    """Return arrays as the components of a motion of Spot.

    Body poses (T, 7), joints (T, 12), or (T, 19) with the arm, and contacts (T, 4).

    `errors` (T, 4), or (T, 5) with the hand, are the distances [m] from goals.
    """
    # Without arm the first twelve names.
    names = JOINT_NAMES[: joints.shape[1]]
    goals = (*LEGS, "hand")
    found = (
        MultiSE3Seq(
            content=LINK_POSITION,
            timeline=timeline,
            values=body[:, None],
            part_labels=("body",),
        ),
        MultiValueSeq(
            content=JOINT_DISPLACEMENT,
            timeline=timeline,
            values=joints,
            part_labels=names,
        ),
        MultiValueSeq(
            content=FOOT_CONTACT,
            timeline=timeline,
            values=contacts.astype(float),
            part_labels=LEGS,
        ),
    )
    if errors is None:
        return found
    labels = goals[: errors.shape[1]]
    return (
        *found,
        MultiValueSeq(
            content=REACH_ERROR, timeline=timeline, values=errors, part_labels=labels
        ),
    )


def _contacts(motion: Motion) -> MultiValueSeq | None:
    """Return the last component with the contacts of four feet."""
    # Later components replace earlier ones, as when a file repeats one.
    contacts = None
    for component in motion.timed:
        is_of_feet = component.content == FOOT_CONTACT
        if is_of_feet and isinstance(component, MultiValueSeq):
            contacts = component if component.num_parts == len(LEGS) else contacts
    return contacts


def _by_name(joints: MultiValueSeq) -> dict[str, Floats]:
    """Return the columns (T,) of joints by our names."""
    labels = joints.part_labels
    # A motion without labels is taken by its number of joints.
    if not any(labels):
        if joints.num_parts not in (len(LEG_JOINTS), len(JOINT_NAMES)):
            raise ValueError(
                f"the motion has {joints.num_parts} joints without names; Spot has "
                f"{len(LEG_JOINTS)}, or {len(JOINT_NAMES)} with its arm"
            )
        labels = JOINT_NAMES[: joints.num_parts]
    names = (ALIASES.get(label, label) for label in labels)
    return {
        name: np.asarray(joints.values[:, k])
        for k, name in enumerate(names)
        if k < joints.num_parts
    }


def last_pose(motion: Motion) -> SpotPose:
    """Return the last pose of a motion of Spot.

    Raises
    ------
    ValueError
        When it is not a motion of Spot, or has no frames.
    """
    times, parts, _ = spot_arrays(motion)
    if not len(times):
        raise ValueError("the motion has no frames")
    return SpotPose(**{part: values[-1] for part, values in parts.items()})


LegColumns: TypeAlias = Literal["joints", "feet"]


def animation_for_file(
    motion: Motion,
    path: Path,
    *,
    legs: LegColumns = "joints",
    bpm: float | None = None,
) -> Animation:
    """Return a motion as an animation with the name that a file gives it."""
    name = move_name(path)
    if name == path.name:
        # The name that readers of other formats derive from the file's.
        name = path.name.partition(".")[0]
    return animation_of(Animation, motion, legs=legs, name=name, bpm=bpm)


def animation_of(
    cls: type[Animation],
    motion: Motion,
    *,
    legs: LegColumns = "joints",
    name: str = "",
    bpm: float | None = None,
) -> Animation:
    """Return a motion of Spot as an animation.

    In the animation frame in which it starts.

    See `Animation.from_motion`.
    """
    if legs not in ("joints", "feet"):
        raise ValueError(f"legs: expected 'joints' or 'feet', got {legs!r}")
    times, arrays, contacts = spot_arrays(motion)
    if not len(times):
        raise ValueError("the motion has no frames")
    for part, values in arrays.items():
        if not np.isfinite(values).all():
            raise ValueError(f"the motion has numbers that are not finite ({part})")
    # An animation starts at time 0.
    times = times - times[0]
    # Into the frame of the feet in the first frame.
    in_world = feet_in_world(arrays["body"], arrays["legs"])
    to_frame = poses.inverse(footprint(in_world[0]))
    body = poses.compose(to_frame, arrays["body"])
    feet = poses.transform_points(to_frame, in_world)
    if contacts is None:
        contacts = inferred_contacts(times, feet)
    # The order of columns is that of the keywords in the header of a .cha file.
    columns: dict[str, Floats] = {}
    if legs == "joints":
        columns["leg_joints"] = arrays["legs"]
    else:
        columns["foot_pos"] = feet
    columns["contact"] = contacts.astype(np.float64)
    columns["body_pos"] = body[:, :3]
    columns["body_quat_wxyz"] = _without_flips(body[:, 3:])
    controls: tuple[str, ...] = ("legs", "body")
    if "arm" in arrays:
        columns["arm_joints"] = arrays["arm"]
        columns["gripper"] = arrays["gripper"]
        controls = ("legs", "body", "arm", "gripper")
    # A group such as leg_joints stands for its single columns.
    names: list[str] = []
    for keyword in columns:
        names += GROUPS.get(keyword, (keyword,))
    tables = [values.reshape(len(times), -1) for values in columns.values()]
    keyframes = Keyframes(
        columns=tuple(names),
        values=np.column_stack(tables),
        times=times,
        header=("time", *columns),
    )
    options: dict[str, object] = {"controls": controls}
    if bpm is not None:
        options["bpm"] = float(bpm)
    # Without a root the body's pose was assumed level: that is a loss.
    problems: tuple[Problem, ...] = ()
    root = motion.link_position
    if root is None or not root.num_parts:
        problems = (BODY_POSE.problem("the motion has no pose of the root"),)
    return cls(name=name, options=options, keyframes=keyframes, problems=problems)


def _without_flips(quaternions: Floats) -> Floats:
    """Return unit quaternions (T, 4) without changes of sign.

    Each is the nearer one to the one before.
    """
    unit = rotations.normalized(quaternions)
    # Cumulative sign: +1 or −1 for each frame, so that neighbours have a positive dot
    # product. The first quaternion gets w ≥ 0.
    flipped = np.sum(unit[1:] * unit[:-1], axis=-1) < 0
    signs = np.where(np.concatenate([[unit[0, 0] < 0], flipped]), -1.0, 1.0)
    return np.asarray(unit * np.cumprod(signs)[:, None])
