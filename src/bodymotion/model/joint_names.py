"""The columns of a motion and the joints of a body: by name where both have names, else by position.

Names are those of joints, or of the links that these move. They also match where only capitals, `_`, `.`, `-` and blanks differ.
`joint_3` is the joint of id 3 where no joint has this name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bodymotion.diagnostics import Location, Problem, document, judgement
from bodymotion.diagnostics.spelling import meant, plain
from bodymotion.diagnostics.text import counted, listed

if TYPE_CHECKING:
    from bodymotion.model.body import Body
    from bodymotion.motion import Motion, MultiValueSeq

MORE_COLUMNS = judgement.warning(
    "MOT202",
    "A motion has no more joint columns than the body.",
    "the other columns move nothing; is it the motion of another body?",
    example=("29 joints, and columns for 30", "29 columns"),
)
SOME_LINKS = document.warning(
    "MOT212",
    "LinkPosition beside joint displacements has the pose of the root link, or those of all links.",
    "the others follow from the joints; is it a motion of another body?",
    example=("poses of 3 links and joints, on a body of 4 links", "the root's pose and joints"),
)
NAMELESS = judgement.note(
    "MOT221",
    "The joint columns of a motion have names, where the file of the model does not number its joints.",
    "column i is read as joint i of the model",
    example=("columns without names, on a URDF", "columns with the names of the joints"),
)
RETIRED = {"MEAS102": "MOT202", "VIEW101": "MOT202"}
NUMBERED = ("", "openhrp", "body")  # Formats of models whose joints have ids; "" is a body that was made by a program.
MAX_NAMES = 8  # Names of each side that a message lists.

_GENERIC = re.compile(r"joint_([0-9]{1,6})")


def generic_name(k: int) -> str:
    """Return the name of column k where joints have none: it stands for the joint of id k."""
    return f"joint_{k}"


def is_generic(name: str) -> bool:
    """Return whether a name is that of a joint without a name: joint_k."""
    return _GENERIC.fullmatch(name) is not None


def matched(names: Sequence[str], body: Body) -> tuple[int, ...]:
    """Return for each name the joint column that it stands for; −1 where it stands for none."""
    joints = [joint.name for joint in body.joints]
    by_joint, by_link = (
        {name: k for k, name in reversed([*enumerate(side)]) if name} for side in (joints, _moved(body))
    )
    exact = by_link if all(name in by_link for name in names) else {**by_link, **by_joint}
    exact = by_joint if all(name in by_joint for name in names) else exact
    alike: dict[str, int] = {}
    for name, k in exact.items():
        alike[plain(name)] = k if alike.get(plain(name), k) == k else -1
    found = [exact.get(name, alike.get(plain(name), -1)) for name in names]
    if -1 in found:
        ids = [int(generic[1]) if (generic := _GENERIC.fullmatch(name)) else len(joints) for name in names]
        found = [exact.get(name, k if k < len(joints) else f) for name, k, f in zip(names, ids, found, strict=True)]
    return tuple(found)


def _moved(body: Body) -> list[str]:
    """Return for each joint column the name of the link that it moves."""
    return [body.links[index].name if index >= 0 else "" for index in body.joint_links]


def mismatch(names: Sequence[str], body: Body) -> str:
    """Return the message about names that are not all those of a body's joints: how many match, and the first of each side that do not."""
    columns = matched(names, body)
    wanted = [joint.name or link for joint, link in zip(body.joints, _moved(body), strict=True)]
    strange = [name for name, k in zip(names, columns, strict=True) if k < 0]
    free = [name for k, name in enumerate(wanted) if name and k not in columns]
    pairs = ((name, meant(name, free)) for name in strange)
    better = next((f"; did you mean {other} for {name}?" for name, other in pairs if other), "")
    others = f"joints of {body.name or 'the body'} without a column: {listed(free, MAX_NAMES) or 'none'}"
    return (
        f"{len(names) - len(strange)} of {counted(len(names), 'joint name')} match: no joint is named {listed(strange, MAX_NAMES)}; "
        f"{others}{better}"
    )


def joint_columns(component: MultiValueSeq, body: Body) -> tuple[int, ...]:
    """Return for each of the J joints its column; see `Body.joint_columns`."""
    count = component.num_parts
    labels = (*component.part_labels[:count], *[""] * (count - len(component.part_labels)))
    joints, links = [joint.name for joint in body.joints], _moved(body)
    in_place = tuple(k if k < count else -1 for k in range(len(joints)))
    known = zip(joints, links, strict=True)
    fit = not any(labels[len(joints) :]) and all(
        not label or label in names for label, names in zip(labels, known, strict=False)
    )
    if fit or not any((*joints, *links)):
        return in_place
    named = [(column, label) for column, label in enumerate(labels) if label]
    names = [label for _, label in named]
    places = matched(names, body)
    if -1 in places:
        hint = "by_position=True (--by-position) reads column i as joint i"
        raise ValueError(f"{component.content}: {mismatch(names, body)}. Is it a motion of another body? {hint}")
    columns = [-1] * len(joints)
    for (column, label), place in zip(named, places, strict=True):
        if columns[place] >= 0:
            pair = f"{labels[columns[place]]} and {label}"
            raise ValueError(f"two columns of {component.content} are the joint {joints[place]}: {pair}")
        columns[place] = column
    return tuple(columns)


def by_position(motion: Motion, body: Body) -> Motion:
    """Return the motion with the names of the body's joints for its joint columns, by position, whatever names they have.

    Column i is joint i of the body; further columns get no name.
    """
    joints = motion.joint_displacement
    if joints is None:
        return motion
    names = [joint.name or link for joint, link in zip(body.joints, _moved(body), strict=True)]
    labels = (*names, *[""] * (joints.num_parts - len(names)))[: joints.num_parts]
    return motion.replaced(*(replace(c, part_labels=labels) if c is joints else c for c in motion.components))


def fit_problems(motion: Motion, body: Body, locate: Callable[[], Location] | None = None) -> tuple[Problem, ...]:
    """Return what is to be reported of a motion whose joint columns are read on a body.

    Too many columns (MOT202), none with a name (MOT221), and poses of some links that are not used (MOT212).
    """
    joints = motion.joint_displacement
    if joints is None:
        return ()
    found = []
    locate = locate or partial(Location, None if motion.source.path is None else str(motion.source.path))
    if joints.num_parts > body.num_joints:
        message = (
            f"{joints.content} has {joints.num_parts} joint columns, {body.name or 'the body'} has {body.num_joints} joints; the columns "
            f"from {body.num_joints} on are left out"
        )
        data = {"motion": joints.num_parts, "body": body.num_joints}
        found.append(MORE_COLUMNS.problem(message, locate(), data=data))
    if joints.num_parts and not any(joints.part_labels) and (body.source.format or "") not in NUMBERED:
        columns = counted(joints.num_parts, "joint column")
        message = f"{columns} without names, read in the order of the joints of {body.name or 'the body'}"
        found.append(NAMELESS.problem(message, locate()))
    links = motion.link_position
    if links is not None and 1 < links.num_parts < len(body.links):
        known = motion.source.locations.locate(
            ("components", next(k for k, c in enumerate(motion.components) if c is links))
        )
        name = body.name or "the body"
        message = f"{links.content} has poses of {links.num_parts} links, {name} has {len(body.links)}; only that of the root is used"
        data = {"motion": links.num_parts, "body": len(body.links)}
        found.append(SOME_LINKS.problem(message, known or locate(), data=data))
    return tuple(found)
