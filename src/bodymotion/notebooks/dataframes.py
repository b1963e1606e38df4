"""Motions, scripts and measures as tables of pandas, polars and xarray.

Columns have names. In pandas and polars each column is a joint, an axis, a link's
coordinate: for a motion under the names that its CSV has (`time`, `root_x` …,
`link/HEAD/x`, the joints' own names, `zmp_x`), for measures under `torques/KNEE`. In
xarray each quantity is a
variable whose dimensions have names: `joint_displacement (time, joint)`, `link_position
(time, link, coordinate)`, `torques (time, joint)`; its unit is in its `attrs`. Values
are SI, as everywhere; angles are radians.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
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
        units = {"units": block.units} if block.units else {}
        variables[block.name] = (("time", *block.dimensions), block.values, units)
    made: xarray.Dataset = array.Dataset(variables, coordinates)
    return made


@dataclass(frozen=True)
class _Block:
    """A variable: `values` (T, …) with a name, and with labels for each dimension.

    The labels are of the dimensions after the time. `flat` are the names of its columns
    in a table.
    """

    name: str
    values: npt.NDArray[Any]
    flat: tuple[str, ...]
    dimensions: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()
    units: str | list[str] = ""


def _warn_left_out(what: Tabular, body: Body | None) -> None:
    """Warn about joint columns that the table will not have."""
    if body is None or not isinstance(what, Motion):
        return
    joints = what.joint_displacement
    if joints is not None and joints.num_parts > body.num_joints:
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
    """Return the times, and the columns of a table by their names."""
    times, blocks = _blocks(what, body, of)
    # The time takes part in making names distinct: a joint may be named `time`, too.
    names = ["time"]
    arrays: list[npt.NDArray[Any]] = []
    for block in blocks:
        names += block.flat
        # Each block becomes (T, columns) with the last dimension fastest, as its `flat`
        # names are.
        arrays += [*block.values.reshape(len(times), len(block.flat)).T]
    return times, dict(zip(distinct(names)[1:], arrays, strict=True))


def _blocks(
    what: Tabular, body: Body | None, of: Sequence[str]
) -> tuple[Floats, list[_Block]]:
    """Return the times, and the variables of a value."""
    kind_name = with_article(type(what).__name__)
    if of and not isinstance(what, Measures):
        raise ValueError(f"`of` names quantities of measures; this is {kind_name}")
    # A text is a sequence of letters: its quantities would be `t`, `o`, `r` …
    if isinstance(of, str):
        raise ValueError(f"`of`: expected a sequence of names, got the one text {of!r}")
    if isinstance(what, Motion):
        return _of_motion(what, body)
    kind = kind_of(what)
    tabulate = None if kind is None else kind.function("table")
    if tabulate is not None:
        times, columns = tabulate(what)
        return times, [
            _Block(name, values, (name,)) for name, values in columns.items()
        ]
    if isinstance(what, Measures):
        quantities = [series(what, name) for name in of or measurable(what)]
        return what.times, [_of_series(each, prefix=True) for each in quantities]
    if isinstance(what, Series):
        return what.times, [_of_series(what, prefix=False)]
    if isinstance(what, Reading):
        return what.times, [_of_reading(what)]
    raise TypeError(
        f"a motion, a script or something measured can be a table, not {kind_name}"
    )


def _of_reading(reading: Reading) -> _Block:
    """Return the variable of a sensor."""
    name = reading.device.name or type(reading.device).__name__
    labels = distinct(list(reading.columns))
    units = _units(reading.units)
    return _Block(name, reading.values, labels, ("column",), (labels,), units)


def _of_series(of: Series, *, prefix: bool) -> _Block:
    """Return the variable of a series; its columns may have its name as a prefix."""
    values: npt.NDArray[Any] = of.values
    if of.name == "contacts":
        # Contacts are measured as 0 and 1.
        values = values.astype(bool)
    units = _units(of.units)
    if of.of == "body":
        return _Block(of.name, values[:, 0], (of.name,), units=units)
    flat = of.labels
    if prefix:
        flat = tuple(f"{of.name}/{label}" for label in flat)
    return _Block(of.name, values, flat, (of.of,), (of.labels,), units)


def _units(units: Sequence[str]) -> str | list[str]:
    """Return the one unit of all columns, or one for each."""
    if len(set(units)) < 2:
        return next(iter(units), "")
    return list(units)


def _of_motion(motion: Motion, body: Body | None) -> tuple[Floats, list[_Block]]:
    """Return the times, and a variable for each component of a motion."""
    blocks = []
    counts: Counter[str] = Counter()
    for component in motion.timed:
        if isinstance(component, MultiSE3Seq):
            block = _of_poses(component, body)
        elif isinstance(component, Vector3Seq):
            block = _of_vectors(component)
        else:
            block = _of_values(component, body)
        counts[block.name] += 1
        number = counts[block.name]
        # Several components of one content get numbers, as columns need different
        # names.
        blocks.append(block if number == 1 else _numbered(block, number))
    return motion.timeline.times, blocks


def _of_vectors(component: Vector3Seq) -> _Block:
    """Return the variable of vectors."""
    name = "zmp" if component.content == ZMP else _snake(component.content)
    if component.is_root_relative:
        name = f"root_relative_{name}"
    flat = tuple(f"{name}_{axis}" for axis in AXES)
    return _Block(name, component.values, flat, ("axis",), (AXES,), "m")


def _of_values(component: MultiValueSeq, body: Body | None) -> _Block:
    """Return the variable of joint displacements, or of other values."""
    name = _snake(component.content)
    # Efforts and others have the labels of the file; only displacements are in the
    # order of the body.
    if component.content != JOINT_DISPLACEMENT:
        labels = component.part_labels[: component.num_parts]
        more = map(str, range(len(labels), component.num_parts))
        parts = distinct([*labels, *more])
        flat = tuple(f"{name}/{part}" for part in parts)
        return _Block(name, component.values, flat, (f"{name}_part",), (parts,))
    if body is None:
        joints = _part_names(component, generic_name)
        return _Block(name, component.values, joints, ("joint",), (joints,))
    values = body.joint_values(component)
    joints = distinct((joint.name for joint in body.joints), "joint")
    units = ["m" if joint.type == "slide" else "rad" for joint in body.joints]
    return _Block(name, values, joints, ("joint",), (joints,), _units(units))


def _part_names(
    component: MultiValueSeq | MultiSE3Seq, name_of: Callable[[int], str]
) -> tuple[str, ...]:
    """Return different names of the parts; `name_of` names those without one."""
    names = [name_of(k) for k in range(component.num_parts)]
    for k, label in enumerate(component.part_labels[: component.num_parts]):
        names[k] = label or names[k]
    return distinct(names)


def _of_poses(component: MultiSE3Seq, body: Body | None) -> _Block:
    """Return the variable of the poses of links, or of other poses."""
    count = component.num_parts
    has_names = any(component.part_labels)
    # Without names the order is that of the body, as in a .seq.
    if body is not None and not has_names and count <= len(body.links):
        names = tuple(link.name for link in body.links[:count])
        component = replace(component, part_labels=names)
    links = _part_names(component, str)
    content = _snake(component.content)
    dimension = f"{content}_part"
    prefixes = [f"{content}/{link}/" for link in links]
    if component.content == LINK_POSITION:
        dimension = "link"
        prefixes = [f"link/{link}/" for link in links]
        # The root is the first link: its columns are `root_x`, `root_y` …, whatever its
        # name.
        if prefixes:
            prefixes[0] = "root_"
    flat = tuple(map("".join, product(prefixes, COORDINATES)))
    labels = (links, COORDINATES)
    return _Block(content, component.values, flat, (dimension, "coordinate"), labels)


def _numbered(block: _Block, number: int) -> _Block:
    """Return a further component of the same content with numbered names."""
    # Axes and coordinates are the same for all components; other dimensions have labels
    # of their own, and xarray has one set of labels for each name.
    dimensions = tuple(
        name if name in ("axis", "coordinate") else f"{name}_{number}"
        for name in block.dimensions
    )
    return replace(
        block,
        name=f"{block.name}_{number}",
        flat=tuple(f"{name} ({number})" for name in block.flat),
        dimensions=dimensions,
    )


def _snake(content: str) -> str:
    """Return a name in the style of Python: "LinkPosition" becomes "link_position"."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", content.strip())
    return re.sub(r"\W+", "_", words).strip("_").lower() or "component"
