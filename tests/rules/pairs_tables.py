"""Pairs for tables of motion: .csv, .parquet, .npz and OpenHRP's plain texts."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import bodymotion as bm
from bodymotion.diagnostics import Problem
from bodymotion.formats.limits import Limits
from bodymotion.formats.npz.layouts import G1_JOINTS
from rules.pairs import (
    Content,
    Pair,
    Reported,
    calls,
    example_of,
    files,
    limited,
    problems_of,
)
from tables.arrow_files import table_bytes, zero_table

read_csv = partial(bm.load, format="csv")
read_npz = partial(bm.load, format="npz")
read_openhrp_text = partial(bm.load, format="openhrp-text")

ROBOT = bm.Body(
    name="robot",
    links=(
        bm.Link(name="BASE", joint=bm.Joint(name="BASE", type="free")),
        bm.Link(
            name="HIP",
            index=1,
            parent=0,
            joint=bm.Joint(name="HIP", type="rotate", id=0),
        ),
        bm.Link(
            name="KNEE",
            index=2,
            parent=1,
            joint=bm.Joint(name="KNEE", type="rotate", id=1),
        ),
    ),
)
TABLE = "time,HIP [rad],KNEE [rad]\n0.0,0.1,0.2\n0.1,0.3,0.4\n"
POSES = "time,root_x,root_y,root_z,root_qw,root_qx,root_qy,root_qz\n0.0,0,0,0.8,1,0,0,0\n0.1,0,0,0.9,1,0,0,0\n"
LABELLED = "time,腰 [rad]\n0.0,0.1\n0.1,0.3\n"
MANY = "time,joint_0 [rad],joint_1 [rad]\n" + "".join(f"{k},0,0\n" for k in range(9))
SLOW = "time,HIP [rad]\n" + "".join(f"{20 * k},0\n" for k in range(12))


def rounded(decimals: int) -> str:
    """Return a table of twelve frames at 30 Hz, with times of so many decimals."""
    rows = "".join(f"{k / 30:.{decimals}f},0\n" for k in range(12))
    return f"time,HIP [rad]\n{rows}"


POINTS = np.array([[0.0], [0.1], [0.2]])


def opened(
    read: Callable[..., object], name: str, content: Content, **options: object
) -> Reported:
    """Return the problems that are reported when a file is read."""

    def reported(folder: Path) -> Iterable[Problem]:
        (folder / name).write_bytes(
            content.encode() if isinstance(content, str) else content
        )
        return problems_of(lambda: read(folder / name, **options))

    return reported


def table(code: str, good: str = TABLE, **options: object) -> Pair:
    """Make a pair of the rule's example in a table that is read with options."""
    wrong, right = example_of(code)
    assert good.count(right) == 1
    return calls(
        opened(read_csv, "walk.csv", good.replace(right, wrong), **options),
        opened(read_csv, "walk.csv", good, **options),
    )


def archive(**arrays: object) -> bytes:
    """Return an archive of arrays."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def zeros(save: Callable[..., None]) -> bytes:
    """Return an archive of a megabyte of zeros."""
    stream = io.BytesIO()
    save(stream, joint_displacement=np.zeros((1000, 125)), frame_rate=100)
    return stream.getvalue()


def beside(name: str, given: dict[str, str], body: bm.Body | None = None) -> Reported:
    """Read one of OpenHRP's files that lie beside each other."""

    def reported(folder: Path) -> Iterable[Problem]:
        for other, text in given.items():
            (folder / other).write_text(text)
        return problems_of(lambda: read_openhrp_text(folder / name, body=body))

    return reported


def saved(motion: bm.Motion, *there: str) -> Reported:
    """Save as OpenHRP's files where some of these names are there already."""

    def reported(folder: Path) -> Iterable[Problem]:
        for name in there:
            (folder / name).write_text("0.0 0 0 0\n")
        return bm.save(motion, folder / "walk.pos").problems

    return reported


JOINTS = bm.Motion.from_joints(POINTS, 10)
ZMP = bm.Motion.from_joints(
    POINTS, 10, root=[0, 0, 0.8, 1, 0, 0, 0], zmp=np.zeros((3, 3))
)
RELATIVE = bm.Motion.from_joints(
    POINTS, 10, zmp=np.zeros((3, 3)), zmp_is_root_relative=True
)
OURS = {"joint_displacement": POINTS, "frame_rate": 10}
MIMIC = {
    "fps": 50,
    "joint_pos": np.zeros((3, 2)),
    "body_pos_w": np.zeros((3, 1, 3)),
    "body_quat_w": np.eye(4)[[0] * 3][:, None],
}
GMR = {
    "fps": 30.0,
    "dof_pos": np.zeros((3, 2)),
    "root_pos": np.zeros((3, 3)),
    "root_rot": np.eye(4)[[3] * 3],
}
NAMES = ("HIP", "KNEE")
WAIST = "0.0 0 0 0.8 0 0 0\n0.1 0 0 0.9 0 0 0\n"
HIP = "0.0 0 0 0\n0.1 0 0 0\n"
POS = "0.0 0.1 0.2\n0.1 0.3 0.4\n"


