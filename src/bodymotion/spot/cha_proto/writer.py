"""Write animations and choreographies as messages: bytes, text and files."""

# ruff: noqa: ANN401 - messages of protobuf are made at run time

import math
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from bodymotion.diagnostics import Diagnostics, Problem
from bodymotion.diagnostics.losses import TEXT
from bodymotion.geometry.arrays import Floats
from bodymotion.spot import losses
from bodymotion.spot.animation import GROUPS, TRACKS, Animation, Parameter
from bodymotion.spot.cha import unplayable
from bodymotion.spot.cha.keywords import singles
from bodymotion.spot.cha_proto.messages import (
    ARM_PLAYBACKS,
    FLAGS,
    LIMITS,
    TINY,
    message_class,
    parameter_paths,
)
from bodymotion.spot.cha_proto.rows import (
    PATHS,
    TIME,
    keyframe_rows,
    message_columns,
)
from bodymotion.spot.cha_proto.sequence import SAVE, SEQUENCE, limits_of
from bodymotion.spot.choreography.values import Choreography, Value
from bodymotion.system.files import whole_file

_OPTIONS_OF_MOVE_INFO = ("description", "display_rgb")
_OTHER_OPTIONS = (
    "controls",
    "frequency",
    "bpm",
    "arm_playback",
    "timing_adjustability",
    "precise_timing",
)
_INT32 = 1 << 31


def to_bytes(
    animation: Animation, *, move_params_config: str | Path | None = None
) -> bytes:
    """Return an animation as the bytes of the vendor's message Animation.

    The robot receives these.

    Parameters
    ----------
    animation:
        The animation. The message holds only the last of columns that exclude each
        other. A zero becomes 1e-6, as in the vendor's converter, except in columns of
        groups where it is not the bare text 0 (`Keyframes.exact_zeros`).
    move_params_config:
        The robot's MoveParamsConfig, as text or as its file: the limits of parameters
        that the animation only names.

    Raises
    ------
    ValueError
        When a parameter is only named, and its limits are not in `move_params_config`.
    """
    return _content(animation, move_params_config, as_text=False)


def to_text(
    animation: Animation, *, move_params_config: str | Path | None = None
) -> str:
    """Return an animation as the text of the vendor's message Animation.

    It is the content of a `.cap` file.

    Arguments and errors are those of `to_bytes`.
    """
    return _content(animation, move_params_config, as_text=True).decode()


