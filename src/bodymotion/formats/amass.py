"""Recorded motion of people as parameters of a body model of the SMPL family (.npz).

AMASS and its like. Only reading.

============================
==================================================================================
``poses`` (T, 3 J)           rotation vectors [rad] of J joints: 24 of SMPL, 52 of
SMPL-H, 55 of SMPL-X; or
``root_orient pose_body``    (T, 3) and (T, 63), and ``pose_jaw pose_eye pose_hand``
where they are there
``trans`` (T, 3)             [m] added to the pelvis of the body at rest
``betas`` (N,)               the shape of the body; also (1, N), or (T, N) with a row
for each frame
``mocap_framerate``          [Hz]; also ``mocap_frame_rate``, ``fps``
============================
==================================================================================

The lengths of the bones are in the body model, which its makers give to registered
users. With `body_model`, an .npz of theirs, the joints at rest are ``J_regressor`` (J,
V) times ``v_template`` (V, 3) plus ``shapedirs`` (V, 3, N) times ``betas``;
``kintree_table`` (2, J) has the parents. Without it the offsets are NaN: rotations are
known, positions are not.

In AMASS z is up. Files of its like have y up; the rotations of a person who is upright
show it.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    ReadResult,
    Source,
    SourceMap,
    WrongUseError,
    judgement,
)
from bodymotion.formats.npz.layouts import Array
from bodymotion.formats.npz.reader import read_archive
from bodymotion.formats.tables.columns import check_rate
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.skeleton import EULER_CHANNELS, Skeleton, SkeletonJoint, euler_values
from bodymotion.skeleton.values import UP_AXES

PARAMETERS = judgement.error(
    "AMS001",
    "The parameters are finite numbers: poses (T, 3 per joint) of 22, 24, 52 or 55 "
    "joints, trans (T, 3), and a positive rate.",
    "frame_rate=… (--input-rate) gives the rate of a file without one",
    example=("poses of shape (10, 70)", "poses of shape (10, 72)"),
)
BODY_MODEL = judgement.error(
    "AMS002",
    "A body model has J_regressor, v_template and kintree_table for as many joints as "
    "the motion.",
    "give the .npz of the family of the motion: SMPL-H for 52 joints, SMPL-X for 55",
    example=("a body model of 24 joints for 52", "a body model of 52 joints for 52"),
)
NO_LENGTHS = judgement.note(
    "AMS003",
    "The lengths of the bones are in the body model. Without it rotations are read, "
    "and positions are unknown.",
    "body_model=… (--body-model) names the .npz of the body model",
    example=("load('walk.npz')", "load('walk.npz', body_model='SMPLH_NEUTRAL.npz')"),
)

SHAPE = judgement.warning(
    "AMS004",
    "A body has one shape, betas (N,), (1, N) or a row for each frame, and the body "
    "model has as many directions of shape.",
    "the mean shape of all frames is used, of as many betas as the body model has",
    example=("betas that differ between frames", "betas of shape (16,)"),
)
UP = judgement.warning(
    "AMS005",
    "In AMASS z is up, as persons are upright along z.",
    "up=… (--up) states the axis",
    example=("persons upright along y", "persons upright along z"),
)

# Mean component of the spine's direction along an axis, from which on a person is
# upright along it.
MIN_UPRIGHT = 0.75
# [m] A pelvis that stays between these heights along z may be that of a person who lies
# in a world with z up.
LYING_HEIGHTS = (0.05, 0.5)
# The axis of the pelvis that points up in a body at rest: y.
UPRIGHT_ROW = 1

# Arrays of SMPL-X that stand in this order in `poses`.
PARTS = (
    ("root_orient", 3),
    ("pose_body", 63),
    ("pose_jaw", 3),
    ("pose_eye", 6),
    ("pose_hand", 90),
)
RATES = ("mocap_framerate", "mocap_frame_rate", "fps")
MODEL = ("J_regressor", "v_template", "shapedirs", "kintree_table")
MIN_RATE = 1e-300
# [Hz] Beyond these the time of a frame is no usable number.
MAX_RATE = 1e9
_TABLE = Path(__file__).with_name("amass_joints.txt").read_text("utf-8")
# The name of each joint, of its parent, and the models (by their numbers of joints).
_JOINTS = [row.split() for row in _TABLE.splitlines()[1:]]
# Of the body alone, SMPL, SMPL-H and SMPL-X.
NUM_JOINTS = (22, 24, 52, 55)


def joints_of(count: int) -> tuple[list[str], list[int]]:
    """Return the names and parents of the joints of a model.

    It has 22, 24, 52 or 55 joints.
    """
    # Rows of the table are the joints of all models; each has some of them.
    rows = [row for row in _JOINTS if str(count) in row[2:]]
    names = [row[0] for row in rows]
    return names, [names.index(row[1]) if row[1] in names else -1 for row in rows]


def read_amass(
    path: str | Path,
    *,
    body_model: str | Path | None = None,
    frame_rate: float | None = None,
    up: str | None = None,
) -> ReadResult[Skeleton]:
    """Read a recorded motion.

    Parameters
    ----------
    path:
        The file.
    body_model:
        The body model (.npz) with the lengths of the bones. Without it the skeleton has
        rotations only (AMS003).
    frame_rate:
        [Hz] in place of the rate of the file.
    up:
        The axis that is up, "Y", "-Z" and so on. By default Z, unless the poses show
        another one (AMS005).

    Raises
    ------
    WrongUseError
        When there is no such axis.
    """
    if up not in (None, *UP_AXES):
        raise WrongUseError(f"up {up!r}: expected one of {', '.join(UP_AXES)}")
    path = Path(path)
    found = Diagnostics(path)
    value = None
    with found.recover():
        # Only what is needed: archives may have large arrays of other things.
        arrays = read_archive(
            path, only=("poses", "trans", "betas", *(name for name, _ in PARTS), *RATES)
        )
        value = _skeleton(arrays, path, body_model, frame_rate, up, found)
    return ReadResult(value, found.problems, refusal=found.refusal)


def _skeleton(
    arrays: dict[str, Array],
    path: Path,
    body_model: str | Path | None,
    rate: float | None,
    up: str | None,
    diagnostics: Diagnostics,
) -> Skeleton:
    """Return the skeleton of the arrays of a file."""
    location = Location(str(path))
    pose = _pose_of(arrays, location)
    is_in_file = rate is None
    if rate is None:
        # 0 where there is none, which is refused below.
        rate = _rate_of(arrays)
    is_finite = np.isfinite(pose.vectors).all() and np.isfinite(pose.trans).all()
    if not (is_finite and MIN_RATE < rate < MAX_RATE):
        text = f"a number is not finite, or the rate is {rate:g} Hz"
        raise PARAMETERS.error(text, location)
    num_frames, num_joints = pose.vectors.shape[:2]
    if is_in_file:
        check_rate(rate, num_frames, diagnostics, location, least=2)
    names, parents = joints_of(num_joints)
    position = pose.trans
    parts: tuple[Path, ...] = ()
    if body_model is None:
        diagnostics.report(NO_LENGTHS, "the lengths of the bones are unknown")
        # nan: positions of joints are unknown, rotations are known.
        offsets = np.full((num_joints, 3), np.nan)
    else:
        parts = (Path(body_model),)
        betas = _betas(arrays.get("betas"), num_frames, location, diagnostics)
        offsets = _offsets(parts[0], betas, parents, diagnostics)
        # In AMASS, `trans` is zero where the root is at its position at rest.
        position = position + offsets[0]
    # A rotation vector is axis · angle, so its length is the angle.
    orientations = rotations.from_axis_angle(
        pose.vectors, np.linalg.norm(pose.vectors, axis=-1)
    )
    if up is None:
        up = _find_up(orientations[:, 0], position)
        if up != "Z":
            text = f"persons are upright along {up}: that axis is read as up"
            diagnostics.report(UP, text, location, data={"up": up})
    joints = []
    for name, parent, offset in zip(names, parents, offsets, strict=True):
        channels: tuple[str, ...] = EULER_CHANNELS
        # Only the root moves; other joints rotate.
        if parent < 0:
            channels = ("Xposition", "Yposition", "Zposition", *EULER_CHANNELS)
        joints.append(
            SkeletonJoint(name=name, parent=parent, offset=offset, channels=channels)
        )
    # Columns in the order of the channels: position, then the angles of each joint.
    values = [position]
    values += [euler_values(orientations[:, joint]) for joint in range(num_joints)]
    return Skeleton(
        joints=tuple(joints),
        values=np.concatenate(values, axis=1),
        frame_time=1 / rate,
        known_unit=1.0,
        known_up=up,
        source=Source("amass", path, parts=parts, locations=SourceMap({(): location})),
        problems=diagnostics.problems,
    )


class _Pose(NamedTuple):
    """The pose of a person in each frame.

    `vectors` are rotation vectors (T, J, 3) [rad] of the joints, `trans` (T, 3) [m] is
    the translation of the root.
    """

    vectors: Floats
    trans: Array


def _pose_of(arrays: dict[str, Array], location: Location) -> _Pose:
    """Return the pose in the arrays `poses`, or in those of SMPL-X, and `trans`.

    AMS001 where their shapes do not fit together.
    """
    parts = [
        arrays[name]
        for name, size in PARTS
        # Arrays of other programs may have the same names and other shapes.
        if name in arrays and arrays[name].shape[1:] == (size,)
    ]
    poses = arrays.get("poses", np.zeros(0))
    # SMPL-X has its parts in arrays of their own, with one length.
    if "poses" not in arrays and len({len(part) for part in parts}) == 1:
        poses = np.concatenate(parts, axis=1)
    trans = arrays.get("trans", np.zeros(0))
    # Three numbers of each joint.
    num_joints = poses.shape[1] // 3 if poses.ndim == 2 else 0
    is_model = num_joints in NUM_JOINTS and poses.shape[1] == 3 * num_joints
    is_numeric = poses.dtype.kind in "iuf" and trans.dtype.kind in "iuf"
    if not (is_model and is_numeric and trans.shape == (len(poses), 3)):
        text = f"the shapes of poses and trans are {poses.shape} and {trans.shape}"
        raise PARAMETERS.error(text, location, hint="")
    return _Pose(poses.reshape(-1, num_joints, 3).astype(np.float64), trans)


def _rate_of(arrays: dict[str, Array]) -> float:
    """Return the frame rate [Hz] of a file.

    0 where it has none.
    """
    for name in RATES:
        if name in arrays:
            rate = arrays[name]
            # MATLAB saves a number as an array (1, 1).
            if rate.size and rate.dtype.kind in "iuf":
                return float(rate.ravel()[0])
            return 0.0
    return 0.0


def _find_up(turns: Floats, position: Floats) -> str:
    """Return the axis of the world along which a person is upright.

    `turns` (T, 4) and `position` (T, 3) are the orientations and positions of the
    pelvis.

    Z in doubt.
    """
    if not len(turns):
        return "Z"
    # The mean direction of the body's y axis in the world.
    spine = rotations.to_matrix(turns)[:, :, UPRIGHT_ROW].mean(axis=0)
    heights = position[:, 2]
    lowest, highest = LYING_HEIGHTS
    may_lie = lowest < heights.min() and heights.max() < highest
    if spine[1] > MIN_UPRIGHT:
        # A person who lies along y in a world with z up is as much along y as one who
        # stands in a world with y up.
        stands = position[:, 1].min() > highest
        if stands or not may_lie:
            return "Y"
        return "Z"
    # Upside down along y: a world with y down.
    if spine[1] < -MIN_UPRIGHT and not may_lie:
        return "-Y"
    return "Z"


def _betas(
    betas: Array | None, count: int, location: Location, found: Diagnostics
) -> Floats:
    """Return the shape (N,) of a body in a motion of `count` frames.

    AMS001 for betas of an unknown shape.
    """
    if betas is None:
        return np.zeros(0)
    if betas.ndim == 1:
        rows = betas[None]
    else:
        # A row for each frame, or one for all.
        rows = betas
    is_shape = rows.ndim == 2 and len(rows) in (1, count) and len(rows) > 0
    if not is_shape or betas.dtype.kind not in "iuf" or not np.isfinite(betas).all():
        message = (
            f"betas are {betas.dtype} of shape {betas.shape}; expected finite numbers "
            f"of shape (N,), (1, N) or ({count}, N)"
        )
        hint = "give the betas of one body, or leave them out"
        raise PARAMETERS.error(message, location, hint)
    # One person has one shape: the mean stands for all frames.
    if (rows != rows[0]).any():
        change = np.ptp(rows, axis=0).max()
        found.report(
            SHAPE, f"betas differ by up to {change:.3g} between frames", location
        )
        return np.asarray(rows.mean(axis=0), np.float64)
    return np.asarray(rows[0], np.float64)


def _offsets(
    path: Path, betas: Floats, parents: list[int], found: Diagnostics
) -> Floats:
    """Return the offsets (J, 3) [m] of the joints of a body model.

    That of the root is its position at rest.
    """
    arrays = read_archive(path, only=MODEL)
    location = Location(str(path))
    count = len(parents)
    regressor, template, tree = (
        arrays.get(name, np.zeros(0))
        for name in ("J_regressor", "v_template", "kintree_table")
    )
    shapes = arrays.get("shapedirs", np.zeros((*template.shape, 0)))
    numeric = all(
        one.dtype.kind in "iuf" for one in (regressor, template, shapes, tree)
    )
    # J_regressor (J, V), v_template (V, 3), shapedirs (V, 3, N).
    sizes = (template.shape[1:], regressor.shape, shapes.shape[:2], shapes.ndim)
    if not numeric or sizes != ((3,), (count, *template.shape[:1]), template.shape, 3):
        message = (
            f"J_regressor has the shape {regressor.shape}, v_template "
            f"{template.shape}; expected {count} joints"
        )
        raise BODY_MODEL.error(message, location)
    # Row 0 of kintree_table has the parents; that of the root is no number of a joint.
    if tree.shape != (2, count) or tree[0, 1:].tolist() != parents[1:]:
        raise BODY_MODEL.error(
            "kintree_table has other parents than the model of the motion", location
        )
    # Only as many betas as the body model has directions.
    known = betas[: shapes.shape[2]]
    if left := np.count_nonzero(betas[len(known) :]):
        message = (
            f"the body model has {len(known)} directions of shape: {left} of "
            f"{len(betas)} betas are left out"
        )
        found.report(SHAPE, message, location)
    # Joints at rest: J · (template + Σ βₙ · shapeₙ).
    rest = regressor @ (template + shapes[..., : len(known)] @ known)
    if not np.isfinite(rest).all():
        raise BODY_MODEL.error("the joints at rest are not finite", location)
    # Offsets in the parent; the root keeps its position.
    return np.asarray(
        np.concatenate([rest[:1], rest[1:] - rest[parents[1:]]]), np.float64
    )
