"""Motions, scripts and measures as tables of pandas, polars and xarray, with named columns.

In pandas and polars each column is a joint, an axis, a link's coordinate: for a motion
under the names that its CSV has (`time`, `root_x` …, `link/HEAD/x`, the joints' own
names, `zmp_x`), for measures under `torques/KNEE`. In xarray each quantity is a
variable whose dimensions have names: `joint_displacement (time, joint)`, `link_position
(time, link, coordinate)`, `torques (time, joint)`; its unit is in its `attrs`. Values
are SI, as everywhere; angles are radians.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy.typing as npt

from bodymotion.diagnostics.text import distinct, with_article
from bodymotion.dynamics import Measures, Reading, Series, measurable, series
from bodymotion.extensions import kind_of
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body, generic_name
from bodymotion.model.scripts import RobotScript
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    LINK_POSITION,
    ZMP,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    Vector3Seq,
)
from bodymotion.system.deferred import need

if TYPE_CHECKING:
    import pandas
    import polars
    import xarray

Tabular: TypeAlias = Motion | RobotScript | Measures | Series | Reading

COORDINATES = ("x", "y", "z", "qw", "qx", "qy", "qz")
AXES = ("x", "y", "z")


def to_pandas(
    what: Tabular, *, body: Body | None = None, of: Sequence[str] = ()
) -> pandas.DataFrame:
    """Return a table of pandas: a row for each frame, the index is the time [s].

    Parameters
    ----------
    what:
        A motion, a script (its keyframes), measures (`bm.dynamics.measure`), one
        `Series` of them, or a sensor's `Reading`.
    body:
        Names the joints and links of a motion that does not name them itself, and puts
        its joints in the body's order. If a motion has more joint columns than the
        body, the others are left out with a UserWarning.
    of:
        Of measures: the names of the quantities wanted (`bm.dynamics.QUANTITIES`); all
        where none is named.

    Raises
    ------
    ImportError
        When pandas is not installed; the message names the extra to install.
    ValueError
        When the components of a motion do not share one timeline
        (`Motion.on_common_timeline` puts them on one), or joints do not fit.
    KeyError
        When there is no such quantity.
    """
    _warn_left_out(what, body)
    frame = need("pandas", "data", "a table of pandas")
    times, columns = _flat(what, body, of)
    made: pandas.DataFrame = frame.DataFrame(
        columns, index=frame.Index(times, name="time")
    )
    return made


def to_polars(
    what: Tabular, *, body: Body | None = None, of: Sequence[str] = ()
) -> polars.DataFrame:
    """Return a table of polars.

    Its first column is `time` [s]. Otherwise as `to_pandas`.
    """
    _warn_left_out(what, body)
    frame = need("polars", "data", "a table of polars")
    times, columns = _flat(what, body, of)
    made: polars.DataFrame = frame.DataFrame({"time": times, **columns})
    return made


def to_xarray(
    what: Tabular, *, body: Body | None = None, of: Sequence[str] = ()
) -> xarray.Dataset:
    """Return a data set of xarray.

    A variable for each component or quantity, with `units` in its attributes. See
    `to_pandas`.
    """
    _warn_left_out(what, body)
    array = need("xarray", "data", "a data set of xarray")
    times, blocks = _blocks(what, body, of)
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"time": ("time", times, {"units": "s"})}
    for block in blocks:
        for dimension, labels in zip(block.dimensions, block.labels, strict=True):
            coordinates[dimension] = (dimension, list(labels))
        if block.units:
            units = {"units": block.units}
        else:
            units = {}
        variables[block.name] = (("time", *block.dimensions), block.values, units)
    made: xarray.Dataset = array.Dataset(variables, coordinates)
    return made


@dataclass(frozen=True)
class _Block:
    """A variable: `values` (T, …) with a name and labels for each dimension after the time.

    `flat` names of its columns in a table.
    """

    name: str
    values: npt.NDArray[Any]
    flat: tuple[str, ...]
    dimensions: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()
    units: str | list[str] = ""


def _warn_left_out(what: Tabular, body: Body | None) -> None:
    """Warn about joint columns that the table will not have."""
    if isinstance(what, Motion):
        joints = what.joint_displacement
    else:
        joints = None
    if body is not None and joints is not None and joints.num_parts > body.num_joints:
        message = (
            f"the motion has {joints.num_parts} joint columns and "
            f"{body.name or 'the body'} {body.num_joints}: the columns from "
            f"{body.num_joints} on are not in the table. Is it a motion of another "
            "body?"
        )
        warnings.warn(message, stacklevel=3)


def _flat(
    what: Tabular, body: Body | None, of: Sequence[str]
) -> tuple[Floats, dict[str, npt.NDArray[Any]]]:
    times, blocks = _blocks(what, body, of)
    names = distinct(["time", *(name for block in blocks for name in block.flat)])[1:]
    tables = (block.values.reshape(len(times), len(block.flat)) for block in blocks)
    arrays = (column for table in tables for column in table.T)
    return times, dict(zip(names, arrays, strict=True))


def _blocks(
    what: Tabular, body: Body | None, of: Sequence[str]
) -> tuple[Floats, list[_Block]]:
    if of and not isinstance(what, Measures):
        raise ValueError(
            "`of` names quantities of measures; this is "
            f"{with_article(type(what).__name__)}"
        )
    if isinstance(of, str):
        raise ValueError(f"`of`: expected a sequence of names, got the one text {of!r}")
    if isinstance(what, Motion):
        return _of_motion(what, body)
    kind = kind_of(what)
    tabulate = None if kind is None else kind.function("table")
    if tabulate is not None:
        times, columns = tabulate(what)
        return times, [
            _Block(name, column, (name,)) for name, column in columns.items()
        ]
    if isinstance(what, Measures):
        found = [series(what, name) for name in of or measurable(what)]
        return what.times, [_of_series(one, prefix=True) for one in found]
    if isinstance(what, Series):
        return what.times, [_of_series(what, prefix=False)]
    if isinstance(what, Reading):
        name = what.device.name or type(what.device).__name__
        labels = distinct(list(what.columns))
        return what.times, [
            _Block(
                name, what.values, labels, ("column",), (labels,), _units(what.units)
            )
        ]
    raise TypeError(
        "a motion, a script or something measured can be a table, not "
        f"{with_article(type(what).__name__)}"
    )


def _of_series(of: Series, *, prefix: bool) -> _Block:
    values: npt.NDArray[Any] = (
        of.values.astype(bool) if of.name == "contacts" else of.values
    )
    if of.of == "body":
        return _Block(of.name, values[:, 0], (of.name,), units=_units(of.units))
    flat = tuple(f"{of.name}/{label}" if prefix else label for label in of.labels)
    return _Block(of.name, values, flat, (of.of,), (of.labels,), _units(of.units))


def _units(units: Sequence[str]) -> str | list[str]:
    """Return the one unit of all columns, or one for each."""
    if len(set(units)) < 2:
        return next(iter(units), "")
    return list(units)


def _of_motion(motion: Motion, body: Body | None) -> tuple[Floats, list[_Block]]:
    times = motion.timeline.times
    blocks = []
    names: dict[str, int] = {}
    for component in motion.timed:
        if isinstance(component, MultiSE3Seq):
            block = _of_poses(component, body)
        elif isinstance(component, Vector3Seq):
            if component.content == ZMP:
                name = "zmp"
            else:
                name = _snake(component.content)
            if component.is_root_relative:
                name = f"root_relative_{name}"
            block = _Block(
                name,
                component.values,
                tuple(f"{name}_{a}" for a in AXES),
                ("axis",),
                (AXES,),
                "m",
            )
        else:
            block = _of_values(component, body)
        names[block.name] = names.get(block.name, 0) + 1
        again = names[block.name]
        blocks.append(block if again == 1 else _numbered(block, again))
    return times, blocks


def _of_values(component: MultiValueSeq, body: Body | None) -> _Block:
    name = _snake(component.content)
    count = component.num_parts
    labels = component.part_labels
    if component.content != JOINT_DISPLACEMENT:
        parts = distinct(
            [*labels[:count], *(str(k) for k in range(len(labels[:count]), count))]
        )
        return _Block(
            name,
            component.values,
            tuple(f"{name}/{part}" for part in parts),
            (name + "_part",),
            (parts,),
        )
    if body is not None:
        values = body.joint_values(component)
        joints = distinct((joint.name for joint in body.joints), "joint")
        units = _units(
            ["m" if joint.type == "slide" else "rad" for joint in body.joints]
        )
        return _Block(name, values, joints, ("joint",), (joints,), units)
    joints = distinct(
        [
            labels[k] if k < len(labels) and labels[k] else generic_name(k)
            for k in range(count)
        ]
    )
    return _Block(name, component.values, joints, ("joint",), (joints,))


def _of_poses(component: MultiSE3Seq, body: Body | None) -> _Block:
    count = component.num_parts
    labels = component.part_labels
    if not any(labels) and body is not None and count <= len(body.links):
        labels = tuple(link.name for link in body.links[:count])
    links = distinct(
        [labels[k] if k < len(labels) and labels[k] else str(k) for k in range(count)]
    )
    content = _snake(component.content)
    of_links = component.content == LINK_POSITION
    prefixes = [
        "root_" if of_links and not k else f"{'link' if of_links else content}/{link}/"
        for k, link in enumerate(links)
    ]
    flat = tuple(f"{prefix}{c}" for prefix in prefixes for c in COORDINATES)
    if of_links:
        dimension = "link"
    else:
        dimension = content + "_part"
    return _Block(
        content, component.values, flat, (dimension, "coordinate"), (links, COORDINATES)
    )


def _numbered(block: _Block, number: int) -> _Block:
    """Return a further component of the same content with numbered names."""
    dimensions = tuple(
        d if d in ("axis", "coordinate") else f"{d}_{number}" for d in block.dimensions
    )
    flat = tuple(f"{name} ({number})" for name in block.flat)
    return _Block(
        f"{block.name}_{number}",
        block.values,
        flat,
        dimensions,
        block.labels,
        block.units,
    )


def _snake(content: str) -> str:
    return (
        re.sub(r"\W+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", content.strip()))
        .strip("_")
        .lower()
        or "component"
    )
