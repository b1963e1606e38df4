"""Every sample motion: as the reference read it (where the documents do not say otherwise), as PyYAML reads it, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

import bodymotion as bm
from bodymotion.formats.seq import open_motion, read_seq
from bodymotion.formats.sniffing import looks_like_seq
from bodymotion.motion import MultiSE3Seq, MultiValueSeq, OtherSeq, Vector3Seq
from sample_files import ACCEPT, CORPUS, corpus_files

MOTIONS = corpus_files("seq/**/*.seq", "seq/**/*.yaml")
GOLDEN = [path for path in MOTIONS if Path(f"{path}.golden.json").is_file()]
OTHERS = corpus_files("seq/**/*.pseq", "seq/**/*.pos")

REFUSED = {
    # file: rule, line, column, as a look at the text says
    "badrow.seq": ("SEQ110", 4, 92),
    "norate.seq": ("SEQ103", 3, 14),
    "v5.seq": ("SEQ004", 2, 17),
    "ft_v1.seq": ("SEQ107", 6, 19),
    # The reference puts these on a fixed rate whatever their times; the document forbids time to go back or stand still.
    "ft_v4.seq": ("MOT105", 10, 34),
    "ft_neg.seq": ("MOT105", 10, 62),
    # The reference reads 1.5abc as 1.5.
    "unknowncomp.seq": ("SEQ111", 7, 77),
}
CRASHES = {"nocomp.seq": 0, "noversion_composite.seq": 1, "single_multivalue.seq": 1}
"""What the reference dies of: how many components there are."""
OTHER_LENGTHS = {"linkfewer.seq": 3}
"""The reference cuts joint rows off; how many there are."""


def named(path: Path) -> str:
    return path.relative_to(CORPUS).as_posix()


def floats(rows: list) -> np.ndarray:
    return np.array(rows, np.float64)


def by_pyyaml(path: Path) -> dict:
    with path.open("rb") as file:
        return yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@pytest.mark.usefixtures("corpus")
def test_the_samples_are_there():
    assert len(MOTIONS) >= 35
    assert len(GOLDEN) >= 25
    assert {path.name for path in GOLDEN} >= REFUSED.keys() | CRASHES.keys()


@pytest.mark.parametrize("path", GOLDEN, ids=named)
def test_as_the_reference(path):
    golden = json.loads(Path(f"{path}.golden.json").read_text())
    if path.name in REFUSED:
        with pytest.raises(bm.FormatError) as caught:
            bm.load(path)
        problem = caught.value.problem
        assert (
            problem.rule,
            problem.location.line,
            problem.location.column,
        ) == REFUSED[path.name]
        return
    motion = bm.load(path)
    if path.name in CRASHES:
        assert golden["ok"] is False
        assert len(motion.components) == CRASHES[path.name]
        assert motion.problems
        return
    assert golden["ok"] is True
    joints, links, zmp = motion.joint_displacement, motion.link_position, motion.zmp
    if joints is not None:
        assert joints.timeline.frame_rate == golden["frameRate"]
        wanted = floats(golden["jointDisplacements"])
        assert joints.num_frames == OTHER_LENGTHS.get(path.name, golden["numFrames"])
        assert np.array_equal(joints.values[: len(wanted)], wanted)
    if golden["numLinks"]:
        assert links is not None
        same_poses(links, floats(golden["linkPositions"]), path)
    else:
        assert links is None
    assert (zmp is None) == ("zmp" not in golden)
    if zmp is not None:
        assert zmp.is_root_relative == golden["zmpIsRootRelative"]
        assert np.array_equal(zmp.values, floats(golden["zmp"]))
    for seq in golden["extraSeqs"]:
        if seq["key"] == "ZMP":
            continue
        component = next(c for c in motion.components if c.content == seq["content"])
        assert component.timeline.frame_rate == seq["frameRate"]
        assert type(component).__name__ == seq["type"]
        assert np.array_equal(component.values, floats(seq["frames"]))


def same_poses(component: MultiSE3Seq, wanted: np.ndarray, path: Path) -> None:
    if "XYZRPY" in path.read_text():
        assert np.array_equal(component.values[..., :3], wanted[..., :3])
        assert np.abs(component.values[..., 3:] - wanted[..., 3:]).max() < 1e-12
    else:
        assert np.array_equal(component.values, wanted)


# PyYAML takes seconds for each of the larger files.
SMALL = [
    p
    for p in MOTIONS
    if p.name not in REFUSED and (ACCEPT or p.stat().st_size < 200_000)
]


@pytest.mark.parametrize("path", SMALL, ids=named)
def test_as_pyyaml(path):
    """PyYAML, which knows nothing of motions, sees the same numbers (some of them as texts) and the same headers."""
    data = by_pyyaml(path)
    nodes = data.get("components", [data])
    motion = bm.load(path)
    assert len(motion.components) == len(nodes)
    for component, node in zip(motion.components, nodes, strict=True):
        if isinstance(component, OtherSeq):
            assert node["type"] == component.type
            assert component.extra["frames"] == node["frames"]
            continue
        rows = node["frames"]
        assert component.num_frames == len(rows)
        rate = node.get(
            "frameRate",
            node.get("frame_rate", data.get("frameRate", data.get("frame_rate"))),
        )
        assert component.timeline.frame_rate == rate
        values = floats(rows)
        order = node.get("SE3Format", node.get("format"))
        if order == "XYZRPY":
            assert np.array_equal(component.values[..., :3], values[..., :3])
            continue
        if order == "XYZQXQYQZQW":
            values = values[..., [0, 1, 2, 6, 3, 4, 5]]
        assert np.array_equal(component.values, values)
        assert isinstance(
            component, {2: MultiValueSeq | Vector3Seq, 3: MultiSE3Seq}[values.ndim]
        )


@pytest.mark.parametrize("path", MOTIONS, ids=named)
def test_known_by_content(path):
    assert looks_like_seq(path.read_bytes()[:65536])


@pytest.mark.parametrize("path", OTHERS, ids=named)
def test_other_files_are_refused_in_words(path):
    assert not looks_like_seq(path.read_bytes()[:65536])
    with pytest.raises(bm.FormatError) as caught:
        read_seq(path).require()
    problem = caught.value.problem
    assert problem.rule == "SEQ003"
    if path.suffix == ".pseq":
        assert "key poses" in problem.message
        assert (
            problem.location.line == 3
        )  # 'type: PoseSeq' below a comment and a blank line


@pytest.mark.parametrize(
    "path", [p for p in MOTIONS if p.stat().st_size > 1_000_000], ids=named
)
def test_in_chunks(path):
    motion = bm.load(path)
    with open_motion(path) as reader:
        assert [header.num_frames for header in reader.components] == [
            c.num_frames for c in motion.components
        ]
        assert reader.source == motion.source
        chunks = list(reader.chunks(997))
    for k, component in enumerate(motion.components):
        assert np.array_equal(
            np.concatenate([chunk.components[k].values for chunk in chunks]),
            component.values,
        )
