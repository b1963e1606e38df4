"""Pairs for files of any kind, the check itself, changes of motions, and the viewer."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

import bodymotion as bm
from bodymotion import editing
from bodymotion.cli.check import check_file
from bodymotion.collection import write_lerobot
from bodymotion.diagnostics import Problem
from bodymotion.formats.gains import read_gains
from bodymotion.formats.untrusted import call_within_limits
from bodymotion.motion import Motion, MultiValueSeq, OtherSeq
from bodymotion.motion.components import Timeline
from bodymotion.simulation import load_project
from bodymotion.system.limited import OF_OTHERS, ProcessLimits
from editing.symmetric_bodies import symmetric_body
from rules.pairs import Pair, Reported, calls, files, problems_of
from rules.pairs_seq import MOTION
from walker import frames, moving, walker

STEADY = Timeline.uniform(40, 100.0)
ROBOT = symmetric_body(4, pairs=2, middle=1, kinds=("rotate",))
STANDS = moving(frames(100.0, 0.2))
ZEROS = Motion.from_joints(
    np.zeros((40, ROBOT.num_joints)), 100, root=[0, 0, 0.8, 1, 0, 0, 0]
)


def curve(*values: float) -> Motion:
    """Return a motion of one joint."""
    numbers = np.array(values, float)[:, None]
    return Motion(
        (
            MultiValueSeq(
                content="JointDisplacement",
                timeline=Timeline.uniform(len(values), 10),
                values=numbers,
            ),
        )
    )


def reported(make: object) -> Reported:
    """Return the problems of a motion that is made."""
    return lambda _: problems_of(make)  # type: ignore[arg-type]


def ended_by(function: Callable[..., object], limits: ProcessLimits) -> Reported:
    """Return the problems of a file that a function reads in a child process."""

    def of(folder: Path) -> Iterable[Problem]:
        (folder / "walk.seq").write_text(MOTION)
        try:
            call_within_limits(function, files=[folder / "walk.seq"], limits=limits)
        except bm.FormatError as error:
            return error.problems
        return ()

    return of


def checked(error: BaseException | None) -> Reported:
    """Check a file by the command, while the check ends with an exception."""

    def of(folder: Path) -> Iterable[Problem]:
        (folder / "walk.seq").write_text(MOTION)
        with mock.patch(
            "bodymotion.checks.check", side_effect=error, return_value=bm.Findings()
        ):
            return check_file(folder / "walk.seq").problems

    return of


def walk(folder: Path) -> Path:
    """Write a motion and return its path."""
    (folder / "walk.seq").write_text(MOTION)
    return folder / "walk.seq"


def data_set(part: str, value: object) -> Reported:
    """Read an episode of a data set of LeRobot, in whose description a part is another one."""

    def of(folder: Path) -> Iterable[Problem]:
        write_lerobot(
            [Motion.from_joints(np.zeros((4, 2)), 100, joint_names=["HIP", "KNEE"])],
            folder / "set",
        )
        path = folder / "set" / "meta" / "info.json"
        info = json.loads(path.read_text())
        (info if part in info else info["features"]["observation.state"])[part] = value
        path.write_text(json.dumps(info))
        return problems_of(bm.open_collection(folder / "set")[0].load)

    return of


def with_body(name: str, text: str) -> Reported:
    """Check a motion with a file that is to be its body."""

    def of(folder: Path) -> Iterable[Problem]:
        (folder / "walk.seq").write_text(MOTION)
        (folder / name).write_text(text)
        return problems_of(lambda: bm.check(folder / "walk.seq", body=folder / name))

    return of


def one_arm_lower() -> bm.Body:
    index = ROBOT.link("R_ARM0").index
    link = replace(
        ROBOT.links[index],
        offset=np.add(ROBOT.links[index].offset, [0, 0, 0.02, 0, 0, 0, 0]),
    )
    return replace(
        ROBOT,
        links=tuple(
            link if k == index else other for k, other in enumerate(ROBOT.links)
        ),
    )


def with_torques() -> Motion:
    return ZEROS.replaced(*ZEROS.components, OtherSeq(type="MoodSeq", content="Face"))


def recovered(shift: float) -> Iterable[Problem]:
    """Find the joints for poses of all links, one of which is off."""
    whole = editing.fill_link_poses(ZEROS, ROBOT)
    values = np.array(whole.link_position.values)
    values[7, 3, :3] += [0, 0, shift]
    return editing.recover_joints(
        Motion((replace(whole.link_position, values=values),)), ROBOT
    )[0].problems


def lowpassed(number: float) -> Motion:
    values = np.ones((40, 1))
    values[3] = number
    return Motion(
        (MultiValueSeq(content="X", timeline=STEADY, values=values),)
    ).resample(25, "linear", antialias=True)


def measured(*, extra: int = 0, number: float = 0.0, rooted: bool = True) -> Reported:
    """Measure a motion of a table on one leg."""
    top = bm.Link(name="TOP", joint=bm.Joint(type="free"))
    foot = bm.Link(
        name="FOOT",
        index=1,
        parent=0,
        joint=bm.Joint(type="slide", id=0, axis=[0, 0, 1]),
    )
    values = np.zeros((5, 1 + extra))
    values[2, 0] = number
    root = [0, 0, 0, 1, 0, 0, 0] if rooted else None
    motion = Motion.from_joints(values, 10, root=root)
    return lambda _: bm.dynamics.measure(bm.Body(links=(top, foot)), motion).problems


WRL = '#VRML V2.0 utf8\nDEF r Humanoid { humanoidBody [ DEF BASE Joint { jointType "fixed" } ] }\n'


def held(effort: float, speed: float = np.inf) -> Iterable[Problem]:
    """Simulate a mass at the end of a level arm, on a motor with limits of its effort and speed; it swings by 0.1 rad in 0.1 s."""
    arm = bm.Segment(mass=2.0, center_of_mass=[0.5, 0, 0], inertia=0.01 * np.eye(3))
    motor = bm.Joint(
        name="motor",
        type="rotate",
        id=0,
        axis=[0, 1, 0],
        extra={"effort": effort},
        velocity_lower=-speed,
        velocity_upper=speed,
    )
    links = (
        bm.Link(name="base", joint=bm.Joint(type="fixed")),
        bm.Link(name="arm", index=1, parent=0, joint=motor, segments=(arm,)),
    )
    return bm.simulate(
        bm.Body(links=links), bm.Motion.from_joints([[0.0], [0.1]], 10), end=0.1
    ).problems


def swing(periods: float) -> Motion:
    """Return a joint that swings by 0.5 rad once a second, for some periods."""
    times = np.arange(round(100 * periods) + 1) / 100
    return Motion.from_joints(0.5 * np.sin(2 * np.pi * times)[:, None], 100)


def damped(kd: float) -> Iterable[Problem]:
    """Simulate a finger of 1e-5 kg m² with a damping torque that is constant for each step of 1 ms."""

    class Damper:
        def step(self, state):
            return 1.0 - kd * state.dq

    finger = bm.Segment(mass=0.01, inertia=1e-5 * np.eye(3))
    joint = bm.Joint(name="finger", type="rotate", id=0, axis=[0, 1, 0])
    links = (
        bm.Link(name="base", joint=bm.Joint(type="fixed")),
        bm.Link(name="finger", index=1, parent=0, joint=joint, segments=(finger,)),
    )
    body = bm.Body(links=links)
    return bm.simulate(body, controller=Damper(), end=0.5).problems


def rested(seconds: float) -> Iterable[Problem]:
    """Simulate a fixed link for some time, with a motion of 0.05 s."""
    joint = bm.Joint(name="A", type="rotate", id=0, axis=[0, 1, 0])
    mass = bm.Segment(mass=2.0, inertia=0.02 * np.eye(3))
    links = (
        bm.Link(name="R"),
        bm.Link(name="A", index=1, parent=0, joint=joint, segments=(mass,)),
    )
    still = bm.Motion.from_joints(np.zeros((6, 1)), 100, joint_names=("A",))
    return bm.simulate(bm.Body(links=links), still, end=seconds).problems


def dropped(has_shape: bool) -> Iterable[Problem]:
    """Simulate a free mass with or without a shape."""
    shapes = (bm.shapes.Shape(bm.shapes.Box((0.2, 0.2, 0.2))),) if has_shape else ()
    mass = bm.Segment(mass=2.0, inertia=0.02 * np.eye(3), collisions=shapes)
    return bm.simulate(
        bm.Body(links=(bm.Link(joint=bm.Joint(type="free"), segments=(mass,)),)),
        end=0.1,
    ).problems


def project(
    folder: Path, file: str = "thing.wrl", below: str = "FolderItem"
) -> Iterable[Problem]:
    """Read a project of Choreonoid with one body, and an item below it."""
    (folder / "thing.wrl").write_text(WRL)
    inside = f"{{class: BodyItem, name: a, data: {{file: {file}}}, children: [{{class: {below}, name: b}}]}}"
    (folder / "scene.cnoid").write_text(
        f"items: {{class: RootItem, children: [{inside}]}}"
    )
    try:
        return load_project(folder / "scene.cnoid").problems
    except bm.FormatError as error:
        return error.problems


def gains(folder: Path, text: str) -> Iterable[Problem]:
    """Read a file of gains for a body with one joint."""
    (folder / "gains.txt").write_text(text)
    knee = bm.Link(
        name="KNEE", index=1, parent=0, joint=bm.Joint(name="KNEE", type="rotate", id=0)
    )
    return problems_of(
        lambda: read_gains(folder / "gains.txt", bm.Body(links=(bm.Link(), knee)))
    )


PAIRS: dict[str, Pair] = {
    "FMT001": files("notes.docx", "PK\3\4", MOTION, place=False),
    "FMT006": files(
        "walk.seq", f"<<<<<<< HEAD\n{MOTION}=======\n{MOTION}>>>>>>> branch\n", MOTION
    ),
    "FMT002": calls(
        lambda folder: bm.check(folder / "walk.seq").problems,
        files("walk.seq", "", MOTION).right,
    ),
    "FMT004": calls(
        lambda folder: problems_of(lambda: bm.load_body(walk(folder))),
        lambda folder: problems_of(lambda: bm.load_motion(walk(folder))),
    ),
    "FMT005": calls(
        lambda folder: gains(folder, "KNEE stiff 100"),
        lambda folder: gains(folder, "KNEE 8000 100"),
    ),
    "FMT007": calls(data_set("shape", [3]), data_set("shape", [2])),
    "FMT008": calls(data_set("fps", 25), data_set("fps", 100)),
    "FMT003": calls(
        lambda folder: problems_of(lambda: bm.save(ROBOT, folder / "robot.seq")),
        lambda folder: problems_of(lambda: bm.save(ROBOT, folder / "robot.wrl")),
    ),
    "FMT013": calls(
        ended_by(partial(time.sleep, 60), ProcessLimits(deadline=0.1)),
        ended_by(os.getpid, ProcessLimits(deadline=60)),
    ),
    "FMT014": calls(ended_by(os.abort, OF_OTHERS), ended_by(os.getpid, OF_OTHERS)),
    "CHK101": calls(checked(MemoryError()), checked(None)),
    "CHK102": calls(checked(RuntimeError("what now")), checked(None)),
    "CHK103": calls(
        with_body("other.seq", MOTION),
        with_body("robot.wrl", WRL),
        still="MOT201 MOT203",
    ),
    "CHK104": files("walk.seq", MOTION.replace("\n", "\r\n", 1), MOTION),
    "EDIT101": calls(
        reported(lambda: curve(3.1, -3.1).resample(30, "linear")),
        reported(lambda: curve(3.1, 3.2).resample(30, "linear")),
    ),
    "EDIT102": calls(
        reported(lambda: editing.mirror(with_torques(), ROBOT)),
        reported(lambda: editing.mirror(ZEROS, ROBOT)),
    ),
    "EDIT103": calls(
        reported(lambda: editing.mirror(ZEROS, one_arm_lower())),
        reported(lambda: editing.mirror(ZEROS, ROBOT)),
    ),
    "EDIT104": calls(lambda _: recovered(0.005), lambda _: recovered(0.0)),
    "EDIT107": calls(
        lambda _: editing.loop(swing(0.75), 2).problems,
        lambda _: editing.loop(swing(1.0), 2).problems,
    ),
    "EDIT108": calls(
        lambda _: editing.join(swing(0.75), swing(1.0)).problems,
        lambda _: editing.join(swing(1.0), swing(0.75)).problems,
    ),
    "EDIT105": calls(
        reported(lambda: editing.unwrap(Motion())),
        reported(lambda: editing.unwrap(curve(3.1, -3.1))),
    ),
    "EDIT106": calls(
        reported(lambda: lowpassed(np.nan)), reported(lambda: lowpassed(1.0))
    ),
    # The motor of the arm is too weak to hold it, which no posture changes.
    "BAL101": calls(
        reported(lambda: bm.balance(walker(arm=2.0, effort=9.0), STANDS)),
        reported(lambda: bm.balance(walker(arm=2.0, effort=90.0), STANDS)),
    ),
    "MEAS101": calls(measured(rooted=False), measured()),
    "MEAS103": calls(measured(number=np.nan), measured(number=0.1)),
    "SIM102": calls(
        lambda folder: project(folder, file="gone.wrl"), lambda folder: project(folder)
    ),
    "SIM103": calls(
        lambda folder: project(folder, below="SimpleControllerItem"),
        lambda folder: project(folder),
    ),
    "SIM101": calls(lambda _: held(1.0), lambda _: held(1000.0)),
    "SIM104": calls(lambda _: dropped(False), lambda _: dropped(True)),
    "SIM107": calls(lambda _: rested(0.1), lambda _: rested(0.05)),
    "SIM106": calls(lambda _: damped(1.0), lambda _: damped(1e-3)),
    "SIM105": calls(lambda _: held(1000.0, 0.5), lambda _: held(1000.0, 5.0)),
}
