"""A motion of Spot as the keyframes of an animation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.spot.playback.columns import ARM, CONTACTS, PLACES, QUATERNIONS, leg_angles, leg_place
from bodymotion.spot.playback.contacts import inferred_contacts
from bodymotion.spot.playback.measures import LEGS
from bodymotion.spot.playback.motions import spot_arrays
from bodymotion.spot.playback.standing import feet_in_world, footprint

if TYPE_CHECKING:
    from bodymotion.motion import Motion

__all__ = ["LegColumns", "Recording", "recorded"]

LegColumns: TypeAlias = Literal["joints", "feet"]


class Recording(NamedTuple):
    """Tracks, columns and values (N, C) of keyframes with times (N,) [s], and the keywords of their columns."""

    controls: tuple[str, ...]
    header: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    times: Floats


def recorded(motion: Motion, legs: LegColumns = "joints") -> Recording:
    """Return the keyframes, one for each frame of a motion of Spot, in the animation frame in which it starts.

    Parameters
    ----------
    motion:
        Joints of the legs, and of the arm and the gripper if there are some; the body's pose. Contacts are those of the component
        FootContact, else they are inferred from the feet's heights and speeds.
    legs:
        Whether legs are given by their joints or by where their feet are.

    Raises
    ------
    ValueError
        When it is no motion of Spot, has no frames, or numbers that are not finite.
    """
    if legs not in ("joints", "feet"):
        raise ValueError(f"legs are given by their 'joints' or their 'feet', not by {legs!r}")
    arrays = spot_arrays(motion)
    if not len(arrays.times):
        raise ValueError("the motion has no frames")
    for what, values in (
        ("body", arrays.body),
        ("legs", arrays.legs),
        ("arm", arrays.arm),
        ("gripper", arrays.gripper),
    ):
        if not np.isfinite(values).all():
            raise ValueError(f"the motion has numbers that are not finite ({what})")
    times = arrays.times - arrays.times[0]
    in_world = feet_in_world(arrays.body, arrays.legs)
    back = poses.inverse(footprint(in_world[0]))
    body = poses.compose(back, arrays.body)
    body[:, 3:] = _without_flips(body[:, 3:])
    feet = poses.transform_points(back, in_world)
    contacts = inferred_contacts(times, feet) if arrays.contacts is None else arrays.contacts
    parts: list[tuple[str, tuple[str, ...], Floats]] = [
        ("leg_joints", tuple(name for leg in LEGS for name in leg_angles(leg)), arrays.legs)
        if legs == "joints"
        else ("foot_pos", tuple(name for leg in LEGS for name in leg_place(leg)), feet),
        ("contact", CONTACTS, contacts.astype(np.float64)),
        ("body_pos", PLACES["body"], body[:, :3]),
        ("body_quat_wxyz", QUATERNIONS["body"], body[:, 3:]),
    ]
    controls: tuple[str, ...] = ("legs", "body")
    if arrays.has_arm:
        controls += ("arm", "gripper")
        parts += [("arm_joints", ARM, arrays.arm), ("gripper", ("gripper",), arrays.gripper)]
    return Recording(
        controls,
        ("time", *(keyword for keyword, _, _ in parts)),
        tuple(name for _, names, _ in parts for name in names),
        np.column_stack([values.reshape(len(times), -1) for _, _, values in parts]),
        times,
    )


def _without_flips(quaternions: Floats) -> Floats:
    """Return unit quaternions (T, 4) with the signs that make each the nearer one to that before."""
    unit = rotations.normalized(quaternions)
    turned = np.sum(unit[1:] * unit[:-1], axis=-1) < 0
    signs = np.where(np.concatenate([[unit[0, 0] < 0], turned]), -1.0, 1.0)
    return np.asarray(unit * np.cumprod(signs)[:, None])
