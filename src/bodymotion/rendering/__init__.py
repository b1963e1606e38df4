"""Images and videos of robots, drawn by VTK without a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bodymotion.rendering.api import render

__all__ = ["render"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name == "render":
        from bodymotion.rendering.api import render

        return render
    raise AttributeError(f"module 'bodymotion.rendering' has no attribute {name!r}")
