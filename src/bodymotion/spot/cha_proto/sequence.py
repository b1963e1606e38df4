"""Read choreographies from the vendor's messages.

ChoreographySequence and ChoreographerSave, as text and bytes.

Fields that are unknown are kept where the file has bytes. The animations that a
choreography names are read from files beside it.

The moves that a robot lists are read as well: the text of a message
ListAllMovesResponse, and the ranges of parameters (MoveParamsConfig). MoveParamsConfig
has a block of lines for each move, with blank lines between. Its first line is `MOVE
PARAMS_FIELD`, `MOVE NONE`, or
`PARAMS_FIELD` alone. Each further line has the name of a parameter, with a dot for each
level, its minimum, default and maximum; or its
default alone.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

from bodymotion.diagnostics import (
    Diagnostics,
    FormatError,
    Location,
    Problem,
    ReadResult,
)
from bodymotion.diagnostics.problem import Source, SourceMap, Subject
from bodymotion.formats.resources import ResourceFinder, file_bytes
from bodymotion.formats.rules import TOO_LARGE
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha_proto import rules
from bodymotion.spot.cha_proto.messages import MESSAGES, message_class
from bodymotion.spot.cha_proto.reader import FIELD, MAX_FILE_BYTES, parsed, text_of
from bodymotion.spot.choreography.values import (
    STATES,
    TRACKS,
    Choreography,
    Move,
    MoveInfo,
    RobotMoves,
    Value,
)
from bodymotion.spot.sniffing import is_binary

MAX_BYTES = 16 << 20
MAX_MOVES = 5_000  # A dance of an hour has about 1000.
MAX_ANIMATIONS = 1000  # Animations of one choreography that are read.
MAX_DEPTH = 8  # Of messages in messages of a text whose fields are located.
SEQUENCE = "ChoreographySequence"
SAVE = "ChoreographerSave"
KINDS = tuple(name for name, one in MESSAGES["MoveParams"].items() if one.choice)
"""The fields of a move with its parameters: "step_params" …"""

_IS_SAVE = re.compile(r"(?m)^\s*choreography_sequence\s*:?\s*[{<]")
_IS_LIST = re.compile(r"\s*(?:#[^\n]*\s*)*(?:header|moves|move_param_config)\s*[:{<]")
_PLACES = tuple(
    f"{folder}{{}}{extension}"
    for folder, extension in product(
        ("", "animations/", "../animations/"),
        (".cha", ".cap", ".pbtxt", ".textproto", ".pb"),
    )
)


def read_move_list(path: str | Path) -> Any:  # noqa: ANN401
    """Read a file of a robot's moves.

    The text of ListAllMovesResponse, or MoveParamsConfig alone, as the first message.

    Raises FormatError when it is neither (CAP002, CAP009), or cannot be opened
    (FMT002).
    """
    found = Diagnostics(path)
    text = text_of(file_bytes(path, MAX_FILE_BYTES), found)
    if _IS_LIST.match(text):
        message, _ = parsed(text, "ListAllMovesResponse", found)
        if found.refusal is not None:
            raise FormatError(found.refusal)
    else:
        message = message_class("ListAllMovesResponse")(move_param_config=text)
    if not message.moves and not ranges_of(message.move_param_config):
        reason = (
            "the file has no moves; expected the text of ListAllMovesResponse or of "
            "MoveParamsConfig"
        )
        raise rules.NO_LIST.error(reason, Location(str(path)))
    return message


def robot_moves_of(message: Any) -> RobotMoves:  # noqa: ANN401
    """Return the moves of a message ListAllMovesResponse.

    Of the vendor's or of our own class.
    """
    return RobotMoves(
        {one.name: _info(one) for one in message.moves},
        ranges_of(message.move_param_config),
    )


def _info(one: Any) -> MoveInfo:  # noqa: ANN401
    """Return a robot's description of a move."""
    if one.display.HasField("color"):
        shown = one.display.color
    else:
        shown = None
    return MoveInfo(
        one.name,
        tuple(track for track in TRACKS if getattr(one, f"controls_{track}")),
        (
            one.move_length_slices,
            one.min_move_length_slices,
            one.max_move_length_slices,
        ),
        (one.move_length_time, one.min_time, one.max_time),
        one.is_extendable,
        tuple(_state(number) for number in one.entrance_states),
        _state(one.exit_state),
        one.animated_move_generated_id.value,
        None if shown is None else (shown.r, shown.g, shown.b),
    )


def _state(number: int) -> str:
    """Return the name of a state; its number where the list is older."""
    if 0 <= number < len(STATES):
        return STATES[number]
    return str(number)


