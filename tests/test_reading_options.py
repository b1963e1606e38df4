"""Options about an input act on the input, or are refused: every reader of motions with every option."""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from fuzz.texts import AMC, ASF, BVH

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.cli.options import reading_options
from bodymotion.collection import open_collection, write_lerobot
from bodymotion.formats.registry import FORMATS, load, named_format, unused_options
from skeleton.test_amass_files import family
from tables.arrow_files import table_bytes
from tables.test_mcap import log, state

OPTIONS = frozenset(signature(reading_options).parameters) - {
    "allow_outside",
    "time_limit",
}
"""The options about what is in a file."""
READERS = tuple(row for row in FORMATS if row.holds in ("Motion", "Skeleton"))
Content = str | bytes


def command(*words: object) -> tuple[int, str]:
    """Return the exit code of a command, and what it prints."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


@dataclass(frozen=True)
class Case:
    """A file, an option, and what is expected of the value that is read with it; `expected` is None where it is refused."""

    name: str
    content: Content
    value: object
    see: Callable[[object], object] = len
    expected: object = None
    others: dict[str, object] = field(default_factory=dict)
    beside: dict[str, Content] = field(default_factory=dict)

    def load(self, folder: Path, row: str, **options: object) -> object:
        """Read the file with these options; an option that is a name beside it is its path."""
        for name, content in ({self.name: self.content} | self.beside).items():
            data = content.encode() if isinstance(content, str) else content
            (folder / name).write_bytes(data)
        named = {
            key: folder / one if isinstance(one, str) and one in self.beside else one
            for key, one in (self.others | options).items()
        }
        return load(folder / self.name, format=row, **named)


def archive(**arrays: object) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def joints(motion: object) -> float:
    return motion.joint_displacement.values[1, 0]


def names(motion: object) -> tuple[str, ...]:
    return motion.joint_displacement.part_labels


def rate(value: object) -> float:
    return value.frame_rate


def times(motion: object) -> list[float]:
    return motion.timeline.times.tolist()


def w_of_root(motion: object) -> float:
    return motion.link_position.values[0, 0, 3]


BARE = "time,A\n0,0\n0.5,90\n"
STATED = "time,A [deg]\n0,0\n0.5,90\n"
UNTIMED = "A [rad],B [rad]\n0,0\n1,0\n"
OPEN_ORDER = "root_x,root_y,root_z,root_q0,root_q1,root_q2,root_q3,time\n0,0,1,0.6,0,0,0.8,0\n0,0,1,0.6,0,0,0.8,1\n"
UNITREE = "0,0,0.8,0,0,0,1,0.5\n0,0,0.8,0,0,0,1,0.75\n"
LATE = "time,A [rad]\n4,0\n4.5,1\n"
GMR = {
    "root_pos": np.zeros((2, 3)),
    "root_rot": np.array([[0.6, 0, 0, 0.8]] * 2),
    "dof_pos": np.array([[0.0], [90.0]]),
    "fps": 30,
    "joint_names": np.array(["A"]),
}
BODIES = {
    "joint_pos": GMR["dof_pos"],
    "body_pos_w": np.zeros((2, 2, 3)),
    "body_quat_w": np.array([[[1.0, 0, 0, 0]] * 2] * 2),
    "fps": [50],
    "joint_names": np.array(["A"]),
}
LINKS_ONLY = {"link_position": np.array([[[0, 0, 1, 1.0, 0, 0, 0]]] * 2), "fps": 30}
JOINTS_ONLY = {"joint_displacement": GMR["dof_pos"], "fps": 30}
SHAPED, MODEL = family(24)


def in_parquet(text: str) -> bytes:
    """Return the table of a text as Parquet."""
    header, *rows = text.splitlines()
    columns = np.array([[float(cell) for cell in row.split(",")] for row in rows]).T
    return table_bytes(pa.table(dict(zip(header.split(","), columns, strict=True))))


def in_tables(option: str, *cases: Case) -> dict[tuple[str, str], tuple[Case, ...]]:
    """Return the cases for text and, where the table has names, for Parquet."""
    found = {("csv", option): cases}
    named = [one for one in cases if not str(one.content).startswith("0")]
    found["parquet", option] = tuple(
        Case(
            "a.parquet",
            in_parquet(one.content),
            one.value,
            one.see,
            one.expected,
            one.others,
        )
        for one in named
    )
    return found


def in_arrays(
    option: str,
    value: object,
    see: Callable[[object], object],
    *cases: tuple[dict[str, object], object],
) -> dict[tuple[str, str], tuple[Case, ...]]:
    """Return the cases for archives and pickles."""
    return {
        ("npz", option): tuple(
            Case("a.npz", archive(**arrays), value, see, expected)
            for arrays, expected in cases
        ),
        ("pickle", option): tuple(
            Case("a.pkl", pickle.dumps(arrays), value, see, expected)
            for arrays, expected in cases
        ),
    }


AMASS = archive(**SHAPED)
CASES: dict[tuple[str, str], tuple[Case, ...]] = {
    **in_tables(
        "degrees",
        Case("a.csv", BARE, True, joints, math.pi / 2),
        Case("a.csv", BARE, False, joints, 90),
        Case("a.csv", STATED, True, joints, math.pi / 2),
        Case("a.csv", STATED, False),
        Case("a.csv", STATED.replace("deg", "rad"), True),
        Case("a.csv", STATED.replace("deg", "m"), True),
    ),
    **in_tables("columns", Case("a.csv", STATED, ["time", "B [deg]"], names, ("B",))),
    **in_tables("frame_rate", Case("a.csv", UNTIMED, 50.0, rate, 50)),
    **in_tables("from_zero", Case("a.csv", LATE, True, times, [0, 0.5])),
    **in_tables(
        "quaternion_order",
        Case("a.csv", OPEN_ORDER, "wxyz", w_of_root, 0.6),
        Case("a.csv", OPEN_ORDER, "xyzw", w_of_root, 0.8),
        Case("a.csv", UNITREE, "wxyz", w_of_root, 0),
        Case("a.csv", BARE, "wxyz", others={"degrees": False}),
    ),
    **in_tables(
        "layout",
        Case("a.csv", UNITREE, "unitree", rate, 30),
        Case("a.csv", BARE, "unitree"),
    ),
    **in_arrays(
        "degrees",
        True,
        joints,
        (GMR, math.pi / 2),
        (JOINTS_ONLY, math.pi / 2),
        (LINKS_ONLY, None),
        ({"q_A": np.array([0.0, 90.0]), "fps": 30}, None),
    ),
    **in_arrays(
        "joint_names",
        ["B"],
        names,
        (GMR, ("B",)),
        (JOINTS_ONLY, ("B",)),
        (LINKS_ONLY, None),
    ),
    **in_arrays(
        "link_names",
        ["P", "Q"],
        lambda motion: motion.link_position.part_labels,
        (BODIES, ("P", "Q")),
        (JOINTS_ONLY, None),
        ({"qpos": np.eye(9)[[3, 3]], "fps": 30, "joint_names": ["A", "B"]}, None),
    ),
    **in_arrays("frame_rate", 50.0, rate, (GMR, 50), (JOINTS_ONLY, 50)),
    **in_arrays(
        "quaternion_order",
        "xyzw",
        w_of_root,
        (GMR, 0.8),
        (BODIES, 0),
        (JOINTS_ONLY, None),
        (LINKS_ONLY, None),
    ),
    ("mcap", "topic"): (
        Case("a.mcap", log(state("A"), ("/b", state("B")[1])), "/b", names, ("B",)),
        Case("a.mcap", log(state("A")), "/b"),
    ),
    ("mcap", "from_zero"): (
        Case(
            "a.mcap", log(state("A"), state("A"), start=10**9), True, times, [0, 0.01]
        ),
    ),
    ("openhrp-text", "from_zero"): (
        Case("a.pos", "4 0.1\n4.5 0.2\n", True, times, [0, 0.5]),
    ),
    ("bvh", "unit"): (Case("a.bvh", BVH, 1.0, lambda clip: clip.unit, 1.0),),
    ("bvh", "up"): (Case("a.bvh", BVH, "X", lambda clip: clip.up, "X"),),
    ("bvh", "frame_rate"): (Case("a.bvh", BVH, 50.0, rate, 50),),
    ("asf", "frame_rate"): (Case("a.amc", AMC, 50.0, rate, 50, beside={"a.asf": ASF}),),
    ("asf", "asf"): (
        Case("b.amc", AMC, "c.asf", len, 2, beside={"c.asf": ASF, "d.asf": "faulty"}),
    ),
    ("amass", "frame_rate"): (Case("a.npz", AMASS, 50.0, rate, 50),),
    ("amass", "up"): (Case("a.npz", AMASS, "-Y", lambda clip: clip.up, "-Y"),),
    ("amass", "body_model"): (
        Case(
            "a.npz",
            AMASS,
            "m.npz",
            lambda clip: clip.lengths_are_known,
            True,
            beside={"m.npz": archive(**MODEL)},
        ),
    ),
}
"""For each reader of motions and each of its options: files on which it acts, and files for which it is refused."""
SAME_READER = {"rosbag2": "mcap"}


def test_every_option_of_a_reader_is_tried():
    """The table has a row for each option of each reader of motions."""
    of_readers = {
        (row.name, option)
        for row in READERS
        for option in row.read.options & OPTIONS
        if row.name not in SAME_READER
    }
    assert of_readers == {*CASES}


@pytest.mark.parametrize(
    ("row", "option", "case"),
    [(*key, case) for key, cases in CASES.items() for case in cases],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_options_act_or_are_refused(row, option, case, tmp_path):
    if case.expected is None:
        with pytest.raises(bm.FormatError) as caught:
            case.load(tmp_path, row, **{option: case.value})
        assert any(
            one.data.get("option") == option or one.rule in ("CSV007", "MCP101")
            for one in caught.value.problems
        )
    else:
        value = case.load(tmp_path, row, **{option: case.value})
        assert case.see(value) == pytest.approx(case.expected)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_options_of_other_readers_are_refused(row, tmp_path):
    """`load` raises a TypeError, and a command wrong use, for an option that the reader of the file does not have."""
    for option in OPTIONS - row.read.options:
        assert option in unused_options({option: 1}, [row])
        with pytest.raises(TypeError, match=option):
            named_format(row.name).read(tmp_path / "a", **{option: 1})


def test_commands_refuse_options_of_other_readers(tmp_path):
    bm.save(bm.Motion.from_joints(np.zeros((2, 1)), 10), tmp_path / "a.seq")
    for line in (
        ["info", "a.seq"],
        ["check", "a.seq"],
        ["convert", "a.seq", "b.seq"],
        ["retime", "a.seq", "b.seq", "--rate", "5"],
        ["edit", "a.seq", "b.seq", "--reverse"],
    ):
        words = [tmp_path / one if ".seq" in one else one for one in line]
        code, printed = command(*words, "--input-degrees")
        assert code == 2 and "--input-degrees" in printed
    assert not (tmp_path / "b.seq").exists()


def test_degrees_of_a_data_set(tmp_path):
    """Angles of an episode, and of features with the same names, become radians; -50° is -0.8727 rad in what is written."""
    motion = bm.Motion.from_joints([[-50.0, 100.0]] * 12, 100, joint_names=["A", "B"])
    action = bm.MultiValueSeq(
        content="action",
        timeline=motion.timeline,
        values=[[-50.0, 7.0]] * 12,
        part_labels=("A", "C"),
    )
    write_lerobot([motion.replaced(*motion.components, action)], tmp_path / "set")
    (clip,) = open_collection(tmp_path / "set")
    plain, read = clip.load(), clip.load(degrees=True)
    np.testing.assert_allclose(
        read.joint_displacement.values[0], np.radians([-50, 100])
    )
    (found,) = (one for one in read.components if one.content == "action")
    np.testing.assert_allclose(found.values[0], [np.radians(-50), 7])
    assert [one.rule for one in plain.problems] == ["TAB106"]
    assert plain.joint_displacement.values[0, 0] == -50 and not read.problems
    assert clip.load(degrees=False) == plain
    with pytest.raises(TypeError, match="frame_rate"):
        clip.load(frame_rate=5)
    words = (tmp_path / "set", f"{tmp_path / 'out'}/", "--to", "csv", "--workers", "1")
    assert command("convert", *words, "--input-degrees")[0] in (0, 3)
    (table,) = (tmp_path / "out").glob("*.csv")
    again = bm.load_motion(table)
    np.testing.assert_allclose(
        again.joint_displacement.values[0], np.radians([-50, 100])
    )


@pytest.mark.parametrize("case", ["ds_so101", "deg.pkl"])
def test_degrees_of_strangers(case, strangers, tmp_path):
    """What is written is in radians: 180 / pi times smaller than without the option."""
    given = strangers / "13" / case
    out = tmp_path / "out"
    words = [str(given), f"{out}/" if given.is_dir() else f"{out}.csv"]
    words += ["--to", "csv", "--workers", "1"] if given.is_dir() else []
    assert command("convert", *words, "--input-degrees")[0] in (0, 3)
    (table,) = tmp_path.rglob("*.csv")
    plain = open_collection(given)[0].load() if given.is_dir() else bm.load(given)
    np.testing.assert_allclose(
        bm.load_motion(table).joint_displacement.values,
        np.radians(plain.joint_displacement.values),
    )


def test_units_of_input_and_output(tmp_path):
    """--input-degrees is about IN, --output-degrees about OUT; --degrees is refused where both have a unit."""
    (tmp_path / "a.csv").write_text("time,A\n0,90\n0.5,180\n")

    def convert(*options: str, out: str = "b.csv") -> int:
        return command("convert", tmp_path / "a.csv", tmp_path / out, *options)[0]

    assert convert("--degrees") == 2 and not (tmp_path / "b.csv").exists()
    assert convert("--output-degrees", out="b.seq") == 2
    assert convert("--input-degrees") == 0
    assert "A [rad" in (tmp_path / "b.csv").read_text()
    assert joints(bm.load(tmp_path / "b.csv")) == pytest.approx(math.pi)
    assert convert("--input-radians", "--output-degrees") == 0
    assert "A [deg]" in (tmp_path / "b.csv").read_text()
    assert joints(bm.load(tmp_path / "b.csv")) == pytest.approx(180)
    assert convert("--degrees", out="b.seq") == 0
    assert joints(bm.load(tmp_path / "b.seq")) == pytest.approx(math.pi)


def test_options_of_a_catalogue(tmp_path):
    """An option that no reader of the motions has is wrong use; one of some of them goes to these."""
    folder = tmp_path / "walks"
    folder.mkdir()
    bm.save(bm.Motion.from_joints(np.zeros((2, 1)), 10), folder / "a.seq")
    words = ("catalogue", folder, "-o", tmp_path / "c.parquet", "--workers", "1")
    code, printed = command(*words, "--input-degrees")
    assert code == 2 and "--input-degrees" in printed
    (folder / "b.csv").write_text("time,A,B\n0,0,0\n0.5,90,90\n1,90,90\n")
    assert command(*words, "--input-degrees")[0] == 0
    assert command(*words, "--up", "Y")[0] == 2
