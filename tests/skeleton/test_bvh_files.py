"""Recorded motion: files of all dialects against pybvh, a plain evaluation of the rules of BVH, and what is known of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pybvh
import pytest
from fuzz.texts import BVH

import bodymotion as bm
from bodymotion.cli.info_data import describe
from bodymotion.geometry import rotations
from bodymotion.scene.loading import load_scene
from sample_files import corpus_files

CLIPS = corpus_files("mocap/**/*.bvh")
KNOWN = {
    "dance1_subject2": (22, 3945, 30, 0.01, "Y"),
    "soma_zero_frame0": (78, 1, 120, 0.01, "Y"),
    "walk": (23, 2487, 239, 0.01, "Y"),
    "D0429": (23, None, 120, 0.01, "Y"),
    "cmu_12_01_walk": (31, 524, 120, 0.0254 / 0.45, "Y"),
    "01_01": (31, 2752, 120, 0.0254 / 0.45, "Y"),
    "bvh_test1": (24, 75, 30, 0.0254, "Z"),
}
"""By the beginning of the file's name: joints, frames, rate [Hz], unit [m], up axis, by those who recorded them."""


def turned(axis: str, degrees: float) -> np.ndarray:
    """Return the matrix of a rotation about a coordinate axis."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i = "XYZ".index(axis)
    matrix = np.zeros((3, 3))
    j, k = (i + 1) % 3, (i + 2) % 3
    matrix[i, i], matrix[j, j], matrix[k, k], matrix[j, k], matrix[k, j] = (
        1,
        c,
        c,
        -s,
        s,
    )
    return matrix


def evaluated(
    text: str, frame: int
) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray], list[np.ndarray]]:
    """Return positions and rotations of joints, and end points, of a frame, straight from the words of a file."""
    tree, _, motion = text.partition("MOTION")
    rows = [line for line in motion.splitlines() if line.strip()][2:]
    row = iter([float(word) for word in rows[frame].split()])
    stack: list[tuple[np.ndarray, np.ndarray]] = []
    positions, matrices, ends = {}, {}, []
    here, kind = (np.zeros(3), np.eye(3)), ""
    for line in tree.splitlines():
        words = line.split()
        if words[:1] in (["ROOT"], ["JOINT"], ["End"]):
            kind = words[0]
        elif words[:1] == ["OFFSET"]:
            offset = np.array([float(word) for word in words[1:4]])
            place, matrix = stack[-1] if stack else (np.zeros(3), np.eye(3))
            here = (place + matrix @ offset, matrix)
            if kind == "End":
                ends.append(here[0])
            else:
                stack.append(here)
                positions[len(positions)], matrices[len(matrices)] = here
        elif words[:1] == ["CHANNELS"]:
            place, matrix = stack[-2] if len(stack) > 1 else (np.zeros(3), np.eye(3))
            local = np.eye(3)
            for name in words[2:]:
                if name.endswith("position"):
                    offset["XYZ".index(name[0])] = next(row)
                else:
                    local = local @ turned(name[0], next(row))
            stack[-1] = (place + matrix @ offset, matrix @ local)
            positions[len(positions) - 1], matrices[len(matrices) - 1] = stack[-1]
        elif words == ["}"]:
            if kind == "End":
                kind = ""
            else:
                stack.pop()
    return positions, matrices, ends


def test_evaluation(tmp_path):
    check_clip(tmp_path / "a.bvh", BVH)


def check_clip(path: Path, text: str | None = None) -> bm.Skeleton:
    """Check poses and end points of some frames against the plain evaluation; and that what is saved loads again."""
    if text is not None:
        path.write_text(text)
    text = path.read_text(encoding="utf-8")
    clip = bm.load_skeleton(path)
    some = sorted({0, clip.num_frames // 2, clip.num_frames - 1})
    piece = replace(clip, values=clip.values[some])
    poses, ends = piece.joint_poses(as_read=True), piece.end_positions(as_read=True)
    np.testing.assert_allclose(
        piece.joint_positions(as_read=True), poses[..., :3], atol=1e-9
    )
    for n, frame in enumerate(some):
        positions, matrices, points = evaluated(text, frame)
        np.testing.assert_allclose(poses[n, :, :3], [*positions.values()], atol=1e-6)
        np.testing.assert_allclose(
            rotations.to_matrix(poses[n, :, 3:]), [*matrices.values()], atol=1e-9
        )
        np.testing.assert_allclose(ends[n], np.reshape(points, (-1, 3)), atol=1e-6)
    return clip


@pytest.mark.parametrize("path", CLIPS, ids=lambda path: path.stem)
def test_clips(path, tmp_path):
    """Poses, unit, rate and up axis; and what is saved loads again."""
    clip = check_clip(path)
    known = next(
        (row for name, row in KNOWN.items() if path.stem.startswith(name)), None
    )
    if known is not None:
        joints, frames, rate, unit, up = known
        assert (len(clip.joints), clip.frame_rate, clip.up, clip.up_is_known) == (
            joints,
            rate,
            up,
            True,
        )
        assert frames in (None, clip.num_frames)
        jumps = [p.subject for p in bm.check(clip).problems if p.rule == "SKEL102"]
        assert {*jumps} == (
            {("frames", 1)} if unit == pytest.approx(0.0254 / 0.45) else set()
        ), "CMU has an added T-pose"
        assert clip.unit == pytest.approx(unit) and clip.unit_is_known
        height = np.ptp(
            replace(clip, values=clip.values[:1]).joint_positions()[0, :, 2]
        )
        assert 1.1 < height < 2.2, "a person on their feet, z up, in metres"
    losses = bm.save(clip, tmp_path / "again.bvh").losses
    assert {loss.rule for loss in losses} <= {"BVH102"}
    assert bm.load(tmp_path / "again.bvh") == clip


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("cell", ["193.6", "9.7", "1 2"])
def test_a_number_that_is_not_finite_is_no_jump(number, cell, tmp_path):
    (tmp_path / "clip.bvh").write_text(
        BVH.replace(cell, number + cell[1:] if " " in cell else number)
    )
    assert {problem.rule for problem in bm.check(tmp_path / "clip.bvh").problems} == {
        "MOT101"
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "path",
    [clip for clip in CLIPS if "soma" not in clip.stem],
    ids=lambda path: path.stem,
)
def test_positions_are_those_of_pybvh(path):
    """In all frames of all clips that pybvh reads: it refuses position channels of other joints than the root."""
    expected = pybvh.read_bvh_file(path).joint_positions()
    np.testing.assert_allclose(
        bm.load_skeleton(path).joint_positions(as_read=True), expected, atol=1e-9
    )


def test_poses_are_in_the_frames_of_the_world(tmp_path):
    """Whatever axis is up: lengths scale with the unit, and local rotations chain to those of the world."""
    (tmp_path / "a.bvh").write_text(BVH)
    clip = bm.load_skeleton(tmp_path / "a.bvh")
    local, world = clip.local_rotations(), clip.joint_poses()
    for joint, parent in enumerate(clip.parents):
        if parent >= 0:
            made = rotations.multiply(world[:, parent, 3:], local[:, joint])
            assert np.max(rotations.angle_between(made, world[:, joint, 3:])) < 1e-7
            offset = np.broadcast_to(
                clip.joints[joint].offset * clip.unit, (2, 3)
            ).copy()
            if "Yposition" in clip.joints[joint].channels:
                offset[:, 1] = clip.values[:, clip.columns(joint)[3]] * clip.unit
            there = world[:, parent, :3] + rotations.rotate(
                world[:, parent, 3:], offset
            )
            np.testing.assert_allclose(there, world[:, joint, :3], atol=1e-12)
    assert clip.up == "Y"
    x, y, z = clip.values[:, :3].T * clip.unit
    np.testing.assert_allclose(clip.joint_positions()[:, 0].T, [x, -z, y])


def test_dialects_of_text(tmp_path):
    """One line, CR or CRLF, other cases, blank lines: the same skeleton; cut files and wrong rows are located."""
    path = tmp_path / "a.bvh"
    path.write_text(BVH)
    clip = bm.load(path)
    tree, _, motion = BVH.partition("MOTION")
    for text in (
        BVH.replace("\n", "\r\n"),
        BVH.replace("\n", "\r"),
        " ".join(tree.split()) + "\nMOTION" + motion + "\n\n",
        tree.replace("rotation", "ROTATION").replace("End Site", "end site")
        + "Motion\n"
        + motion.replace("\n", " \n"),
    ):
        path.write_bytes(text.encode())
        assert bm.load(path) == clip
    path.write_text(BVH[: BVH.rindex("8 .5")])
    assert [(p.rule, p.location.line) for p in bm.check(path).errors] == [
        ("TAB003", BVH.count("\n"))
    ]
    path.write_text(BVH.rstrip().rpartition("\n")[0])
    assert [p.rule for p in bm.load(path).problems] == ["BVH109"]


@pytest.mark.parametrize(
    ("right", "wrong", "rule"),
    [
        (
            "3 Yrotation Xrotation Zrotation",
            "3 Wrotation Xrotation Zrotation",
            "BVH103",
        ),
        (
            "3 Yrotation Xrotation Zrotation",
            "4 Yrotation Xrotation Zrotation",
            "BVH103",
        ),
        (
            "3 Yrotation Xrotation Zrotation",
            "2 Yrotation Xrotation Zrotation",
            "BVH103",
        ),
        ("JOINT", "JONT", "BVH004"),
        ("CHANNELS", "CHANELS", "BVH004"),
    ],
)
def test_a_fault_of_the_tree_hides_no_fault_of_the_rows(right, wrong, rule, tmp_path):
    """Nor does it cause another finding; the last number of a row is not finite, and one of the first jumps."""
    tree, _, motion = BVH.partition("MOTION")
    motion = motion.replace("0.033333", "0").replace("193.5", "9935").rstrip()
    path = tmp_path / "a.bvh"
    path.write_text(
        f"{tree.replace(right, wrong, 1)}MOTION{motion.rpartition(' ')[0]} nan\n"
    )
    assert sorted(one.rule for one in bm.check(path).problems) == sorted(
        [rule, "MOT101", "MOT106", "SKEL102"]
    )
    path.write_text(
        f"{tree.replace(right, wrong, 1)}MOTION\nFrames: 0\nFrame Time: 1\n"
    )
    assert {one.rule for one in bm.check(path).problems} <= {rule, "SKEL101"}


def test_clips_with_little_in_them(tmp_path):
    """No frames, feet that are not below the hips, huge numbers: what cannot be found is assumed, and `info` shows it."""
    path = tmp_path / "a.bvh"
    head = BVH.partition("Frames: 2")[0]
    for text in (
        f"{head}Frames: 0\nFrame Time: 1e-9\n",
        "HIERARCHY ROOT foot { OFFSET 0 0 0 CHANNELS 1 Xposition JOINT a { OFFSET 0 0 0 } JOINT b { OFFSET 0 0 0 } }\n"
        "MOTION\nFrames: 1\nFrame Time: 1e300\n1e308\n",
        BVH.replace("Foot", "Hand"),
        BVH.replace("193.6", "1e308").replace("-85.8", "-1e308"),
    ):
        path.write_text(text)
        clip = bm.load(path)
        assert clip.joint_poses().shape == (clip.num_frames, len(clip.joints), 7)
        assert (clip.unit, clip.up) == (0.01, "Y") or clip.up_is_known
        assert describe(clip, path)["num_frames"] == clip.num_frames
        bm.save(clip, tmp_path / "b.bvh")
        assert bm.load(tmp_path / "b.bvh") == clip
    path.write_text(BVH.replace("0.033333", "1e-320"))
    assert [p.rule for p in bm.check(path).problems] == ["MOT106"]


SEVERAL = """HIERARCHY
ROOT a { OFFSET 1 2 3 CHANNELS 4 Zrotation Xposition Zrotation Xrotation
  JOINT b { OFFSET 4 5 6 CHANNELS 6 Yrotation Zposition Xrotation Zrotation Xposition Yposition
    JOINT b { OFFSET 7 8 9 End Site { OFFSET 0 0 1 } } } }
