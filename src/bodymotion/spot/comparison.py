"""Compare two choreographies, or two Spot animations."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from operator import attrgetter

from bodymotion.comparison.difference import (
    Comparison,
    Difference,
    Tolerance,
    of_values,
)
from bodymotion.comparison.motions import compare_motions
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.choreography.values import Choreography, Move

# Moves up to which those that were added or removed in between are found. Beyond, moves
# of the same number are compared.
MAX_ALIGNED = 4000


def compare_choreographies(
    a: Choreography, b: Choreography, *, atol: float = 0.0, rtol: float = 0.0
) -> Comparison:
    """Return the differences between two choreographies.

    Tempo, moves that are only in one, slices and parameters.

    Numbers a and b are equal when |a - b| <= atol + rtol |b|.
    """
    return Comparison(tuple(_differences(a, b, Tolerance(atol, rtol))))


def _differences(
    first: Choreography, second: Choreography, tolerance: Tolerance
) -> Iterator[Difference]:
    """Yield differences of heads, then of moves."""
    # Options and the editor's fields as if they were of the choreography.
    heads = [
        {
            "name": one.name,
            "slices_per_minute": one.slices_per_minute,
            **one.options,
            **(one.editor or {}),
        }
        for one in (first, second)
    ]
    yield from of_values("the choreography", heads[0], heads[1], tolerance)
    for one, other in _pairs(first.moves, second.moves):
        if one is None or other is None:
            found, side = (one, "first") if other is None else (other, "second")
            assert found is not None
            yield Difference(_name(found), f"only in the {side}")
            continue
        # The fields of a move, then its parameters by name.
        fields = ("start_slice", "requested_slices", "kind", "id", "extension")
        values = dict(zip(fields, attrgetter(*fields)(one), strict=True))
        others = dict(zip(fields, attrgetter(*fields)(other), strict=True))
        yield from of_values(
            _name(one),
            {**values, **one.parameters},
            {**others, **other.parameters},
            tolerance,
        )


def _pairs(
    first: tuple[Move, ...], second: tuple[Move, ...]
) -> Iterator[tuple[Move | None, Move | None]]:
    """Return the moves that belong together, by their types in order.

    None where a move is only in one.
    """
    types = [move.type for move in first]
    others = [move.type for move in second]
    # Equal types need no alignment; that of long sequences takes too long.
    if types == others or max(len(first), len(second)) > MAX_ALIGNED:
        yield from zip_longest(first, second)
        return
    for kind, a, b, c, d in SequenceMatcher(
        None, types, others, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            yield from zip(first[a:b], second[c:d], strict=True)
        else:
            yield from ((move, None) for move in first[a:b])
            yield from ((None, move) for move in second[c:d])


def _name(move: Move) -> str:
    return f"{move.type} at slice {move.start_slice}"


def _parameters(animation: Animation) -> dict[str, object]:
    parameters = animation.parameters.items()
    return {name: _parameter(parameter) for name, parameter in parameters}


def compare_animations(
    a: Animation, b: Animation, *, atol: float = 0.0, rtol: float = 0.0
) -> Comparison:
    """Return the differences between two animations.

    Keyframes are compared by number, columns by name.

    Numbers x and y are equal when |x − y| ≤ atol + rtol · |y|.
    """
    found = list(of_values("options", a.options, b.options, Tolerance(atol, rtol)))
    found += of_values(
        "parameters", _parameters(a), _parameters(b), Tolerance(atol, rtol)
    )
    # Columns that only one of them has; the others are compared as motions.
    columns = [one.keyframes.columns for one in (a, b)]
    for own, other, side in ((*columns, "first"), (*columns[::-1], "second")):
        found += [
            Difference(name, f"only in the {side} animation")
            for name in own
            if name not in other
        ]
    common = tuple(name for name in columns[0] if name in columns[1])
    found += compare_motions(
        _table(a, common), _table(b, common), atol=atol, rtol=rtol
    ).differences
    return Comparison(tuple(found))


def _parameter(one: Parameter) -> str:
    return " ".join(
        "?" if value is None else f"{value:g}"
        for value in (one.minimum, one.default, one.maximum)
    )


def _table(animation: Animation, columns: tuple[str, ...]) -> Motion:
    """Return columns as a motion, so that the comparison of motions applies."""
    frames = animation.keyframes
    values = frames.values[:, [frames.columns.index(name) for name in columns]]
    timeline = Timeline.stamped(frames.times)
    return Motion(
        (
            MultiValueSeq(
                content="keyframes",
                timeline=timeline,
                values=values,
                part_labels=columns,
            ),
        )
    )
