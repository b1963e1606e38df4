"""Whether a file is a URDF model, by how it starts."""

from __future__ import annotations

from bodymotion.formats.xml.root import root_element

__all__ = ["looks_like_urdf"]


def looks_like_urdf(head: bytes) -> bool:
    """Whether the first element in the first bytes of a file is `<robot>`."""
    return root_element(head) == "robot"
