"""Moves of the robot's own as animations, where their parameters define their goals.

The motion of these moves is not published: it is approximate.
"""

from __future__ import annotations

import numpy as np

from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.spot.animation import GROUPS, Animation, Keyframes, Parameter
from bodymotion.spot.choreography.values import Move
from bodymotion.spot.playback.dimensions import NOMINAL_HEIGHT

# [m, rad, slices] With larger numbers a move is a pause.
MAX_NUMBER = 1000.0
# [slices] The body sways once to both sides: two beats.
SWAY_CYCLE = 8.0
# [slices] The body goes down and up once: a beat.
TWERK_CYCLE = 4.0
_BODY = (*GROUPS["body_pos"], *GROUPS["body_euler_rpy"])
_ARM = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")


def parameters_of(move: Move) -> dict[str, float]:
    """Return the numbers that a move sets as parameters of its animation."""
    return {
        name: float(value)
        for name, value in move.parameters.items()
        if isinstance(value, (int, float)) and not name.endswith(".")
    }


def approximation(move: Move, slice_seconds: float) -> Animation | None:
    """Return an animation of a move of the robot's own; None where it is unknown.

    The body rotates or moves to a pose, sways or goes up and down; arm and gripper go
    to angles. All other moves, and random ones, are pauses.

    Parameters
    ----------
    slice_seconds:
        The duration of a slice [s].
    """
    length = float(move.requested_slices)
    parameters = parameters_of(move)
    # Keyframes once per slice, for moves that oscillate.
    slices: Floats = np.arange(max(move.requested_slices, 0) + 1, dtype=np.float64)
    match move.kind:
        case "rotate_body_params":
            values = _body_pose(parameters, rotation="rotation")
            if parameters.get("return_to_start_pose"):
                # Half of the move there, half of it back.
                return _animation(_BODY, values, "body", length / 2, length / 2)
            return _animation(_BODY, values, "body", length)
        case "body_hold_params":
            values = _body_pose(parameters, "translation", "rotation")
            entry = parameters.get("entry_slices", 1.0)
            exit_ = parameters.get("exit_slices", 1.0)
            return _animation(_BODY, values, "body", entry, exit_)
        case "sway_params":
            values = np.repeat(_body_pose({}), len(slices), axis=0)
            # One full swing in `SWAY_CYCLE` slices, to both sides of the stand.
            swing = np.sin(2 * np.pi * slices / SWAY_CYCLE)
            values[:, 1] += swing * parameters.get("horizontal", 0.0)
            values[:, 2] += swing * parameters.get("vertical", 0.0)
            values[:, 3] += swing * parameters.get("roll", 0.0)
            return _animation(_BODY, values, "body", 1.0, step=slice_seconds)
        case "twerk_params":
            values = np.repeat(_body_pose({}), len(slices), axis=0)
            # 0 at the start of each cycle, 2 at its middle; `height` is the depth.
            drop = 1 - np.cos(2 * np.pi * slices / TWERK_CYCLE)
            values[:, 2] -= parameters.get("height", 0.0) * drop / 2
            return _animation(_BODY, values, "body", 1.0, step=slice_seconds)
        case "arm_move_params" if set(_ARM) <= parameters.keys():
            angles = np.array([[parameters[name] for name in _ARM]])
            return _animation(GROUPS["arm_joints"], angles, "arm", length)
        case "gripper_params" if "angle" in parameters:
            # The gripper opens to negative angles.
            angle = -np.abs([[parameters["angle"]]])
            return _animation(("gripper",), angle, "gripper", length)
    return None


def _body_pose(
    parameters: dict[str, float], position: str = "", rotation: str = ""
) -> Floats:
    """Return the body pose (1, 6) of parameters, above a nominal stand."""
    goal = [parameters.get(f"{position}.{axis}", 0.0) for axis in "xyz"]
    for angle in ("roll", "pitch", "yaw"):
        goal.append(parameters.get(f"{rotation}.{angle}", 0.0))
    stand = [0.0, 0.0, NOMINAL_HEIGHT, 0.0, 0.0, 0.0]
    return np.add([goal], stand)


def _animation(
    columns: tuple[str, ...],
    values: Floats,
    track: str,
    entry: float,
    exit_: float = 0.0,
    step: float = 1.0,
) -> Animation | None:
    """Return an animation of one track; None where numbers are not usable.

    Parameters
    ----------
    entry, exit_:
        [slices] In how many slices it is entered and left.
    step:
        [s] Between keyframes.
    """
    # NaN fails the comparison as well.
    numbers = np.abs([*values.ravel(), entry, exit_])
    if not (numbers <= MAX_NUMBER).all():
        return None
    # Blends do the movement: the keyframes hold the goal, and entry and exit slices
    # lead to it and away.
    part = "body" if track == "body" else "arm"
    parameters = {f"{part}_entry_slices": Parameter(0.0, max(entry, 0.0))}
    if exit_ > 0:
        parameters["body_exit_slices"] = Parameter(0.0, exit_)
    return Animation(
        name="approximation",
        options={
            "controls": (track,),
            "extendable": True,
            "truncatable": True,
            "no_looping": True,
        },
        parameters=parameters,
        keyframes=Keyframes(
            columns=columns, values=values, times=frozen(np.arange(len(values)) * step)
        ),
    )
