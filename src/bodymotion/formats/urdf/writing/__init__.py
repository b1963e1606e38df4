"""Bodies as URDF: `writer` puts a file together, `joints` and `shapes` make its elements, `keeping` what other programs pass over."""

from __future__ import annotations

from bodymotion.formats.urdf.writing.writer import write_urdf

__all__ = ["write_urdf"]
