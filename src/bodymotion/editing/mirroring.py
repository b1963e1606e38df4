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
from bodymotion.geometry import poses, rotations
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

# [m, rad] A body with smaller differences is symmetric.
SYMMETRY_TOLERANCE = 1e-3
# Of the angle between an axis and the mirror image of its partner. Below it they are
# not mirror images.
MIN_AXIS_COSINE = 0.7

# Names that are tried with the sides of several parts swapped.
MAX_COMBINATIONS = 64

_SWAP = {"l": "r", "r": "l", "L": "R", "R": "L"}
_WORD = re.compile("left|right", re.IGNORECASE)
# Letters and digits between `_`, `.`, `-`, blanks and other separators.
_PART = re.compile(r"[^\W_]+")
# Names of corners: fl, hr, RR (front, hind, rear, back), or with the side first. Lf,
# RH; the side is a group.
_CORNER = re.compile("[fhrb]([lr])|([lr])[fhb]", re.IGNORECASE)
# A side as a capital between the words of a name in camel case: jointLArm.
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
    links = _find_partners(body, pairs)
    _check_partners(body, links)
    # (L, 7) The poses at joint values 0, with the root at the origin: the plane is y =
    # 0 of the root's frame.
    rest = body.forward_kinematics(np.zeros(body.num_joints), poses.IDENTITY)
    # (L,) The distance of each partner from the mirror image of the link.
    distances = np.linalg.norm(rest[links, :3] - mirrored_points(rest[:, :3]), axis=1)
    offset = 0.0
    worst_link = ""
    if len(distances):
        worst = int(np.argmax(distances))
        offset = float(distances[worst])
        worst_link = body.links[worst].name

    columns = np.arange(body.num_joints)
    signs = np.ones(body.num_joints)
    tilt = 0.0
    worst_joint = ""
    for column, index in enumerate(body.joint_links):
        link = body.links[index]
        if index < 0 or link.joint.type not in ("rotate", "slide", "crawler"):
            continue
        partner = body.links[links[link.index]]
        # M·a, and the axis of the partner, both in the world at joint values 0.
        axis = mirrored_points(rotations.rotate(rest[link.index, 3:], link.joint.axis))
        partner_axis = rotations.rotate(rest[partner.index, 3:], partner.joint.axis)
        cosine = float(np.clip(axis @ partner_axis, -1, 1))
        if abs(cosine) < MIN_AXIS_COSINE or partner.index not in body.joint_links:
            raise ValueError(
                f"the axes of {link.name} and {partner.name} are not mirror images; "
                "give the pairs of links, or is the body not symmetric?"
            )
        target = body.joint_links.index(partner.index)
        columns[target] = column
        # A mirror image rotates the other way. The axes may have the same or opposite
        # directions in the file.
        direction = 1.0 if link.joint.type == "slide" else -1.0
        signs[target] = np.sign(cosine) * direction
        sine = np.linalg.norm(np.cross(axis, partner_axis))
        # atan2 is precise near 0, where acos is not. Opposite directions are one axis.
        angle = float(np.arctan2(sine, abs(cosine)))
        if angle > tilt:
            tilt = angle
            worst_joint = link.name
    # From the mirrored frame of each link to the frame of its partner.
    frames = rotations.multiply(
        rotations.conjugate(mirrored_rotations(rest[:, 3:])), rest[links, 3:]
    )
    return Symmetry(
        links, columns, signs, frames, offset, worst_link, tilt, worst_joint
    )


def _find_partners(body: Body, pairs: Mapping[str, str] | None) -> Indices:
    """Return the index of the partner of each link, or its own without one.

    By the names of links, or else by those of their joints.
    """
    links = np.array(
        pair_names([link.name for link in body.links], pairs), dtype=np.intp
    )
    if not pairs:
        joint_names = [link.joint.name or link.name for link in body.links]
        for index, partner in enumerate(pair_names(joint_names)):
            # Pairs by the names of links come first: only links that are alone are
            # paired.
            if links[index] == index and links[partner] == partner:
                links[index] = partner
                links[partner] = index
    return links


