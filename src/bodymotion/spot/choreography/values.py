"""A choreography: the moves of a Spot at their slices.

As the vendor's message ChoreographySequence has them.

A slice is a quarter of a beat. Moves are the robot's own, such as "step", or
animations: "animation::NAME". Parameters have the names of the vendor's messages, with
a dot for each level: "offset.x". Numbers are floats, enumerations texts such as
"LEG_FRONT_LEFT".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from bodymotion.diagnostics import Problem, ShortRepr, Source, SourceMap
from bodymotion.model.scripts import RobotScript
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.extension import TRACKS as TRACKS
from bodymotion.system.deferred import provided_by

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion

# The prefix of the types of moves that are animations.
PREFIX = "animation::"
# The positions in which moves of the legs begin and end.
STATES = tuple(
    f"TRANSITION_STATE_{state}"
    for state in ("UNKNOWN", "STAND", "KNEEL", "SIT", "SPRAWL")
)

# A value of a message. None for a message without fields, bytes for fields that are
# unknown (their name ends with a dot).
Value: TypeAlias = float | int | bool | str | bytes | tuple[object, ...] | None


@dataclass(frozen=True)
class Move(ShortRepr):
    """A move of a choreography.

    Attributes
    ----------
    type:
        The name of the move; "animation::NAME" for an animation.
    start_slice, requested_slices:
        When it begins and how long it lasts [slices].
    parameters:
        The values of parameters that are set, by name.
    kind:
        The field of the vendor's message with the parameters, such as "step_params"; ""
        without parameters.
    id:
        A number that no other move has; 0: none.
    extension:
        Fields of the message that are unknown, as bytes.
    """

    type: str
    start_slice: int = 0
    requested_slices: int = 0
    parameters: Mapping[str, Value] = field(default_factory=dict)
    kind: str = ""
    id: int = 0
    extension: bytes = b""

    @property
    def end_slice(self) -> int:
        """The slice at which it ends."""
        return self.start_slice + self.requested_slices

    @property
    def animation(self) -> str:
        """The name of its animation.

        "" for a move of the robot's own.
        """
        if self.type.startswith(PREFIX):
            return self.type.removeprefix(PREFIX)
        if self.type == "animation":
            name = self.parameters.get("animation_name", "")
        else:
            name = ""
        return str(name)


@dataclass(frozen=True)
class MoveInfo:
    """A move as a robot describes it (message MoveInfo).

    Numbers that are 0 are not limited.

    Attributes
    ----------
    tracks:
        Those of `TRACKS` that it controls.
    slices, seconds:
        Its length, and the smallest and the largest one, in slices and in seconds.
    entrance_states, exit_state:
        Of `STATES`.
    generated_id:
        The identifier under which an animation was uploaded.
    """

    name: str
    tracks: tuple[str, ...] = ()
    slices: tuple[int, int, int] = (0, 0, 0)
    seconds: tuple[float, float, float] = (0.0, 0.0, 0.0)
    is_extendable: bool = False
    entrance_states: tuple[str, ...] = ()
    exit_state: str = STATES[0]
    generated_id: str = ""
    color: tuple[int, int, int] | None = None

    def natural_slices(self, slices_per_minute: float) -> int:
        """Return its length [slices] at a tempo.

        A length in seconds beats one in slices; 0 where it is not limited.
        """
        if self.seconds[0]:
            return round(self.seconds[0] * slices_per_minute / 60.0)
        return self.slices[0]

    def slice_range(self, slices_per_minute: float) -> tuple[float, float]:
        """Return the smallest and the largest length [slices] at a tempo.

        The minimum wins where the bounds contradict each other.
        """
        per_second = slices_per_minute / 60.0
        if not self.is_extendable:
            length = self.natural_slices(slices_per_minute)
            if length:
                return (float(length), float(length))
            return (0.0, float("inf"))
        low = max(float(self.slices[1]), self.seconds[1] * per_second)
        high = min(
            self.slices[2] or float("inf"), self.seconds[2] * per_second or float("inf")
        )
        return low, max(low, high)


@dataclass(frozen=True)
class RobotMoves:
    """The moves that a robot lists (RPC ListAllMoves).

    Attributes
    ----------
    infos:
        By name.
    ranges:
        By name of the move: the field of its parameters ("step_params", or ""), and the
        limits of each parameter.
    """

    infos: Mapping[str, MoveInfo] = field(default_factory=dict)
    ranges: Mapping[str, tuple[str, Mapping[str, Parameter]]] = field(
        default_factory=dict
    )


@dataclass(frozen=True, kw_only=True)
class Choreography(RobotScript, ShortRepr):
    """A sequence of moves.

    Attributes
    ----------
    name:
        Identifies it on a robot.
    slices_per_minute:
        The tempo: four times the beats per minute.
    moves:
        In the order of the file.
    options:
        The further fields of the message that are set: "entrance_state",
        "choreography_info.labels" …
    editor:
        The fields of a save file of Choreographer (`.chr`): "music_file",
        "music_start_slice", "choreography_start_slice"; None for others.
    animations:
        The animations of its moves by name, as far as they are known.
    robot:
        The moves of the robot that it is for, if known.
    """

    name: str = ""
    slices_per_minute: float = 400.0
    moves: tuple[Move, ...] = ()
    options: Mapping[str, Value] = field(default_factory=dict)
    editor: Mapping[str, Value] | None = None
    animations: Mapping[str, Animation] = field(
        default_factory=dict, compare=False, repr=False
    )
    robot: RobotMoves | None = field(default=None, compare=False, repr=False)
    problems: tuple[Problem, ...] = field(default=(), compare=False)
    source: Source = field(default_factory=Source, compare=False)

    @property
    def slices(self) -> int:
        """The number of slices: the end of the last move."""
        return max((move.end_slice for move in self.moves), default=0)

    @property
    def bpm(self) -> float:
        """The beats per minute."""
        return self.slices_per_minute / 4.0

    @property
    def duration(self) -> float:
        """The length [s]; 0 without a tempo."""
        if self.slices_per_minute > 0:
            return self.slices * 60.0 / self.slices_per_minute
        return 0.0

    def info(self, move: Move) -> MoveInfo | None:
        """Return what the robot describes of a move.

        None where it is unknown.
        """
        if self.robot is not None:
            infos = self.robot.infos
        else:
            infos = {}
        return infos.get(move.type) or (
            infos.get(PREFIX + move.animation) if move.animation else None
        )

    @provided_by("bodymotion.spot.choreography.moves:add")
    def add(
        self,
        move: str | Animation | Move,
        start: int | None = None,
        slices: int | None = None,
        parameters: Mapping[str, Value] | None = None,
    ) -> Choreography:
        """Return the choreography with a further move.

        Parameters
        ----------
        move:
            The name of a move of the robot, an animation, or a Move (which is added as
            it is).
        start:
            The slice at which it begins; by default the end of the choreography.
        slices:
            Its length; by default that of the animation, or of the robot's list of
            moves.
        parameters:
            Values of parameters by name.

        Raises
        ------
        ValueError
            When a parameter does not exist, or the length is not known.
        """
        raise NotImplementedError

    @provided_by("bodymotion.spot.choreography.playing:play_choreography")
    def play(self, *, first_slice: float = 0, arm: bool | None = None) -> Motion:
        """Return the motion that the animations of the choreography command.

        See `bodymotion.spot.choreography.play_choreography`.
        """
        raise NotImplementedError

    @provided_by("bodymotion.spot.choreography.playing:body_and_motion")
    def body_and_motion(self, *, bpm: float | None = None) -> tuple[Body, Motion]:
        """Return the body of Spot, and the motion of the choreography on it.

        With its arm where an animation needs it.
        """
        raise NotImplementedError

    def replaced(self, *moves: Move) -> Choreography:
        """Return the choreography with other moves.

        Their locations in the file are unknown.
        """
        return replace(
            self,
            moves=moves,
            problems=(),
            source=replace(self.source, locations=SourceMap()),
        )
