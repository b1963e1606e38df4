"""Effects of the common profile as materials, and the images that they name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.formats.meshes.collada.elements import child, children, local, numbers
from bodymotion.geometry.shapes import Material

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["MaterialReader"]


class MaterialReader:
    """Makes materials, each once; `by_id` gives the elements of the file, what cannot be used goes to `remarks` in words."""

    def __init__(self, by_id: Mapping[str, Element], remarks: list[str]) -> None:
        self.by_id = by_id
        self.remarks = remarks
        self._materials: dict[str, tuple[Material, str]] = {}

    def at(self, url: str | None) -> Element | None:
        """Return the element that a url (#id) of this file means."""
        return self.by_id.get((url or "").removeprefix("#"))

    def material(self, target: str) -> tuple[Material, str]:
        """Return a material by its id, and the path of its image, "" for none."""
        if target not in self._materials:
            effect = child(self.at(target), "instance_effect")
            common = child(self.at(effect.get("url")) if effect is not None else None, "profile_COMMON")
            try:
                self._materials[target] = self.effect(common)
            except ValueError as error:
                self.remarks.append(f"material {target!r:.60}: {error}")
                self._materials[target] = (Material(), "")
        return self._materials[target]

    def effect(self, common: Element | None) -> tuple[Material, str]:
        """Return the same of the common profile of an effect."""
        technique = child(common, "technique")
        shading = (
            next((e for e in technique if local(e) in ("phong", "blinn", "lambert", "constant")), None)
            if (technique is not None)
            else None
        )
        if shading is None:
            return Material(), ""

        def color(name: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
            found = child(shading, name, "color")
            if found is None:
                return default
            red, green, blue = np.clip(np.nan_to_num(numbers(found)[:3]), 0.0, 1.0).tolist()
            return red, green, blue

        texture = child(shading, "diffuse", "texture")
        image = "" if texture is None or common is None else self.image(texture.get("texture", ""), common)
        white = (1.0, 1.0, 1.0)
        shine = numbers(child(shading, "shininess", "float"))
        material = Material(
            diffuse=color("diffuse", white if texture is not None else Material().diffuse),
            specular=color("specular", (0.0, 0.0, 0.0)),
            emissive=color("emission", (0.0, 0.0, 0.0)),
            shininess=float(np.clip(shine[0] / 128.0, 0.0, 1.0)) if len(shine) and np.isfinite(shine[0]) else 0.2,
            transparency=self.transparency(shading),
        )
        return material, image

    def transparency(self, shading: Element) -> float:
        """Return how much is seen through: of `transparent` the alpha, or the luminance of its colour turned round."""
        found = child(shading, "transparent")
        share = numbers(child(shading, "transparency", "float"))
        factor = float(share[0]) if len(share) else 1.0
        color = numbers(child(found, "color")) if found is not None else np.ones(4)
        if len(color) < 4 or not np.isfinite(color).all() or not np.isfinite(factor):
            return 0.0
        if found is not None and found.get("opaque") == "RGB_ZERO":
            seen = 1.0 - factor * float(color[:3] @ [0.212671, 0.715160, 0.072169])
        else:
            seen = factor * float(color[3])
        # Many programs write 0 for "not transparent": nothing at all is worth no shape.
        return float(np.clip(1.0 - seen, 0.0, 1.0)) if seen > 0 else 0.0

    def image(self, name: str, common: Element) -> str:
        """Return the path of the image that a sampler means; some files name the image itself."""
        parameters = {found.get("sid", ""): found for found in children(common, "newparam")}
        sampler = parameters.get(name)
        surface = child(sampler, "sampler2D", "source")
        if surface is not None:
            inner = parameters.get((surface.text or "").strip())
            start = child(inner, "surface", "init_from")
            name = (start.text or "").strip() if start is not None else name
        elif (instance := child(sampler, "sampler2D", "instance_image")) is not None:
            name = instance.get("url", "")
        start = child(self.at(name), "init_from")
        if start is None:
            return ""
        inner = child(start, "ref")
        return ((inner if inner is not None else start).text or "").strip()