ROOT foot { OFFSET 0 0 0 CHANNELS 0 }
MOTION
Frames: 3
Frame Time: 0.5
10 20 30 40 50 60 70 80 7 8
11 21 31 41 231 61 111 261 7 8
12 22 32 42 52 62 68 82 7 9
"""
"""Two roots, two joints of one name, positions of a joint that is no root, and one of them that does not change."""


def same_poses(clip: bm.Skeleton) -> None:
    """Check that the joints of a clip are where the links of its body are."""
    body, motion = clip.body_and_motion()
    poses, expected = body.link_poses(motion), clip.joint_poses()
    ends = [n for n, link in enumerate(body.links) if link.segments]
    names = [body.links[n].name.partition("#")[0] for n in ends]
    assert sorted(names) == sorted(clip.names) and motion.frame_rate == clip.frame_rate
    joints = [
        int(body.links[n].name.partition("#")[2] or clip.names.index(name))
        for n, name in zip(ends, names, strict=True)
    ]
    np.testing.assert_allclose(poses[:, ends, :3], expected[:, joints, :3], atol=1e-9)
    assert (
        rotations.angle_between(poses[:, ends, 3:], expected[:, joints, 3:]).max(
            initial=0
        )
        < 1e-9
    )


def test_a_body_with_its_motion(tmp_path):
    """Whatever the tree and the channels: the links are where the joints are; angles do not jump."""
    for text in (
        SEVERAL,
        BVH,
        "HIERARCHY ROOT a { OFFSET 0 1 0 CHANNELS 1 Xposition }\nMOTION\nFrames: 0\nFrame Time: 1\n",
    ):
        (tmp_path / "a.bvh").write_text(text)
        same_poses(bm.load_skeleton(tmp_path / "a.bvh"))
    (tmp_path / "a.bvh").write_text(SEVERAL)
    body, motion = bm.load_skeleton(tmp_path / "a.bvh").body_and_motion()
    assert [joint.type for joint in body.joints].count("slide") == 3, (
        "one of the three positions of b changes, and those of a"
    )
    assert np.abs(np.diff(motion.joint_displacement.values, axis=0)).max() < np.radians(
        2
    )


@pytest.mark.parametrize("path", CLIPS, ids=lambda path: path.stem)
def test_clips_are_shown_upright(path):
    """The scene of the viewer, pictures and pages: limbs, feet near the ground, a person's height."""
    clip = bm.load_skeleton(path)
    clip = replace(clip, values=clip.values[:: max(1, len(clip) // 20)])
    same_poses(clip)
    scene = load_scene(clip)
    assert any(scene.shapes) and scene.num_frames == clip.num_frames
    if path.stem != "sinusoidal" and path.stem != "rotation_first_root":
        heights = scene.link_poses[0, :, 2]
        assert 1.1 < np.ptp(heights) < 2.2 and abs(heights.min()) < 0.25


def test_what_shows_robots_shows_clips(tmp_path):
    (tmp_path / "a.bvh").write_text(BVH)
    bm.view(tmp_path / "a.bvh", output=tmp_path / "a.html")
    assert (tmp_path / "a.html").stat().st_size > 10_000
    bm.plot(tmp_path / "a.bvh", output=tmp_path / "a.svg")
    assert b"LeftFoot_Yrotation" in (tmp_path / "a.svg").read_bytes()
    for call in (bm.load_motion, bm.load_body):
        with pytest.raises(ValueError, match="BVH"):
            call(tmp_path / "a.bvh")


@pytest.mark.parametrize(
    ("seconds", "is_reported"),
    [("30", True), ("120.0", True), ("1.5", True), ("1", False), ("0.0083", False)],
)
def test_a_rate_in_place_of_a_frame_time(seconds, is_reported, tmp_path):
    """A frame time above one second is reported, with its line; `frame_rate` states the rate."""
    path = tmp_path / "a.bvh"
    path.write_text(BVH.replace("Frame Time: 0.033333", f"Frame Time: {seconds}"))
    clip = bm.load_skeleton(path)
    assert clip.frame_time == float(seconds)
    found = [one for one in clip.problems if one.rule == "MOT107"]
    assert [path.read_text().splitlines()[one.location.line - 1] for one in found] == (
        [f"Frame Time: {seconds}"] if is_reported else []
    )
    assert [one.data["rate"] for one in found] == (
        [1 / float(seconds)] if is_reported else []
    )
    stated = bm.load_skeleton(path, frame_rate=30)
    assert stated.frame_rate == 30 and not stated.problems
    np.testing.assert_array_equal(stated.values, clip.values)