def _check_partners(body: Body, links: Indices) -> None:
    """Raise ValueError where partners differ in their joints, or their parents."""
    for link in body.links:
        partner = body.links[links[link.index]]
        if link.joint.type != partner.joint.type:
            raise ValueError(
                f"{link.name} has a {link.joint.type} joint, its partner "
                f"{partner.name} a {partner.joint.type} one"
            )
        # Mirroring swaps whole branches: the partner must be on the partner of the
        # parent. The root has no parent.
        if link.index and (partner.index == 0 or links[link.parent] != partner.parent):
            raise ValueError(
                f"the parent of {link.name} is {body.links[link.parent].name}, but "
                f"the parent of its partner {partner.name} is not its "
                "partner; give the pairs of links"
            )


def pair_names(
    names: Sequence[str], given: Mapping[str, str] | None = None
) -> list[int]:
    """Return for each name the index of its partner on the other side.

    Its own index where it has none.

    Parameters
    ----------
    given:
        Known pairs of names, in one direction or both; they override the rules.

    Raises
    ------
    ValueError
        When a given name does not exist, or is in two pairs.
    """
    # Of equal names the first.
    index = {name: k for k, name in reversed([*enumerate(names)])}
    # The index of each partner, −1 where none is chosen yet.
    partners = [-1] * len(names)
    # Given pairs first, so that the rules for names leave them alone.
    for left, right in (given or {}).items():
        for name in (left, right):
            if name not in index:
                raise ValueError(f"no link {name!r}; {choices(name, names)}")
        for one, other in ((left, right), (right, left)):
            partner = partners[index[one]]
            if partner not in (-1, index[other]):
                raise ValueError(
                    f"{one!r} is in two pairs: with {names[partner]!r} and with "
                    f"{other!r}"
                )
            partners[index[one]] = index[other]
    for k, name in enumerate(names):
        if partners[k] >= 0:
            continue
        partner = k
        # The likeliest other name that exists and is free.
        for other in other_sides(name):
            other_index = index.get(other, k)
            if other_index != k and partners[other_index] < 0:
                partner = other_index
                break
        partners[k] = partner
        partners[partner] = k
    return partners


def other_sides(name: str) -> Iterator[str]:
    """Return possible names of the link on the other side, the likeliest first."""
    if _WORD.search(name):
        yield _WORD.sub(_other_word, name)
    # Indices of letters that may be a side: single letters, those of corners, and the
    # first and the last letters of longer parts.
    sides = []
    corners = []
    starts = []
    ends = []
    for part in _PART.finditer(name):
        # `lastindex` is the group of the side, before or after the letter of front or
        # hind.
        corner = _CORNER.fullmatch(name, part.start(), part.end())
        if corner is not None:
            corners.append(corner.start(corner.lastindex or 0))
        first = part.start()
        last = part.end() - 1
        if first == last:
            if name[first] in _SWAP:
                sides.append(first)
            continue
        if name[first] in _SWAP:
            starts.append(first)
        if name[last] in _SWAP:
            ends.append(last)
    # All single letters at once, all corners at once, then letter by letter.
    for letters in (sides, corners):
        if letters:
            yield _swapped(name, letters)
    humps = [hump.start() for hump in _HUMP.finditer(name)]
    for letter in (*sides, *corners, *humps, *starts, *ends):
        yield _swapped(name, [letter])
    yield from islice(_sides_of_parts(name), MAX_COMBINATIONS)


def _sides_of_parts(name: str) -> Iterator[str]:
    """Return the name with the sides of several of its parts swapped.

    Of as many as possible first.
    """
    pieces: list[list[str]] = []
    end = 0
    for part in _PART.finditer(name):
        # What is between two parts has one variant.
        pieces.append([name[end : part.start()]])
        text = part.group()
        # The first or the last letter; of a single one once.
        ends = dict.fromkeys((0, len(text) - 1))
        swapped = [_swapped(text, [k]) for k in ends if text[k] in _SWAP]
        if _WORD.search(text):
            swapped = [_WORD.sub(_other_word, text)]
        # The text without a change is last. So `product` yields the names with the most
        # swapped parts first.
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
    if body is not None:
        mirrors = symmetry(body, pairs)
        problems = _problems(motion, body, mirrors)
        return motion.mapped(
            lambda component: _mirrored(component, body, mirrors), problems
        )
    # Without a body: the root link is its own partner, and a ZMP is only a point. All
    # else needs the partners of joints and links.
    needs = [c.content for c in motion.components if _needs_body(c)]
    if needs:
        raise ValueError(
            f"mirroring {', '.join(needs)} needs the body (`bodymotion edit "
            "--mirror --body MODEL`): it has the sides of the joints"
        )
    problems = [
        NOT_EDITED.problem(f"{component.content} is not mirrored")
        for component in motion.components
        if isinstance(component, OtherSeq)
        or component.content not in (LINK_POSITION, ZMP)
    ]
    return motion.mapped(lambda component: _mirrored(component, None, None), problems)


