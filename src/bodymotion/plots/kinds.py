"""The kinds of plots by name.

A few with several parts, and one for each quantity.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.spelling import choices
from bodymotion.dynamics import QUANTITIES, measurable
from bodymotion.plots.layout import Flow, fitted
from bodymotion.plots.overview import alone_chart, overview_chart
from bodymotion.plots.parts import Chart
from bodymotion.plots.quantities import (
    contacts_chart,
    has_sensors,
    moves_chart,
    music_chart,
    quantity_chart,
    sensors_chart,
    series_chart,
    zmp_chart,
)
from bodymotion.plots.subject import Subject
from bodymotion.scene.playback import moves_of


class UnknownPlotError(WrongUseError):
    """There is no plot of this name."""


@dataclass(frozen=True)
class Kind:
    """A kind of plot.

    `shows`: its description. `make`: makes its chart. `exists`: whether a motion has
    it; gets the measurable quantities. `main`: whether it
    is one of "all".
    """

    shows: str
    make: Callable[[Subject, Flow], Chart]
    exists: Callable[[Subject, set[str]], bool] = lambda subject, has: True
    main: bool = False


def _of(name: str, *, main: bool = False) -> Kind:
    chart = partial(quantity_chart, name=name)
    return Kind(QUANTITIES[name].title, chart, lambda _, has: name in has, main)


KINDS: dict[str, Kind] = {
    "overview": Kind("the main quantities on one page", overview_chart, main=True),
    "joints": _of("joint_displacements", main=True),
    "velocities": _of("joint_velocities", main=True),
    "accelerations": _of("joint_accelerations"),
    "torques": _of("torques", main=True),
    "power": _of("power", main=True),
    "zmp": Kind(
        "the zero moment point on the ground, and the margin",
        zmp_chart,
        lambda s, has: "zmp" in has,
        True,
    ),
    "moves": Kind(
        "the moves of a dance by their tracks",
        moves_chart,
        lambda s, _: bool(moves_of(s.motion)),
        True,
    ),
    "music": Kind(
        "waveform and beats of the music",
        music_chart,
        lambda s, _: s.music is not None,
        True,
    ),
    "contacts": Kind(
        "contact and slip of each foot",
        contacts_chart,
        lambda s, has: "contacts" in has,
        True,
    ),
    "sensors": Kind(
        "accelerometers, gyros and force sensors",
        sensors_chart,
        lambda s, has: has_sensors(s),
        True,
    ),
}
KINDS |= {name: _of(name) for name in QUANTITIES if name not in KINDS}
"""All plots of a motion on a body by name.

A row for each, and one for each quantity.
"""


def available(subject: Subject) -> tuple[str, ...]:
    """Return the names of the possible plots of a motion."""
    if subject.measures is None:
        return ("overview", *dict.fromkeys(_alone(subject)))
    has = set(measurable(subject.measures))
    return tuple(name for name, kind in KINDS.items() if kind.exists(subject, has))


def _alone(subject: Subject) -> dict[str, str]:
    """Return the plots of a motion alone: name, and title of the component."""
    names = {"JointDisplacement": "joints", "ZMP": "zmp", "LinkPosition": "links"}
    return {names.get(of.name, of.name): of.name for of in subject.components}


def chosen(subject: Subject, what: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the requested plots.

    "all" stands for the most useful ones.

    Raises UnknownPlotError when there is no such plot, or this motion has none; the
    message lists those there are.
    """
    possible = available(subject)
    is_alone = subject.measures is None
    names: list[str] = []
    for name in what:
        if name == "all":
            names += [plot for plot in possible if is_alone or KINDS[plot].main]
        elif name in possible:
            names.append(name)
        elif name in KINDS:
            why = "without a body" if is_alone else "of this motion on this body"
            raise UnknownPlotError(
                f"there is no plot {name!r} {why}; expected one of "
                f"{', '.join((*possible, 'all'))}"
            )
        else:
            raise UnknownPlotError(
                f"there is no plot {name!r}; {choices(name, (*possible, 'all'))}"
            )
    return tuple(dict.fromkeys(names))


def charts(
    subject: Subject,
    what: Iterable[str] = ("overview",),
    *,
    width: float | None = None,
    height: float | None = None,
    dpi: float = 150,
) -> tuple[Chart, ...]:
    """Return the charts of these plots, each of this size [inch].

    See `chosen` and `fitted`.
    """
    names = chosen(subject, what)
    # Numbers that are not finite make gaps in plots; NumPy's warnings about them are of
    # no use here.
    with np.errstate(invalid="ignore", over="ignore"):
        made = fitted(
            [partial(_make, subject, name) for name in names], width, height, dpi
        )
    return tuple(
        replace(chart, name=name) for chart, name in zip(made, names, strict=True)
    )


def _make(subject: Subject, name: str, flow: Flow) -> Chart:
    """Return the chart of a name; of a motion alone, its component."""
    if subject.measures is not None:
        return KINDS[name].make(subject, flow)
    if name == "overview":
        return alone_chart(subject, flow)
    wanted = _alone(subject)[name]
    # A motion alone may have several components of one name: the last chart has the
    # panels of all.
    last: Chart | None = None
    for of in subject.components:
        if of.name == wanted:
            if of.of == "joint":
                one = of.select([of.labels[k] for k in subject.columns])
            else:
                one = of
            last = series_chart(subject, flow, one)
            flow.y += 0.1
    assert last is not None
    return last
