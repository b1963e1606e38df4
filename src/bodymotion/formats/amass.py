"""Recorded motion of people as parameters of a body model of the SMPL family (.npz): AMASS and its like. Only reading.

============================ ==================================================================================
``poses`` (T, 3 J)           rotation vectors [rad] of J joints: 24 of SMPL, 52 of SMPL-H, 55 of SMPL-X; or
``root_orient pose_body``    (T, 3) and (T, 63), and ``pose_jaw pose_eye pose_hand`` where they are there
``trans`` (T, 3)             [m] added to the pelvis of the body at rest; z is up
``betas`` (N,)               the shape of the body
``mocap_framerate``          [Hz]; also ``mocap_frame_rate``, ``fps``
============================ ==================================================================================

The lengths of the bones are in the body model, which its makers give to registered users. With `body_model`, an .npz of theirs, the joints
at rest are ``J_regressor`` (J, V) times ``v_template`` (V, 3) plus ``shapedirs`` (V, 3, N) times ``betas``; ``kintree_table`` (2, J) has
the parents. Without it the offsets are NaN: rotations are known, positions are not.
"""

from pathlib import Path

import numpy as np

from bodymotion.diagnostics import (
    Diagnostics,
    Location,
    ReadResult,
    Source,
    SourceMap,
    judgement,
)
from bodymotion.formats.npz.layouts import Array
from bodymotion.formats.npz.reader import read_archive
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.skeleton import EULER_CHANNELS, Skeleton, SkeletonJoint, euler_values

PARAMETERS = judgement.error(
    "AMS001",
    "The parameters are finite numbers: poses (T, 3 per joint) of 22, 24, 52 or 55 joints, trans (T, 3), and a positive rate.",
    "frame_rate=… (--input-rate) gives the rate of a file without one",
    example=("poses of shape (10, 70)", "poses of shape (10, 72)"),
)
BODY_MODEL = judgement.error(
    "AMS002",
    "A body model has J_regressor, v_template and kintree_table for as many joints as the motion.",
    "give the .npz of the family of the motion: SMPL-H for 52 joints, SMPL-X for 55",
    example=("a body model of 24 joints for 52", "a body model of 52 joints for 52"),
)
NO_LENGTHS = judgement.note(
    "AMS003",
    "The lengths of the bones are in the body model. Without it rotations are read, and positions are unknown.",
    "body_model=… (--body-model) names the .npz of the body model",
    example=("load('walk.npz')", "load('walk.npz', body_model='SMPLH_NEUTRAL.npz')"),
)

PARTS = (
    ("root_orient", 3),
    ("pose_body", 63),
    ("pose_jaw", 3),
    ("pose_eye", 6),
    ("pose_hand", 90),
)
"""Arrays of SMPL-X that stand in this order in `poses`."""
RATES = ("mocap_framerate", "mocap_frame_rate", "fps")
MODEL = ("J_regressor", "v_template", "shapedirs", "kintree_table")
_JOINTS = [
    row.split()
    for row in Path(__file__)
    .with_name("amass_joints.txt")
    .read_text("utf-8")
    .splitlines()[1:]
]


def joints_of(count: int) -> tuple[list[str], list[int]]:
    """Return the names and parents of the joints of a model of 22, 24, 52 or 55 joints."""
    rows = [row for row in _JOINTS if str(count) in row[2:]]
    names = [row[0] for row in rows]
    return names, [names.index(row[1]) if row[1] in names else -1 for row in rows]


def read_amass(
    path: str | Path,
    *,
    body_model: str | Path | None = None,
    frame_rate: float | None = None,
) -> ReadResult[Skeleton]:
    """Read a recorded motion.

    Parameters
    ----------
    path:
        The file.
    body_model:
        The body model (.npz) with the lengths of the bones. Without it the skeleton has rotations only (AMS003).
    frame_rate:
        [Hz] of a file without one.
    """
    path = Path(path)
    found = Diagnostics(path)
    value = None
    with found.recover():
        arrays = read_archive(
            path, only=("poses", "trans", "betas", *(name for name, _ in PARTS), *RATES)
        )
        value = _skeleton(arrays, path, body_model, frame_rate, found)
    return ReadResult(value, found.problems, refusal=found.refusal)


