"""Mirror a motion: the right side moves as the left side did.

And the mirror image of a body in itself.

The plane is y = 0 of the root frame, with all joints at 0. The mirror M takes (x, y, z)
to (x, −y, z), and a rotation with quaternion (w, x, y, z) to the one with (w, −x, y,
−z). A link's own frame need not be mirrored itself: the pose of link i with orientation
Rᵢ becomes the pose of its partner j with orientation (M·Rᵢ·M)·(M·Rᵢ₀·M)⁻¹·Rⱼ₀, where
Rᵢ₀ and Rⱼ₀ are the orientations at joint values 0. A rotation by q about an axis a (in
the world at joint values 0) becomes one by −q about M·a: where the partner's axis is
M·a, its joint value is −q, where it is −M·a, it is q. For a prismatic joint it is the
other way round.

Partners are found by name: the words left and right, the letters L and R as a part of
their own (`L_HIP`, `hip_l`, `hip.R`), at the beginning or the end of a part (`LARM`,
`HipR`, `jointLArm`), and the corners of four-legged robots (`fl_hip`, `RR_calf`).
Several parts of a name may have a side (`lfemur_lfemurrz`, as links between the joints
of an MJCF body are named). A name counts as one of a pair when the other name exists.
Links whose own names show no partner are paired by the names of their joints.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.diagnostics.spelling import choices
from bodymotion.editing.rules import NOT_EDITED, NOT_SYMMETRIC
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats, Indices
from bodymotion.model.body import Body
from bodymotion.motion import (
    JOINT_DISPLACEMENT,
    JOINT_EFFORT,
    LINK_POSITION,
    ZMP,
    Component,
    Motion,
    MultiSE3Seq,
    MultiValueSeq,
    OtherSeq,
    Vector3Seq,
)

SYMMETRY_TOLERANCE = 1e-3  # [m, rad] A body with smaller differences is symmetric.
MIN_AXIS_COSINE = 0.7
"""Of the angle between an axis and the mirror image of its partner.

Below it they are not mirror images.
"""

MAX_COMBINATIONS = 64
"""Names that are tried with the sides of several parts swapped."""

_SWAP = {"l": "r", "r": "l", "L": "R", "R": "L"}
_WORD = re.compile("left|right", re.IGNORECASE)
_PART = re.compile(r"[^\W_]+")
_CORNER = re.compile("[fhrb]([lr])|([lr])[fhb]", re.IGNORECASE)
"""Names of corners: fl, hr, RR (front, hind, rear, back), or with the side first.

