"""Writing MJCF: one file for each part of a model."""

from __future__ import annotations

from bodymotion.formats.mjcf.writing.writer import write_mjcf

__all__ = ["write_mjcf"]
