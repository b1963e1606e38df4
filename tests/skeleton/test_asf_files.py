"""Recorded motion by Acclaim: against the BVH of the same clip, and against the formula, evaluated with matrices."""

from __future__ import annotations

import numpy as np
import pytest
from fuzz.texts import AMC, ASF

import bodymotion as bm
from bodymotion.geometry import rotations
from sample_files import CORPUS, missing
from skeleton.test_bvh_files import turned

LEGS = {
    "hipjoint": "Hip{}Joint",
    "femur": "{}UpLeg",
    "tibia": "{}Leg",
    "foot": "{}Foot",
    "toes": "{}ToeBase",
}


def test_a_clip_is_that_of_its_bvh(tmp_path):
    """Frame k of the .amc is frame k + 1 of the .bvh, whose frame 0 is an added T-pose; its angles have 4 decimals."""
    folder = CORPUS / "mocap/facebookresearch+fairmotion/tests/data"
    if not folder.is_dir():
        missing("the clip 01_01")
    clip, other = (
        bm.load_skeleton(folder / "01_01.amc"),
        bm.load_skeleton(folder / "01_01.bvh"),
    )
    assert (clip.num_frames, clip.frame_rate, clip.unit, clip.up) == (
        2751,
        120,
        pytest.approx(0.0254 / 0.45),
        "Y",
    )
    assert clip.source.parts == (folder / "01.asf",)
    ours, theirs = (
        clip.joint_positions(as_read=True),
        other.joint_positions(as_read=True)[1:],
    )
    for side, name in (("l", "Left"), ("r", "Right")):
        for bone, joint in LEGS.items():
            joint = f"{name[0]}HipJoint" if bone == "hipjoint" else joint.format(name)
            apart = (
                ours[:, clip.names.index(side + bone)]
                - theirs[:, other.names.index(joint)]
            )
            assert np.abs(apart).max() < 1e-4, bone
    bm.save(clip, tmp_path / "a.bvh")
    again = bm.load_skeleton(tmp_path / "a.bvh")
    np.testing.assert_allclose(
        again.joint_positions(), clip.joint_positions(), atol=1e-9
    )
    np.testing.assert_allclose(again.end_positions(), clip.end_positions(), atol=1e-9)
    assert bm.check(folder / "01_01.amc").errors == () and again.unit == pytest.approx(
        clip.unit
    )


@pytest.mark.parametrize("radians", [False, True])
def test_poses_follow_the_formula(tmp_path, radians):
    """Q = Q_parent · C · A · C⁻¹, and a bone begins where its parent ends."""
    (tmp_path / "a.asf").write_text(ASF.replace("\n", "\r\n"))
    text = AMC
    if radians:
        text = AMC.replace("DEGREES", "RADIANS")
        for number in ("4.0 -13.8", "-2.0 -7.6 -3.2", "4.5 -14.1", "-2.1 -7.5 -3.1"):
            text = text.replace(
                number,
                " ".join(map(repr, np.radians([*map(float, number.split())]).tolist())),
            )
    (tmp_path / "a.amc").write_text(text)
    poses = bm.load_skeleton(tmp_path / "a.amc", frame_rate=60).joint_poses(
        as_read=True
    )
    root = turned("Z", -3.2) @ turned("Y", -7.6) @ turned("X", -2.0)
    frame = turned("Z", 20)
    femur = root @ frame @ turned("Z", -13.8) @ turned("X", 4.0) @ frame.T
    start = np.array([9.4, 18.9, -17.3])
    np.testing.assert_allclose(
        poses[0, :, :3],
        [start, start, start + femur @ [0.34 * 7.5, -0.94 * 7.5, 0]],
        atol=1e-9,
    )
    np.testing.assert_allclose(
        rotations.to_matrix(poses[0, :, 3:]), [root, femur, femur], atol=1e-9
    )


def test_the_skeleton_of_a_clip(tmp_path):
    """Its own name before its subject before the only one; several others are refused."""
    (tmp_path / "01_02.amc").write_text(AMC)
    for number, (name, found) in enumerate(
        [
            ("x.ASF", "x.ASF"),
            ("y.asf", None),
            ("0.asf", None),
            ("01.asf", "01.asf"),
            ("01_02.asf", "01_02.asf"),
        ]
    ):
        (tmp_path / name).write_text(ASF.replace("length 7.5", f"length {number + 1}"))
        if found is None:
            assert [p.rule for p in bm.check(tmp_path / "01_02.amc").errors] == [
                "ASF002"
            ]
            continue
        clip = bm.load_skeleton(tmp_path / "01_02.amc")
        assert clip.source.parts == (tmp_path / found,)
    assert bm.load_skeleton(
        tmp_path / "01_02.amc", asf=tmp_path / "y.asf"
    ).source.parts == (tmp_path / "y.asf",)
    alone = bm.load_skeleton(tmp_path / "01.asf")
    assert alone.num_frames == 1 and not alone.joint_poses(as_read=True)[..., 4:].any()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("length 7.5", "length -7.5"),
        ("angle deg", "angle turns"),
        ("(-160.0 20.0)", "(20 -160)"),
        ("(-160.0 20.0)", "(-160 20)\n  ( 2 1 )"),
        ("direction 0.34 -0.94 0", "direction 0 0 0"),
    ],
)
def test_a_field_that_contradicts_itself_is_one_finding(right, wrong, tmp_path):
    (tmp_path / "a.asf").write_text(ASF.replace(right, wrong))
    (tmp_path / "a.amc").write_text(AMC)
    assert [one.rule for one in bm.check(tmp_path / "a.amc").errors] == ["ASF102"]
    (tmp_path / "a.asf").write_text(
        ASF.replace("direction 0 -0.2 1\n    length 2", "direction 0 0 0\n    length 0")
    )
    assert bm.check(tmp_path / "a.amc").errors == ()
