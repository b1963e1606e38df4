"""Robots in their environment, drawn from any camera.

Ground with a grid, sky, lights, and the shadow.

A body is drawn by actors of VTK: for each link one actor per surface, all with the
matrix of the link. Colours are those of the file, as in the browser viewer: those of
VRML97 are display values, and lights are added in the same space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bodymotion.formats.meshes.glb import IMAGES, MAX_PIXELS, MAX_TEXTURE_PIXELS
from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.geometry.meshes import LINES, TRIANGLES, Part, surface_parts
from bodymotion.geometry.shapes import Material, Shape
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.vtk import (
    image_of,
    off_screen_window,
    pixels_of,
    poly_data,
    vtk,
)
from bodymotion.scene.camera import Camera
from bodymotion.scene.theme import LIGHT, PATH_COLOR, Theme

if TYPE_CHECKING:
    from PIL import Image

# Points around the ground, which is a disc.
SPOKES = 96
# Heights of ground, grid and shadow, in robot sizes: so far apart that, seen from afar,
# each still covers the one below.
GROUND_HEIGHT = -6e-3
GRID_HEIGHT = -3e-3
SHADOW_HEIGHT = -5e-4
# Fine grid lines per square.
QUARTERS = 4
# Lines of a grid from one side to the other, at most half of them.
MAX_GRID_LINES = 400
# Points of a grid line, which fades to its ends.
LINE_POINTS = 17
# Standard deviation of the blur of the shadow, in robot sizes.
SHADOW_BLUR = 0.008
# [px] Edge of the shadow image.
MAX_SHADOW_PIXELS = 2048
# [px] The sizes of shadow images are multiples of this: the window seldom changes.
SHADOW_STEP = 32
# Around the robots, where edges are smoothed, as a share of the image.
SMOOTH_MARGIN = 0.02
# The number of the state of OpenGL.
GL_LINE_SMOOTH = 0x0B20

# Share of its own colour that a surface has in the shade.
AMBIENT = 0.5
# Strength of the brightest highlight; more would saturate light colours.
MAX_HIGHLIGHT = 0.12
# A surface that is more transparent casts no shadow.
MAX_TRANSPARENCY = 0.7
# Colours of the axes x, y, z.
AXIS_COLORS = ((214, 52, 62), (46, 160, 67), (38, 98, 214))


@dataclass
class _Surface:
    """A surface of a link as VTK data, mapper, property of actors, and texture."""

    data: Any
    mapper: Any
    style: Any
    texture: Any
    casts_shadow: bool = False


class BodyParts:
    """The surfaces of the `shapes` of the links of a body, for any number of robots.

    `size` [m] is the extent of the body. `pale` is the share of white in the colours. A
    body without shapes is shown by the axes of its links, `axes` [m] long. The links
    `far` cast no shadow; `cast_shadows` is whether any surface casts one.
    """

    def __init__(
        self,
        shapes: Sequence[Iterable[Shape]],
        size: float,
        *,
        pale: float = 0.0,
        axes: float | None = None,
        far: Sequence[int] = (),
    ) -> None:
        """Make the surfaces of all links."""
        textures: dict[Path, Any] = {}
        self.links: list[list[_Surface]] = []
        # Links keep their order: actors get the pose of their link.
        for of_link in shapes:
            parts = surface_parts(of_link)
            self.links.append([_surface(part, textures, pale) for part in parts])
        # A body without shapes: its frames stand for it.
        if not any(self.links):
            self.links = [[_axes(axes or 0.1 * size)] for _ in shapes]
        # A shadow of links far from the rest would need a huge image.
        for index in far:
            for surface in self.links[index]:
                surface.casts_shadow = False
        surfaces = chain.from_iterable(self.links)
        self.cast_shadows = any(surface.casts_shadow for surface in surfaces)


class Robot:
    """One robot in a renderer.

    As a `silhouette`, white without light, and without surfaces that cast no shadow.
    """

    def __init__(
        self,
        parts: BodyParts,
        renderer: Any,  # noqa: ANN401
        silhouette: bool = False,
    ) -> None:
        """Add an actor for each surface to a renderer."""
        v = vtk()
        # One matrix for all surfaces of a link: a pose is set once for all of them.
        self.matrices = [v.vtkMatrix4x4() for _ in parts.links]
        white = v.vtkProperty()
        white.LightingOff()
        # Data and mappers are shared by all robots; only actors and matrices are their
        # own.
        for surfaces, matrix in zip(parts.links, self.matrices, strict=True):
            for surface in surfaces:
                if silhouette and not surface.casts_shadow:
                    continue
                actor = v.vtkActor()
                actor.SetUserMatrix(matrix)
                if silhouette:
                    actor.SetMapper(mapper_of(surface.data, colored=False))
                    actor.SetProperty(white)
                else:
                    actor.SetMapper(surface.mapper)
                    actor.SetProperty(surface.style)
                    if surface.texture is not None:
                        actor.SetTexture(surface.texture)
                renderer.AddActor(actor)

    def pose(self, matrices: Floats) -> None:
        """Set the link poses (L, 4, 4)."""
        for matrix, values in zip(self.matrices, matrices, strict=True):
            # VTK copies 16 numbers, row by row.
            matrix.DeepCopy(values.ravel())


def mapper_of(data: Any, colored: bool = True) -> Any:  # noqa: ANN401
    """Return the mapper of data that stays as it is."""
    mapper = vtk().vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.SetScalarVisibility(colored)
    mapper.StaticOn()
    return mapper


def _surface(part: Part, textures: dict[Path, Any], pale: float) -> _Surface:
    """Return a part of a link as VTK data with its look."""
    material = part.surface.material
    mode = part.surface.mode
    if part.colors:
        colors = _bytes(np.concatenate(part.colors), pale)
    else:
        colors = None
    data = poly_data(
        mode,
        np.concatenate(part.positions),
        np.concatenate(part.indices),
        normals=np.concatenate(part.normals) if part.normals else None,
        colors=colors,
        uv=np.concatenate(part.uv) if part.uv else None,
    )
    if part.surface.textured:
        texture = _texture(material, textures)
    else:
        texture = None
    # Lines, points and transparent surfaces cast no shadow.
    casts_shadow = mode == TRIANGLES and material.transparency < MAX_TRANSPARENCY
    return _Surface(
        data,
        mapper_of(data),
        _style(part, texture is not None, pale),
        texture,
        casts_shadow,
    )


def _style(part: Part, textured: bool, pale: float) -> Any:  # noqa: ANN401
    """Return how a part is lit, as a property of VTK."""
    material = part.surface.material
    mode = part.surface.mode
    style = vtk().vtkProperty()
    if mode != TRIANGLES:
        style.LightingOff()
        style.SetLineWidth(1.5)
        style.SetPointSize(3.0)
        style.SetColor(
            *_paler(
                material.emissive if any(material.emissive) else material.diffuse, pale
            )
        )
        return style
    glow = np.clip(
        np.nan_to_num(np.asarray(material.emissive, dtype=np.float64)), 0.0, 1.0
    )
    # A surface that emits light reflects less: the sum would saturate.
    base = _paler((1.0, 1.0, 1.0) if textured else material.diffuse, pale) * (
        1.0 - glow.max()
    )
    style.SetDiffuseColor(*base)
    style.SetDiffuse(1.0 - AMBIENT)
    own = AMBIENT * base + _paler(glow, 0.5 * pale) * glow.any()
    if part.surface.channels:
        strength = AMBIENT
    else:
        strength = max(float(own.max()), 1e-6)
    style.SetAmbientColor(*(base if part.surface.channels else own / strength))
    style.SetAmbient(strength)
    # The brightest channel: highlights are white.
    shine = float(np.clip(max(material.specular), 0.0, 1.0))
    style.SetSpecularColor(1.0, 1.0, 1.0)
    style.SetSpecular(MAX_HIGHLIGHT * shine)
    # VRML97: shininess 0…1 is OpenGL's exponent divided by 128.
    style.SetSpecularPower(float(np.clip(128.0 * material.shininess, 8.0, 80.0)))
    style.SetInterpolationToPhong()
    style.SetOpacity(float(np.clip(1.0 - material.transparency, 0.0, 1.0)))
    # Triangles seen from behind are hidden, unless the model says that both sides
    # count.
    style.SetBackfaceCulling(not part.surface.two_sided)
    return style


def _paler(color: npt.ArrayLike, pale: float) -> Floats:
    """Return a colour (3,), 0 to 1, with a share of white."""
    color = np.nan_to_num(np.asarray(color, dtype=np.float64))
    return np.asarray(np.clip(color, 0.0, 1.0) * (1.0 - pale) + pale)


def _bytes(colors: npt.NDArray[np.float32], pale: float) -> npt.NDArray[np.uint8]:
    """Return colours (N, 3 or 4) as bytes, with a share of white."""
    shown = np.clip(np.nan_to_num(colors), 0.0, 1.0)
    # The fourth channel is opacity: it stays.
    shown[:, :3] = shown[:, :3] * (1.0 - pale) + pale
    return np.round(255.0 * shown).astype(np.uint8)


def _texture(material: Material, known: dict[Path, Any]) -> Any:  # noqa: ANN401
    """Return the texture of a material.

    None where the file is not an image.
    """
    assert material.texture is not None
    path = material.texture.path
    if path not in known:
        known[path] = _opened(path)
    if known[path] is None:
        return None
    texture = vtk().vtkTexture()
    texture.SetInputData(known[path])
    texture.InterpolateOn()
    texture.MipmapOn()
    # VTK cannot repeat in one direction only.
    texture.SetRepeat(bool(material.texture.repeat_s or material.texture.repeat_t))
    return texture


def _opened(path: Path) -> Any:  # noqa: ANN401
    """Return an image file as VTK data; None where it is none or too large."""
    from PIL import Image

    try:
        # Only formats that models use: Pillow would try all of its plug-ins.
        with Image.open(path, formats=IMAGES) as opened:
            if opened.width * opened.height > MAX_PIXELS:
                return None
            clear = opened.mode in ("RGBA", "LA") or "transparency" in opened.info
            picture = opened.convert("RGBA" if clear else "RGB")
        picture.thumbnail((MAX_TEXTURE_PIXELS, MAX_TEXTURE_PIXELS))
        # VTK's images begin with their lowest row.
        return image_of(np.asarray(picture)[::-1])
    except Exception:  # Pillow raises exceptions of many kinds for broken images
        return None


def _axes(length: float) -> _Surface:
    """Return the axes of a coordinate frame."""
    # Points 0 to 2 are origins, 3 to 5 the ends.
    points = np.concatenate([np.zeros((3, 3)), length * np.eye(3)])
    data = poly_data(
        LINES,
        points,
        np.array([[0, 3], [1, 4], [2, 5]]),
        colors=np.array(AXIS_COLORS * 2),
    )
    style = vtk().vtkProperty()
    style.LightingOff()
    style.SetLineWidth(4.0)
    return _Surface(data, mapper_of(data), style, None)


class Scene:
    """Robots of one body in their environment, in images of `pixels` (width, height).

    Parameters
    ----------
    theme:
        The colours. Without them the background is uniform, as `background` sets it,
        and of the ground there is only the shadow.
    camera:
        The sun is above and behind it.
    area:
        (N, 2) [m] The part of the ground where robots move.
    ground:
        Whether there is a ground with a shadow.
    opacity, shadow_pixels:
        Of the shadow: 0 to 1, by default that of the theme; pixels per size of the
        body.
    robots:
        The number of robots.
    pale:
        The share of white in their colours.
    line_width:
        [px] Of the grid.
    smooth:
        Whether the graphics library smooths lines, and VTK the edges of the robots
        (FXAA).
    """

    def __init__(
        self,
        playback: Playback,
        pixels: tuple[int, int],
        *,
        theme: Theme | None = LIGHT,
        camera: Camera,
        area: Floats,
        ground: bool = True,
        opacity: float | None = None,
        shadow_pixels: int = 110,
        robots: int = 1,
        pale: float = 0.0,
        line_width: float = 1.0,
        smooth: bool = False,
    ) -> None:
        """Set up window, ground, robots, shadow and lights."""
        self.pixels = pixels
        self.size = playback.size
        self._points = playback.points
        self.window = off_screen_window(*pixels)
        self._renderer = vtk().vtkRenderer()
        self._camera = self._renderer.GetActiveCamera()
        self.window.AddRenderer(self._renderer)
        # Centre and reach of the ground where the robots move.
        center = 0.5 * (area.min(axis=0) + area.max(axis=0))
        distances = np.linalg.norm(area - center, axis=1)
        reach = float(distances.max(initial=0.0))
        # Behind the horizon: the ground ends 60 times its outer ring away.
        self._far = 70.0 * (reach + 12.0 * self.size)
        # Without a theme the caller sets the background.
        if theme is not None:
            self.background([value / 255.0 for value in theme.sky_bottom])
            self._renderer.GradientBackgroundOn()
            self._renderer.SetBackground2(*(value / 255.0 for value in theme.sky_top))
            if ground:
                _add_ground(self._renderer, theme, self.size, center, reach, line_width)
        _add_path(self._renderer, playback.path, 2.0 * line_width)
        shown = playback.scene
        # One set of surfaces for all robots.
        parts = BodyParts(
            shown.shapes, self.size, pale=pale, axes=playback.axes, far=shown.extent.far
        )
        # The environment is lit, but does not move and casts no shadow.
        if shown.body.environment:
            Robot(
                BodyParts([shown.body.environment], self.size, pale=pale),
                self._renderer,
            )
        if opacity is None and theme is not None:
            opacity = theme.shadow
        self._shadow = None
        if ground and opacity and parts.cast_shadows:
            self._shadow = _Shadow(
                self._renderer, parts, robots, self.size, opacity, shadow_pixels
            )
        self.robots = [Robot(parts, self._renderer) for _ in range(robots)]
        # FXAA takes long on whole images: it is limited to the robots.
        self._edges = _edges(self.window, self._camera) if smooth else None
        self._smooth_all = bool(shown.body.environment or shown.extent.far)
        # The sun stays while the camera moves, otherwise the shadow would wander.
        self._sun = _sun_direction(camera)
        self._renderer.AutomaticLightCreationOff()
        self.light(camera)

    def light(self, camera: Camera) -> None:
        """Set the lights for a camera; the shadow stays.

        They are the sun, a weaker light from the other side, and one from behind.
        Together with the ambient light, a surface that faces the sun is about as bright
        as its own colour.
        """
        # Two weaker lights fill the sides that the sun does not reach.
        right, _, ahead = camera.axes
        up = np.array([0.0, 0.0, 1.0])
        sides = (
            (0.9 * right - 0.8 * ahead + 0.15 * up, 0.36),
            (0.5 * ahead - 0.4 * right + 0.5 * up, 0.25),
        )
        self._renderer.RemoveAllLights()
        for direction, strength in ((_sun_direction(camera), 0.98), *sides):
            light = vtk().vtkLight()
            light.SetLightTypeToSceneLight()
            light.SetPositional(False)
            light.SetFocalPoint(0.0, 0.0, 0.0)
            light.SetPosition(*direction)
            light.SetIntensity(strength)
            self._renderer.AddLight(light)

    def background(self, color: Sequence[float]) -> None:
        """Set the colour (3,), 0 to 1, of a uniform background."""
        self._renderer.SetBackground(*color)

    def pose(self, link_poses: Sequence[Floats]) -> None:
        """Set the link poses (L, 7) of each robot, and their shadow."""
        matrices = [poses.to_matrix(one) for one in link_poses]
        # Points of all robots: for the shadow and for smoothing.
        self._posed = np.concatenate([self._points(one) for one in link_poses])
        for robot, one in zip(self.robots, matrices, strict=True):
            robot.pose(one)
        if self._shadow is not None:
            self._shadow.cast(matrices, self._posed, self._sun)

    def draw(self, camera: Camera) -> Image.Image:
        """Return the opaque RGBA image of a camera."""
        from PIL import Image

        view = self._camera
        view.SetPosition(*camera.position)
        view.SetFocalPoint(*camera.look_at)
        view.SetViewUp(*camera.up)
        # The near plane as far away as the robot allows: the depth buffer has more
        # digits then.
        near = max(camera.distance - 4.0 * self.size, 0.03 * camera.distance)
        view.SetClippingRange(near, self._far)
        if camera.height is not None:
            view.ParallelProjectionOn()
            view.SetParallelScale(0.5 * camera.height)
        else:
            view.ParallelProjectionOff()
            view.SetViewAngle(np.rad2deg(camera.field_of_view))
        if self._edges is not None:
            self._edges.SetViewport(*self._smoothed(camera))
        self.window.Render()
        # VTK's rows begin below.
        pixels = pixels_of(self.window, *self.pixels)[::-1]
        pixels[..., 3] = 255
        return Image.fromarray(np.ascontiguousarray(pixels))

    def _smoothed(self, camera: Camera) -> tuple[float, ...]:
        """Return the part of the image with the robots.

        Its left, lower, right and upper edge, as shares of the image.
        """
        # Pixels as shares of the image.
        shares = camera.project(self._posed, self.pixels) / self.pixels
        # NaN: a point behind the camera.
        if self._smooth_all or not np.isfinite(shares).all():
            return 0.0, 0.0, 1.0, 1.0
        left, top = shares.min(axis=0) - SMOOTH_MARGIN
        # Rows count from above, VTK's viewports from below.
        right, bottom = shares.max(axis=0) + SMOOTH_MARGIN
        # The part is never empty: its edges are at least a tenth of the image apart.
        low = np.clip([left, 1.0 - bottom], 0.0, 0.9)
        high = np.clip([right, 1.0 - top], 0.1, 1.0)
        return (*low, *high)

    def close(self) -> None:
        """Release the windows."""
        self.window.Finalize()
        if self._shadow is not None:
            self._shadow.window.Finalize()


class _Shadow:
    """The shadow on the ground.

    The robots, flattened along the sun, in an image of their own; blurred, and a
    texture of the ground.

    The shadow maps of VTK take several times as long without a graphics card, and are
    speckled at low resolution.
    """

    def __init__(
        self,
        renderer: Any,  # noqa: ANN401
        parts: BodyParts,
        robots: int,
        size: float,
        opacity: float,
        pixels: int,
    ) -> None:
        """Set up the window of the shadow and its square on the ground."""
        v = vtk()
        self._size = size
        self._opacity = opacity
        self._pixel = size / pixels
        # Any size: the window is resized for each shadow.
        self.window = off_screen_window(16, 16)
        view = v.vtkRenderer()
        self.window.AddRenderer(view)
        self._camera = view.GetActiveCamera()
        self._camera.ParallelProjectionOn()
        self._robots = [Robot(parts, view, silhouette=True) for _ in range(robots)]
        # The texture lies on a unit square, which `cast` scales and moves.
        corners = np.array(
            [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64
        )
        square = poly_data(
            TRIANGLES, corners, np.array([[0, 1, 2], [0, 2, 3]]), uv=corners[:, :2]
        )
        self._actor = _added(renderer, square)
        # From below the ground the shadow is invisible.
        self._actor.GetProperty().SetBackfaceCulling(True)
        self._texture = v.vtkTexture()
        self._texture.InterpolateOn()
        self._texture.RepeatOff()
        self._actor.SetTexture(self._texture)

    def cast(self, robots: Sequence[Floats], points: Floats, sun: Floats) -> None:
        """Draw the shadow of robots with link poses (L, 4, 4) within `points` (N, 3).

        `sun` (3,) is the direction to it.
        """
        from PIL import Image, ImageFilter

        # A point moves along the rays of the sun to the ground.
        flatten = np.eye(4)
        flatten[:2, 2] = -sun[:2] / sun[2]
        # Not 0: VTK inverts the matrix.
        flatten[2, 2] = 1e-6
        for robot, matrices in zip(self._robots, robots, strict=True):
            robot.pose(flatten @ matrices)
        # (N, 2) where the points of the robots are on the ground.
        outline = points @ flatten[:2, :3].T
        # Three standard deviations of the blur.
        margin = 3.0 * SHADOW_BLUR * self._size
        low = outline.min(axis=0) - margin
        high = outline.max(axis=0) + margin
        # Pixels become larger where the shadow would exceed its image.
        pixel = max(self._pixel, float((high - low).max()) / MAX_SHADOW_PIXELS)
        # Sizes in steps: a new size makes VTK allocate buffers again.
        steps = np.ceil((high - low) / (SHADOW_STEP * pixel))
        width = SHADOW_STEP * int(steps[0])
        height = SHADOW_STEP * int(steps[1])
        self.window.SetSize(width, height)
        # An orthographic camera from above, over the middle of the shadow.
        x, y = low + 0.5 * pixel * np.array([width, height])
        self._camera.SetPosition(x, y, 10.0)
        self._camera.SetFocalPoint(x, y, 0.0)
        self._camera.SetViewUp(0.0, 1.0, 0.0)
        self._camera.SetParallelScale(0.5 * pixel * height)
        self._camera.SetClippingRange(1.0, 20.0)
        self.window.Render()
        # White robots on black: the red channel is the coverage.
        covered = pixels_of(self.window, width, height)[..., 0]
        blur = ImageFilter.GaussianBlur(SHADOW_BLUR * self._size / pixel)
        soft = Image.fromarray(np.ascontiguousarray(covered)).filter(blur)
        # Black, with the blurred coverage as opacity.
        black = np.zeros((height, width, 4), dtype=np.uint8)
        black[..., 3] = np.asarray(soft) * np.float32(self._opacity)
        self._texture.SetInputData(image_of(black))
        # The square at the lower left corner of the shadow, as large as the image.
        self._actor.SetPosition(*low, SHADOW_HEIGHT * self._size)
        self._actor.SetScale(pixel * width, pixel * height, 1.0)


def _add_path(renderer: Any, points: Floats, width: float) -> None:  # noqa: ANN401
    """Add the path through points (N, 3), as a line of a width [px]."""
    count = len(points)
    if count < 2:
        return
    # Indices of the ends of each piece.
    ends = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    colors = np.broadcast_to(PATH_COLOR, (count, 3))
    line = _added(renderer, poly_data(LINES, points, ends, colors=colors))
    line.GetProperty().SetLineWidth(width)


def _add_ground(
    renderer: Any,  # noqa: ANN401
    theme: Theme,
    size: float,
    center: Floats,
    reach: float,
    line_width: float,
) -> None:
    """Add the ground with a grid for robots of `size` metres.

    They move up to `reach` metres away from `center` (2,). The ground is a surface
    between rings of points, with the colour of the floor near the robots and that of
    the horizon far away.
    """
    # Rings: centre, robots, fading zone, horizon.
    inner = reach + 1.2 * size
    outer = reach + 12.0 * size
    radii = np.array([0.0, inner, inner + 0.4 * (outer - inner), outer, 60.0 * outer])
    # Share of the colour of the horizon at each ring.
    far = np.array([0.0, 0.0, 0.55, 1.0, 1.0])[:, None]
    colors = (1.0 - far) * 255.0 * np.array(theme.floor) + far * theme.sky_bottom
    ring = np.arange(SPOKES)
    angles = 2.0 * np.pi * ring / SPOKES
    points = np.empty((len(radii), SPOKES, 3))
    points[..., 0] = np.outer(radii, np.cos(angles))
    points[..., 1] = np.outer(radii, np.sin(angles))
    points[..., :2] += center
    points[..., 2] = GROUND_HEIGHT * size
    # Two triangles between neighbours of two rings.
    after = np.roll(ring, -1)
    outward = np.stack([ring, ring + SPOKES, after + SPOKES], axis=1)
    inward = np.stack([ring, after + SPOKES, after], axis=1)
    band = np.concatenate([outward, inward])
    faces = np.concatenate([band + k * SPOKES for k in range(len(radii) - 1)])
    data = poly_data(
        TRIANGLES,
        points.reshape(-1, 3),
        faces,
        colors=np.repeat(colors, SPOKES, axis=0),
    )
    _added(renderer, data).GetProperty().SetBackfaceCulling(True)
    _add_grid(renderer, theme, size, center, reach, line_width)


def _add_grid(
    renderer: Any,  # noqa: ANN401
    theme: Theme,
    size: float,
    center: Floats,
    reach: float,
    line_width: float,
) -> None:
    """Add the lines of the ground, which fade with the distance from the robots."""
    # Grid squares of 1 m, or another power of ten for tiny and huge robots. A robot of
    # human size (1.5 m) has squares of 1 m.
    cell = float(10.0 ** np.round(np.log10(max(size, 1e-6) / 1.5)))
    radius = reach + 6.0 * size
    # A small robot that goes far would have thousands of lines.
    while radius / cell > MAX_GRID_LINES:
        cell *= 10.0
    # Fine lines first: thick ones are drawn over them.
    for step, strength in ((cell / QUARTERS, 0.2), (cell, 0.75)):
        first = np.ceil((center - radius) / step)
        last = np.floor((center + radius) / step)
        points = []
        colors = []
        for k in range(2):
            values = step * np.arange(first[k], last[k] + 1)
            if step < cell:
                # Fine lines are not where thick ones are.
                squares = values / cell
                values = values[np.abs(squares - np.round(squares)) > 0.1]
            # Lines are chords of a circle: half the length by Pythagoras.
            half = np.sqrt(np.maximum(radius**2 - (values - center[k]) ** 2, 0.0))
            along = np.linspace(-1.0, 1.0, LINE_POINTS)[None, :] * half[:, None]
            lines = np.empty((*along.shape, 3))
            lines[..., k] = values[:, None]
            lines[..., 1 - k] = along + center[1 - k]
            lines[..., 2] = GRID_HEIGHT * size
            # Opacity by the distance from the middle, with a soft end.
            far = np.hypot(lines[..., 0] - center[0], lines[..., 1] - center[1])
            fade = np.clip((radius - far) / (radius - reach - 0.5 * size), 0.0, 1.0)
            opacities = 255 * strength * fade.reshape(-1, 1) ** 1.5
            color = np.broadcast_to(theme.sections, (fade.size, 3))
            points.append(lines.reshape(-1, 3))
            colors.append(np.concatenate([color, opacities], axis=1))
        everything = np.concatenate(points)
        starts = np.arange(len(everything)).reshape(-1, LINE_POINTS)
        # Neighbouring points of each line are joined.
        indices = np.stack([starts[:, :-1].ravel(), starts[:, 1:].ravel()], axis=1)
        grid = poly_data(LINES, everything, indices, colors=np.concatenate(colors))
        actor = _added(renderer, grid)
        actor.GetProperty().SetLineWidth(line_width)
        # Else the pale end of a smoothed line hides the beginning of the next one.
        state = renderer.GetRenderWindow().GetState()
        actor.GetMapper().AddObserver(
            "UpdateShaderEvent", lambda *_, state=state: state.vtkglDepthMask(False)
        )


def _edges(window: Any, camera: Any) -> Any:  # noqa: ANN401
    """Let a window smooth its lines, and return a renderer that smooths edges.

    It does so in its viewport: in all of the image that takes long.
    """
    window.MakeCurrent()
    window.GetState().vtkglEnable(GL_LINE_SMOOTH)
    # Layer 1 has no background of its own: it smooths what is below.
    window.SetNumberOfLayers(2)
    edges = vtk().vtkRenderer()
    edges.SetLayer(1)
    edges.SetActiveCamera(camera)
    edges.SetUseFXAA(True)
    edges.GetCullers().RemoveAllItems()
    # Without an actor nothing is smoothed.
    _added(edges, poly_data(TRIANGLES, np.zeros((0, 3)), np.zeros((0, 3))))
    window.AddRenderer(edges)
    return edges


def _sun_direction(camera: Camera) -> Floats:
    """Return the direction (3,) to the sun.

    Above the camera, behind it to the left.
    """
    # Behind the camera: the opposite of its direction, on the level.
    back = -camera.axes[2]
    level = np.array([back[0], back[1], 0.0])
    # A camera from above has no level direction: its upward one.
    if np.linalg.norm(level) < 0.05:
        level = -camera.axes[1] * [1.0, 1.0, 0.0]
    level /= np.linalg.norm(level)
    left = np.array([level[1], -level[0], 0.0])
    # More from above than from the sides: short shadows.
    sun = 0.45 * level + 0.5 * left + np.array([0.0, 0.0, 1.05])
    return np.asarray(sun / np.linalg.norm(sun))


def _added(renderer: Any, data: Any) -> Any:  # noqa: ANN401
    """Add an actor without lighting.

    Transparent parts are drawn in the order of the actors.
    """
    actor = vtk().vtkActor()
    actor.SetMapper(mapper_of(data))
    actor.GetProperty().LightingOff()
    actor.ForceOpaqueOn()
    renderer.AddActor(actor)
    return actor
