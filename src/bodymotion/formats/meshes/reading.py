"""Reading the mesh files that a model names, each once, into shapes.

Those of a large model in several readings (`MeshPasses`).
"""

from dataclasses import replace
from pathlib import Path

from bodymotion.diagnostics import Diagnostics, FormatError, Location, Rule
from bodymotion.formats.meshes.collada import placed_parts, read_collada
from bodymotion.formats.meshes.glb import read_gltf
from bodymotion.formats.meshes.obj import read_obj
from bodymotion.formats.meshes.stl import mesh_fault, read_mesh_file
from bodymotion.formats.resources import MESH_PASSES
from bodymotion.formats.vrml.reader import InlineLoader, parse_vrml
from bodymotion.formats.vrml.rules import DECIMAL_COMMA, IMAGE_INSIDE, SCENERY
from bodymotion.formats.vrml.shapes import NodeFrame, SceneWalker
from bodymotion.geometry.shapes import Material, Shape, Texture

MAX_BYTES = 10**9


class MeshReader:
    """Read mesh files for a model.

    Faults in them are reported under the rule `broken`.
    """

    def __init__(self, broken: Rule, found: Diagnostics) -> None:
        self.broken = broken
        self.found = found
        self._passes = MESH_PASSES.get()
        if self._passes is None:
            self._read = {}
        else:
            self._read = self._passes.read
        self._shapes: dict[Path, tuple[Shape, ...]] = {}

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that have been read."""
        return tuple(path for path, shapes in self._shapes.items() if shapes)

    def shapes(
        self, path: Path, parts: InlineLoader, location: Location
    ) -> tuple[Shape, ...]:
        """Return the shapes of a file, none where it cannot be read.

        `parts` finds the files that it names.
        """
        if path in self._shapes:
            return self._shapes[path]
        self._shapes[path] = ()
        if path not in self._read:
            if self._passes is not None and not self._passes.may_read(path):
                self.found.report(
                    self.broken,
                    f"{path.name} is not read yet",
                    location,
                    severity="note",
                )
                return ()
            remarks: list[str] = []
            known = len(parts.problems)
            shapes = list[Shape]()
            try:
                shapes = read_shapes(path, parts, remarks)
            except ValueError as error:
                remarks.append(mesh_fault(path, error)[:300])
            self._read[path] = tuple(shapes), remarks, tuple(parts.problems[known:])
        self._shapes[path], remarks, problems = self._read[path]
        for remark in remarks:
            self.found.report(self.broken, f"{path.name}: {remark}", location)
        self.found.extend(problems)
        return self._shapes[path]


def read_shapes(path: Path, parts: InlineLoader, remarks: list[str]) -> list[Shape]:
    """Read a mesh file by its suffix.

    .obj, .dae, .glb, .gltf, .wrl, .stl and what else trimesh knows.

    Parameters
    ----------
    path:
        The file.
    parts:
        Finds the files that it names: images, libraries of materials, Inline parts.
    remarks:
        Gets in words what could not be used.

    Raises
    ------
    ValueError
        When the file cannot be read; with the reason.
    """
    suffix = path.suffix.lower()
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ValueError("the file is too large")
        if suffix == ".obj":

            def library(name: str) -> bytes | None:
                found = parts.resolve_urls([name], path, Location(str(path)))
                if found is None or found.stat().st_size > MAX_BYTES:
                    return None
                return found.read_bytes()

            made = read_obj(path.read_bytes(), library)
            return [
                Shape(
                    part.mesh, material=_image(part.material, part.image, path, parts)
                )
                for part in made
            ]
        if suffix == ".dae":
            root, unused = read_collada(path)
            remarks += unused
            return [
                Shape(
                    part.mesh,
                    transform,
                    _image(part.material, part.image, path, parts),
                    name,
                )
                for part, transform, name in placed_parts(root, root.transform)
            ]
        if suffix in (".glb", ".gltf"):
            shapes, images = read_gltf(path.read_bytes(), suffix[1:])
            if images:
                words = f"the images inside of {path.name} are left out"
                parts.found.add(IMAGE_INSIDE.problem(words, Location(str(path))))
            return shapes
        if suffix in (".wrl", ".vrml"):
            return _vrml(path, parts, remarks)
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from error
    return [Shape(read_mesh_file(path))]


def _image(material: Material, name: str, path: Path, parts: InlineLoader) -> Material:
    if name:
        image = parts.resolve_urls([name], path, Location(str(path)))
    else:
        image = None
    if image is None:
        return material
    return replace(material, texture=Texture(image, name))


def _vrml(path: Path, parts: InlineLoader, remarks: list[str]) -> list[Shape]:
    found = Diagnostics(path)
    try:
        scene = parse_vrml(path.read_bytes(), path)
        walker = SceneWalker(found, parts)
        walker.walk(scene.nodes, NodeFrame(), lambda node, frame: False)
    except FormatError as error:
        raise ValueError(error.problem.message) from error
    remarks += [
        problem.message
        for problem in scene.problems
        if problem.rule == DECIMAL_COMMA.code
    ]
    remarks += [
        problem.message for problem in found.problems if problem.rule != SCENERY.code
    ]
    return [drawn.shape for drawn in walker.drawn if drawn.visual]
