"""The folder of mesh files beside a model.

`robot.urdf` has its meshes in `robot_urdf_meshes/`, `robot.xml` in `robot_xml_meshes/`.

An existing file is used where its content is what is to be written, and else not
changed: the new file gets another name (`ARM_2.obj`). So no mesh of another model is
ever changed, and repeating a conversion gives the same files. Files that a model no
longer names are not removed: other models may name them.
"""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from io import BytesIO
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from bodymotion.diagnostics import Problem, losses
from bodymotion.formats.meshes.obj import to_obj
from bodymotion.formats.meshes.stl import to_stl
from bodymotion.geometry.shapes import IMAGE_FORMATS, Material, Mesh, Texture
from bodymotion.system.files import check_place, new_folder, note_written, whole_file

MeshFormat: TypeAlias = Literal["obj", "stl", "glb"]

LIBRARY = "@.mtl"  # The name of the materials in an OBJ until it is chosen.
_MAX_IMAGE_BYTES = 10**8


class MeshFolder:
    """Collect the meshes of a model and write them beside it, each distinct one once.

    Parameters
    ----------
    model:
        The file of the model. Nothing is written before `write`.
    format:
        "obj" keeps numbers to the bit and colours, "stl" holds bare triangles and "glb"
        colours, both in single precision.

    Raises
    ------
    ValueError
        For another format.
    """

    def __init__(self, model: Path, format: MeshFormat = "obj") -> None:
        if format not in get_args(MeshFormat):
            raise ValueError(
                f"meshes are written as {', '.join(get_args(MeshFormat))}, not as "
                f"{format!r}"
            )
        self.model = model
        self.format = format
        self.name = (
            re.sub(
                r"[\x00-\x1f\x7f/\\]", "_", model.stem + model.suffix.replace(".", "_")
            )
            + "_meshes"
        )
        self.possible = not model.exists() or model.is_file()
        """Whether there can be files beside the model.

        There are none beside a pipe or a terminal.
        """
        self.files: dict[str, bytes] = {}
        """What will be written, by path from the model's folder."""
        self._known: dict[tuple[int, int], tuple[str, Mesh, Material | None]] = {}
        self._by_content: dict[bytes, str] = {}
        self._images: dict[Path, str] = {}
        self._used_names: set[str] = set()
        self._losses: Counter[str] = Counter()
        self._missing_images: list[str] = []

    def add(
        self, mesh: Mesh, name: str, material: Material | None = None
    ) -> str | None:
        """Add a mesh with finite vertices.

        Return the path of its file from the model's folder, with slashes.

        The file is named after `name` (usually its link's), as far as that is a plain
        file name. The material goes into the file where corners have colours of their
        own or a texture, and always in GLB. None where no file can be beside the model.
        """
        if not self.possible:
            return None
        key = id(mesh), id(material)
        if key not in self._known:
            self._known[key] = (
                self._add(mesh, name, material or Material()),
                mesh,
                material,
            )
        return self._known[key][0]

    def image(self, texture: Texture) -> str | None:
        """Add the image of a texture.

        Return its path from the model's folder, None where it cannot be read.
        """
        from PIL import Image

        if not self.possible:
            return None
        if texture.path not in self._images:
            try:
                if texture.path.stat().st_size > _MAX_IMAGE_BYTES:
                    raise ValueError("too large")
                data = texture.path.read_bytes()
                # A file that is no image is not copied: a model may name any file of
                # the user.
                Image.open(BytesIO(data), formats=IMAGE_FORMATS).close()
            except (OSError, ValueError):
                self._missing_images.append(texture.path.name)
                self._images[texture.path] = ""
            else:
                suffix = plain_name(texture.path.suffix)
                name = self._add_files(
                    texture.path.stem, lambda name: {f"{name}{suffix}": data}
                )
                self._images[texture.path] = f"{self.name}/{name}{suffix}"
        return self._images[texture.path] or None

    @property
    def lost(self) -> list[Problem]:
        """The problems of what the files lose of the meshes."""
        found = []
        kind = self.format.upper()
        look = losses.MESH_LOOK
        if count := self._losses["rounded"]:
            words = f"{kind} rounds the numbers of {count} of {len(self._by_content)} meshes"
            found.append(
                losses.PRECISION.problem(words, hint="OBJ keeps them to the bit")
            )
        if count := self._losses["bare"]:
            words = f"{kind} holds no colours, normals or texture coordinates: those of {count} meshes are left out"
            found.append(look.problem(words))
        if count := self._losses["flat"]:
            words = f"triangles without area, and vertices that no triangle has, are left out of {count} meshes"
            found.append(look.as_note.problem(words))
        lost = (
            f"the image {name!r:.80} cannot be read: its surfaces lose their texture"
            for name in self._missing_images
        )
        return [*found, *map(look.problem, lost)]

    def write(self, model: bytes) -> None:
        """Write the mesh files and after them the model: all of them or none.

        Raises OSError when one cannot be written.
        """
        check_place(self.model)
        folder = self.model.parent / self.name
        with new_folder(folder) if self.files else nullcontext(), ExitStack() as undo:
            for path, data in self.files.items():
                target = self.model.parent / path
                # Most of the time is spent waiting for the disk: an existing file with
                # this content is not written again.
                if _has_content(target, data):
                    note_written(target)
                    continue
                with whole_file(target) as stream:
                    stream.write(data)
                undo.callback(target.unlink, missing_ok=True)
            with whole_file(self.model) as stream:
                stream.write(model)
            undo.pop_all()

    def _add_files(self, name: str, files: Callable[[str], dict[str, bytes]]) -> str:
        """Add files whose names have the same beginning.

        Return that beginning, one that is free here and in the folder.

        A name is free here if no other file has it, also where upper and lower case are
        the same; in the folder, if no file has it, or one with the same content.
        """
        plain = plain_name(name) or "mesh"
        number = 1
        free = plain
        while free.lower() in self._used_names or not self._fits(made := files(free)):
            number += 1
            free = f"{plain}_{number}"
        self._used_names.add(free.lower())
        self.files |= {f"{self.name}/{file}": data for file, data in made.items()}
        return free

    def _fits(self, files: dict[str, bytes]) -> bool:
        folder = self.model.parent / self.name
        existing = {
            folder / file: data
            for file, data in files.items()
            if os.path.lexists(folder / file)
        }
        return all(_has_content(path, data) for path, data in existing.items())

    def _add(self, mesh: Mesh, name: str, look: Material) -> str:
        lost: set[str] = set()
        materials = b""
        corners = [
            part
            for part in (mesh.normals, mesh.colors, mesh.texture_coordinates)
            if part is not None
        ]
        if self.format == "obj":
            with_material = bool(mesh.colors or look.texture)
            if with_material and look.texture is not None:
                image = self.image(look.texture)
            else:
                image = None
            # In the library an image is named from the library's own folder.
            data, materials = to_obj(
                mesh,
                look,
                (image or "").rpartition("/")[2],
                LIBRARY if with_material else "",
            )
        elif self.format == "stl":
            lost |= {"bare"} if corners else set()
            data = to_stl(mesh)
            corners = []
        else:
            from bodymotion.formats.meshes.glb import mesh_to_glb

            data = mesh_to_glb(mesh, look)
            split = mesh.corners_split
            numbers = split.vertices if split.vertices is not None else ()
            if len(split.triangles) < len(mesh.faces) or len(np.unique(numbers)) < len(
                mesh.vertices
            ):
                lost.add("flat")
        with np.errstate(over="ignore"):
            if self.format != "obj":
                arrays = [mesh.vertices, *(part.values for part in corners)]
            else:
                arrays = []
            if any((array.astype(np.float32) != array).any() for array in arrays):
                lost.add("rounded")
        key = hashlib.blake2b(data + materials, digest_size=16).digest()
        if key not in self._by_content:
            self._losses.update(lost)

            def files(name: str) -> dict[str, bytes]:
                if not materials:
                    return {f"{name}.{self.format}": data}
                shown = data.replace(LIBRARY.encode(), f"{name}.mtl".encode(), 1)
                return {f"{name}.obj": shown, f"{name}.mtl": materials}

            self._by_content[key] = (
                f"{self.name}/{self._add_files(name, files)}.{self.format}"
            )
        return self._by_content[key]


def _has_content(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def plain_name(name: str) -> str:
    """Return a name of letters, digits, `.`, `_` and `-` only, which every file system and every reader accepts."""
    if name.strip(". "):
        return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:100].lstrip("-")
    return ""
