"""Materials of MJCF out of those of VRML97."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from bodymotion.diagnostics import losses
from bodymotion.formats.mjcf.conventions import read_look
from bodymotion.formats.xml.tree import Element, number_text

if TYPE_CHECKING:
    from bodymotion.diagnostics import Problem
    from bodymotion.formats.meshes.folder import MeshFolder
    from bodymotion.formats.mjcf.kept import Kept
    from bodymotion.formats.mjcf.writing.names import Names
    from bodymotion.geometry.shapes import Material

__all__ = ["Looks"]


class Looks:
    """Writes each material once, and its image."""

    def __init__(self, asset: Element, names: Names, kept: Kept, folder: MeshFolder) -> None:
        self.asset, self.names, self.kept, self.folder = asset, names, kept, folder
        self._written: dict[object, str] = {}
        self._images: dict[str, str] = {}
        self._lost: set[str] = set()

    def name(self, plain: Material) -> str:
        """Return the name of a material, which is written when it is first asked for."""
        image = plain.texture
        pixels = image and (image.path, image.url, image.repeat_s, image.repeat_t, image.transform.tobytes())
        key = (*(getattr(plain, field.name) for field in fields(plain) if field.name != "texture"), pixels)
        if key in self._written:
            return self._written[key]
        name = self.names.free("material", f"material_{len(self._written)}")
        self._written[key] = name
        red, green, blue = plain.diffuse
        specular = sum(plain.specular) / 3.0 if len(set(plain.specular)) > 1 else plain.specular[0]
        brightest = max(plain.diffuse)
        # MuJoCo holds it in single precision, and near black it says nothing.
        emission = min(max(plain.emissive) / brightest, 1000.0) if brightest > 1e-6 else 0.0
        rgba = (red, green, blue, 1.0 - plain.transparency)
        element = self.asset.add(
            "material",
            {
                "name": name,
                "rgba": number_text(rgba),
                "specular": number_text(specular),
                "shininess": number_text(plain.shininess),
                **({"emission": number_text(emission)} if emission else {}),
            },
        )
        again = read_look(rgba, specular, plain.shininess, emission)
        said = {
            key: getattr(plain, key)
            for key in ("diffuse", "ambient_intensity", "specular", "emissive", "shininess", "transparency")
            if getattr(plain, key) != getattr(again, key)
        }
        texture = self._texture(plain)
        if texture:
            element.attributes["texture"] = texture
            assert image is not None
            said["texture"] = {
                "url": image.url,
                "repeat": [image.repeat_s, image.repeat_t],
                "transform": image.transform,
            }
        self.kept.add("material", name, said)
        return name

    def _texture(self, material: Material) -> str:
        image = material.texture
        if image is None:
            return ""
        if image.path.suffix.lower() != ".png":
            self._lost.add(f"MuJoCo reads images as PNG alone: {image.path.name!r:.80} is left out")
            return ""
        path = self.folder.image(image)
        if path is None:
            return ""
        if path not in self._images:
            self._images[path] = self.names.free("texture", image.path.stem)
            self.asset.add("texture", {"name": self._images[path], "type": "2d", "file": path})
        return self._images[path]

    @property
    def lost(self) -> list[Problem]:
        """What surfaces lose."""
        return [losses.SURFACE.problem(words) for words in sorted(self._lost)]
