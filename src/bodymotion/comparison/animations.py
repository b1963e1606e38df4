"""Compare two Spot animations: options, parameters and keyframes."""

from bodymotion.animation import Animation, Parameter
from bodymotion.comparison.difference import Comparison, Difference, Tolerance, of_values
from bodymotion.comparison.motions import compare_motions
from bodymotion.motion import Motion, MultiValueSeq
from bodymotion.motion.components import Timeline


def compare_animations(a: Animation, b: Animation, *, atol: float = 0.0, rtol: float = 0.0) -> Comparison:
    """Return the differences between two animations; keyframes are compared by number, columns by name.

    Numbers x and y are equal when |x − y| ≤ atol + rtol · |y|.
    """
    found = list(of_values("options", a.options, b.options, Tolerance(atol, rtol)))
    texts = [{name: _text(given) for name, given in one.parameters.items()} for one in (a, b)]
    found += of_values("parameters", texts[0], texts[1], Tolerance(atol, rtol))
    columns = [one.keyframes.columns for one in (a, b)]
    for own, other, side in ((*columns, "first"), (*columns[::-1], "second")):
        found += [Difference(name, f"only in the {side} animation") for name in own if name not in other]
    common = tuple(name for name in columns[0] if name in columns[1])
    found += compare_motions(_table(a, common), _table(b, common), atol=atol, rtol=rtol).differences
    return Comparison(tuple(found))


def _text(given: Parameter) -> str:
    return " ".join("?" if value is None else f"{value:g}" for value in (given.minimum, given.default, given.maximum))


def _table(animation: Animation, columns: tuple[str, ...]) -> Motion:
    frames = animation.keyframes
    values = frames.values[:, [frames.columns.index(name) for name in columns]]
    timeline = Timeline.stamped(frames.times)
    return Motion((MultiValueSeq(content="keyframes", timeline=timeline, values=values, part_labels=columns),))
