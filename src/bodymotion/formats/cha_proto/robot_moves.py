"""The moves that a robot lists: the text of a message ListAllMovesResponse, and the ranges of parameters (MoveParamsConfig).

MoveParamsConfig has a block of lines for each move, with blank lines between. Its first line is `MOVE PARAMS_FIELD`, `MOVE NONE`, or
`PARAMS_FIELD` alone. Each further line has the name of a parameter, with a dot for each level, its minimum, default and maximum; or its
default alone.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from bodymotion.animation import Parameter
from bodymotion.choreography import STATES, TRACKS, MoveInfo, RobotMoves
from bodymotion.diagnostics import Diagnostics, FormatError, Location
from bodymotion.formats.cha_proto import rules
from bodymotion.formats.cha_proto.messages import message_class
from bodymotion.formats.cha_proto.reader import parsed, read_content, text_of

_IS_LIST = re.compile(r"\s*(?:#[^\n]*\s*)*(?:header|moves|move_param_config)\s*[:{<]")


def read_move_list(path: str | Path) -> Any:  # noqa: ANN401
    """Read a file of a robot's moves, the text of ListAllMovesResponse or MoveParamsConfig alone, as the first message.

    Raises FormatError when it is neither (CAP002, CAP009), or cannot be opened (CAP007).
    """
    found = Diagnostics(path)
    text = text_of(read_content(path), found)
    if _IS_LIST.match(text):
        message, _ = parsed(text, "ListAllMovesResponse", found)
        if found.refusal is not None:
            raise FormatError(found.refusal)
    else:
        message = message_class("ListAllMovesResponse")(move_param_config=text)
    if not message.moves and not ranges_of(message.move_param_config):
        reason = "no moves: neither the text of ListAllMovesResponse nor of MoveParamsConfig"
        raise rules.NO_LIST.error(reason, Location(str(path)))
    return message


def robot_moves_of(message: Any) -> RobotMoves:  # noqa: ANN401
    """Return the moves of a message ListAllMovesResponse, of the vendor's or of our own class."""
    return RobotMoves({one.name: _info(one) for one in message.moves}, ranges_of(message.move_param_config))


def _info(one: Any) -> MoveInfo:  # noqa: ANN401
    shown = one.display.color if one.display.HasField("color") else None
    return MoveInfo(
        one.name,
        tuple(track for track in TRACKS if getattr(one, f"controls_{track}")),
        (one.move_length_slices, one.min_move_length_slices, one.max_move_length_slices),
        (one.move_length_time, one.min_time, one.max_time),
        one.is_extendable,
        tuple(_state(number) for number in one.entrance_states),
        _state(one.exit_state),
        one.animated_move_generated_id.value,
        None if shown is None else (shown.r, shown.g, shown.b),
    )


def _state(number: int) -> str:
    return STATES[number] if 0 <= number < len(STATES) else str(number)


def ranges_of(text: str) -> dict[str, tuple[str, dict[str, Parameter]]]:
    """Return the limits of a text MoveParamsConfig: by move, the field of its parameters ("" for none), and the limits of each.

    A block that names a field only is under that name.
    """
    found: dict[str, tuple[str, dict[str, Parameter]]] = {}
    for block in re.split(r"\n\s*\n", text.strip()):
        head, *lines = block.splitlines() or [""]
        words = head.split()
        if not words or len(words) > 2 or not (words[-1] == "NONE" or words[-1].endswith("_params")):
            continue
        limits: dict[str, Parameter] = {}
        for line in lines:
            name, *values = line.split() or [""]
            with suppress(ValueError):
                numbers = [float(word) for word in values]
                if len(numbers) >= 3:
                    limits[name] = Parameter(*numbers[:3])
                    continue
            if name:
                limits[name] = Parameter()
        found[words[0]] = ("" if words[-1] == "NONE" else words[-1], limits)
    return found


def limits_of(config: str | Path | None) -> dict[str, Parameter]:
    """Return the robot's limits of the parameters of animations, of its MoveParamsConfig: a text or a file."""
    if config is None:
        return {}
    text = config.read_text(encoding="utf-8") if isinstance(config, Path) else config
    blocks = (limits for kind, limits in ranges_of(text).values() if kind == "animate_params")
    return {name: limit for name, limit in next(blocks, {}).items() if limit != Parameter()}
