"""Roles of the joints of people do not depend on the names of the joints, and are those that English names state."""

import dataclasses
import random

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.geometry import rotations
from bodymotion.retargeting.figures import figure_of_skeleton
from bodymotion.skeleton import EULER_CHANNELS, Skeleton, SkeletonJoint, euler_values
from sample_files import ACCEPT, ROOT, corpus_files

NUM_FRAMES = 12
CLIPS = [
    "mocap/**/dance1_subject2.bvh",
    "mocap/**/D0429_后空翻__01_Sk00_146.bvh",
    "mocap/**/Xsens_mocap/walk.bvh",
    "mocap/**/lafan_zero_frame0.bvh",
    "mocap/**/soma_zero_frame0.bvh",
    "mocap/**/bvh_test1.bvh",
    "mocap/**/cmu_12_01_walk.bvh",
    "mocap/**/01_01.bvh",
]
"""With fingers (78 joints), toes, up to four joints of a spine, Y and Z up, in T-poses and others; one pose, walks, dances, a backflip."""


def clip_of(path):
    """Return some frames of a file, over its whole length."""
    whole = bm.load_skeleton(path)
    step = max(1, whole.num_frames // NUM_FRAMES)
    return dataclasses.replace(whole, values=whole.values[::step])


def as_is(clip):
    return clip


def with_another_rest_pose(clip):
    """Return the clip with the pose of a frame as the rest pose, with Z up: all offsets and channels differ, the motion does not."""
    placed = clip.joint_poses()
    frame = placed[len(placed) // 3]
    turned = rotations.multiply(placed[..., 3:], rotations.conjugate(frame[:, 3:]))
    joints, columns = [], []
    for k, joint in enumerate(clip.joints):
        if joint.parent < 0:
            offset = np.zeros(3)
            local = turned[:, k]
            channels = ("Xposition", "Yposition", "Zposition", *EULER_CHANNELS)
            columns.append(placed[:, k, :3])
        else:
            offset = frame[k, :3] - frame[joint.parent, :3]
            above = rotations.conjugate(turned[:, joint.parent])
            local = rotations.multiply(above, turned[:, k])
            channels = EULER_CHANNELS
        columns.append(euler_values(local))
        ends = rotations.rotate(frame[k, 3:], joint.ends * clip.unit)
        joints.append(
            SkeletonJoint(
                name=joint.name,
                parent=joint.parent,
                offset=offset,
                channels=channels,
                ends=ends,
            )
        )
    values = np.concatenate(columns, axis=1)
    return Skeleton(joints=tuple(joints), values=values, frame_time=clip.frame_time)


def below_a_helper(clip):
    """Return the clip with a root above the hips, and goals of an animator that follow the feet."""
    positions = clip.joint_positions(as_read=True)
    ends = [k for k in range(len(clip.joints)) if k not in clip.parents]
    low = sorted(ends, key=lambda k: positions[..., k, :].mean(axis=0).tolist())[:2]
    first = dataclasses.replace(clip.joints[0], offset=np.zeros(3))
    joints = [
        SkeletonJoint(name="Reference"),
        *(
            dataclasses.replace(joint, parent=joint.parent + 1)
            for joint in (first, *clip.joints[1:])
        ),
    ]
    columns = [clip.values]
    for k in low:
        channels = ("Xposition", "Yposition", "Zposition")
        joints.append(SkeletonJoint(name=f"ik_{k}", parent=0, channels=channels))
        columns.append(positions[:, k])
    values = np.concatenate(columns, axis=1)
    return dataclasses.replace(clip, joints=tuple(joints), values=values)


def with_twist_joints(clip):
    """Return the clip with a joint in the middle of each long bone, as rigs have it that twist the skin."""
    lengths = np.array([np.linalg.norm(joint.offset) for joint in clip.joints])
    split = {k for k in range(1, len(lengths)) if lengths[k] * clip.unit > 0.18}
    numbers, joints = {-1: -1}, []
    for k, joint in enumerate(clip.joints):
        parent, offset = numbers[joint.parent], joint.offset
        if k in split:
            offset = 0.5 * offset
            joints.append(SkeletonJoint(name=f"m{k}", parent=parent, offset=offset))
            parent = len(joints) - 1
        numbers[k] = len(joints)
        joints.append(dataclasses.replace(joint, parent=parent, offset=offset))
    return dataclasses.replace(clip, joints=tuple(joints))


SHAPES = [as_is, with_another_rest_pose, below_a_helper, with_twist_joints]


def roles_of(skeleton):
    """Return the joint of each role, the unit and the up axis."""
    figure = figure_of_skeleton(skeleton, skeleton.joint_poses())
    joints = {role: point.joint for role, point in figure.points.items()}
    return joints, skeleton.unit, skeleton.up


def points_of(skeleton):
    """Return the positions (T, 3) [m] of the points that have roles, from the place of the pelvis in the first frame."""
    placed = skeleton.joint_poses()
    figure = figure_of_skeleton(skeleton, placed)
    begin = figure.locate("pelvis", placed)[0]
    return {role: figure.locate(role, placed) - begin for role in figure.points}


def renamed(skeleton, names):
    joints = [
        dataclasses.replace(joint, name=name)
        for joint, name in zip(skeleton.joints, names, strict=True)
    ]
    return dataclasses.replace(skeleton, joints=tuple(joints))


CASES = [
    (path, shape)
    for number, path in enumerate(corpus_files(*CLIPS))
    for shape in SHAPES
    if ACCEPT or shape in (as_is, SHAPES[1 + number % 3])
]
"""Each clip as it is and in one other shape, with ACCEPT in all."""


@pytest.mark.parametrize(
    ("path", "shape"), CASES, ids=lambda value: getattr(value, "stem", None)
)
def test_names_decide_no_role(path, shape):
    original = clip_of(path)
    clip = shape(original)
    if shape is with_twist_joints and original.num_frames == 1:
        pytest.skip("a single pose does not show which joints only twist a limb")
    expected = roles_of(clip)
    # A change of the skeleton moves no point that has a role.
    one, other = points_of(original), points_of(clip)
    assert one.keys() == other.keys()
    for role, positions in one.items():
        assert np.abs(positions - other[role]).max() < 1e-6, role
    shuffled = list(clip.names)
    random.Random(5).shuffle(shuffled)
    opaque = [f"J{k}" for k in range(len(clip.joints))]
    chinese = [f"关节{k}" for k in range(len(clip.joints))]
    for other in (opaque, shuffled, chinese, clip.names[::-1]):
        assert roles_of(renamed(clip, other)) == expected


def test_a_skeleton_in_japanese_moves_the_robot_like_the_one_in_english(strangers):
    robot = bm.load_body(ROOT / "examples" / "biped.wrl")
    clips = [
        bm.load_skeleton(strangers / "12" / f"{language}.bvh")
        for language in ("english", "japanese")
    ]
    one, other = (roles_of(clip) for clip in clips)
    assert one == other
    assert clips[0].names[one[0]["left elbow"]] == "LeftForeArm"
    assert clips[1].names[other[0]["left elbow"]] == "左ひじ"
    short = [dataclasses.replace(clip, values=clip.values[:20]) for clip in clips]
    english, japanese = (bm.retarget(clip, robot) for clip in short)
    assert english == japanese
    # A figure that is computed without roles shows wrong ones, here the shoulders as elbows.
    right = bm.retargeting.compare_retarget(short[0], robot, english)
    wrong_roles = {}
    for side in ("left", "right"):
        arm = [f"{side.title()}{part}" for part in ("Shoulder", "Arm", "ForeArm")]
        for part, name in zip(("shoulder", "elbow", "wrist"), arm, strict=True):
            wrong_roles[f"{side} {part}"] = name
    bent = bm.retarget(short[0], robot, source_roles=wrong_roles)
    wrong = bm.retargeting.compare_retarget(
        short[0], robot, bent, source_roles=wrong_roles
    )
    assert right.outline < 0.12 < wrong.outline
