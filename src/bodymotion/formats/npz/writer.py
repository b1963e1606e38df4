"""Write a motion as a NumPy archive."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from bodymotion.diagnostics import Diagnostics, Problem, losses
from bodymotion.formats.npz.layouts import Array
from bodymotion.formats.npz.reader import write_archive
from bodymotion.formats.tables.columns import (
    SharedTime,
    joint_names,
    on_one_timeline,
    renamed_labels,
)
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.system.files import whole_file

# A null at the end of a text, and surrogates.
UNHELD = re.compile(r"\0\Z|[\ud800-\udfff]")


def write_npz(
    motion: Motion,
    path: str | Path,
    *,
    layout: Literal["beyondmimic"] | None = None,
    body: Body | None = None,
) -> tuple[Problem, ...]:
    """Write a motion as a NumPy archive.

    Return what the archive cannot hold.

    Parameters
    ----------
    motion, path:
        The motion, and the file to write.
    layout:
        "beyondmimic" for BeyondMimic's arrays: float32, all link poses in the world by
        forward kinematics, velocities by differences, and the names of joints and
        links, which BeyondMimic does not read.
    body:
        The model that this needs; columns with names of its joints are put in order of
        joint id (`Body.joint_columns`).

    Raises
    ------
    ValueError
        For an unknown layout; when the motion lacks what the layout needs; when only
        some joints are the body's.
    """
    if layout not in (None, "beyondmimic"):
        raise ValueError(f"the layouts are 'beyondmimic', not {layout!r}")
    shared = on_one_timeline(motion, rows=False, body=body, nameless=layout is not None)
    problems = Diagnostics()
    problems.extend(shared.problems)
    if layout is None:
        arrays = _ours(shared, problems)
    else:
        arrays = _beyond_mimic(shared, body, problems)
    with whole_file(path) as stream:
        write_archive(stream, arrays)
    return problems.problems


def _ours(shared: SharedTime, problems: Diagnostics) -> dict[str, Array]:
    """Return the arrays of our own layout."""
    timeline = shared.timeline
    arrays: dict[str, Array] = {}
    rate = timeline.frame_rate or timeline.import_rate
    if rate is not None:
        arrays["frame_rate"] = np.array(rate)
    if timeline.stamps is not None:
        arrays["times"] = timeline.stamps
    for name, component in (
        ("joint_displacement", shared.joints),
        ("link_position", shared.links),
    ):
        if component is not None:
            arrays[name] = component.values
            arrays |= _names(
                name[: name.index("_")],
                component.part_labels,
                component.num_parts,
                problems,
            )
    if shared.zmp is not None:
        arrays["zmp"] = shared.zmp.values
        arrays["zmp_is_root_relative"] = np.array(shared.zmp.is_root_relative)
    return arrays


def _names(
    kind: str, labels: Sequence[str], count: int, problems: Diagnostics
) -> dict[str, Array]:
    """Return the array of the names of joints or links (`kind`).

    Empty where they are not written, which is reported.
    """
    # NumPy removes nulls at the end of texts, and cannot hold surrogates.
    can_be_held = not any(UNHELD.search(label) for label in labels)
    if can_be_held and 0 < len(labels) == count:
        return {f"{kind}_names": np.array(labels, dtype=np.str_)}
    if labels:
        problems.extend(renamed_labels(kind, labels))
    return {}


def _beyond_mimic(
    shared: SharedTime, body: Body | None, problems: Diagnostics
) -> dict[str, Array]:
    """Return the arrays of BeyondMimic's layout."""
    if body is None:
        raise ValueError(
            "the layout 'beyondmimic' holds the poses of all links: give the body"
        )
    if shared.joints is None:
        raise ValueError(
            "the layout 'beyondmimic' needs joint displacements, and the motion has "
            "none"
        )
    # Programs that read this layout want a fixed rate.
    rate = shared.timeline.frame_rate
    if rate is None:
        raise ValueError(
            "the layout 'beyondmimic' has a fixed frame rate: put the motion on one "
            "with Motion.resample(frame_rate)"
        )
    if shared.timeline.num_frames < 2:
        raise ValueError("velocities need at least two frames")
    q = shared.joints.values
    # The poses of the motion itself, where it has all of them.
    if shared.links is not None and shared.links.num_parts >= len(body.links):
        poses: Floats = np.asarray(shared.links.values[:, : len(body.links)])
    else:
        if shared.links is None:
            root = None
        else:
            root = shared.links.values[:, 0]
        poses = body.forward_kinematics(q, root)
    if shared.zmp is not None:
        problems.add(losses.COMPONENT.problem("the layout holds no zero moment point"))
    # Quaternions of other lengths are no rotations for readers.
    orientations = rotations.normalized(poses[..., 3:])
    # float32 has 7 digits: the loss is reported where there is any.
    rounded = [
        name
        for name, values in (
            ("joint values", q),
            ("positions", poses[..., :3]),
            ("orientations", orientations),
        )
        if not np.array_equal(values, values.astype(np.float32), equal_nan=True)
    ]
    if rounded:
        problems.add(
            losses.PRECISION.problem(
                f"{', '.join(rounded)} are rounded to single precision"
            )
        )
    return {
        "fps": np.array([rate]),
        "joint_pos": q.astype(np.float32),
        # Central differences, at the ends one-sided ones.
        "joint_vel": (np.gradient(q, axis=0) * rate).astype(np.float32),
        "body_pos_w": poses[..., :3].astype(np.float32),
        "body_quat_w": orientations.astype(np.float32),
        "body_lin_vel_w": (np.gradient(poses[..., :3], axis=0) * rate).astype(
            np.float32
        ),
        "body_ang_vel_w": (_angular_velocities(orientations) * rate).astype(np.float32),
        **_names(
            "joint",
            shared.joints.part_labels or joint_names(body),
            q.shape[1],
            problems,
        ),
        **_names("body", [link.name for link in body.links], len(body.links), problems),
    }


def _angular_velocities(orientations: Floats) -> Floats:
    """Return the rotation vectors per frame (T, L, 3) [rad] in the world.

    They are differences as `np.gradient` takes them.
    """
    # The neighbours of each frame; at the ends the frame itself.
    before = np.concatenate([orientations[:1], orientations[:-1]])
    after = np.concatenate([orientations[1:], orientations[-1:]])
    # The rotation from before to after, in the world: after · before⁻¹.
    axis, angle = rotations.to_axis_angle(
        rotations.multiply(after, rotations.conjugate(before))
    )
    # Two steps between them, one at the ends.
    over = np.full((len(orientations), 1), 2.0)
    over[[0, -1]] = 1.0
    return np.asarray(axis * (angle / over)[..., None])
