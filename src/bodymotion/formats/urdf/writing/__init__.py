"""Bodies as URDF.

`writer` puts a file together, `joints`, `gears`, `shapes`, `devices` and `sensors` make its elements, `keeping` what others pass over.
"""

from __future__ import annotations

from bodymotion.formats.urdf.writing.writer import write_urdf

__all__ = ["write_urdf"]
