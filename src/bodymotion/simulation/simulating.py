"""Simulate one body that follows one motion, or many of them at once."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.spelling import choices
from bodymotion.formats.mjcf.writer import SelfCollision
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.model.links import passive_joints
from bodymotion.motion import Motion
from bodymotion.simulation.controllers import Controller, ControllerError, TorqueServo
from bodymotion.simulation.plan import Plan
from bodymotion.simulation.result import Simulation, fallen, recorded
from bodymotion.simulation.stepping import Push, Run
from bodymotion.simulation.world import WorldOptions, robot_of

CHUNK = 0.5  # [s] Steps are taken in chunks of this length; between them a fall is noticed and Ctrl-C takes effect.


def simulate(
    body: Body,
    motion: Motion | None = None,
    *,
    gains: npt.ArrayLike | None = None,
    drive: Literal["servo", "torque", "effort"] = "servo",
    controller: Controller | None = None,
    root: Literal["free", "fixed"] | None = None,
    start: float = 0.0,
    end: float | None = None,
    timestep: float = 1e-3,
    frame_rate: float | None = None,
    floor: bool | None = None,
    friction: float = 1.0,
    objects: Sequence[tuple[Body, npt.ArrayLike]] = (),
    pushes: Sequence[Push] = (),
    self_collision: SelfCollision = "touching",
    limits: bool = True,
    sensors: bool = True,
    until_fall: bool = False,
    progress: Callable[[float, float], None] | None = None,
) -> Simulation:
    """Simulate a body that follows a motion, or holds its rest pose without one.

    Parameters
    ----------
    motion:
        The motion of the joints. Without poses of the root, it is placed on its feet (`bodymotion.dynamics.root_on_feet`); the simulated
        robot starts at the first pose, on the ground, with the velocity of the motion.
    gains:
        kp and kd (J, 2) of the joints; by default `bodymotion.model.links.default_gains`. Servos with a kd need a kp.
    drive:
        "servo": position actuators of MuJoCo, torque = kp · (q_cmd − q) + kd · (q̇_cmd − q̇), damping integrated implicitly. "torque": the
        same law computed at each step, as a controller with a torque interface does. "effort": the torques of the motion's JointEffort.
    controller:
        An object with `step(state: RobotState) -> torques (J,)`; it replaces `drive`.
    root:
        "fixed" holds the root at its start pose, "free" releases it; by default as the body has it.
    start, end:
        [s] The part of the motion; without a motion, `end` is the length, by default 5 s.
    timestep, frame_rate:
        [s] of a step; [Hz] of the frames of the result, by default that of the motion, and 100 Hz without one.
    floor, friction:
        Whether there is level ground at z = 0, by default if the root is free; and its coefficient of sliding friction.
    objects:
        Further bodies, each with the pose (7,) in the world of the frame of its model. Joints of these have no motors.
    pushes, limits, sensors:
        Forces on links; whether limits of joints and efforts are kept; whether devices are read.
    self_collision:
        As for `write_mjcf`; "touching" also excludes pairs that overlap in the first pose of the motion.
    until_fall:
        End at a fall. Its rule is that of `Simulation.fall`.
    progress:
        Called with the simulated time and the whole time [s].

    Returns
    -------
    Simulation

    Raises
    ------
    ImportError
        Without the extra `sim`.
    ValueError
        When the motion does not fit the body, or an argument is out of its range; the message names it.
    ControllerError
        When the controller fails; `partial` of the exception is the simulation so far.
    FormatError
        When the body cannot be written for MuJoCo.
    """
    setup = {name: value for name, value in locals().items() if name not in ("until_fall", "progress")}
    run, control, controller = _started(**setup)
    world, plan = run.world, run.plan
    try:
        while run.done < plan.steps:
            first = run.done
            last = min(first + max(round(CHUNK / timestep), 1), plan.steps)
            if control is not None:
                run.forward(control, last)
            elif controller is not None:
                run.controlled(controller, last)
            if progress is not None:
                progress(run.done * timestep, plan.steps * timestep)
            if run.diverged:
                break
            recent = slice(first, run.done + 1)
            if until_fall and fallen(world.body, run.roots(recent), plan.root[recent]).any():
                break
    except KeyboardInterrupt:
        run.interrupted = True
    except ControllerError as error:
        error.partial = recorded(run, frame_rate)
        raise
    return recorded(run, frame_rate)


def _started(
    body: Body,
    motion: Motion | None,
    *,
    gains: npt.ArrayLike | None,
    drive: str,
    controller: Controller | None,
    root: Literal["free", "fixed"] | None,
    start: float,
    end: float | None,
    timestep: float,
    frame_rate: float | None,
    floor: bool | None,
    friction: float,
    objects: Sequence[tuple[Body, npt.ArrayLike]],
    pushes: Sequence[Push],
    self_collision: SelfCollision,
    limits: bool,
    sensors: bool,
) -> tuple[Run, Floats | None, Controller | None]:
    """Check the arguments of `simulate`, and return a run at its start with its controls (steps, nu) or its controller."""
    for name, value, low, high in (
        ("timestep", timestep, 1e-7, 0.02),
        ("friction", friction, 0.0, 1e9),
        ("frame_rate", 1.0 if frame_rate is None else frame_rate, 1e-9, 1e9),
    ):
        if not low <= value <= high:
            raise ValueError(f"{name}: expected {low:g} to {high:g}, got {value:g}")
    for name, word, words in (
        ("drive", drive, ("servo", "torque", "effort")),
        ("root", root, (None, "free", "fixed")),
        ("self_collision", self_collision, get_args(SelfCollision)),
    ):
        if word not in words:
            raise ValueError(f"{name}: expected one of {', '.join(map(str, words))}, got {word!r}")
    for thing, pose in objects:
        at = np.asarray(pose, dtype=np.float64)
        if at.shape != (7,) or not np.isfinite(at).all() or not at[3:].any():
            raise ValueError(f"objects: {thing.name!r}: expected a pose of 7 finite numbers, position and quaternion")
    robot = robot_of(body, root)
    body = robot.body
    links = [link.name for link in body.links]
    for push in pushes:
        if push.link not in links:
            raise ValueError(f"pushes: no link {push.link!r}; {choices(push.link, links)}")
    floor = not body.is_mounted if floor is None else floor
    plan = Plan(body, motion, start, end, timestep, robot.points, floor=floor)
    table = np.array(robot.default_gains if gains is None else gains, dtype=np.float64)
    if table.shape != (body.num_joints, 2) or not np.isfinite(table).all() or (table < 0).any():
        raise ValueError(
            f"gains: expected finite kp and kd ({body.num_joints}, 2) of at least 0, got shape {table.shape}"
        )
    table[list(passive_joints(body))] = 0.0
    servo = controller is None and drive == "servo"
    alone = np.flatnonzero((table[:, 0] == 0) & (table[:, 1] > 0))
    if servo and len(alone):
        name = body.joints[alone[0]].name
        raise ValueError(f"gains: joint {name!r} has a kd and no kp; give kp, or use drive='torque'")
    options = WorldOptions(table if servo else None, timestep, self_collision, friction, floor, limits, sensors)
    run = Run(robot.world(options, plan.posture, objects), plan, pushes)
    if servo:
        # The force of position actuators is kp · (u − q) − kd · q̇, so u = q_cmd + kd/kp · q̇_cmd.
        kp, kd = table.T
        control = plan.dq[:-1] * np.divide(kd, kp, out=np.zeros_like(kd), where=kp > 0)
        control += plan.q[:-1]
        return run, run.control(control), None
    if controller is None and drive == "effort":
        return run, run.control(plan.efforts(body, motion)), None
    return run, None, controller or TorqueServo(table, plan)


def simulate_many(
    bodies: Body | Sequence[Body],
    motions: Sequence[Motion],
    *,
    workers: int | None = None,
    device: str | None = None,
    **options: Any,  # noqa: ANN401
) -> tuple[Simulation, ...]:
    """Simulate many motions, of one body or of one body each, at once.

    Each simulation is one of `simulate`, on a thread of its own: MuJoCo takes the steps without the lock of the interpreter. The model of a
    body is made once. With a `device`, all simulations of one model take their steps together, in single precision.

    Parameters
    ----------
    bodies:
        One body for all motions, or one for each.
    workers:
        The number of threads; by default that of the cores.
    device:
        A device of Warp, such as "cuda" or "cpu": MuJoCo Warp takes the steps (extra `gpu`), without controllers, crawlers and
        `until_fall`.
    options:
        Those of `simulate`, the same for all.

    Raises
    ------
    WrongUseError
        When the number of bodies is not that of the motions, `workers` is less than 1, or a device does not support an option; other
        errors are those of `simulate`.
    """
    several = [bodies] * len(motions) if isinstance(bodies, Body) else list(bodies)
    if len(several) != len(motions):
        raise WrongUseError(f"bodies: expected one, or one for each of {len(motions)} motions, got {len(several)}")
    count = (os.cpu_count() or 1) if workers is None else workers
    if count < 1:
        raise WrongUseError(f"workers: expected at least 1, got {workers}")
    pairs = list(zip(several, motions, strict=True))
    if device is None:
        with ThreadPoolExecutor(count) as pool:
            return tuple(pool.map(lambda pair: simulate(*pair, **options), pairs))
    from bodymotion.simulation.warp import step_together

    defaults = {name: value.default for name, value in signature(simulate).parameters.items()}
    settings = {**defaults, **options}
    frame_rate, until_fall = settings["frame_rate"], settings.pop("until_fall")
    progress = settings.pop("progress") or (lambda done, total: None)
    runs = []
    # Runs of one model share what is known of it.
    groups: dict[int, list[tuple[Run, Floats]]] = {}
    for body, motion in pairs:
        run, control, _ = _started(**{**settings, "body": body, "motion": motion})
        if control is None or run.world.crawlers or until_fall:
            raise WrongUseError(
                f"device {device!r}: expected no controller, drive 'servo' or 'effort', no crawlers, and no until_fall"
            )
        runs.append(run)
        groups.setdefault(id(run.world.effort), []).append((run, control))
    for group in groups.values():
        step_together(group, device, progress)
    return tuple(recorded(run, frame_rate) for run in runs)
