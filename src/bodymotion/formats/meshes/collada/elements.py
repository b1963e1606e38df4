"""Elements of XML by their names without namespace, and the numbers in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry.arrays import Floats

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["child", "children", "indices", "local", "numbers"]


def local(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def children(element: Element | None, name: str) -> Iterator[Element]:
    """Return the elements of that name in an element."""
    if element is not None:
        yield from (inside for inside in element if local(inside) == name)


def child(element: Element | None, *names: str) -> Element | None:
    """Return the first element down a path of names."""
    for name in names:
        element = next(children(element, name), None)
    return element


def numbers(element: Element | None, count: int | None = None) -> Floats:
    """Return the numbers in an element, none where there is none; so many as `count`, or ValueError."""
    text = "" if element is None else element.text or ""
    try:
        values = np.array(text.split(), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"a <{local(element)}> holds no numbers" if element is not None else str(error)) from error
    if count is not None and len(values) != count:
        raise ValueError(f"a <{local(element) if element is not None else '?'}> has {len(values)} numbers, not {count}")
    return values


def indices(text: str | None) -> npt.NDArray[np.int64]:
    """Return whole numbers from a text."""
    values = np.array((text or "").split(), dtype=np.float64)
    if not np.isfinite(values).all() or (np.abs(values) > 2**31).any():
        raise ValueError("an index is no whole number")
    return values.astype(np.int64)