def ranges_of(text: str) -> dict[str, tuple[str, dict[str, Parameter]]]:
    """Return the limits of a text MoveParamsConfig.

    By move, the field of its parameters ("" for none), and the limits of each.

    A block that names a field only is under that name.
    """
    found: dict[str, tuple[str, dict[str, Parameter]]] = {}
    # Blocks are separated by blank lines: NAME kind, then a line for each parameter.
    for block in re.split(r"\n\s*\n", text.strip()):
        head, *lines = block.splitlines() or [""]
        words = head.split()
        if (
            not words
            or len(words) > 2
            or not (words[-1] == "NONE" or words[-1].endswith("_params"))
        ):
            continue
        limits: dict[str, Parameter] = {}
        for line in lines:
            name, *values = line.split() or [""]
            # A line without three numbers is a parameter without limits.
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
    """Return the robot's limits of the parameters of animations.

    From its MoveParamsConfig.

    A text or a file.
    """
    if config is None:
        return {}
    if isinstance(config, Path):
        text = config.read_text(encoding="utf-8")
    else:
        text = config
    blocks = (
        limits for kind, limits in ranges_of(text).values() if kind == "animate_params"
    )
    return {
        name: limit for name, limit in next(blocks, {}).items() if limit != Parameter()
    }


def choreography_from_bytes(data: bytes) -> Choreography:
    """Read the bytes of a message ChoreographySequence or ChoreographerSave.

    Raises
    ------
    FormatError
        When they are no such message (CAP001), or too large (FMT009).
    """
    return _read(data, is_text=False).require()


def read_choreography(
    path: str | Path,
    *,
    robot_moves: str | Path | None = None,
    allow_outside: bool | None = None,
) -> ReadResult[Choreography]:
    """Read a file of a choreography as the vendor's message, text or bytes.

    Its content decides.

    An animation NAME is searched as NAME.cha, NAME.cap, NAME.pbtxt, NAME.textproto or
    NAME.pb beside the file, in its folder `animations`, and in a folder `animations`
    beside its own. Animations that are not found are missing in `animations`.

    Parameters
    ----------
    robot_moves:
        A file of the moves that a robot lists, written by `bodymotion spot moves -o
        FILE`, or the vendor's MoveParamsConfig.txt.
    allow_outside:
        See `bodymotion.load`.
    """
    found = Diagnostics(path)
    with found.recover():
        data = file_bytes(path, MAX_FILE_BYTES)
        result = _read(
            data, is_text=not (is_binary(data) or _is_message(data)), path=Path(path)
        )
        if result.value is None:
            return result
        found.extend(result.problems)
        if robot_moves is None:
            robot = None
        else:
            robot = robot_moves_of(read_move_list(robot_moves))
        finder = ResourceFinder(Path(path).parent, allow_outside, model=Path(path))
        animations = dict(_animations(result.value, finder))
        parts = tuple(
            one.source.path
            for one in animations.values()
            if one.source.path is not None
        )
        source = replace(result.value.source, parts=parts)
        return replace(
            result,
            value=replace(
                result.value, robot=robot, animations=animations, source=source
            ),
        )
    return ReadResult(None, found.problems)


def _animations(
    choreography: Choreography, finder: ResourceFinder
) -> Iterator[tuple[str, Animation]]:
    """Return the animations of a choreography that have a file, partial ones too."""
    from bodymotion.formats.registry import read

    # Each animation once, in the order of the moves.
    names = dict.fromkeys(move.animation for move in choreography.moves)
    plain = [
        name
        for name in names
        # A name is used as a file name: no paths, no separators of archives or
        # addresses, nothing longer than file systems allow.
        if name and not set(name) & set("/\\:#%\0") and len(name) < 200
    ]
    for name in plain[:MAX_ANIMATIONS]:
        # All extensions beside the file, then in the folders of animations.
        file = finder.find([place.format(name) for place in _PLACES])
        try:
            if isinstance(file, Path):
                value = read(file)[1].value
            else:
                value = None
        except FormatError:
            # An animation that cannot be read is as missing: the check of moves reports
            # it.
            continue
        if isinstance(value, Animation):
            yield name, value


