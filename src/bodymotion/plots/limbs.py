"""Joints in groups that a person sees as one: arms, legs, the trunk. Found in the tree of links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__ = ["Limb", "limbs", "name_of"]

SHORT = 4
"""Branches with fewer joints, all on one link, are one group: the wheels of a vehicle, the fingers of a hand."""


@dataclass(frozen=True)
class Limb:
    """A group of joints: its name, and which columns they are, from the root outwards."""

    name: str
    columns: tuple[int, ...]


def limbs(body: Body, labels: Sequence[str]) -> tuple[Limb, ...]:
    """Return the J joint columns of a body in groups, `labels` (J,) naming them; each column is in one group.

    A limb goes on from joint to joint as long as there is one way on. Where several ways part, those with fewer than four joints are one
    group together.
    """
    column_of = {index: column for column, index in enumerate(body.joint_links) if index >= 0}
    children: dict[int, list[int]] = {}
    for link in body.links:
        children.setdefault(link.parent, []).append(link.index)
    count = [0] * len(body.links)
    for link in reversed(body.links):
        count[link.index] += link.index in column_of
        if link.parent >= 0:
            count[link.parent] += count[link.index]
    groups: list[list[int]] = []
    todo: list[list[int]] = [[index] for index in children.get(-1, [])]
    while todo:
        starts = todo.pop(0)
        if len(starts) > 1:
            groups.append([column_of[k] for start in starts for k in _below(start, children) if k in column_of])
            continue
        at, group = starts[0], []
        while True:
            if at in column_of:
                group.append(column_of[at])
            onwards = [child for child in children.get(at, []) if count[child]]
            if len(onwards) != 1:
                break
            at = onwards[0]
        short = [child for child in onwards if count[child] < SHORT]
        if group and len(short) == len(onwards) and sum(count[child] for child in short) <= 2 * SHORT:
            for child in onwards:
                group += [column_of[k] for k in _below(child, children) if k in column_of]
            onwards = short = []
        if group:
            groups.append(group)
        long = [[child] for child in onwards if child not in short or len(short) == 1]
        todo = [*long, *([short] if len(short) > 1 else []), *todo]
    placed = {column for group in groups for column in group}
    left = [column for column in range(len(labels)) if column not in placed]
    groups.sort(key=min)
    names = [name_of([labels[k] for k in group]) for group in groups]
    found = tuple(
        Limb(name if names.count(name) == 1 else _ends([labels[k] for k in group]), tuple(group))
        for name, group in zip(names, groups, strict=True)
    )
    return (*found, Limb("columns that no link has", tuple(left))) if left else found


def _below(link: int, children: dict[int, list[int]]) -> list[int]:
    found, todo = [], [link]
    while todo:
        at = todo.pop()
        found.append(at)
        todo += reversed(children.get(at, []))
    return found


def name_of(labels: Sequence[str]) -> str:
    """Name a group after what its names begin with, or after its first and last."""
    if len(labels) == 1:
        return labels[0]
    first, last = min(labels), max(labels)
    start = first[: next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    cut = max(start.rfind(mark) for mark in "_-./ ")
    whole = start[:cut] if cut > 0 else start.rstrip("0123456789")
    if len(whole.strip("_-./ ")) >= 2:
        return whole.rstrip("_-./ ")
    return _ends(labels)


def _ends(labels: Sequence[str]) -> str:
    return f"{labels[0]} … {labels[-1]}" if len(labels) > 1 else labels[0]
