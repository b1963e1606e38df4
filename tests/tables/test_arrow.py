"""Tables of Parquet and Arrow: as pandas, Polars and pyarrow write and read them."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
from pyarrow import parquet

import bodymotion as bm
from bodymotion.collection import build_catalogue
from sample_files import ROOT
from tables.arrow_files import table_bytes

BODY = bm.load_body(ROOT / "examples" / "biped.wrl")
WALK = bm.load_motion(ROOT / "examples" / "biped_walk.seq")
NAMES = tuple(joint.name for joint in BODY.joints)
FRAME = bm.to_pandas(WALK, body=BODY)


def written(save: object, *arguments: object, **options: object) -> bytes:
    stream = io.BytesIO()
    save(*arguments, stream, **options)
    return stream.getvalue()


def stamped(kind: str) -> pa.Table:
    """Return the walk with its times as dates or durations."""
    table = pa.Table.from_pandas(FRAME.reset_index())
    microseconds = pa.array(
        np.rint(WALK.times * 1e6).astype(np.int64) + (10**15 if "stamp" in kind else 0)
    )
    return table.set_column(
        0,
        "time",
        microseconds.cast(pa.timestamp("us") if "stamp" in kind else pa.duration("us")),
    )


TABLE = pa.Table.from_pandas(FRAME.reset_index())
WRITERS = {
    "pandas, index": lambda: written(FRAME.to_parquet),
    "pandas, feather": lambda: written(FRAME.reset_index().to_feather),
    "Polars": lambda: written(polars.from_arrow(TABLE).write_parquet),
    "Polars, file": lambda: written(
        polars.from_arrow(TABLE).write_ipc, compression="zstd"
    ),
    "Polars, stream": lambda: written(
        polars.from_arrow(TABLE).write_ipc_stream, compression="lz4"
    ),
    "pyarrow, brotli": lambda: table_bytes(
        TABLE, compression="brotli", row_group_size=100
    ),
    "pyarrow, feather": lambda: table_bytes(TABLE, "feather", compression="zstd"),
    "pyarrow, stream": lambda: table_bytes(TABLE, "stream"),
    "timestamps": lambda: table_bytes(stamped("timestamp"), version="1.0"),
    "durations": lambda: table_bytes(stamped("duration"), "feather"),
    "categories": lambda: written(
        FRAME.reset_index().astype({NAMES[1]: "category"}).to_feather
    ),
    "names with blanks": lambda: table_bytes(
        TABLE.rename_columns([f" {name} " for name in TABLE.column_names])
    ),
    "rows, texts and lists": lambda: table_bytes(
        TABLE.append_column("index", pa.array(range(1001)))
        .append_column("label", pa.array(["type: CompositeSeq"] * 1001))
        .append_column("state", pa.array([[0.5]] * 1001)),
        compression="none",
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_of_other_programs(tmp_path, name):
    path = tmp_path / (
        "a.parquet" if name.startswith(("rows", "time", "pyarrow, b")) else "a.arrow"
    )
    path.write_bytes(WRITERS[name]())
    motion = bm.load_motion(path, degrees=False)
    unread = ["CSV016"] if "texts" in name else []
    assert [problem.rule for problem in motion.problems] == unread
    assert motion.frame_rate == 100 and motion.joint_displacement.part_labels == NAMES
    np.testing.assert_array_equal(
        motion.joint_displacement.values, WALK.joint_displacement.values
    )
    np.testing.assert_array_equal(
        motion.link_position.values, WALK.link_position.values
    )
    np.testing.assert_array_equal(motion.zmp.values, WALK.zmp.values)


@pytest.mark.parametrize("extension", [".parquet", ".arrow", ".feather"])
def test_what_is_written_is_read_by_others(tmp_path, extension):
    """Names of joints, the order of the quaternion, values to the last bit; the same in degrees."""
    path = tmp_path / f"walk{extension}"
    assert not bm.save(WALK, path, body=BODY).problems
    is_parquet = extension == ".parquet"
    frames = [(pandas.read_parquet if is_parquet else pandas.read_feather)(path)]
    frames.append(
        (polars.read_parquet if is_parquet else polars.read_ipc)(
            path.read_bytes()
        ).to_pandas()
    )
    for frame in frames:
        assert list(frame)[:8] == [
            "time",
            *(f"root_{axis}" for axis in ("x", "y", "z", "qw", "qx", "qy", "qz")),
        ]
        pandas.testing.assert_frame_equal(frame.set_index("time"), FRAME)
    bm.save(WALK, path, body=BODY, degrees=True)
    back = bm.load_motion(path, body=BODY)
    np.testing.assert_allclose(
        back.joint_displacement.values, WALK.joint_displacement.values, atol=1e-15
    )


def test_nulls_and_options(tmp_path):
    path = tmp_path / "a.parquet"
    columns = {
        "q0": [1.0] * 3,
        "q1": [0.0] * 3,
        "KNEE": [0.1, None, None],
        "HIP": [90.0, 0.0, 0.0],
    }
    path.write_bytes(table_bytes(pa.table(columns)))
    with pytest.raises(bm.FormatError) as refused:
        bm.load(path, frame_rate=50, degrees=True)
    (problem,) = refused.value.problems
    assert problem.rule == "TAB004" and problem.data == {"row": 1, "column": "KNEE"}
    assert (
        problem.location.inside == "row 1"
        and "2 nulls in column 'KNEE'" in problem.message
    )
    names = ["a", "b", "c [deg]", "d [deg]"]
    path.write_bytes(table_bytes(pa.table({**columns, "KNEE": [0.1, np.nan, 0.2]})))
    motion = bm.load(path, frame_rate=50, columns=names, degrees=False)
    assert motion.frame_rate == 50 and motion.joint_displacement.part_labels == (
        "a",
        "b",
        "c",
        "d",
    )
    assert np.isnan(motion["c"][1]) and motion["d"][0] == np.pi / 2
    path.write_bytes(table_bytes(pa.table([[1.0], [2.0]], names=["KNEE", "KNEE"])))
    assert [problem.rule for problem in bm.check(path).problems] == ["CSV015"]


@pytest.mark.parametrize("name", ["HEAD\nPAN", "HEAD [furlong]", "", "#HEAD"])
@pytest.mark.parametrize("extension", [".csv", ".parquet"])
def test_a_name_that_is_not_written_costs_no_other_name(tmp_path, name, extension):
    """Without its names, a motion in another order than its body would be read with its joints exchanged."""
    joints = WALK.joint_displacement
    order = [3, 1, 2, 9, *range(4, 9), 0, *range(10, len(NAMES))]
    labels = tuple(name if k == 9 else NAMES[k] for k in order)
    motion = WALK.replaced(
        replace(joints, values=joints.values[:, order], part_labels=labels)
    )
    lost = bm.save(motion, tmp_path / f"a{extension}").problems
    assert [problem.rule for problem in lost] == ["LOSS009"]
    back = bm.load_motion(tmp_path / f"a{extension}")
    assert back.joint_displacement.part_labels == tuple(
        "column_3" if k == 9 else NAMES[k] for k in order
    )
    on_body = bm.load_motion(tmp_path / f"a{extension}", body=BODY)
    left_out = [
        problem.data["names"]
        for problem in on_body.problems
        if problem.rule == "MOT222"
    ]
    assert left_out == [["column_3"]]
    others = [k for k in range(len(NAMES)) if k != 9]
    found = on_body.joint_displacement.values[:, others]
    np.testing.assert_allclose(found, joints.values[:, others], atol=1e-9)


def test_tables_without_names_or_rows(tmp_path):
    """Numbers for names are none, as a table of an array has them; no rows are no frames."""
    path = tmp_path / "a.parquet"
    values = np.column_stack(
        [
            WALK.link_position.values[:, 0, [0, 1, 2, 4, 5, 6, 3]],
            WALK.joint_displacement.values,
        ]
    )
    columns = {str(k): column for k, column in enumerate(values.T)}
    path.write_bytes(table_bytes(pa.table(columns)))
    motion = bm.load_motion(path, layout="unitree", frame_rate=100)
    np.testing.assert_array_equal(
        motion.link_position.values, WALK.link_position.values
    )
    assert bm.load_motion(path, frame_rate=100) == motion
    path.write_bytes(table_bytes(TABLE.slice(0, 0)))
    assert bm.load_motion(path).num_frames == 0
    path.write_bytes(table_bytes(pa.table({})))
    assert [problem.rule for problem in bm.check(path).problems] == ["CSV015"]


def test_tables_in_folders(tmp_path, monkeypatch):
    """Motions are used; catalogues are passed over, and other tables are left out with a message."""
    for name in ("a.parquet", "deep/b.feather"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        bm.save(WALK[0:20], tmp_path / name, body=BODY)
    episodes = {
        "timestamp": [0.0, 0.1],
        "episode_index": [0, 1],
        "action": [[0.1], [0.2]],
    }
    parquet.write_table(pa.table(episodes), tmp_path / "episodes.parquet")
    parquet.write_table(pa.table({"price": [1.0]}), tmp_path / "prices.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:3000])
    (outcome,) = bm.open_collection(tmp_path)[1:2].map(_num_frames, workers=1)
    assert outcome.error.problem.rule == "FMT002"
    (tmp_path / "cut.parquet").unlink()
    for _ in range(2):
        found = bm.open_collection(tmp_path)
        assert [clip.name for clip in found] == ["a.parquet", "deep/b.feather"]
        assert [Path(path).name for path in found.left_out] == [
            "episodes.parquet",
            "prices.parquet",
        ]
        build_catalogue(found, tmp_path / "catalogue.parquet", workers=1)
    assert [outcome.value for outcome in found.map(_num_frames, workers=1)] == [20, 20]
    assert [
        problem.rule for problem in bm.check(tmp_path / "episodes.parquet").problems
    ] == ["CSV015"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"bodymotion\[data\]"):
        bm.load(tmp_path / "a.parquet")


def _num_frames(motion: bm.Motion) -> int:
    return motion.num_frames
