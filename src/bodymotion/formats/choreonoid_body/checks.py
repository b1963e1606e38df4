"""What can be said of names, ids and masses only when all links are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.choreonoid_body import rules

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.choreonoid_body.links import RawLink
    from bodymotion.model.links import Link

__all__ = ["check_links"]


def check_links(links: tuple[Link, ...], raw: list[RawLink], problems: list[Problem]) -> None:
    """Note what is wrong with names, joint ids and masses of `links`; `raw` says where in the file they stand."""
    _check_names(raw, problems)
    _check_root(raw[0], problems)
    _check_ids(raw, problems)
    _check_masses(links, raw, problems)


def _check_names(raw: list[RawLink], problems: list[Problem]) -> None:
    seen: set[str] = set()
    for link in raw:
        if link.name in seen and link.name:
            problems.append(
                rules.SAME_NAME.problem(f"a second link has the name {link.name!r:.60}", link.place("name"))
            )
        seen.add(link.name)


def _check_root(root: RawLink, problems: list[Problem]) -> None:
    if root.joint.type in ("rotate", "slide") and root.joint.id >= 0:
        wrong = f"{root.title} is the root, of type {root.joint.type}: column {root.joint.id} moves nothing"
        problems.append(rules.ROOT_MOVES.problem(wrong, root.place("joint_type")))


def _check_ids(raw: list[RawLink], problems: list[Problem]) -> None:
    first: dict[int, str] = {}
    for link in raw:
        number = link.joint.id
        if number >= 0 and number in first:
            wrong = f"{link.title} has joint_id {number}, as has {first[number]}"
            problems.append(rules.ID_TWICE.problem(wrong, link.place("joint_id")))
        elif number >= 0:
            first[number] = link.title
    highest = min(max(first, default=-1), len(first) + 20)
    gaps = [str(number) for number in range(highest) if number not in first]
    if gaps:
        some = ", ".join(gaps[:6]) + (f" and {len(gaps) - 6} more" if len(gaps) > 6 else "")
        problems.append(rules.ID_GAP.problem(f"no joint has joint_id {some}", raw[0].location))


def _check_masses(links: tuple[Link, ...], raw: list[RawLink], problems: list[Problem]) -> None:
    for link, source in zip(links, raw, strict=True):
        moves = link.joint.type != "fixed"
        if not np.isfinite([link.mass, *link.center_of_mass, *link.inertia.flat]).all():
            wrong = f"mass, centre of mass or inertia of {source.title}, put together of its parts, is not finite"
            problems.append(
                rules.NOT_FINITE.problem(
                    wrong, source.place("mass", "inertia"), "its parts have numbers that are too large"
                )
            )
            continue
        if source.mass_unset:
            if moves and not source.mass_misspelt:
                problems.append(
                    rules.MASS_UNSET.problem(f"{source.title} has no mass: it weighs 1 kg", source.location)
                )
            continue
        if link.mass <= 0 or not link.inertia.any():
            if moves and link.mass >= 0 and not source.mass_misspelt:
                wrong = f"{source.title} has {link.mass:g} kg" + ("" if link.inertia.any() else " and no inertia")
                place = source.place(*(("mass",) if link.mass <= 0 else ("inertia", "mass")))
                problems.append(rules.NO_MASS.problem(wrong, place))
            continue
        inertia = np.clip(0.5 * (link.inertia + link.inertia.T), -1e150, 1e150)
        least, middle, most = np.linalg.eigvalsh(inertia).tolist()
        if least < -1e-9 * most or most > (least + middle) * (1 + 1e-6):
            wrong = (
                f"{source.title} has the principal moments {least:.4g} {middle:.4g} {most:.4g} kg m², as no body has"
            )
            problems.append(rules.TRIANGLE.problem(wrong, source.place("inertia")))