def write_message_bytes(
    animation: Animation,
    path: str | Path,
    *,
    move_params_config: str | Path | None = None,
) -> tuple[Problem, ...]:
    """Write an animation as the bytes of the vendor's message.

    Return what is lost, and why it cannot be played.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    return _write(animation, path, move_params_config, as_text=False)


def write_message_text(
    animation: Animation,
    path: str | Path,
    *,
    move_params_config: str | Path | None = None,
) -> tuple[Problem, ...]:
    """Write an animation as a `.cap`, the text of the vendor's message.

    Return what is lost, and why it cannot be played.

    Raises
    ------
    OSError
        When the file cannot be written.
    """
    return _write(animation, path, move_params_config, as_text=True)


def _write(
    animation: Animation, path: str | Path, config: str | Path | None, *, as_text: bool
) -> tuple[Problem, ...]:
    pieces, problems = _pieces(animation, config, as_text=as_text)
    with whole_file(path) as stream:
        for piece in pieces:
            stream.write(piece)
    return (*problems, *unplayable(animation))


def _content(
    animation: Animation, config: str | Path | None, *, as_text: bool
) -> bytes:
    """Return the whole message.

    Raise ValueError when parameters lack limits: what is sent to a robot must be
    complete.
    """
    pieces, problems = _pieces(animation, config, as_text=as_text)
    missing = [
        str(problem.subject[1])
        for problem in problems
        if problem.rule == losses.NO_LIMITS.code
    ]
    if missing:
        raise ValueError(
            f"the parameter {', '.join(missing)} has no limits of its own; pass the "
            "robot's with move_params_config=…"
        )
    return b"".join(pieces)


def _pieces(
    animation: Animation, config: str | Path | None, *, as_text: bool
) -> tuple[Iterator[bytes], tuple[Problem, ...]]:
    """Return the message in pieces, and what it cannot hold."""
    # Three pieces: the name first as in the vendor's converter, keyframes, the rest.
    # The rows are made while they are written.
    problems = Diagnostics()
    name, head = _head(animation, config, problems)
    # What the message cannot hold: reported, not fatal.
    fields = message_columns(animation.keyframes.columns)
    problems.extend(_column_losses(animation, fields))

    def pieces() -> Iterator[bytes]:
        yield _written(name, as_text=as_text)
        yield from keyframe_rows(
            message_times(animation), _values(animation), fields, as_text=as_text
        )
        yield _written(head, as_text=as_text)

    return pieces(), problems.problems


def _written(message: Any, *, as_text: bool) -> bytes:
    from google.protobuf import text_format

    return bytes(
        text_format.MessageToString(message).encode()
        if as_text
        else message.SerializeToString(deterministic=True)
    )


def _head(
    animation: Animation, config: str | Path | None, problems: Diagnostics
) -> tuple[Any, Any]:
    """Return the message with the name only, and the rest without keyframes."""
    name = animation.name
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        name = name.encode("utf-8", "replace").decode()
        problems.add(TEXT.problem(f"the name {animation.name!r}"))
    head = message_class("Animation")()
    for track in TRACKS:
        setattr(head, f"controls_{track}", track in animation.controls)
    for keyword, value in animation.options.items():
        _set_option(head, keyword, value, problems)
    _set_parameters(head, animation.parameters, limits_of(config), problems)
    return message_class("Animation")(name=name), head


def _set_option(head: Any, keyword: str, value: object, problems: Diagnostics) -> None:
    """Set the field of an option; report options that have none."""
    if keyword in FLAGS:
        setattr(head, keyword, True)
    elif keyword in ("bpm", "timing_adjustability") and isinstance(value, (int, float)):
        setattr(head, keyword, float(value))
    elif keyword == "precise_timing":
        # Deprecated: the vendor's converter writes precise_timing as
        # timing_adjustability −1.
        head.timing_adjustability = -1.0
    elif keyword == "arm_playback":
        if value in ARM_PLAYBACKS:
            head.arm_playback = ARM_PLAYBACKS.index(str(value))
        else:
            head.arm_playback = 0
    elif keyword in _OPTIONS_OF_MOVE_INFO:
        problems.add(
            losses.DISPLAY.problem(f"{keyword} is not in the message Animation")
        )
    elif keyword not in _OTHER_OPTIONS:
        problems.add(losses.NO_FIELD.problem(f"the option {keyword} has no field"))


def _set_parameters(
    head: Any,
    parameters: Mapping[str, Parameter],
    limits: Mapping[str, Parameter],
    problems: Diagnostics,
) -> None:
    """Set minimum, default and maximum of all parameters."""
    # A parameter that is only named has the robot's limits.
    paths = parameter_paths()
    for name, given in parameters.items():
        if name not in paths:
            problems.add(losses.NO_FIELD.problem(f"the parameter {name} has no field"))
            continue
        if given == Parameter():
            parameter = limits.get(name, given)
        else:
            parameter = given
        if parameter == Parameter():
            message = f"the parameter {name} has no limits of its own"
            problems.add(
                losses.NO_LIMITS.problem(message, subject=("parameters", name))
            )
            continue
        path, kind = paths[name]
        for message_name, limit in LIMITS.items():
            value = getattr(parameter, limit)
            if value is not None:
                parent, _, field = path.rpartition(".")
                held = _held(name, value, kind, problems)
                setattr(attrgetter(parent)(getattr(head, message_name)), field, held)


def _held(name: str, value: float, kind: str, problems: Diagnostics) -> float | int:
    """Return a value as the field holds it: never 0, whole for integers."""
    # As in the converter, a zero is written as 1e-6.
    value = TINY if value == 0 else value
    if kind == "double":
        return value
    # int() fails for NaN; infinities are clipped to the range.
    if not math.isnan(value):
        whole = int(max(min(value, _INT32 - 1), -_INT32))
    else:
        whole = 0
    if whole != value and value != TINY:
        problems.add(
            losses.WHOLE.problem(f"the parameter {name}: {value} becomes {whole}")
        )
    return whole


def _column_losses(
    animation: Animation, fields: Mapping[str, int]
) -> tuple[Problem, ...]:
    """Return the columns that the message does not hold as they are."""
    problems = Diagnostics()
    dropped = []
    for index, name in enumerate(animation.keyframes.columns):
        if name not in PATHS:
            problems.add(losses.NO_FIELD.problem(f"the column {name} has no field"))
        elif index not in fields.values():
            dropped.append(name)
        elif (
            name.endswith("_contact")
            and not np.isin(animation.keyframes.values[:, index], (0.0, 1.0)).all()
        ):
            problems.add(losses.WHOLE.problem(f"{name}: a foot is in stance from 1 on"))
    if dropped:
        problems.add(losses.EXCLUDED.problem(f"left out: {', '.join(dropped)}"))
    return problems.problems


def message_times(animation: Animation) -> Floats:
    """Return the times (N,) [s] of the keyframes in the message.

    Those of the option `frequency` are summed up step by step, from 0; in a column
    `time` a zero becomes 1e-6.
    """
    keyframes = animation.keyframes
    frequency = animation.options.get("frequency")
    # Times of `frequency` are not in the header: sum them up as the converter does.
    if (
        TIME not in keyframes.header
        and isinstance(frequency, (int, float))
        and frequency > 0
        and len(keyframes)
    ):
        steps = np.full(len(keyframes), 1.0 / frequency)
        steps[0] = 0.0
        summed = np.cumsum(steps)
        # Edited times are no multiples of the step any more.
        if np.allclose(summed, keyframes.times, rtol=1e-9, atol=1e-9):
            return summed
        return keyframes.times
    return np.where(keyframes.times == 0, TINY, keyframes.times)


def _values(animation: Animation) -> Floats:
    """Return the numbers (N, C) of all columns as the message holds them.

    Zeros as the vendor's converter writes them.
    """
    keyframes = animation.keyframes
    zeros = keyframes.values == 0
    # A contact of 1e-6 is none, like one of 0.
    zeros[
        :,
        [
            index
            for index, name in enumerate(keyframes.columns)
            if name.endswith("_contact")
        ],
    ] = False
    # In groups only the exact text 0 becomes 1e-6, in columns of their own any zero.
    if keyframes.exact_zeros is not None:
        alone: list[bool] = []
        for name in keyframes.header:
            if name != TIME:
                alone += [name not in GROUPS] * len(singles(name))
        count = zeros.shape[1]
        zeros &= keyframes.exact_zeros | np.array(
            [*alone, *[False] * count][:count], bool
        )
    # The converter's 1e-6, which `from_bytes` turns back.
    return np.where(zeros, TINY, keyframes.values)


def message_of(choreography: Choreography) -> Any:
    """Return a choreography as a message ChoreographySequence.

    Raises
    ------
    ValueError
        When a value is not one that the message can hold; it names the move.
    """
    message = message_class(SEQUENCE)(slices_per_minute=choreography.slices_per_minute)
    set_fields(
        message, {"name": choreography.name, **choreography.options}, "the choreography"
    )
    for number, move in enumerate(choreography.moves):
        fields: dict[str, Value] = {
            "type": move.type,
            "start_slice": move.start_slice,
            "requested_slices": move.requested_slices,
            "id": move.id,
            **({".": move.extension} if move.extension else {}),
        }
        if move.kind:
            # The message with parameters exists even without any of them.
            fields[move.kind] = None
        fields |= {
            f"{move.kind}.{name.removeprefix('.')}": value
            for name, value in move.parameters.items()
        }
        set_fields(message.moves.add(), fields, f"move {number + 1}, {move.type!r}")
    return message


def set_fields(message: Any, values: Mapping[str, Value], what: str) -> None:
    """Set the fields of a message from what `flat` returns.

    Raises
    ------
    ValueError
        When there is no such field, or it cannot have the value; the message begins
        with `what` the message is.
    """
    try:
        _fill(message, values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{what}: {error.args[0] if error.args else error}") from None


def _fill(message: Any, values: Mapping[str, Value]) -> None:
    """Set fields by dotted names; see `flat` for what the values mean."""
    for name, value in values.items():
        # "." is the message itself, with unknown fields.
        *path, last = name.split(".") if name != "." else ("",)
        inner = message
        for part in path:
            inner = getattr(inner, _existing(inner, part))
        # A name with a dot at its end: unknown fields, merged as bytes.
        if isinstance(value, bytes) and not last:
            inner.MergeFromString(value)
            continue
        one = inner.DESCRIPTOR.fields_by_name[_existing(inner, last)]
        if one.is_repeated:
            getattr(inner, last).extend(value)
        elif one.message_type is None:
            setattr(
                inner,
                last,
                one.enum_type.values_by_name[value].number
                if isinstance(value, str) and one.enum_type
                else value,
            )
        # None: an empty message; it has to exist all the same.
        elif value is None:
            getattr(inner, last).SetInParent()
        else:
            wrapper = getattr(inner, last)
            wrapper.SetInParent()
            wrapper.value = value


def _existing(message: Any, name: str) -> str:
    """Return a field's name; KeyError with the existing ones for another one."""
    if name not in message.DESCRIPTOR.fields_by_name:
        raise KeyError(
            f"{message.DESCRIPTOR.name} has no field {name!r}; it has "
            f"{', '.join(message.DESCRIPTOR.fields_by_name)}"
        )
    return name


