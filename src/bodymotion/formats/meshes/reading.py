"""Read the mesh files that a model names, each once, into shapes.

The files of a large model are read in several passes (`MeshPasses`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from bodymotion.diagnostics import Diagnostics, Location, Rule, judgement
from bodymotion.formats.meshes.collada import placed_parts, read_collada
from bodymotion.formats.meshes.glb import read_gltf
from bodymotion.formats.meshes.obj import read_obj
from bodymotion.formats.meshes.stl import mesh_fault, read_mesh_file
from bodymotion.formats.registry import Function
from bodymotion.formats.resources import MESH_PASSES, MeshFile, ReferencedFiles
from bodymotion.geometry.shapes import Material, Shape, Texture

IMAGE_INSIDE = judgement.warning(
    "VRML215",
    "Images are separate files. Images inside of another file are left out.",
    leaves_out=True,
    example=("a .glb with a texture inside", "a .glb with colours alone"),
)

# Reads the shapes of a file; see `read_shapes` for its arguments.
MeshFileReader: TypeAlias = Callable[[Path, ReferencedFiles, list[str]], list[Shape]]

MAX_BYTES = 10**9
"""[bytes] Of a mesh file that is read."""
# Characters of a remark: libraries may quote large parts of a file.
MAX_REMARK = 300


class MeshReader:
    """Read mesh files for a model.

    Faults in them are reported under the rule `broken`.
    """

    def __init__(self, broken: Rule, found: Diagnostics) -> None:
        self.broken = broken
        self.found = found
        self._passes = MESH_PASSES.get()
        self._read: dict[Path, MeshFile] = {}
        if self._passes is not None:
            self._read = self._passes.read
        self._shapes: dict[Path, tuple[Shape, ...]] = {}

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that have been read."""
        return tuple(path for path, shapes in self._shapes.items() if shapes)

    def shapes(
        self, path: Path, files: ReferencedFiles, location: Location
    ) -> tuple[Shape, ...]:
        """Return the shapes of a file, none where it cannot be read.

        `files` finds the files that it names.
        """
        if path in self._shapes:
            return self._shapes[path]
        # Stored before reading: a file that fails is not tried, or reported, again.
        self._shapes[path] = ()
        if path not in self._read:
            # A large model is read several times, each time with more of its meshes.
            if self._passes is not None and not self._passes.may_read(path):
                message = f"{path.name} is not read yet"
                self.found.report(self.broken, message, location, severity="note")
                return ()
            self._read[path] = _read_file(path, files)
        file = self._read[path]
        self._shapes[path] = file.shapes
        for remark in file.remarks:
            self.found.report(self.broken, f"{path.name}: {remark}", location)
        self.found.extend(file.problems)
        return file.shapes


def _read_file(path: Path, files: ReferencedFiles) -> MeshFile:
    """Return the content of a mesh file.

    Without shapes where it cannot be read.
    """
    remarks: list[str] = []
    num_known = len(files.problems)
    shapes: list[Shape] = []
    try:
        shapes = read_shapes(path, files, remarks)
    except ValueError as error:
        remarks.append(mesh_fault(path, error)[:MAX_REMARK])
    return MeshFile(tuple(shapes), remarks, tuple(files.problems[num_known:]))


def read_shapes(path: Path, files: ReferencedFiles, remarks: list[str]) -> list[Shape]:
    """Read a mesh file by its suffix.

    trimesh reads those that are not in `READERS`.

    Parameters
    ----------
    path:
        The file.
    files:
        Finds the files that it names: images, libraries of materials, Inline parts.
    remarks:
        Gets in words what could not be used.

    Raises
    ------
    ValueError
        When the file cannot be read; with the reason.
    """
    read = READERS.get(path.suffix.lower())
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("the file is too large")
        if read is not None:
            return read(path, files, remarks)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
    return [Shape(read_mesh_file(path))]


def _read_obj(path: Path, files: ReferencedFiles, remarks: list[str]) -> list[Shape]:
    library = partial(_read_library, path, files)
    shapes = []
    for part in read_obj(path.read_bytes(), library):
        material = _with_image(part.material, part.image, path, files)
        shapes.append(Shape(part.mesh, material=material))
    return shapes


def _read_library(path: Path, files: ReferencedFiles, name: str) -> bytes | None:
    """Return the content of a library of materials.

    None where it cannot be read.
    """
    library = files.resolve_urls([name], path, Location(str(path)))
    if library is None or library.stat().st_size > MAX_BYTES:
        return None
    return library.read_bytes()


def _read_dae(path: Path, files: ReferencedFiles, remarks: list[str]) -> list[Shape]:
    root, unused = read_collada(path)
    remarks += unused
    shapes = []
    for part, transform, name in placed_parts(root, root.transform):
        material = _with_image(part.material, part.image, path, files)
        shapes.append(Shape(part.mesh, transform, material, name))
    return shapes


def _read_gltf(path: Path, files: ReferencedFiles, remarks: list[str]) -> list[Shape]:
    shapes, images = read_gltf(path.read_bytes(), path.suffix.lower()[1:])
    if images:
        message = f"the images inside of {path.name} are left out"
        files.found.add(IMAGE_INSIDE.problem(message, Location(str(path))))
    return shapes


def _with_image(
    material: Material, name: str, path: Path, files: ReferencedFiles
) -> Material:
    """Return a material with the image that a mesh file names."""
    if not name:
        return material
    image = files.resolve_urls([name], path, Location(str(path)))
    if image is None:
        return material
    return replace(material, texture=Texture(image, name))


_read_vrml = Function(
    "bodymotion.formats.vrml.mesh_files:read_shapes", "mesh in VRML97"
)
# By the suffix of a mesh file, the function that reads its shapes.
READERS: Mapping[str, MeshFileReader] = {
    ".obj": _read_obj,
    ".dae": _read_dae,
    ".glb": _read_gltf,
    ".gltf": _read_gltf,
    ".wrl": _read_vrml,
    ".vrml": _read_vrml,
}
