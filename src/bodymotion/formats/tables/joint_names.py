"""Columns and joints, matched by name: the order of named columns in the file has no meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics import Diagnostics, Location, Problem, judgement, losses
from bodymotion.diagnostics.text import listed
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import generic_name, is_generic, matched, mismatch

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import MultiValueSeq

UNMATCHED = judgement.error(
    "TAB101",
    "Every joint column of a table is a joint of the model that is given.",
    "rename the columns; --by-position (model.body.by_position) reads column i as joint i",
    example=("time,HOP [rad]", "time,HIP [rad]"),
)
ABSENT = judgement.warning(
    "TAB102",
    "A table has a column for every joint.",
    "read as 0",
    example=("time,HIP [rad]", "time,HIP [rad],KNEE [rad]"),
)
TWICE = judgement.error(
    "TAB103",
    "Every name of a column occurs once.",
    example=("joint_0 [rad],joint_00 [rad]", "joint_0 [rad],joint_1 [rad]"),
)
IDS = judgement.error(
    "TAB104",
    "The ids of joints are not much larger than their number.",
    example=("joint_0 [rad],joint_999999 [rad]", "joint_0 [rad],joint_1 [rad]"),
)

MAX_GROWTH, MIN_NUMBERS = 16, 1 << 22
"""With the joints without a column, a table may be MAX_GROWTH times as large, and have MIN_NUMBERS numbers in any case."""

MAX_NAMES = 60  # Names that a message lists.


def joint_names(body: Body) -> tuple[str, ...]:
    """Return the names of a body's joints, in order of joint id."""
    return tuple(joint.name for joint in body.joints)


def column_names(
    joints: MultiValueSeq, body: Body | None = None, plain: Callable[[str], bool] = str.isprintable
) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """Return a name for each joint column, and the loss of labels that are not written.

    The name is the label, or that of the body's joint; column_k in place of a label that is not `plain`; joint_k where none can be
    written: without labels, with two equal ones, or with `plain` ones such as joint_3 alone. Readers read all but column_k as joints.
    """
    labels, count = joints.part_labels, joints.num_parts
    if not labels and body is not None and len(body.joints) == count:
        labels = joint_names(body)
    written, lost = tuple(map(generic_name, range(count))), labels
    if len(labels) == count == len(set(labels)):
        # The name joint_k would be that of the joint with this id.
        kept = tuple(one if plain(one) else f"column_{k}" for k, one in enumerate(labels))
        if len(set(kept)) == count and any(plain(one) and not is_generic(one) for one in labels):
            written, lost = kept, tuple(one for one in labels if not plain(one))
    message = f"the names of the joints are not written: {', '.join(lost)[:200]!r}"
    return written, (losses.LABELS.problem(message),) if lost else ()


def is_plain(label: str) -> bool:
    """Return whether text tables can hold a name: readers remove blanks around it, and take # for a comment."""
    return bool(label) and label.isprintable() and label == label.strip() and not label.startswith("#")


def in_id_order(values: Floats, names: Sequence[str], location: Location, found: Diagnostics) -> Floats | None:
    """Return columns joint_k (T, N) in the order of k; an id without a column is 0, which is reported. None for any other names.

    Raises
    ------
    FormatError
        TAB103 when two columns have one id, TAB104 when far more ids have none than have one.
    """
    if not all(map(is_generic, names)):
        return None
    ids = [int(name.removeprefix("joint_")) for name in names]
    count = max(ids) + 1
    if len(set(ids)) < len(ids):
        raise TWICE.error(f"two columns are {generic_name(max(ids, key=ids.count))}", location)
    if count * len(values) > max(MIN_NUMBERS, MAX_GROWTH * values.size):
        raise IDS.error(f"{len(names)} columns, and one of them is {generic_name(count - 1)}", location)
    if ids == list(range(count)):
        return values
    ordered = np.zeros((len(values), count))
    ordered[:, ids] = values
    absent = [generic_name(k) for k in range(count) if k not in set(ids)]
    if absent:
        found.report(ABSENT, f"no column for {listed(absent, MAX_NAMES)}", location)
    return ordered


def in_body_order(
    values: Floats, names: Sequence[str], body: Body, location: Location, found: Diagnostics
) -> tuple[Floats, tuple[str, ...]]:
    """Return columns (T, N) in the order of the body's joints (T, J), and the names of the joints.

    Reports columns that are no joint of the body (TAB101) or the same joint as another (TAB103), both left out, and joints without a
    column (TAB102), which are 0.
    """
    wanted = joint_names(body)
    columns: dict[int, int] = {}
    places = matched(names, body)
    for column, k in enumerate(places):
        if k in columns:
            found.report(TWICE, f"two columns are the joint {wanted[k]}", location)
        elif k >= 0:
            columns[k] = column
    if -1 in places:
        unknown = [name for name, k in zip(names, places, strict=True) if k < 0]
        found.report(UNMATCHED, mismatch(names, body), location, data={"names": unknown})
    ordered = np.zeros((len(values), len(wanted)))
    for k, column in columns.items():
        ordered[:, k] = values[:, column]
    absent = [name or "''" for k, name in enumerate(wanted) if k not in columns]
    if absent and -1 not in places:
        found.report(ABSENT, f"no column for {listed(absent, MAX_NAMES)}", location)
    return ordered, wanted


def by_joint_id(component: MultiValueSeq, body: Body, whole: bool) -> MultiValueSeq:
    """Return columns with names of a body's joints in the order of joint id; other columns keep their order (`Body.joint_columns`).

    With `whole`, as files need it that hold no names, there is a column for every joint then.

    Raises
    ------
    ValueError
        As `Body.joint_columns`, and with `whole` as `Body.joint_values`.
    """
    values, labels = component.values, component.part_labels
    columns = body.joint_columns(component)
    ordered = body.joint_values(component) if whole else values
    if columns == tuple(k if k < component.num_parts else -1 for k in range(len(columns))):
        return component
    rest = sorted({*range(component.num_parts)} - {*columns})
    if whole:
        values = np.concatenate([ordered, values[:, rest]], axis=1)
        return replace(component, values=values, part_labels=(*joint_names(body), *[""] * len(rest)))
    order = [*(column for column in columns if column >= 0), *rest]
    named = tuple(labels[column] if column < len(labels) else "" for column in order)
    return replace(component, values=values[:, order], part_labels=named)


def link_order(names: Sequence[str], body: Body, location: Location) -> list[int]:
    """Return for each link of the body the column of its name, up to the last link that has one.

    Raises
    ------
    FormatError
        TAB101 when a name is no link of the body, or when a link between others has no column.
    """
    wanted = [link.name for link in body.links]
    unknown = [name for name in names if name not in wanted]
    if unknown:
        raise UNMATCHED.error(
            f"no link of {body.name} is named {listed(unknown, MAX_NAMES)}; its links are {listed(wanted, MAX_NAMES)}",
            location,
        )
    last = max(wanted.index(name) for name in names)
    absent = [name for name in wanted[: last + 1] if name not in names]
    if absent:
        message = f"link poses are in order of link index, and there is none for {listed(absent, MAX_NAMES)}"
        raise UNMATCHED.error(message, location)
    return [list(names).index(name) for name in wanted[: last + 1]]