def write_sequence_text(
    choreography: Choreography, path: str | Path
) -> tuple[Problem, ...]:
    """Write a choreography as the text of a message ChoreographySequence (`.csq`).

    Return what is lost: unknown fields.
    """
    return _save(
        message_of(choreography), path, _editor_losses(choreography), as_text=True
    )


def write_sequence_bytes(
    choreography: Choreography, path: str | Path
) -> tuple[Problem, ...]:
    """Write a choreography as the bytes of a message ChoreographySequence (`.pb`).

    Return what is lost: the fields of an editor.
    """
    return _save(
        message_of(choreography), path, _editor_losses(choreography), as_text=False
    )


def write_save(choreography: Choreography, path: str | Path) -> tuple[Problem, ...]:
    """Write a choreography as the text of a message ChoreographerSave (`.chr`).

    With music and start.

    Return what is lost.
    """
    save = message_class(SAVE)(choreography_sequence=message_of(choreography))
    set_fields(save, choreography.editor or {}, "the editor")
    return _save(save, path, (), as_text=True)


def _editor_losses(choreography: Choreography) -> tuple[Problem, ...]:
    """Return the loss of an editor's fields in a plain sequence."""
    names = ", ".join(name for name in choreography.editor or {} if name != ".")
    if names:
        return (
            losses.NO_FIELD.problem(
                f"the fields of the editor: {names}; a .chr holds them"
            ),
        )
    return ()


def _save(
    message: Any,
    path: str | Path,
    lost: Iterable[Problem],
    *,
    as_text: bool,
) -> tuple[Problem, ...]:
    """Write a message; return what its text cannot hold."""
    if as_text:
        # Unknown fields have numbers but no names: a text cannot have them.
        size = message.ByteSize()
        message.DiscardUnknownFields()
        if message.ByteSize() != size:
            lost = (
                *lost,
                losses.NO_FIELD.problem(
                    "unknown fields have no names; a .pb holds them"
                ),
            )
    with whole_file(path) as stream:
        stream.write(_written(message, as_text=as_text))
    return tuple(lost)
