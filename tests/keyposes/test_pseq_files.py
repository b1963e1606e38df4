"""Key-pose files are read as the reference reads them, and written so that nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bodymotion as bm
from keyposes.reference import ANSWERS, answer, key_poses_of
from sample_files import corpus_files, missing, tries

TEXT = """# made by hand
type: PoseSeq
name: A  # the name
targetBody: Robot
refs:
  # at rest
  -
    time: 0
    refer: { type: Pose, name: rest, joints: [ 0, 1 ], q: [ 0.5, -1 ] }
  # and up
  -
    time: 1.5  # quickly
    maxTransitionTime: 0.5
    refer:
      type: Pose
      joints: [ 1 ]
      q: [ 0.25 ]
      spJoints: [ 1 ]
      zmp: [ 0.1, 0, 0 ]
      isZmpStationaryPoint: false
  -
    time: 2
    refer: { type: PronunSymbol, name: a }
"""


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.name)
def test_a_sample_is_read_as_by_the_reference(path: Path) -> None:
    ours, theirs = key_poses_of(path), answer(path)["parsed"]
    assert (ours.name, ours.target_body, len(ours)) == (
        theirs["name"],
        theirs["targetBody"],
        len(theirs["poses"]),
    )
    for pose, expected in zip(ours.poses, theirs["poses"], strict=True):
        assert (pose.time, pose.max_transition_time) == (
            expected["time"],
            expected["maxTransitionTime"],
        )
        assert dict(pose.joints) == dict(
            zip(expected["joints"], expected["q"], strict=True)
        )
        assert sorted(pose.stationary_joints) == expected["spJoints"]
        assert (None if pose.zmp is None else pose.zmp.tolist()) == expected["zmp"]
        assert (
            pose.zmp is None
            or pose.zmp_is_stationary == expected["isZmpStationaryPoint"]
        )
        by_index = {key.index: key for key in pose.links}
        assert len(by_index) == len(expected["ikLinks"])
        for link in expected["ikLinks"]:
            key = by_index[link["index"]]
            assert key.position.tolist() == link["translation"]
            assert key.rotation.ravel().tolist() == np.ravel(link["rotation"]).tolist()
            assert (
                key.name,
                key.is_base,
                key.is_stationary,
                key.is_touching,
                key.is_slave,
            ) == tuple(
                link[name]
                for name in (
                    "name",
                    "isBaseLink",
                    "isStationaryPoint",
                    "isTouching",
                    "isSlave",
                )
            )


def test_samples_are_written_byte_for_byte_and_by_value(tmp_path: Path) -> None:
    files = corpus_files("seq/**/*.pseq") or missing("the corpus")
    for file in files or ():
        ours = bm.load_key_poses(file)
        assert bm.save(ours, tmp_path / "same.pseq").ok
        assert (tmp_path / "same.pseq").read_bytes() == file.read_bytes()
        bm.save(replace(ours, source=bm.diagnostics.Source()), tmp_path / "anew.pseq")
        assert bm.load_key_poses(tmp_path / "anew.pseq") == ours


def test_unchanged_poses_keep_their_text(tmp_path: Path) -> None:
    file = tmp_path / "a.pseq"
    file.write_text(TEXT)
    read = bm.load_key_poses(file)
    assert bm.check(file).ok
    later = replace(read, poses=(read[0], replace(read[1], time=3.0), read[2]))
    losses = bm.save(later, tmp_path / "b.pseq")
    text = (tmp_path / "b.pseq").read_text()
    assert "# at rest" in text
    assert "A  # the name" in text
    assert "# quickly" not in text
    assert [problem.rule for problem in losses.problems] == ["PSQ201"]
    assert bm.load_key_poses(tmp_path / "b.pseq") == later
    renamed = replace(read, name="B")
    bm.save(renamed, tmp_path / "c.pseq")
    assert bm.load_key_poses(tmp_path / "c.pseq") == renamed


def test_the_name_of_an_earlier_pose_stands_for_it(tmp_path: Path) -> None:
    file = tmp_path / "old.pseq"
    file.write_text(TEXT + "  -\n    time: 4\n    refer: rest\n")
    read = bm.load_key_poses(file)
    assert read[-1] == replace(read[0], time=4.0)
    assert [problem.rule for problem in read.problems] == ["PSQ105"]
    bm.save(replace(read, name="new"), tmp_path / "new.pseq")
    assert bm.load_key_poses(tmp_path / "new.pseq") == replace(read, name="new")


def test_one_fault_hides_no_other(tmp_path: Path) -> None:
    file = tmp_path / "a.pseq"
    file.write_text(
        TEXT.replace("q: [ 0.25 ]", "q: [ 0.25, 1 ]")
        .replace("zmp: [ 0.1,", "zmp: [ .nan,")
        .replace("time: 2", "time: -2")
    )
    found = bm.check(file)
    assert {problem.rule for problem in found.problems} == {
        "PSQ102",
        "PSQ107",
        "MOT101",
    }
    assert all(problem.location.line for problem in found.problems)


def test_a_pose_of_another_kind_hides_no_other_fault(tmp_path: Path) -> None:
    file = tmp_path / "a.pseq"
    broken = TEXT.replace("q: [ 0.25 ]", "q: [ 0.25, 1 ]")
    begin, _, end = broken.rpartition("PoseSeq")
    file.write_text(begin + "PosSeq" + end)
    assert {problem.rule for problem in bm.check(file).problems} == {"PSQ107", "PSQ003"}


def test_what_is_no_yaml_is_one_error(tmp_path: Path) -> None:
    file = tmp_path / "a.pseq"
    begin, _, end = TEXT.replace("q: [ 0.25 ]", "q: [ 0.25, 1 ]").rpartition("zmp:")
    file.write_text(begin + ":" + end)
    assert [problem.rule for problem in bm.check(file).problems] == ["YAML101"]


numbers = st.floats(-1e6, 1e6).map(lambda x: x + 0.0)
texts = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
link_keys = st.builds(
    lambda name, index, position, flags: bm.keyposes.LinkKey(
        name=name,
        index=index,
        position=np.array(position),
        rotation=bm.rotations.to_matrix([0.5, 0.5, -0.5, 0.5]),
        **dict(
            zip(
                ("is_base", "is_stationary", "is_touching", "is_slave"),
                flags,
                strict=True,
            )
        ),
        contact_points=np.array([position]) if flags[2] else np.zeros((0, 3)),
    ),
    texts,
    st.integers(0, 30),
    st.tuples(numbers, numbers, numbers),
    st.tuples(st.just(False), st.booleans(), st.booleans(), st.booleans()),
)
key_poses = st.builds(
    lambda time, limit, joints, links, zmp, rests: bm.keyposes.KeyPose(
        time=time,
        max_transition_time=limit,
        joints=joints,
        stationary_joints=frozenset(list(joints)[:1]),
        links=links,
        zmp=None if zmp is None else np.array(zmp),
        zmp_is_stationary=rests or zmp is None,
    ),
    st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1e3),
    st.floats(0, 5),
    st.dictionaries(st.integers(0, 40), numbers, max_size=5),
    st.lists(link_keys, max_size=2).map(tuple),
    st.none() | st.tuples(numbers, numbers, numbers),
    st.booleans(),
)


@settings(max_examples=tries(200), deadline=None)
@given(texts, texts, st.lists(key_poses, max_size=5).map(tuple))
def test_what_is_written_is_read_again(tmp_path_factory, name, target, poses) -> None:
    file = tmp_path_factory.mktemp("pseq") / "a.pseq"
    value = bm.KeyPoses(name=name, target_body=target, poses=poses)
    bm.save(value, file)
    assert bm.load_key_poses(file) == value