def csv(code: str, good: str = TABLE) -> Pair:
    """Make a pair of the rule's example in a table that is checked."""
    wrong, right = example_of(code)
    return files("walk.csv", good.replace(right, wrong), good)


def npz(wrong: bytes, right: bytes) -> Pair:
    return files("walk.npz", wrong, right, place=False)


def parquet(wrong: bytes, right: bytes) -> Pair:
    return files("walk.parquet", wrong, right, place=False, still="MOT105")


def otx(code: str, good: str, name: str) -> Pair:
    """Make a pair of the rule's example in one of OpenHRP's files."""
    wrong, right = example_of(code)
    return files(name, good.replace(right, wrong), good)


FRAMES = table_bytes(pa.table({"time": [0.0, 0.1], "HIP [rad]": [0.1, 0.2]}))

PAIRS: dict[str, Pair] = {
    "TAB002": files("walk.csv", "", TABLE, place=False),
    **{code: csv(code) for code in ("TAB003", "TAB004", "CSV001", "CSV002", "CSV006")},
    "FMT009 .csv": limited(
        files(
            "walk.csv",
            "0," * 20_000,
            "time,HIP [rad]\n" + "".join(f"{k},0\n" for k in range(9999)),
            place=False,
        ),
        "bodymotion.formats.tables.number_table._BLOCK",
        4096,
    ),
    "TAB006": files("walk.csv", LABELLED.encode("cp932"), LABELLED),
    "TAB101": table("TAB101", body=ROBOT),
    "TAB102": calls(
        opened(read_csv, "walk.csv", "time,HIP [rad]\n0,0.1\n1,0.1\n", body=ROBOT),
        opened(
            read_csv,
            "walk.csv",
            "time,HIP [rad],KNEE [rad]\n0,0.1,0\n1,0.1,0\n",
            body=ROBOT,
        ),
    ),
    "TAB103": csv("TAB103", MANY),
    "TAB104": csv("TAB104", MANY),
    "TAB105": files("walk.csv", SLOW, SLOW.replace("time", "time [ms]")),
    "CSV003": csv("CSV003", POSES),
    "CSV004": csv("CSV004", "time,HIP [deg]\n0.0,90\n0.1,80\n"),
    "CSV005": csv("CSV005", POSES),
    "CSV007": calls(
        opened(read_csv, "walk.csv", "0,0.1,0.2\n1,0.1,0.2\n", columns=["time", "HIP"]),
        opened(
            read_csv,
            "walk.csv",
            "0,0.1,0.2\n1,0.1,0.2\n",
            columns=["time", "HIP", "KNEE"],
        ),
    ),
    "CSV011": csv("CSV011", "time,HIP [rad]\n0.0,0.1\n0.1,0.1\n"),
    "CSV012": calls(
        opened(read_csv, "walk.csv", "0,0,0.8,1,0,0,0,0.1\n", layout="unitree"),
        opened(read_csv, "walk.csv", "0,0,0.8,0,0,0,1,0.1\n", layout="unitree"),
    ),
    "CSV013": calls(
        opened(read_csv, "walk.csv", "0,0,0.8,0,0,0,1,0.1\n"),
        opened(read_csv, "walk.csv", "0,0,0.8,0,0,0,1,0.1\n", layout="unitree"),
    ),
    "FMT010 .parquet": limited(
        parquet(
            table_bytes(zero_table(time=100_000)),
            table_bytes(zero_table(time=100), compression="none"),
        ),
        "bodymotion.formats.limits.LIMITS",
        Limits(free_bytes=9999),
    ),
    "CSV015": parquet(
        table_bytes(pa.table([[0.1], [0.2]], names=["KNEE", "KNEE"])), FRAMES
    ),
    "CSV016": parquet(
        table_bytes(pa.table({"time": [0.0, 0.1], "label": ["a", "b"]})), FRAMES
    ),
    "NPZ001": npz(b"PK\3\4 and no archive", archive(**OURS)),
    "FMT010": limited(
        npz(zeros(np.savez_compressed), zeros(np.savez)),
        "bodymotion.formats.limits.LIMITS",
        Limits(free_bytes=1000),
    ),
    "NPZ003": npz(
        archive(**OURS, info=np.array({"by": "me"})),
        archive(**OURS, info=np.array("by me")),
    ),
    "NPZ101": npz(archive(q=POINTS, frame_rate=10), archive(**OURS)),
    "NPZ102": npz(
        archive(joint_displacement=POINTS[:, 0], frame_rate=10), archive(**OURS)
    ),
    "NPZ103": npz(archive(joint_displacement=POINTS), archive(**OURS)),
    "NPZ104": calls(
        opened(read_npz, "dance.npz", archive(**MIMIC)),
        opened(read_npz, "dance.npz", archive(**MIMIC), joint_names=NAMES),
    ),
    "NPZ105": calls(
        opened(read_npz, "dance.npz", archive(**MIMIC), body=ROBOT),
        opened(read_npz, "dance.npz", archive(**MIMIC), body=ROBOT, joint_names=NAMES),
    ),
    "NPZ106": npz(archive(**OURS, effort=POINTS), archive(**OURS)),
    "NPZ107": calls(
        opened(read_npz, "dance.npz", archive(**GMR), joint_names=NAMES),
        opened(
            read_npz,
            "dance.npz",
            archive(**GMR),
            joint_names=NAMES,
            quaternion_order="xyzw",
        ),
    ),
    "NPZ108": npz(archive(q_HIP=POINTS[:, 0]), archive(q_HIP=POINTS[:, 0], fps=500)),
    "NPZ109": calls(
        opened(read_npz, "dance.npz", archive(qpos=np.zeros((3, 29)), fps=30)),
        opened(
            read_npz,
            "dance.npz",
            archive(qpos=np.zeros((3, 29)), fps=30, joint_names=np.array(G1_JOINTS)),
        ),
    ),
    "FMT012": calls(
        opened(read_csv, "walk.csv", TABLE, degrees=True),
        opened(read_csv, "walk.csv", TABLE.replace(" [rad]", ""), degrees=True),
    ),
    "TAB107": files("walk.csv", rounded(3), rounded(9), place=False),
    "TAB106": calls(
        opened(
            read_npz,
            "dance.npz",
            archive(**MIMIC | {"joint_pos": 100 * np.ones((3, 2))}),
            joint_names=NAMES,
        ),
        opened(read_npz, "dance.npz", archive(**MIMIC), joint_names=NAMES),
    ),
    "OTX001": otx("OTX001", WAIST.splitlines()[0], "walk.waist"),
    "OTX003": calls(
        beside("walk.pos", {"walk.pos": "0.0 0.1 0.2 0.3\n0.1 0.1 0.2 0.3\n"}, ROBOT),
        beside("walk.pos", {"walk.pos": POS}, ROBOT),
    ),
    "OTX004": calls(
        beside("walk.hip", {"walk.hip": HIP}),
        beside("walk.hip", {"walk.hip": HIP, "walk.waist": WAIST}),
    ),
    "OTX005": calls(
        beside("walk.pose", {"walk.pose": POS}), beside("walk.pos", {"walk.pos": POS})
    ),
    "OTX006": calls(
        beside(
            "walk.hip", {"walk.hip": HIP.replace("0 0 0", "0 0 1"), "walk.waist": WAIST}
        ),
        beside("walk.hip", {"walk.hip": HIP, "walk.waist": WAIST}),
    ),
    "OTX007": files(
        "walk.waist",
        "0.0 0 0 0.8 1 0 0 0 1 0 0 0 1 0.5 0 0 0 0 0\n",
        "0.0 0 0 0.8 1 0 0 0 1 0 0 0 1\n",
        place=False,
    ),
    "OTX101": calls(saved(JOINTS, "walk.zmp"), saved(JOINTS)),
    "OTX102": calls(saved(ZMP), saved(RELATIVE)),
}

MORE = [
    files("walk.csv", TABLE.replace("0.1,0.3,0.4", "0.0,0.3,0.4"), TABLE),
    files("walk.csv", POSES.replace("0,0,0.8,1,0,0,0", "0,0,0.8,2,0,0,0"), POSES),
    files("walk.waist", WAIST.replace("0.1 0 0 0.9", "0.0 0 0 0.9"), WAIST),
    npz(archive(joint_displacement=POINTS, frame_rate=0), archive(**OURS)),
]
"""Files that break rules which exist once for all formats, whose example is a file of another format."""
