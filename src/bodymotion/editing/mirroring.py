"""Mirror a motion: the right side moves as the left side did."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bodymotion.diagnostics import Problem
from bodymotion.editing.rules import NOT_EDITED, NOT_SYMMETRIC
from bodymotion.editing.symmetry import Symmetry, mirrored_points, mirrored_rotations, symmetry
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
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


def mirror(motion: Motion, body: Body | None = None, pairs: Mapping[str, str] | None = None) -> Motion:
    """Return the motion mirrored in the plane y = 0 of the world: a step to the left becomes one to the right.

    Joint displacements and efforts, poses of links, and the ZMP are mirrored; nothing else changes. Mirroring twice returns the motion, and
    the link poses of the mirrored motion are the mirrored link poses, if the body is symmetric. Columns with names are identified by name
    (`Body.joint_columns`). `problems` reports a body that is not symmetric within 1 mm and 1 mrad.

    Parameters
    ----------
    body:
        The body of the motion; not needed for a motion of only the root link, with or without a ZMP.
    pairs:
        Names of links that are each other's mirror image, {left: right}, where their names do not follow the rules of
        `bodymotion.editing.symmetry`.

    Raises
    ------
    ValueError
        When a body is needed, when the motion has no column for one of its joints, or when the body is not symmetric.
    """
    if body is None:
        needs = [
            c.content
            for c in motion.components
            if (isinstance(c, MultiValueSeq) and c.content in (JOINT_DISPLACEMENT, JOINT_EFFORT))
            or (isinstance(c, MultiSE3Seq) and c.content == LINK_POSITION and c.num_parts > 1)
        ]
        if needs:
            raise ValueError(
                f"mirroring {', '.join(needs)} needs the body (`bodymotion edit --mirror --body MODEL`): it has the sides of the joints"
            )
        known = {LINK_POSITION, ZMP}
        left = [c.content for c in motion.components if isinstance(c, OtherSeq) or c.content not in known]
        problems = [NOT_EDITED.problem(f"{content} is not mirrored") for content in left]
        return motion.mapped(lambda c: _mirrored(c, None, None), problems)
    mirrors = symmetry(body, pairs)
    return motion.mapped(lambda c: _mirrored(c, body, mirrors), _problems(motion, body, mirrors))


def _problems(motion: Motion, body: Body, mirrors: Symmetry) -> list[Problem]:
    apart = f"{mirrors.worst_link} and its mirror image are {mirrors.offset * 1000:.3g} mm apart"
    tilted = f"the axis of {mirrors.worst_joint} and its mirror image are {np.degrees(mirrors.tilt):.3g}° apart"
    found = ((mirrors.offset, apart), (mirrors.tilt, tilted))
    problems = [NOT_SYMMETRIC.problem(message) for size, message in found if size > SYMMETRY_TOLERANCE]
    known = {JOINT_DISPLACEMENT: body.num_joints, JOINT_EFFORT: body.num_joints, LINK_POSITION: len(body.links), ZMP: 1}
    for component in motion.components:
        if isinstance(component, OtherSeq) or component.content not in known:
            problems.append(NOT_EDITED.problem(f"{component.content} is not mirrored"))
        elif not isinstance(component, Vector3Seq) and component.num_parts > known[component.content]:
            last = f"the last {component.num_parts - known[component.content]} parts of {component.content}"
            problems.append(NOT_EDITED.problem(f"{last} are not mirrored: the body has no such parts"))
    return problems


def _mirrored(component: Component, body: Body | None, mirrors: Symmetry | None) -> Component:
    if isinstance(component, Vector3Seq) and component.content == ZMP:
        return replace(component, values=mirrored_points(component.values))
    if isinstance(component, MultiSE3Seq) and component.content == LINK_POSITION:
        return replace(component, values=_mirrored_poses(component.values, mirrors))
    if isinstance(component, MultiValueSeq) and component.content in (JOINT_DISPLACEMENT, JOINT_EFFORT):
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
    partners = np.arange(parts) if mirrors is None else mirrors.links[:parts]
    frames = np.tile(rotations.IDENTITY, (parts, 1)) if mirrors is None else mirrors.frames[:parts]
    if parts and partners.max() >= parts:
        message = f"LinkPosition has {parts} links, and the mirror image of one of them is missing; drop all but the root link"
        raise ValueError(message)
    out = np.array(values)
    turned = mirrored_rotations(values[:, :parts, 3:])
    no_change = np.all(frames == rotations.IDENTITY)
    out[:, partners, :3] = mirrored_points(values[:, :parts, :3])
    out[:, partners, 3:] = turned if no_change else rotations.multiply(turned, frames)
    return out
