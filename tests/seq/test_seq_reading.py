"""What a motion holds beside its numbers: names, times, sources, unknown things; and large or hostile files."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from seq_texts import NAMES, by_yaml, header, joints

import bodymotion as bm
from bodymotion import FormatError
from bodymotion.formats.seq import open_motion, parse_seq
from bodymotion.formats.sniffing import looks_like_seq

VALUES = "  - {{type: MultiValueSeq, content: {}, numParts: 1, frames: [[1], [2]]}}\n"


def read(text: str) -> bm.Motion:
    motion = parse_seq(text.encode())
    assert motion == by_yaml(text.encode())
    return motion


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_contents_have_the_names_of_version_2(version):
    joint, link, zmp = NAMES[version]
    text = VALUES.format(joint)
    text += f"  - {{type: MultiSE3Seq, content: {link}, numParts: 1, SE3Format: XYZRPY, frames: [[[1, 2, 3, 0, 0, 0]]]}}\n"
    text += f"  - {{type: Vector3Seq, content: {zmp}, frames: [[1, 2, 3]]}}\n"
    motion = read(header(text, version))
    assert [c.content for c in motion.components] == [
        "JointDisplacement",
        "LinkPosition",
        "ZMP",
    ]
    assert motion.source.version == str(version)
    assert motion.source.format == "seq"
    assert motion.source.options == {
        "style": "block",
        "frame_rate": 100.0,
        "se3_formats": (None, "XYZRPY", None),
    }


def test_zmp_of_version_4_by_both_names():
    motion = read(
        header(
            "  - {type: Vector3Seq, content: ZMPSeq, is_root_relative: true, frames: [[1, 2, 3]]}\n",
            4,
        )
    )
    assert motion.zmp.is_root_relative


@pytest.mark.parametrize("name", ["RelativeZMP", "RelativeZmp"])
def test_root_relative_zmp_by_its_name(name):
    assert read(
        header(f"  - {{type: Vector3Seq, purpose: {name}, frames: [[1, 2, 3]]}}\n", 1)
    ).zmp.is_root_relative
    other = read(
        header(f"  - {{type: Vector3Seq, content: {name}, frames: [[1, 2, 3]]}}\n", 2)
    )
    assert other.zmp is None
    assert other.components[0].content == name


@pytest.mark.parametrize("kind", ["MultiSe3Seq", "MultiAffine3Seq"])
def test_old_names_of_se3_only_in_version_1(kind):
    text = f"  - {{type: {kind}, content: LinkPosition, numParts: 1, format: XYZQXQYQZQW, frames: [[[1, 2, 3, 4, 5, 6, 7]]]}}\n"
    assert np.array_equal(
        read(header(text, 1)).link_position.values, [[[1, 2, 3, 7, 4, 5, 6]]]
    )
    other = read(header(text, 2))
    assert isinstance(other.components[0], bm.motion.OtherSeq)
    assert other.components[0].extra["frames"] == [[[1, 2, 3, 4, 5, 6, 7]]]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_the_scalar_part_may_stand_last_in_every_version(version):
    key = "format" if version == 1 else "SE3Format"
    text = f"  - {{type: MultiSE3Seq, content: X, numParts: 1, {key}: XYZQXQYQZQW, frames: [[[1, 2, 3, 4, 5, 6, 7]]]}}\n"
    assert np.array_equal(
        read(header(text, version)).components[0].values, [[[1, 2, 3, 7, 4, 5, 6]]]
    )


@pytest.mark.parametrize("version", [1, 2, 3, 4])
@pytest.mark.parametrize("key", ["SE3Format", "Se3Format", "se3_format", "format"])
def test_the_order_of_poses_by_all_its_names(version, key):
    text = "  - {{type: MultiSE3Seq, content: X, numParts: 1, {}frames: [[[1, 2, 3, 4, 5, 6, 7]]]}}\n"
    own = read(header(text.format(f"{key}: XYZQXQYQZQW, "), version))
    top = read(header(text.format(""), version, f"frameRate: 1\n{key}: XYZQXQYQZQW"))
    for motion in (own, top):
        assert np.array_equal(motion.components[0].values, [[[1, 2, 3, 7, 4, 5, 6]]])
        assert not motion.problems
        assert not motion.extra
        assert not motion.components[0].extra


@pytest.mark.parametrize("key", ["partLabels", "part_labels"])
def test_part_labels_of_the_top_go_to_components_of_as_many_parts(key):
    text = "  - {type: MultiValueSeq, content: JointDisplacement, numParts: 2, frames: [[1, 2]]}\n"
    text += "  - {type: MultiValueSeq, content: JointEffort, numParts: 2, partLabels: [c, d], frames: [[1, 2]]}\n"
    text += "  - {type: Vector3Seq, content: ZMP, frames: [[1, 2, 3]]}\n"
    motion = read(header(text, rate=f"frameRate: 1\n{key}: [a, b]"))
    assert [component.part_labels for component in motion.components] == [
        ("a", "b"),
        ("c", "d"),
        (),
    ]
    assert not motion.problems
    assert not motion.extra
    none = read(header(text, rate=f"frameRate: 1\n{key}: [a, b, c, d]"))
    assert [component.part_labels for component in none.components] == [
        (),
        ("c", "d"),
        (),
    ]
    assert none.extra == {"partLabels": ["a", "b", "c", "d"]}


def test_roll_pitch_yaw():
    half = np.pi / 2
    row = f"[[1, 2, 3, {half!r}, 0, 0], [1, 2, 3, 0, {half!r}, 0], [1, 2, 3, 0, 0, {half!r}], [0, 0, 0, 0.1, 0.2, 0.3]]"
    text = f"  - {{type: MultiSE3Seq, content: LinkPosition, numParts: 4, SE3Format: XYZRPY, frames: [{row}]}}\n"
    poses = read(header(text)).link_position.values[0]
    s = np.sqrt(0.5)
    wanted = [
        [s, s, 0, 0],
        [s, 0, s, 0],
        [s, 0, 0, s],
        [
            0.9833474432563558,
            0.0342707985504821,
            0.10602051106179564,
            0.1435721750273919,
        ],
    ]
    assert np.abs(poses[:, 3:] - wanted).max() < 1e-15


def test_stamped_frames():
    text = "  - {type: MultiValueSeq, content: JointEffort, numParts: 1, hasFrameTime: true, frames: [[-0.5, 1], [0.25, 2], [7, 3]]}\n"
    bare = read(header(text, rate="note: x"))
    assert bare.frame_rate is None
    assert bare.timeline.import_rate is None
    assert np.array_equal(bare.times, [-0.5, 0.25, 7])
    assert read(header(text)).timeline.import_rate == 100
    assert (
        read(
            header(
                text.replace("hasFrameTime: true, ", ""),
                rate="frameRate: 5\nhasFrameTime: yes",
            ).replace("numParts: 1", "num_parts: 1")
        ).times[1]
        == 0.25
    )


def test_keys_are_inherited_from_the_top():
    top = "frame_rate: 50\nnumParts: 2\nhas_frame_time: true\nSE3Format: XYZRPY\nisRootRelative: true"
    text = (
        "  - {type: MultiValueSeq, content: JointDisplacement, frames: [[0, 1, 2]]}\n"
    )
    text += "  - {type: MultiValueSeq, content: JointEffort, numParts: 1, hasFrameTime: false, frames: [[1]]}\n"
    text += "  - {type: MultiSE3Seq, content: LinkPosition, numParts: 1, frames: [[0, [1, 2, 3, 0, 0, 0]]]}\n"
    text += "  - {type: Vector3Seq, content: ZMP, frames: [[0, 1, 2, 3]]}\n"
    motion = read(header(text, rate=top))
    joints, efforts, links, zmp = motion.components
    assert joints.num_parts == 2
    assert joints.timeline.import_rate == 50
    assert efforts.timeline.frame_rate == 50
    assert links.values.shape == (1, 1, 7)
    assert zmp.is_root_relative
    assert not motion.problems


def test_unknown_things_are_kept():
    text = VALUES.format("Fingers").replace(
        "numParts",
        "part_labels: [thumb], offset_time: 1.5, note: {a: [1, x, null]}, numParts",
    )
    text += "  - {type: FooSeq, content: Bar, frames: [[1, a], [2, b]], 7: seven}\n"
    motion = read(header(text, rate='frameRate: 100\nauthor: "7"\nframes: [1, 2]'))
    fingers, other = motion.components
    assert fingers.part_labels == ("thumb",)
    assert fingers.extra == {"offset_time": 1.5, "note": {"a": [1, "x", None]}}
    assert motion.extra == {"author": "7", "frames": [1, 2]}
    kept = {"frames": [[1, "a"], [2, "b"]], "7": "seven", "frameRate": 100}
    assert other == bm.motion.OtherSeq(type="FooSeq", content="Bar", extra=kept)


@pytest.mark.parametrize(
    ("name", "content", "version"),
    [("RelativeZMP", "ZMP", "1"), ("ZMPSeq", "ZMP", "4"), ("ZMP", "ZMP", "2")],
)
def test_the_version_that_is_missing_is_that_of_the_names(name, content, version):
    text = header(
        f"  - {{type: Vector3Seq, content: {name}, frames: [[1, 2, 3]]}}\n"
    ).replace("formatVersion: 2\n", "")
    motion = parse_seq(text.encode())
    assert (motion.source.version, motion.components[0].content) == (version, content)
    assert motion.zmp.is_root_relative == (version == "1")


def test_a_component_of_two_that_share_a_content_is_the_last():
    motion = read(
        header(
            VALUES.format("JointDisplacement")
            + VALUES.format("JointDisplacement").replace("[2]", "[3]")
        )
    )
    assert len(motion.components) == 2
    assert motion.joint_displacement.values[1, 0] == 3


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("cp932", "cp932"),
        ("euc-jp", "cp932"),
    ],
)
def test_encodings(encoding, named):
    text = "# 歩行パターン\n" + joints("\n      - [ 1, 2 ] # 最初\n      - [ 3, 4 ]\n")
    data = text.encode(encoding)
    assert looks_like_seq(data)
    motion = parse_seq(data)
    assert np.array_equal(motion.joint_displacement.values, [[1, 2], [3, 4]])
    assert motion.source.encoding == named
    assert [p.rule for p in motion.problems] == (["FMT011"] if named == "cp932" else [])


def test_lines_may_end_in_carriage_returns_alone():
    motion = parse_seq(joints("\n      - [ 1, 2 ]\n").replace("\n", "\r").encode())
    assert np.array_equal(motion.joint_displacement.values, [[1, 2]])


@pytest.mark.parametrize("note", ["", " # x", " # frames:", "\n      # frames: [["])
def test_rows_of_lines_that_end_in_carriage_returns(note, tmp_path, monkeypatch):
    """As fast and as large as others, notes that look like keys included; places are counted by these lines."""
    monkeypatch.setattr("bodymotion.formats.seq.document.MAX_WHOLE", 1000)
    rows = f"      - [ 0.5, 0.25 ]{note}\n" * 20_000
    data = joints("\n" + rows + "      - [ 1, nan ]\n").replace("\n", "\r").encode()
    path = tmp_path / "motion.seq"
    path.write_bytes(data)
    for motion in (parse_seq(data), bm.load(path)):
        values = motion.joint_displacement.values
        assert values.shape == (20_001, 2)
        assert (values[:-1] == [0.5, 0.25]).all()
        found = motion.source.locations.locate(("components", 0, "frames", 20_000))
        line = 11 + rows.count("\n")
        assert (found.line, found.column) == (line, 9)


@pytest.mark.parametrize("size", range(65530, 65540))
def test_carriage_returns_among_other_line_ends(size, tmp_path):
    """A line may end in any way, also where a piece of the file ends."""
    head = "# " + "x" * (size - 3) + "\r"
    rows = "\r\n      - [ 1, 2 ] # a\r      - [ 3, 4 ]\n      - [ 5, 6 ]\r\r\n      - [ 7, 8 ]\r"
    path = tmp_path / "motion.seq"
    for data in (
        head + joints(rows),
        head.replace("\r", "\n") + joints(rows),
        head.replace("\r", "\r\n") + joints(rows),
    ):
        path.write_bytes(data.encode())
        wanted = [[1, 2], [3, 4], [5, 6], [7, 8]]
        assert parse_seq(data.encode()).joint_displacement.values.tolist() == wanted
        assert bm.load(path).joint_displacement.values.tolist() == wanted


@pytest.mark.parametrize(
    "others", ["", "      - [ 3, 4 ]\n", "      -  [ 3, 4 ] # x\n"]
)
def test_a_carriage_return_before_a_row_is_a_line_end(others):
    for between in ("\r", " # x\r"):
        text = joints(f"\n{others}      - {between}[ 1, 2 ]\n{others}")
        with pytest.raises(FormatError, match="YAML101"):
            by_yaml(text.encode())
        with pytest.raises(FormatError, match="YAML101"):
            parse_seq(text.encode())
        values = read(text.replace("\r", "\r         ")).joint_displacement.values
        assert values[int(bool(others))].tolist() == [1, 2]


def test_keys_on_long_lines_are_searched_once():
    """Texts full of what looks like keys of rows: by the square of their length these would take minutes."""
    for note in (
        "[[ # frames: " * 40_000,
        "{" + "frames: 5, " * 40_000 + "}",
        '"' + '\\"' * 40_000 + ' # frames: [["',
    ):
        text = f"note: {note}\n" if note[0] != "[" else f"# frames: {note}\n"
        motion = parse_seq((joints("\n      - [ 1, 2 ]\n") + text).encode())
        assert motion.joint_displacement.values.tolist() == [[1, 2]]


def test_known_by_its_content():
    assert looks_like_seq(b'{"components": [{"frames": [[1]], "type": "Vector3Seq"}]}')
    assert looks_like_seq(b"# x\ntype : 'BodyMotion'\n")
    assert not looks_like_seq(b"type: PoseSeq\nrefs:\n  - refer: {type: Pose}\n")
    assert not looks_like_seq(b"type: MultiValueSequence\n")
    assert not looks_like_seq(b"#VRML V2.0 utf8\n")


ROWS_FIRST = {
    "lines": "components:\n  - frames:  # many\n      - [ 0.5, 2 ]\n{}    type: MultiValueSeq\n",
    "blocks": "components:\n- frames:\n  - - -1\n    - 2\n{}  type: MultiValueSeq\n",
    "poses": "components:\n- num_parts: 1\n  frames:\n  - - - -.5\n      - 2\n{}",
    "flow": '{{"components": [{{"frames": [[0.5, 2],\n{}[3, 4]], "type": "MultiValueSeq"}}]}}',
    "bare": "numParts: 2\nframes: [[ nan, 1 ],\n{}[3, 4]]\ntype: MultiValueSeq\n",
}


@pytest.mark.parametrize("style", ROWS_FIRST)
def test_known_by_its_rows_where_types_stand_far_away(style):
    assert looks_like_seq(ROWS_FIRST[style].format("").partition("type")[0].encode())


def test_not_known_by_what_others_have_too():
    assert looks_like_seq(b"content: BodyMotion\nformatVersion: 2\n")
    assert not looks_like_seq(
        b"format: ChoreonoidBody\nformatVersion: 2.0\nname: x\nlinks:\n  - name: y\n"
    )
    assert not looks_like_seq(
        b"components:\n  schemas:\n    frames: [1, 2]\n    frameRate: 5\n"
    )
    assert not looks_like_seq(
        b"components:\n  schemas:\n    frames: [[a], [b]]\n    frameRate: 5\n"
    )
    assert not looks_like_seq(b"frames: [[1, 2], [3, 4]]\n")
    assert not looks_like_seq(b"frames: # frames: [ " * 50_000)


def test_a_file_without_extension_whose_type_stands_late(tmp_path):
    text = joints("\n      - [ 1, 2 ]\n")
    top, components = text.split("components:")
    keys, rows = components.removeprefix("\n  -\n").split("    frames:\n")
    late = "components:\n  -\n    frames:\n" + rows * 10_000 + keys + top
    path = tmp_path / "walk.log"
    for content, rows in (("# a long story\n" * 10_000 + text, 1), (late, 10_000)):
        path.write_text(content)
        assert bm.load(path).num_frames == rows


def test_frames_in_a_text_are_a_text():
    text = "note: |\n  frames:\n    - [1, 2]\n    - [3, 4]\n# frames: [[\n" + joints(
        "\n      - [ 1, 2 ]\n"
    )
    motion = read(text)
    assert motion.extra == {"note": "frames:\n  - [1, 2]\n  - [3, 4]\n"}


def test_aliases_and_anchors():
    rows = "base: &rows [[1], [2]]\n" + header(
        VALUES.format("JointDisplacement").replace("[[1], [2]]", "*rows")
    )
    assert np.array_equal(read(rows).joint_displacement.values, [[1], [2]])
    twice = header(
        "  - &c {type: Vector3Seq, content: ZMP, frames: [[1, 2, 3]]}\n  - *c\n"
    )
    first, second = read(twice).components
    assert first == second
    row = header(
        VALUES.format("JointDisplacement").replace("[[1], [2]]", "[&r [5], *r, *r]")
    )
    assert np.array_equal(read(row).joint_displacement.values, [[5], [5], [5]])


def test_merge_keys():
    text = header(
        "  - {<<: *base, content: JointEffort, frames: [[1]]}\n",
        rate="base: &base {type: MultiValueSeq, numParts: 1, frameRate: 7, content: X, a: b}",
    )
    (component,) = read(text).components
    assert (component.content, component.timeline.frame_rate, component.extra) == (
        "JointEffort",
        7,
        {"a": "b"},
    )


@pytest.mark.parametrize("kind", ["MultiValueSeq", "MultiSE3Seq"])
def test_a_number_of_parts_that_no_row_has_takes_no_memory(kind):
    text = f"  - {{type: {kind}, content: X, numParts: 100000000, SE3Format: XYZRPY, frames: [{', '.join(['[1, 2]'] * 1000)}]}}\n"
    for read_text in (parse_seq, by_yaml):
        with pytest.raises(FormatError, match=r"SEQ11[05]"):
            read_text(header(text).encode())


def test_alias_bombs_do_not_go_off():
    bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n"
    for k in range(1, 12):
        bomb += f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 8)}]\n"
    row = f"r: &r [{', '.join(['1'] * 3000)}]\n"
    many = header(
        f"  - {{type: MultiValueSeq, content: X, numParts: 3000, frames: [{', '.join(['*r'] * 30000)}]}}\n"
    )
    chain = "c0: &c0 [1]\n" + "".join(
        f"c{k}: &c{k} [[[[[[[[*c{k - 1}]]]]]]]]\n" for k in range(1, 3000)
    )
    for text in (bomb + header(""), row + many, chain + header("")):
        with pytest.raises(FormatError, match="YAML102"):
            parse_seq(text.encode())


def test_components_that_share_frames_share_memory():
    text = header(
        "  - &c {type: Vector3Seq, content: ZMP, frames: [[1, 2, 3]]}\n"
        + "  - *c\n" * 50
    )
    arrays = {
        c.values.__array_interface__["data"][0]
        for c in parse_seq(text.encode()).components
    }
    assert len(arrays) == 1


def test_values_are_read_only():
    motion = parse_seq(joints("\n      - [ 1, 2 ]\n").encode())
    with pytest.raises(ValueError, match="read-only"):
        motion.joint_displacement.values[0, 0] = 1


LARGE = """
import re, sys
from bodymotion.formats.seq import open_motion, read_seq