def _read(
    data: bytes, *, is_text: bool, path: Path | None = None
) -> ReadResult[Choreography]:
    """Read a choreography from the content of a file."""
    found = Diagnostics(path)
    choreography: Choreography | None = None
    with found.recover():
        location = Location(found.path)
        # Size limits before any parsing.
        if len(data) > MAX_BYTES:
            message = f"{len(data)} bytes, expected at most {MAX_BYTES}"
            raise TOO_LARGE.error(message, location)
        text = text_of(data, found) if is_text else ""
        if text.count("moves") > MAX_MOVES:
            raise TOO_LARGE.error(f"more than {MAX_MOVES} moves", location)
        if not is_text:
            kind = _kind_of(data)
            wire = data
        else:
            kind = SAVE if _IS_SAVE.search(text) else SEQUENCE
            # A text becomes bytes: from here on there is one way.
            wire = bytes(parsed(text, kind, found)[0].SerializeToString())
        choreography = _choreography(wire, kind, found)
        unknown: list[Subject] = []
        if found.refusal is not None:
            # What faults leave unknown is not reported as missing.
            unknown = _unknown_parts(choreography, text, found.problems)
        source = Source(
            "csq" if kind == SEQUENCE else "chr",
            path,
            options={"text": is_text},
            locations=SourceMap({(): _locator(text, path)}, unknown),
        )
        choreography = replace(choreography, problems=found.problems, source=source)
    return found.result(choreography)


def _unknown_parts(
    choreography: Choreography, text: str, problems: Iterable[Problem]
) -> list[Subject]:
    """Return what is unknown of a faulty text.

    These are missing fields, and moves with faults.
    """
    fields = ("name", "slices_per_minute", "moves")
    empty = {name for name in fields if not getattr(choreography, name)}
    # A field that is there and empty is known; moves with faults are left out.
    given = {field["name"] for field in FIELD.finditer(text) if field["value"]}
    unknown: list[Subject] = [(name,) for name in empty - (given - {"moves"})]
    begins = sorted(
        (position, subject[:2]) for subject, position in _positions(text).items()
    )
    for problem in problems:
        if problem.rule == rules.TEXT.code:
            # A fault without a line is at the end.
            line = problem.location.line or 1 << 62
            fault = (line, problem.location.column or 0)
            _, part = begins[bisect_right(begins, fault, key=itemgetter(0)) - 1]
            unknown.append(part)
    return unknown


def _is_message(data: bytes) -> bool:
    """Return whether bytes are a message.

    Small ones can consist of characters; no text has the structure of a message.
    """
    from google.protobuf.message import DecodeError

    try:
        message_class(f"{SEQUENCE}Raw").FromString(data)
    except DecodeError:
        return False
    return bool(data)


def _kind_of(data: bytes) -> str:
    """Return which message bytes are.

    In a save, the sequence stands where a sequence has its name, and none of its fields
    follows.
    """
    from google.protobuf.message import DecodeError

    # A save has the sequence as its field 1, where a sequence has its name.
    try:
        save = message_class(f"{SAVE}Raw").FromString(data)
        inner = message_class(f"{SEQUENCE}Raw").FromString(
            b"".join(save.choreography_sequence)
        )
    except DecodeError:
        return SEQUENCE
    if len(inner.moves) or save.music_file:
        return SAVE
    return SEQUENCE


def _choreography(wire: bytes, kind: str, found: Diagnostics) -> Choreography:
    """Return the choreography of bytes, of either message."""
    from google.protobuf.message import DecodeError

    try:
        editor: Mapping[str, Value] | None = None
        # The editor's fields are kept for writing a save again.
        if kind == SAVE:
            save = message_class(f"{SAVE}Raw").FromString(wire)
            wire = b"".join(save.choreography_sequence)
            save.ClearField("choreography_sequence")
            editor = flat(save)
        raw = message_class(f"{SEQUENCE}Raw").FromString(wire)
        # The number of moves is known before any of them is parsed.
        if len(raw.moves) > MAX_MOVES:
            raise TOO_LARGE.error(
                f"{len(raw.moves)} moves, expected at most {MAX_MOVES}",
                Location(found.path),
            )
        moves = tuple(
            _move(message_class("MoveParams").FromString(move)) for move in raw.moves
        )
    except DecodeError:
        message = "the bytes are not a protobuf message, or are cut off"
        raise rules.WIRE.error(message, Location(found.path)) from None
    raw.ClearField("moves")
    options = flat(raw)
    del raw
    tempo: Any = options.pop("slices_per_minute", 0.0)
    return Choreography(
        name=str(options.pop("name", "")),
        slices_per_minute=float(tempo),
        moves=moves,
        options=options,
        editor=editor,
    )


def _move(message: Any) -> Move:  # noqa: ANN401
    """Return a move of a message."""
    kind = message.WhichOneof("params") or ""
    if kind:
        parameters = flat(getattr(message, kind))
    else:
        parameters = {}
    return Move(
        message.type,
        message.start_slice,
        message.requested_slices,
        parameters,
        kind,
        message.id,
        _unknown(message),
    )


