"""Knowing an MJCF file by its first bytes."""

from __future__ import annotations

from bodymotion.formats.xml.root import root_element

__all__ = ["looks_like_mjcf"]


def looks_like_mjcf(head: bytes) -> bool:
    """Whether a file that begins like this has `<mujoco>` for its root, or `<mujocoinclude>`."""
    return root_element(head) in ("mujoco", "mujocoinclude")