def peak():
    return int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1]) * 1024

path, what = sys.argv[1:]
before = peak()
if what == "load":
    arrays = sum(c.values.nbytes for c in read_seq(path).require().components)
else:
    arrays = 0
    with open_motion(path) as reader:
        assert reader.components[0].num_frames == 60000
        rows = sum(c.components[0].num_frames for c in reader.chunks(5000))
        assert rows == 60000
        reader.ranges()
print(peak() - before, arrays)
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"),
    reason="the peak of memory is read as Linux tells it",
)
@pytest.mark.parametrize("what", ["load", "open"])
@pytest.mark.parametrize("style", ["block", "json"])
def test_memory_is_bounded(tmp_path, what, style):
    """A file of about 30 MB: loading takes its arrays and little more, reading in chunks takes little."""
    path = tmp_path / "large.seq"
    row = "[ " + ", ".join(["-0.123456789"] * 35) + " ]"
    with path.open("w") as file:
        if style == "block":
            file.write(joints("\n", 35))
            for _ in range(60):
                file.write(f"      - {row}\n" * 1000)
        else:
            file.write(
                '{"type": "CompositeSeq", "formatVersion": 2, "frameRate": 1, "components": [{"frames": ['
            )
            file.write(",".join([row] * 60000))
            file.write(
                '], "type": "MultiValueSeq", "content": "JointDisplacement", "numParts": 35}]}'
            )
    said = subprocess.run(
        [sys.executable, "-c", LARGE, str(path), what],
        capture_output=True,
        text=True,
        check=True,
    )
    extra, arrays = (int(word) for word in said.stdout.split())
    assert arrays == (60000 * 35 * 8 if what == "load" else 0)
    assert extra < 1.3 * arrays + 20e6