Lf, RH; the side is a group.
"""
_HUMP = re.compile("(?<=[a-z0-9])[LR](?=[A-Z])")


@dataclass(frozen=True)
class Symmetry:
    """The mirror image of a body in itself.

    Attributes
    ----------
    links:
        (L,) The partner of each link; of one in the middle, itself.
    columns, signs:
        (J,) Column c of mirrored joint values is signs[c] times column columns[c].
    frames:
        (L, 4) The rotation (M·Rᵢ₀·M)⁻¹·Rⱼ₀ of each link i with partner j.
    offset, worst_link:
        [m] The largest distance between the origin of a link's partner and the mirror
        image of its own, at joint values 0.
    tilt, worst_joint:
        [rad] The largest angle between the axis of a joint's partner and the mirror
        image of its own.
    """

    links: Indices
    columns: Indices
    signs: Floats
    frames: Floats
    offset: float
    worst_link: str
    tilt: float
    worst_joint: str


def mirrored_points(points: Floats) -> Floats:
    """Return the mirror images of points (..., 3)."""
    return np.asarray(points * np.array([1.0, -1.0, 1.0]))


def mirrored_rotations(quaternions: Floats) -> Floats:
    """Return M·R·M for orientations (..., 4)."""
    return np.asarray(quaternions * np.array([1.0, -1.0, 1.0, -1.0]))


def symmetry(body: Body, pairs: Mapping[str, str] | None = None) -> Symmetry:
    """Return the mirror image of a body in itself.

    Partners by name, signs from its geometry.

    Parameters
    ----------
    pairs:
        Names of links that are partners, where the names do not follow the rules of
        this module.

    Raises
    ------
    ValueError
        When partners have joints of different types, parents that are not partners, or
        axes that are not mirror images; the message names them.
    """
    links = np.array(
        pair_names([link.name for link in body.links], pairs), dtype=np.intp
    )
    if not pairs:
        of_joints = pair_names([link.joint.name or link.name for link in body.links])
        for index, partner_index in enumerate(of_joints):
            if links[index] == index and links[partner_index] == partner_index:
                links[[index, partner_index]] = partner_index, index
    for link in body.links:
        partner = body.links[links[link.index]]
        if link.joint.type != partner.joint.type:
            raise ValueError(
                f"{link.name} has a {link.joint.type} joint, its partner "
                f"{partner.name} a {partner.joint.type} one"
            )
        if link.index and (partner.index == 0 or links[link.parent] != partner.parent):
            raise ValueError(
                f"the parent of {link.name} is {body.links[link.parent].name}, but "
                f"the parent of its partner {partner.name} is not its "
                "partner; give the pairs of links"
            )
    rest = body.forward_kinematics(np.zeros(body.num_joints), [0, 0, 0, 1, 0, 0, 0])
    apart = np.linalg.norm(rest[links, :3] - mirrored_points(rest[:, :3]), axis=1)
    if len(apart):
        worst = int(np.argmax(apart))
    else:
        worst = 0
    columns = np.arange(body.num_joints)
    signs = np.ones(body.num_joints)
    tilt = 0.0
    worst_joint = ""
    for column, index in enumerate(body.joint_links):
        if index < 0 or body.links[index].joint.type not in (
            "rotate",
            "slide",
            "crawler",
        ):
            continue
        link = body.links[index]
        partner = body.links[links[index]]
        mirrored_axis = mirrored_points(
            rotations.rotate(rest[link.index, 3:], link.joint.axis)
        )
        partner_axis = rotations.rotate(rest[partner.index, 3:], partner.joint.axis)
        cosine = float(np.clip(mirrored_axis @ partner_axis, -1, 1))
        if abs(cosine) < MIN_AXIS_COSINE or partner.index not in body.joint_links:
            raise ValueError(
                f"the axes of {link.name} and {partner.name} are not mirror images; "
                "give the pairs of links, or is the body not symmetric?"
            )
        target = body.joint_links.index(partner.index)
        columns[target] = column
        signs[target] = np.sign(cosine) * (1.0 if link.joint.type == "slide" else -1.0)
        angle = float(
            np.arctan2(
                np.linalg.norm(np.cross(mirrored_axis, partner_axis)), abs(cosine)
            )
        )
        if angle > tilt:
            tilt = angle
            worst_joint = link.name
    frames = rotations.multiply(
        rotations.conjugate(mirrored_rotations(rest[:, 3:])), rest[links, 3:]
    )
    offset, worst_link = (
        (float(apart[worst]), body.links[worst].name) if len(apart) else (0.0, "")
    )
    return Symmetry(
        links, columns, signs, frames, offset, worst_link, tilt, worst_joint
    )


def pair_names(
    names: Sequence[str], given: Mapping[str, str] | None = None
) -> list[int]:
    """Return for each name the index of its partner on the other side, or its own index where it has none.

    Parameters
    ----------
    given:
        Known pairs of names, in one direction or both; they override the rules.

    Raises
    ------
    ValueError
        When a given name does not exist, or is in two pairs.
    """
    index = {name: i for i, name in reversed(list(enumerate(names)))}
    partner = [-1] * len(names)
    for left, right in (given or {}).items():
        for name in (left, right):
            if name not in index:
                raise ValueError(f"no link {name!r}; {choices(name, names)}")
        for a, b in ((index[left], index[right]), (index[right], index[left])):
            if partner[a] not in (-1, b):
                raise ValueError(
                    f"{names[a]!r} is in two pairs: with {names[partner[a]]!r} and "
                    f"with {names[b]!r}"
                )
            partner[a] = b
    for i, name in enumerate(names):
        if partner[i] >= 0:
            continue
        found = (index[other] for other in other_sides(name) if other in index)
        other = next((j for j in found if partner[j] < 0 and j != i), i)
        partner[i], partner[other] = other, i
    return partner


def other_sides(name: str) -> Iterator[str]:
    """Return possible names of the link on the other side, the likeliest first."""
    if _WORD.search(name):
        yield _WORD.sub(_other_word, name)
    parts = [(m.start(), m.end()) for m in _PART.finditer(name)]
    sides = [start for start, end in parts if end - start == 1 and name[start] in _SWAP]
    found = (_CORNER.fullmatch(name, start, end) for start, end in parts)
    corners = [
        corner.start(corner.lastindex or 0) for corner in found if corner is not None
    ]
    humps = [hump.start() for hump in _HUMP.finditer(name)]
    longer = [(start, end - 1) for start, end in parts if end - start > 1]
    ends = [one[k] for k in (0, 1) for one in longer if name[one[k]] in _SWAP]
    for indices in (
        sides,
        corners,
        *([index] for index in (*sides, *corners, *humps, *ends)),
    ):
        if indices:
            yield _swapped(name, indices)
    yield from islice(_sides_of_parts(name), MAX_COMBINATIONS)


def _sides_of_parts(name: str) -> Iterator[str]:
    """Return the name with the sides of several of its parts swapped, of as many as possible first."""
    pieces: list[list[str]] = []
    end = 0
    for part in _PART.finditer(name):
        pieces.append([name[end : part.start()]])
        text = part.group()
        swapped = [
            _swapped(text, [k])
            for k in dict.fromkeys((0, len(text) - 1))
            if text[k] in _SWAP
        ]
        if _WORD.search(text):
            swapped = [_WORD.sub(_other_word, text)]
        pieces.append([*swapped, text])
        end = part.end()
    for chosen in product(*pieces):
        yield "".join(chosen) + name[end:]


def _other_word(match: re.Match[str]) -> str:
    word = match.group()
    other = "right" if word.lower() == "left" else "left"
    if word.isupper():
        return other.upper()
    if word[0].isupper():
        return other.capitalize()
    return other


def _swapped(name: str, indices: Sequence[int]) -> str:
    letters = list(name)
    for index in indices:
        letters[index] = _SWAP[letters[index]]
    return "".join(letters)


def mirror(
    motion: Motion, body: Body | None = None, pairs: Mapping[str, str] | None = None
) -> Motion:
    """Return the motion mirrored in the plane y = 0 of the world.

    A step to the left becomes one to the right.

    Joint displacements and efforts, poses of links, and the ZMP are mirrored; nothing
    else changes. Mirroring twice returns the motion, and the link poses of the mirrored
    motion are the mirrored link poses, if the body is symmetric. Columns with names are
    identified by name (`Body.joint_columns`). `problems` reports a body that is not
    symmetric within 1 mm and 1 mrad.

    Parameters
    ----------
    body:
        The body of the motion; not needed for a motion of only the root link, with or
        without a ZMP.
    pairs:
        Names of links that are each other's mirror image, {left: right}, where their
        names do not follow the rules of `bodymotion.editing.mirroring`.

    Raises
    ------
    ValueError
        When a body is needed, when the motion has no column for one of its joints, or
        when the body is not symmetric.
    """
    if body is None:
        needs = [
            c.content
            for c in motion.components
            if (
                isinstance(c, MultiValueSeq)
                and c.content in (JOINT_DISPLACEMENT, JOINT_EFFORT)
            )
            or (
                isinstance(c, MultiSE3Seq)
                and c.content == LINK_POSITION
                and c.num_parts > 1
            )
        ]
        if needs:
            raise ValueError(
                f"mirroring {', '.join(needs)} needs the body (`bodymotion edit "
                "--mirror --body MODEL`): it has the sides of the joints"
            )
        known = {LINK_POSITION, ZMP}
        left = [
            c.content
            for c in motion.components
            if isinstance(c, OtherSeq) or c.content not in known
        ]
        problems = [
            NOT_EDITED.problem(f"{content} is not mirrored") for content in left
        ]
        return motion.mapped(lambda c: _mirrored(c, None, None), problems)
    mirrors = symmetry(body, pairs)
    return motion.mapped(
        lambda c: _mirrored(c, body, mirrors), _problems(motion, body, mirrors)
    )


def _problems(motion: Motion, body: Body, mirrors: Symmetry) -> list[Problem]:
    apart = f"{mirrors.worst_link} and its mirror image are {mirrors.offset * 1000:.3g} mm apart"
    tilted = f"the axis of {mirrors.worst_joint} and its mirror image are {np.degrees(mirrors.tilt):.3g}° apart"
    found = ((mirrors.offset, apart), (mirrors.tilt, tilted))
    problems = [
        NOT_SYMMETRIC.problem(message)
        for size, message in found
        if size > SYMMETRY_TOLERANCE
    ]
    known = {
        JOINT_DISPLACEMENT: body.num_joints,
        JOINT_EFFORT: body.num_joints,
        LINK_POSITION: len(body.links),
        ZMP: 1,
    }
    for component in motion.components:
        if isinstance(component, OtherSeq) or component.content not in known:
            problems.append(NOT_EDITED.problem(f"{component.content} is not mirrored"))
        elif (
            not isinstance(component, Vector3Seq)
            and component.num_parts > known[component.content]
        ):
            last = f"the last {component.num_parts - known[component.content]} parts of {component.content}"
            problems.append(
                NOT_EDITED.problem(
                    f"{last} are not mirrored: the body has no such parts"
                )
            )
    return problems


def _mirrored(
    component: Component, body: Body | None, mirrors: Symmetry | None
) -> Component:
    if isinstance(component, Vector3Seq) and component.content == ZMP:
        return replace(component, values=mirrored_points(component.values))
    if isinstance(component, MultiSE3Seq) and component.content == LINK_POSITION:
        return replace(component, values=_mirrored_poses(component.values, mirrors))
    if isinstance(component, MultiValueSeq) and component.content in (
        JOINT_DISPLACEMENT,
        JOINT_EFFORT,
    ):
        assert body is not None
        assert mirrors is not None
        mirrored = body.joint_values(component)[:, mirrors.columns] * mirrors.signs
        columns = np.array(body.joint_columns(component), dtype=np.intp)
        values = np.array(component.values)
        values[:, columns[columns >= 0]] = mirrored[:, columns >= 0]
        return replace(component, values=values)
    return component


def _mirrored_poses(values: Floats, mirrors: Symmetry | None) -> Floats:
    parts = min(values.shape[1], 1 if mirrors is None else len(mirrors.links))
    if mirrors is None:
        partners = np.arange(parts)
    else:
        partners = mirrors.links[:parts]
    if mirrors is None:
        frames = np.tile(rotations.IDENTITY, (parts, 1))
    else:
        frames = mirrors.frames[:parts]
    if parts and partners.max() >= parts:
        message = f"LinkPosition has {parts} links, and the mirror image of one of them is missing; drop all but the root link"
        raise ValueError(message)
    out = np.array(values)
    turned = mirrored_rotations(values[:, :parts, 3:])
    no_change = np.all(frames == rotations.IDENTITY)
    out[:, partners, :3] = mirrored_points(values[:, :parts, :3])
    out[:, partners, 3:] = turned if no_change else rotations.multiply(turned, frames)
    return out