def flat(message: Any, prefix: str = "") -> dict[str, Value]:  # noqa: ANN401
    """Return the fields of a message that are set, by name, with a dot for each level.

    Wrappers of a value as the value.

    A message without fields is None. Unknown fields are bytes under the name of their
    message, with a dot at its end.
    """
    values: dict[str, Value] = {}
    for one, value in message.ListFields():
        name = f"{prefix}{one.name}"
        # Fields of enumerations by name, wrappers (DoubleValue …) as their value.
        if one.message_type is None:
            values[name] = tuple(value) if one.is_repeated else _named(one, value)
        elif "value" in one.message_type.fields_by_name:
            values[name] = value.value
            if unknown := _unknown(value):
                values[f"{name}."] = unknown
        else:
            # An empty message says that it is there: None.
            values |= flat(value, f"{name}.") or {name: None}
    if unknown := _unknown(message):
        values[prefix or "."] = unknown
    return values


def _named(one: Any, number: Any) -> Value:  # noqa: ANN401
    """Return a value, that of an enumeration by its name where it has one."""
    if one.enum_type is None:
        word = None
    else:
        word = one.enum_type.values_by_number.get(number)
    value: Value = number if word is None else word.name
    return value


def _unknown(message: Any) -> bytes:  # noqa: ANN401
    """Return the bytes of the fields that are unknown."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    # Unknown fields cannot be listed by name: keep what is left after clearing all
    # known ones.
    if not len(UnknownFieldSet(message)):
        return b""
    rest = type(message)()
    rest.CopyFrom(message)
    for one in message.DESCRIPTOR.fields:
        rest.ClearField(one.name)
    return bytes(rest.SerializeToString())


def _locator(text: str, path: Path | None) -> Callable[[Subject], Location | None]:
    """Return a locator of the parts of a choreography in its text.

    The text is searched when it is first called.
    """
    known: dict[Subject, tuple[int, int]] = {}

    def locate(subject: Subject) -> Location | None:
        """Return the location of the nearest part that has one."""
        if not known:
            known.update(_positions(text))
        if path is None:
            file = None
        else:
            file = str(path)
        if len(subject) > 1 and isinstance(subject[1], int):
            inside = f"move {subject[1] + 1}"
        else:
            inside = None
        # The nearest part that has a location: a parameter, else its move, else the
        # file.
        parts = (subject[:length] for length in range(len(subject), 0, -1))
        line, column = next(
            (known[part] for part in parts if part in known), (None, None)
        )
        return Location(file, line, column, inside)

    return locate


def _positions(text: str) -> dict[Subject, tuple[int, int]]:
    """Return line and column of the fields of a text.

    ("name",), ("moves", 3), ("moves", 3, "start_slice"), ("moves", 3, "offset.x").
    """
    # ("", k) are braces and repeated fields: locations that faults can be near to.
    found: dict[Subject, tuple[int, int]] = {("",): (1, 1)}
    outer: list[str] = []
    num_moves = 0
    line = 1
    line_start = 0
    seen = 0
    for token in FIELD.finditer(text):
        # Count lines between tokens only: each character is looked at once.
        skipped = text.count("\n", seen, token.start())
        if skipped:
            line += skipped
            line_start = text.rfind("\n", seen, token.start()) + 1
        seen = token.start()
        position = line, token.start() - line_start + 1
        if (token["open"] or token["colon"]) and len(outer) <= MAX_DEPTH:
            # A save file has the sequence as one of its fields.
            is_in_save = outer[:1] == ["choreography_sequence"]
            path = [*(outer[1:] if is_in_save else outer), token["name"]]
            if path == ["moves"]:
                if token["open"]:
                    found["moves", num_moves] = position
                    num_moves += 1
            else:
                subject = _subject_of(path, num_moves - 1)
                if path[0] == "moves":
                    # The wrapper of a number is at the number's own name.
                    if path[-1] != "value":
                        found.setdefault(subject, position)
                else:
                    # A field that is there twice has a location of its own.
                    found[("", len(found)) if subject in found else subject] = position
        # Track the path of open messages, to know which field is within which.
        if token["open"] or token["bare"]:
            outer.append(token["name"] or "")
        elif token["close"]:
            found["", len(found)] = position
            del outer[-1:]
    return found


def _subject_of(path: list[str], move: int) -> Subject:
    """Return the subject of a field by its path of names."""
    if path[0] != "moves":
        return (".".join(path),)
    fields = path[1:]
    # The message with the parameters has no part in their names, nor have wrappers.
    if len(fields) > 1 and fields[0] in KINDS:
        fields = fields[1:]
    return ("moves", move, ".".join(fields))