def test_reader_shows_headers_without_rows(tmp_path):
    path = tmp_path / "motion.seq"
    path.write_text(
        joints("\n      - [ 1, 2 ]\n      - [ 3, 4 ]\n      - [ 5, nan ]\n")
        + "    note: x\n"
    )
    with bm.open_motion(path) as reader:
        (component,) = reader.components
        assert (
            component.type,
            component.content,
            component.num_parts,
            component.num_frames,
        ) == (
            "MultiValueSeq",
            "JointDisplacement",
            2,
            3,
        )
        assert component.frame_rate == 100
        assert component.extra == {"note": "x"}
        assert not reader.problems
        assert reader.end_times() == ((0.0, 0.02),)
        first, second = reader.chunks(2)
        assert (first.first_frame, second.first_frame) == (0, 2)
        assert np.isnan(second.components[0].values[0, 1])
        ((low, high),) = reader.ranges()
        assert np.array_equal(low, [1, 2])
        assert np.array_equal(high, [5, 4])
        with pytest.raises(ValueError, match="at least one"):
            next(reader.chunks(0))


def test_a_fault_far_into_the_file_shows_when_its_rows_are_read(tmp_path):
    path = tmp_path / "motion.seq"
    rows = "      - [ 1, 2 ]\n" * 60000
    path.write_text(joints("\n" + rows + "      - [ 1, 2, 3 ]\n"))
    with bm.open_motion(path) as reader:
        chunks = reader.chunks(15000)
        assert next(chunks).num_frames == 15000
        with pytest.raises(FormatError, match="SEQ110") as caught:
            list(chunks)
    assert caught.value.problem.location.line == 60011
    path.write_text(
        joints("\n" + rows + "      - [ 1, &a 2 ]\n")
    )  # an anchor: only a full parse knows
    with bm.open_motion(path) as reader:
        assert [chunk.num_frames for chunk in reader.chunks(25000)] == [
            25000,
            25000,
            10001,
        ]


