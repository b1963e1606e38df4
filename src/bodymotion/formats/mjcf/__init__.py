"""MJCF, the XML of MuJoCo: robots and scenes, read and written.

One room for each part of the language: `document` (files that include others), `settings` and `defaults`, `frames`, `tree` (bodies and
joints), `geoms` and `assets`, `masses`, `devices`, `loops`; `kept` is what MJCF has no word for. `writing/` is the way back.
"""

from __future__ import annotations

from bodymotion.formats.mjcf.reader import parse_mjcf, read_mjcf
from bodymotion.formats.mjcf.writer import write_mjcf

__all__ = ["parse_mjcf", "read_mjcf", "write_mjcf"]
