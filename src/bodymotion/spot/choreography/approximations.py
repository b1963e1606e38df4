"""Moves of the robot's own whose parameters define their goals, as animations: approximately, since their motion is not published.

The body rotates or moves to a pose, sways (a cycle of 8 slices) or goes up and down (4 slices); arm and gripper go to angles. All other
moves, and random ones, are pauses.
"""

import numpy as np

from bodymotion.animation import GROUPS, Animation, Keyframes, Parameter
from bodymotion.choreography import Move
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.spot.playback.dimensions import NOMINAL_HEIGHT

_POSE = (*GROUPS["body_pos"], *GROUPS["body_euler_rpy"])
_ARM = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")
MAX_NUMBER = 1000.0  # [m, rad, slices] With larger numbers a move is a pause.


def approximation(move: Move, slice_seconds: float) -> Animation | None:
    """Return an animation of a move of the robot's own at a tempo, `slice_seconds` [s]; None where its motion is not known."""
    length = float(move.requested_slices)
    parameters = {name: float(value) for name, value in move.parameters.items() if isinstance(value, (int, float))}
    now = np.arange(max(move.requested_slices, 0) + 1)

    def pose(shares: Floats, position: str = "", rotation: str = "") -> Floats:
        """Return body poses (N, 6), that of the parameters times `shares` (N,)."""
        goal = [parameters.get(f"{position}.{axis}", 0.0) for axis in "xyz"]
        goal += [parameters.get(f"{rotation}.{angle}", 0.0) for angle in ("roll", "pitch", "yaw")]
        return np.asarray(np.add(np.outer(shares, goal), [0.0, 0.0, NOMINAL_HEIGHT, 0.0, 0.0, 0.0]))

    match move.kind:
        case "rotate_body_params":
            back = bool(parameters.get("return_to_start_pose"))
            ways = (length / 2, length / 2) if back else (length, 0.0)
            return _animation(_POSE, pose(np.ones(1), rotation="rotation"), "body", *ways)
        case "body_hold_params":
            ways = parameters.get("entry_slices", 1.0), parameters.get("exit_slices", 1.0)
            return _animation(_POSE, pose(np.ones(1), "translation", "rotation"), "body", *ways)
        case "sway_params":
            table, swing = pose(np.zeros(len(now))), np.sin(2 * np.pi * now / 8)
            for column, name in ((1, "horizontal"), (2, "vertical"), (3, "roll")):
                table[:, column] += swing * parameters.get(name, 0.0)
            return _animation(_POSE, table, "body", 1.0, 0.0, slice_seconds)
        case "twerk_params":
            table = pose(np.zeros(len(now)))
            table[:, 2] -= parameters.get("height", 0.0) * (1 - np.cos(2 * np.pi * now / 4)) / 2
            return _animation(_POSE, table, "body", 1.0, 0.0, slice_seconds)
        case "arm_move_params" if set(_ARM) <= parameters.keys():
            columns, values = GROUPS["arm_joints"], [parameters[name] for name in _ARM]
            return _animation(columns, np.array([values]), "arm", length, 0.0)
        case "gripper_params" if "angle" in parameters:
            return _animation(("gripper",), -np.abs([[parameters["angle"]]]), "gripper", length, 0.0)
    return None


def _animation(
    columns: tuple[str, ...], values: Floats, track: str, entry: float, exit_: float, step: float = 1.0
) -> Animation | None:
    """Return an animation of one track, with a keyframe every `step` seconds, that is entered and left in so many slices; None where
    numbers are not finite or beyond `MAX_NUMBER`.
    """
    if not (np.abs([*values.ravel(), entry, exit_]) <= MAX_NUMBER).all():
        return None
    part = "body" if track == "body" else "arm"
    return Animation(
        name="approximation",
        options={"controls": (track,), "extendable": True, "truncatable": True, "no_looping": True},
        parameters={
            f"{part}_entry_slices": Parameter(0.0, max(entry, 0.0)),
            **({"body_exit_slices": Parameter(0.0, exit_)} if exit_ > 0 else {}),
        },
        keyframes=Keyframes(columns=columns, values=values, times=frozen(np.arange(len(values)) * step)),
    )
