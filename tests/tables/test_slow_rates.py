"""A rate where the time between two frames is meant, or the reverse: every format with a rate, a frame time or times has a finding."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fuzz.texts import BVH

import bodymotion as bm
from bodymotion.collection import open_collection, write_lerobot
from skeleton.test_amass_files import family

COUNT = 12
STEP = 30.0
"""[s] From one frame to the next: 30 Hz, taken for seconds."""
JOINTS = {
    "dof_pos": np.zeros((COUNT, 1)),
    "root_pos": np.zeros((COUNT, 3)),
    "root_rot": np.tile([0.0, 0, 0, 1], (COUNT, 1)),
    "joint_names": np.array(["A"]),
}


def archive(**arrays: object) -> Callable[[Path], None]:
    return lambda path: np.savez(path, **arrays)


def text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(content)


def pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps(JOINTS | {"fps": 1 / STEP}))


def by_seq(path: Path) -> None:
    bm.save(bm.Motion.from_joints(np.zeros((COUNT, 1)), 1 / STEP), path)


AMASS = family(24)[0] | {"mocap_framerate": 1 / STEP}
ROWS = [f"{STEP * k:g}" for k in range(COUNT)]
FILES = {
    "a.bvh": text(BVH.replace("Frame Time: 0.033333", f"Frame Time: {STEP:g}")),
    "amass.npz": archive(**AMASS),
    "fps.npz": archive(**JOINTS, fps=1 / STEP),
    "dt.npz": archive(**JOINTS, dt=STEP),
    "times.npz": archive(**JOINTS, times=STEP * np.arange(COUNT)),
    "a.pkl": pickled,
    "a.seq": by_seq,
    "a.csv": text("time,A [rad]\n" + "".join(f"{row},0\n" for row in ROWS)),
    "a.pos": text("".join(f"{row} 0\n" for row in ROWS)),
}
RULES = {"MOT107", "MOT210", "TAB105"}


@pytest.mark.parametrize("name", FILES)
def test_frames_far_apart_are_reported(name, tmp_path):
    """`check` reports them once; a reader that states the rate does so at reading, too."""
    FILES[name](tmp_path / name)
    problems = bm.check(tmp_path / name).problems
    found = {one.rule for one in problems} & RULES
    assert len(found) == 1, problems
    if name != "a.seq":
        assert {one.rule for one in bm.load(tmp_path / name).problems} & RULES


def test_the_rate_of_a_data_set(tmp_path):
    """A whole number of frames per second of 1 is the lowest rate of a data set; it is not reported."""
    motion = bm.Motion.from_joints(np.zeros((COUNT, 1)), 1, joint_names=["A"])
    write_lerobot([motion], tmp_path / "set")
    assert not open_collection(tmp_path / "set")[0].load().problems
    info = tmp_path / "set/meta/info.json"
    info.chmod(0o644)
    info.write_text(info.read_text().replace('"fps": 1,', '"fps": 0.033333,'))
    problems = open_collection(tmp_path / "set")[0].load().problems
    assert "MOT107" in {one.rule for one in problems}