def test_rows_of_any_length(tmp_path):
    """Rows longer than the pieces that a file is read in, in both shapes."""
    row = ", ".join(str(k) for k in range(60000))
    for text in (
        joints(f"\n      - [ {row} ]\n      - [ {row} ]\n", 60000),
        joints(f" [[{row}], [{row}]]\n", 60000),
    ):
        values = parse_seq(text.encode()).joint_displacement.values
        assert np.array_equal(values, [np.arange(60000)] * 2)


def test_empty_motions():
    assert (
        read("type: CompositeSeq\nformatVersion: 2\ncomponents: []\n").components == ()
    )
    none = read(
        header(
            "  - {type: MultiSE3Seq, content: LinkPosition, numParts: 3, SE3Format: XYZRPY, frames: []}\n"
        )
    )
    assert none.link_position.values.shape == (0, 3, 7)
    zero = read(
        header(
            "  - {type: MultiValueSeq, content: JointDisplacement, numParts: 0, frames: [[], []]}\n"
        )
    )
    assert zero.joint_displacement.values.shape == (2, 0)
    bare = read(
        "type: MultiValueSeq\ncontent: JointEffort\nformatVersion: 2\nframeRate: 10\nnumParts: 1\nframes: [[1]]\n"
    )
    assert bare.components[0].values[0, 0] == 1


def test_open_motion_closes_its_file_when_it_fails(tmp_path):
    path = tmp_path / "bad.seq"
    path.write_text("type: Other\n")
    with pytest.raises(FormatError, match="SEQ003"):
        open_motion(path)


def test_end_times_of_stamped_frames(tmp_path):
    path = tmp_path / "motion.seq"
    path.write_text(
        header(
            "  - {type: Vector3Seq, content: ZMP, hasFrameTime: true, frames: [[0.5, 1, 2, 3], [0.75, 1, 2, 3], [9.25, 1, 2, 3]]}\n",
            rate="x: y",
        )
    )
    with open_motion(path) as reader:
        assert reader.end_times() == ((0.5, 9.25),)
