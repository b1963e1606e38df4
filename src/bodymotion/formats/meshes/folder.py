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
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, nullcontext
from io import BytesIO
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from bodymotion.diagnostics import Problem, losses
from bodymotion.formats.meshes.obj import to_obj
from bodymotion.formats.meshes.stl import to_stl
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.shapes import IMAGE_FORMATS, Material, Mesh, Texture
from bodymotion.system.files import check_place, new_folder, note_written, whole_file

MeshFormat: TypeAlias = Literal["obj", "stl", "glb"]

# The name of the materials in an OBJ until it is chosen.
LIBRARY = "@.mtl"
_MAX_IMAGE_BYTES = 10**8
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f/\\]")
# [characters] Of the name of a file, without its suffix.
MAX_NAME = 100


class _Encoded(NamedTuple):
    """A mesh as the bytes of a file, with its materials (MTL).

    `lost` has "rounded" numbers, "bare" surfaces and "flat" triangles.
    """

    data: bytes
    materials: bytes
    lost: set[str]


class _KnownMesh(NamedTuple):
    """The path of a mesh that was added; the objects keep their ids in use."""

    path: str
    mesh: Mesh
    material: Material | None


class MeshFolder:
    """Collect the meshes of a model and write them beside it.

    Each distinct one is written once.

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
        """Choose the name of the folder; nothing is written yet."""
        if format not in get_args(MeshFormat):
            known = ", ".join(get_args(MeshFormat))
            raise ValueError(f"meshes are written as {known}, not as {format!r}")
        self.model = model
        self.format = format
        # NAME_xml_meshes: with the suffix, so that models of two formats do not share
        # it.
        stem = model.stem + model.suffix.replace(".", "_")
        self.name = f"{_NOT_IN_NAMES.sub('_', stem)}_meshes"
        self.possible = not model.exists() or model.is_file()
        """Whether there can be files beside the model.

        There are none beside a pipe or a terminal.
        """
        self.files: dict[str, bytes] = {}
        """What will be written, by path from the model's folder."""
        self._known: dict[tuple[int, int], _KnownMesh] = {}
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
        # By identity first, which needs no encoding; equal content is found in `_add`.
        key = id(mesh), id(material)
        if key not in self._known:
            path = self._add(mesh, name, material or Material())
            self._known[key] = _KnownMesh(path, mesh, material)
        return self._known[key].path

    def image(self, texture: Texture) -> str | None:
        """Add the image of a texture.

        Return its path from the model's folder, None where it cannot be read.
        """
        if not self.possible:
            return None
        path = texture.path
        if path not in self._images:
            try:
                data = _read_image(path)
            except (OSError, ValueError):
                self._missing_images.append(path.name)
                self._images[path] = ""
            else:
                suffix = plain_name(path.suffix)
                name = self._add_files(path.stem, {suffix: data})
                self._images[path] = f"{self.name}/{name}{suffix}"
        return self._images[path] or None

    @property
    def lost(self) -> list[Problem]:
        """The problems of what the files lose of the meshes."""
        problems = []
        kind = self.format.upper()
        look = losses.MESH_LOOK
        count = self._losses["rounded"]
        if count:
            total = len(self._by_content)
            message = f"{kind} rounds the numbers of {count} of {total} meshes"
            hint = "OBJ keeps them to the bit"
            problems.append(losses.PRECISION.problem(message, hint=hint))
        count = self._losses["bare"]
        if count:
            message = (
                f"{kind} holds no colours, normals or texture coordinates: those of "
                f"{count} meshes are left out"
            )
            problems.append(look.problem(message))
        count = self._losses["flat"]
        if count:
            message = (
                "triangles without area, and vertices that no triangle has, are left "
                f"out of {count} meshes"
            )
            problems.append(look.as_note.problem(message))
        for name in self._missing_images:
            message = (
                f"the image {name!r:.80} cannot be read: its surfaces lose their "
                "texture"
            )
            problems.append(look.problem(message))
        return problems

    def write(self, model: bytes) -> None:
        """Write the mesh files, then the model.

        All of them are written, or none.

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
            # All is written: nothing is undone.
            undo.pop_all()

    def _add_files(self, name: str, contents: Mapping[str, bytes]) -> str:
        """Add files with the same name, given by their suffixes; return that name.

        It is free if no other file here has it, also where upper and lower case are the
        same, and if no file in the folder has it, or one with the same content.
        """
        plain = plain_name(name) or "mesh"
        free = plain
        number = 1
        files = _named(free, contents)
        while free.lower() in self._used_names or not self._fits(files):
            number += 1
            free = f"{plain}_{number}"
            files = _named(free, contents)
        self._used_names.add(free.lower())
        for file, data in files.items():
            self.files[f"{self.name}/{file}"] = data
        return free

    def _fits(self, files: Mapping[str, bytes]) -> bool:
        """Return whether no file in the folder has a name and other content."""
        folder = self.model.parent / self.name
        for file, data in files.items():
            path = folder / file
            if os.path.lexists(path) and not _has_content(path, data):
                return False
        return True

    def _add(self, mesh: Mesh, name: str, look: Material) -> str:
        """Add a mesh with a material, unless it is known; return its path."""
        encoded = self._encode(mesh, look)
        content = encoded.data + encoded.materials
        key = hashlib.blake2b(content, digest_size=16).digest()
        if key not in self._by_content:
            self._losses.update(encoded.lost)
            contents = {f".{self.format}": encoded.data}
            if encoded.materials:
                contents[".mtl"] = encoded.materials
            file = self._add_files(name, contents)
            self._by_content[key] = f"{self.name}/{file}.{self.format}"
        return self._by_content[key]

    def _encode(self, mesh: Mesh, look: Material) -> _Encoded:
        """Return a mesh in the format of the folder, and what this loses."""
        if self.format == "obj":
            return self._encode_obj(mesh, look)
        parts = (mesh.normals, mesh.colors, mesh.texture_coordinates)
        corners = [part.values for part in parts if part is not None]
        lost: set[str] = set()
        if self.format == "stl":
            if corners:
                lost.add("bare")
            if _is_rounded([mesh.vertices]):
                lost.add("rounded")
            return _Encoded(to_stl(mesh), b"", lost)
        from bodymotion.formats.meshes.glb import mesh_to_glb

        # GLB has triangles of positive area only, and vertices that these use.
        split = mesh.corners_split
        num_vertices = 0
        if split.vertices is not None:
            num_vertices = len(np.unique(split.vertices))
        has_all_vertices = num_vertices >= len(mesh.vertices)
        if len(split.triangles) < len(mesh.faces) or not has_all_vertices:
            lost.add("flat")
        if _is_rounded([mesh.vertices, *corners]):
            lost.add("rounded")
        return _Encoded(mesh_to_glb(mesh, look), b"", lost)

    def _encode_obj(self, mesh: Mesh, look: Material) -> _Encoded:
        """Return a mesh as OBJ.

        With a library where it has colours or an image.
        """
        image = None
        if look.texture is not None:
            image = self.image(look.texture)
        library = ""
        if mesh.colors or look.texture:
            library = LIBRARY
        # In the library an image is named from the library's own folder.
        file = (image or "").rpartition("/")[2]
        data, materials = to_obj(mesh, look, file, library)
        return _Encoded(data, materials, set())


def _read_image(path: Path) -> bytes:
    """Return the content of an image file.

    ValueError or OSError where it is none.
    """
    from PIL import Image

    if path.stat().st_size > _MAX_IMAGE_BYTES:
        raise ValueError("too large")
    data = path.read_bytes()
    # A file that is no image is not copied: a model may name any file of the user.
    Image.open(BytesIO(data), formats=IMAGE_FORMATS).close()
    return data


def _is_rounded(arrays: Sequence[Floats]) -> bool:
    """Return whether single precision changes a number."""
    with np.errstate(over="ignore"):
        return any((array.astype(np.float32) != array).any() for array in arrays)


def _named(name: str, contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a name, by their names.

    An OBJ names its library.
    """
    files: dict[str, bytes] = {}
    for suffix, data in contents.items():
        if suffix == ".obj" and ".mtl" in contents:
            data = data.replace(LIBRARY.encode(), f"{name}.mtl".encode(), 1)
        files[f"{name}{suffix}"] = data
    return files


def _has_content(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def plain_name(name: str) -> str:
    """Return a name of letters, digits, `.`, `_` and `-` only.

    Every file system and every reader accepts it.
    """
    if not name.strip(". "):
        return ""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:MAX_NAME].lstrip("-")
