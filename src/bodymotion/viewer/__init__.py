"""The viewer in the browser, and pages that play without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bodymotion.viewer.api import view
    from bodymotion.viewer.app import Viewer

__all__ = ["Viewer", "view"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name == "view":
        from bodymotion.viewer.api import view

        return view
    if name == "Viewer":
        from bodymotion.viewer.app import Viewer

        return Viewer
    raise AttributeError(f"module 'bodymotion.viewer' has no attribute {name!r}")
