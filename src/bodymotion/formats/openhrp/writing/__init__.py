"""Writing OpenHRP models: a Body as Humanoid, Joints, Segments, sensors and ExtraJoints, with the prototypes that declare them."""

from __future__ import annotations

from bodymotion.formats.openhrp.writing.writer import openhrp_files, write_openhrp

__all__ = ["openhrp_files", "write_openhrp"]