def _needs_body(component: Component) -> bool:
    """Return whether the parts of a component have partners."""
    if isinstance(component, MultiValueSeq):
        return component.content in (JOINT_DISPLACEMENT, JOINT_EFFORT)
    if isinstance(component, MultiSE3Seq):
        return component.content == LINK_POSITION and component.num_parts > 1
    return False


def _problems(motion: Motion, body: Body, mirrors: Symmetry) -> list[Problem]:
    """Return where the body is not symmetric, and what is not mirrored."""
    problems = []
    if mirrors.offset > SYMMETRY_TOLERANCE:
        message = (
            f"{mirrors.worst_link} and its mirror image are "
            f"{mirrors.offset * 1000:.3g} mm apart"
        )
        problems.append(NOT_SYMMETRIC.problem(message))
    if mirrors.tilt > SYMMETRY_TOLERANCE:
        message = (
            f"the axis of {mirrors.worst_joint} and its mirror image are "
            f"{np.degrees(mirrors.tilt):.3g}° apart"
        )
        problems.append(NOT_SYMMETRIC.problem(message))
    num_parts = {
        JOINT_DISPLACEMENT: body.num_joints,
        JOINT_EFFORT: body.num_joints,
        LINK_POSITION: len(body.links),
        ZMP: 1,
    }
    for component in motion.components:
        content = component.content
        if isinstance(component, OtherSeq) or content not in num_parts:
            problems.append(NOT_EDITED.problem(f"{content} is not mirrored"))
        elif not isinstance(component, Vector3Seq):
            more = component.num_parts - num_parts[content]
            if more > 0:
                message = (
                    f"the last {more} parts of {content} are not mirrored: the body "
                    "has no such parts"
                )
                problems.append(NOT_EDITED.problem(message))
    return problems


def _mirrored(
    component: Component, body: Body | None, mirrors: Symmetry | None
) -> Component:
    """Return the mirror image of a component."""
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
        # (T, J) In the order of the body's joints.
        mirrored = body.joint_values(component)[:, mirrors.columns] * mirrors.signs
        # (J,) The column of each joint in the component, −1 where it has none. Columns
        # that belong to no joint do not change.
        columns = np.array(body.joint_columns(component), dtype=np.intp)
        values = np.array(component.values)
        values[:, columns[columns >= 0]] = mirrored[:, columns >= 0]
        return replace(component, values=values)
    return component


def _mirrored_poses(values: Floats, mirrors: Symmetry | None) -> Floats:
    """Return the mirror images of link poses (T, L, 7)."""
    if mirrors is None:
        count = min(values.shape[1], 1)
        partners = np.arange(count)
        frames = np.tile(rotations.IDENTITY, (count, 1))
    else:
        count = min(values.shape[1], len(mirrors.links))
        partners = mirrors.links[:count]
        frames = mirrors.frames[:count]
    if count and partners.max() >= count:
        raise ValueError(
            f"LinkPosition has {count} links, and the mirror image of one of them is "
            "missing; drop all but the root link"
        )
    # The mirror image of link i is the pose of its partner. Links that the body does
    # not have do not change.
    mirrored = np.array(values)
    mirrored[:, partners, :3] = mirrored_points(values[:, :count, :3])
    # (M·Rᵢ·M)·(M·Rᵢ₀·M)⁻¹·Rⱼ₀, as derived at the top: the last two are `frames`.
    orientations = mirrored_rotations(values[:, :count, 3:])
    # Without a change the numbers stay as they are, whatever their length.
    if not np.all(frames == rotations.IDENTITY):
        orientations = rotations.multiply(orientations, frames)
    mirrored[:, partners, 3:] = orientations
    return mirrored
