"""Closed loops of what is shown: joints that follow one that is moved, a motion with its loops closed, and what is said of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import bodymotion as bm
from bodymotion.scene.scene import make_scene
from bodymotion.viewer.scene_view import ClosedLoops
from closed_loops_samples import four_bar, link
from waiting import TIMEOUT


def motion_of(values: np.ndarray) -> bm.Motion:
    timeline = bm.Timeline.uniform(len(values), 50.0)
    return bm.Motion(
        (
            bm.MultiValueSeq(
                content="JointDisplacement", timeline=timeline, values=values
            ),
        )
    )


def moved(loops: ClosedLoops, q: np.ndarray, column: int, value: float) -> np.ndarray:
    target = np.array(q)
    target[column] = value
    return loops.pose(q, target, column)


@pytest.mark.parametrize("column", [0, 1, 2])
def test_the_joint_that_is_moved_stays_where_it_is_put(column) -> None:
    sample = four_bar()
    loops = ClosedLoops(make_scene(sample.body, None))
    for value in sample.start[column] + np.linspace(0, 0.2, 5):
        q = moved(loops, sample.start, column, value)
        assert q[column] == value
        assert (
            bm.model.loop_errors(sample.body, sample.body.forward_kinematics(q))[
                0
            ].max()
            < 1e-9
        )


def test_an_open_loop_is_closed_within_a_half_turn() -> None:
    sample = four_bar()
    loops = ClosedLoops(make_scene(sample.body, None))
    q = moved(loops, np.zeros(3), 0, 0.4)
    assert np.abs(q).max() <= np.pi
    assert (
        loops.describe(sample.body.forward_kinematics(q), None) == "The loop is closed."
    )


def test_what_can_not_be_reached_and_singular_poses_are_said() -> None:
    sample = four_bar(askew=(0, 0, 0))
    loops = ClosedLoops(make_scene(sample.body, None))
    q = moved(loops, sample.start, 2, sample.start[2] - 1.5)
    reach = np.hypot(0.4 + 0.3 * np.cos(q[2]), 0.3 * np.sin(q[2]))
    note = loops.describe(sample.body.forward_kinematics(q), None)
    assert note.startswith(f"LOOP is open by {1e3 * (reach - 0.45):.1f} mm.")
    assert "This pose is singular" in note


def test_names_and_angles_of_open_loops() -> None:
    tilted = bm.model.ExtraJoint(type="hinge", links=(0, 1), axis=(0, 0, 1))
    body = bm.Body(
        links=(
            link("BASE", 0, -1),
            link("A/B<b>", 1, 0, turned=(0.1, 0, 0), kind="fixed"),
        ),
        extra_joints=(
            tilted,
            replace(tilted, positions=((0, 0, 1e-4), (0, 0, 0))),
            *[replace(tilted, name="X")] * 3,
        ),
    )
    loops = ClosedLoops(make_scene(body, None))
    assert loops.describe(body.forward_kinematics([]), None) == (
        "BASE – A/B<b> is open by 5.73°; BASE – A/B<b> is open by 0.100 mm and 5.73°; X is open by 5.73°, and 2 more."
    )


def test_a_motion_is_shown_as_it_is_or_with_its_loops_closed() -> None:
    sample = four_bar(frames=100)
    q = sample.motion()
    q[0] = sample.start
    scene = make_scene(sample.body, motion_of(q))
    loops = ClosedLoops(scene)
    closed = loops.closed_scene
    assert bm.model.loop_errors(sample.body, scene.link_poses)[0].max() > 0.01
    assert bm.model.loop_errors(sample.body, closed.link_poses)[0].max() < 1e-9
    np.testing.assert_array_equal(closed.q[:, 0], q[:, 0])
    np.testing.assert_array_equal(closed.link_poses[:, 0], scene.link_poses[:, 0])
    assert loops.describe(closed.link_poses[50], 50) == "The loop is closed."
    assert loops.describe(scene.link_poses[50], None).startswith("LOOP is open by ")


def test_a_page_shows_the_motion_with_its_loops_closed_when_asked(tmp_path) -> None:
    from bodymotion.scene.options import DisplayOptions
    from bodymotion.viewer.page import page

    sample = four_bar(frames=20)
    scene = make_scene(sample.body, motion_of(sample.motion()))
    assert page(scene, DisplayOptions()) != page(
        scene, DisplayOptions(motion_loops=True)
    )


def test_a_body_without_loops_has_none() -> None:
    body = bm.Body(links=(link("BASE", 0, -1), link("A", 1, 0)))
    assert not ClosedLoops(make_scene(body, None)).exist


def test_ctrl_c_while_kernels_are_compiled(tmp_path) -> None:
    """With no kernel in the cache: the command ends at once, and not by the abort of a compiler that is cut off."""
    bm.save(four_bar().body, tmp_path / "bars.wrl")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "bodymotion",
            "view",
            "--no-browser",
            "--port",
            "8820",
            str(tmp_path / "bars.wrl"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        while line and "http://" not in line:
            line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=TIMEOUT)[1]
    finally:
        process.kill()
    assert "http://" in line
    assert process.returncode in (0, 130)
    assert "Traceback" not in rest and "Fatal" not in rest


def test_a_program_waits_at_its_end_for_what_is_compiled() -> None:
    program = (
        "import time\n"
        "from bodymotion.kernels.compiling import compile_in_background, still_compiling\n"
        "compile_in_background(lambda: (time.sleep(0.5), print('compiled')))\n"
        "print(still_compiling())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (
        0,
        ["True", "compiled"],
        "",
    )