def _skeleton(
    arrays: dict[str, Array],
    path: Path,
    body_model: str | Path | None,
    rate: float | None,
    found: Diagnostics,
) -> Skeleton:
    location = Location(str(path))
    parts = [
        arrays[name]
        for name, size in PARTS
        if name in arrays and arrays[name].shape[1:] == (size,)
    ]
    if "poses" not in arrays and len({len(part) for part in parts}) == 1:
        arrays["poses"] = np.concatenate(parts, axis=1)
    poses, trans = (arrays.get(name, np.zeros(0)) for name in ("poses", "trans"))
    if rate is None:
        known = next((arrays[name] for name in RATES if name in arrays), np.zeros(0))
        rate = (
            float(known.ravel()[0]) if known.size and known.dtype.kind in "iuf" else 0.0
        )
    count = poses.shape[1] // 3 if poses.ndim == 2 else 0
    numeric = poses.dtype.kind in "iuf" and trans.dtype.kind in "iuf"
    if (
        count not in (22, 24, 52, 55)
        or poses.shape[1] != 3 * count
        or trans.shape != (len(poses), 3)
        or not numeric
    ):
        raise PARAMETERS.error(
            f"the shapes of poses and trans are {poses.shape} and {trans.shape}",
            location,
        )
    if not (
        np.isfinite(poses).all() and np.isfinite(trans).all() and 1e-300 < rate < 1e9
    ):
        raise PARAMETERS.error(
            f"a number is not finite, or the rate is {rate:g} Hz", location
        )
    names, parents = joints_of(count)
    offsets = np.full((count, 3), np.nan)
    if body_model is not None:
        offsets = _offsets(Path(body_model), arrays.get("betas"), parents)
    else:
        found.report(NO_LENGTHS, "the lengths of the bones are unknown")
    vectors = poses.reshape(-1, count, 3).astype(np.float64)
    turns = rotations.from_axis_angle(vectors, np.linalg.norm(vectors, axis=-1))
    position = trans + (offsets[0] if body_model is not None else 0.0)
    values = [position, *(euler_values(turns[:, joint]) for joint in range(count))]
    channels = ("Xposition", "Yposition", "Zposition", *EULER_CHANNELS)
    return Skeleton(
        joints=tuple(
            SkeletonJoint(
                name=name,
                parent=parent,
                offset=offset,
                channels=channels if parent < 0 else EULER_CHANNELS,
            )
            for name, parent, offset in zip(names, parents, offsets, strict=True)
        ),
        values=np.concatenate(values, axis=1),
        frame_time=1 / rate,
        known_unit=1.0,
        known_up="Z",
        source=Source(
            "amass",
            path,
            parts=() if body_model is None else (Path(body_model),),
            locations=SourceMap({(): location}),
        ),
        problems=found.problems,
    )


def _offsets(path: Path, betas: Array | None, parents: list[int]) -> Floats:
    """Return the offsets (J, 3) [m] of the joints of a body model; that of the root is its position at rest."""
    arrays = read_archive(path, only=MODEL)
    location, count = Location(str(path)), len(parents)
    regressor, template, tree = (
        arrays.get(name, np.zeros(0))
        for name in ("J_regressor", "v_template", "kintree_table")
    )
    shapes = arrays.get("shapedirs", np.zeros((*template.shape, 0)))
    numeric = all(
        one.dtype.kind in "iuf" for one in (regressor, template, shapes, tree)
    )
    sizes = (template.shape[1:], regressor.shape, shapes.shape[:2], shapes.ndim)
    if not numeric or sizes != ((3,), (count, *template.shape[:1]), template.shape, 3):
        message = f"J_regressor has the shape {regressor.shape}, v_template {template.shape}; expected {count} joints"
        raise BODY_MODEL.error(message, location)
    if tree.shape != (2, count) or tree[0, 1:].tolist() != parents[1:]:
        raise BODY_MODEL.error(
            "kintree_table has other parents than the model of the motion", location
        )
    known = (
        np.zeros(0)
        if betas is None or betas.ndim != 1 or betas.dtype.kind not in "iuf"
        else betas[: shapes.shape[2]]
    )
    rest = regressor @ (template + shapes[..., : len(known)] @ known)
    if not np.isfinite(rest).all():
        raise BODY_MODEL.error("the joints at rest are not finite", location)
    return np.asarray(
        np.concatenate([rest[:1], rest[1:] - rest[parents[1:]]]), np.float64
    )
