"""Images of a robot at one moment, or at several, as with a stroboscope.

And a model from four sides.

The four sides (front, right, top, three-quarter) are drawn without perspective, with
the axes and numbers of the joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bodymotion.diagnostics.text import shown
from bodymotion.geometry import rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.model.body import Body
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.scene import Scene
from bodymotion.rendering.settings import MAX_EDGE, Settings
from bodymotion.rendering.texts import (
    font,
    line_height,
    overlay_text,
    text_image,
    write_text,
)
from bodymotion.scene.camera import FIELD_OF_VIEW, Camera, fitted
from bodymotion.scene.scene import limits_text
from bodymotion.scene.theme import ROTATION_AXIS, SLIDE_AXIS, Theme

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

    Canvas = ImageDraw.ImageDraw
    Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

# Images are drawn larger by this factor, and scaled down.
SUPERSAMPLING = 2
# Pixels of a shadow per size of the robot.
SHADOW_PIXELS = 220
# [rad] Field of view for several moments: from so far away, each is seen from almost
# the same side.
NARROW_VIEW = 0.18
# Distance of neighbours in a row, in their widths.
SPACING = 1.12
# Share of their width by which neighbours may overlap at their own positions. Otherwise
# they are put in a row.
MAX_OVERLAP = 0.15
# Of the largest width: neighbours in a row are at least so far apart.
MIN_SPACE = 0.35

# Names of the four sides, and the directions from the robot to the camera.
SIDES: tuple[tuple[str, tuple[float, float, float]], ...] = (
    ("front", (1.0, 0.0, 0.0)),
    ("right side", (0.0, -1.0, 0.0)),
    ("top", (0.0, 0.0, 1.0)),
    ("three-quarter", (1.0, -0.8, 0.6)),
)
# Share of white in the colours of the robot, so that axes stand out.
PALE = 0.55
# Joints in a column of the list.
ROWS = 44
# Columns of the list; with so many, there is no space for limits.
MAX_COLUMNS = 3
# Share of the width for the list of joints.
LIST_WIDTH = 0.24
# Length of an axis to each side, in robot sizes.
AXIS_LENGTH = 0.045
# Possible positions (N, 2) of the number of a joint, on rings around it. A number is
# wider than high.
_ANGLES = np.arange(16) * (np.pi / 8) + 0.4
_RINGS = np.array([1.0, 1.6, 2.4, 3.4, 4.6, 6.0])
_CIRCLE = np.stack([1.15 * np.cos(_ANGLES), -np.sin(_ANGLES)], axis=1)
OFFSETS = (_RINGS[:, None, None] * _CIRCLE).reshape(-1, 2)
# Cost of covering another number, and of leaving the image, relative to covering a
# joint.
OVERLAP_COST = 25.0
OUTSIDE_COST = 1e3
# Colours of joints that rotate, and of joints that slide, in dark mode.
DARK_COLORS = ((255, 110, 190), (90, 180, 255))


def still(
    playback: Playback, times: Sequence[float], settings: Settings
) -> Image.Image:
    """Return the image of a robot at times [s].

    Several moments are shown side by side in one image.
    """
    from PIL import Image

    # (L, 7) link poses of each moment, and their points for the camera.
    moments = [playback.at(time) for time in times]
    clouds = [playback.points(link_poses) for link_poses in moments]
    is_series = len(moments) > 1
    field_of_view = FIELD_OF_VIEW
    # From farther away with a narrower view, all robots are seen from one side.
    if is_series:
        field_of_view = NARROW_VIEW
        clouds = _separate(moments, clouds, settings)
    everything = np.concatenate([*clouds, playback.path])
    camera = settings.camera_for(everything, field_of_view)
    # Drawn at twice the size: averaging smooths edges and lines.
    factor = supersampling(settings.size)
    is_clear = settings.background == "transparent"
    theme = settings.theme
    width, height = settings.size
    scene = Scene(
        playback,
        (factor * width, factor * height),
        theme=None if is_clear else theme,
        camera=camera,
        area=everything[:, :2],
        ground=settings.ground,
        opacity=theme.shadow,
        robots=len(moments),
        shadow_pixels=SHADOW_PIXELS,
        line_width=factor,
    )
    with closing(scene):
        scene.pose(moments)
        # Without a background the opacity has to be computed.
        if is_clear:
            image = _transparent(scene, camera)
        else:
            image = scene.draw(camera)
        # BOX averages the pixels of each block.
        if factor != 1:
            image = image.resize(settings.size, Image.Resampling.BOX)
    # Of several moments each has its own caption, the title is written once.
    names = settings.overlay
    if is_series and names:
        captions = tuple(name for name in names if name != "title")
        for time, cloud in zip(times, clouds, strict=True):
            text = overlay_text(playback, time, captions)
            _write_caption(image, text, camera.project(cloud, settings.size), theme)
        names = tuple(name for name in names if name == "title")
    write_text(image, overlay_text(playback, times[0], names), theme)
    if is_clear:
        return image
    return image.convert("RGB")


def _separate(
    moments: list[Floats], clouds: list[Floats], settings: Settings
) -> list[Floats]:
    """Move robots so that the camera sees them apart, and return their points."""
    camera = settings.camera_for(np.concatenate(clouds), NARROW_VIEW)
    roots = [link_poses[0, :3] for link_poses in moments]
    offsets = _row(clouds, roots, camera)
    for link_poses, offset in zip(moments, offsets, strict=True):
        link_poses[:, :3] += offset
    return [cloud + offset for cloud, offset in zip(clouds, offsets, strict=True)]


def _write_caption(image: Image.Image, text: str, pixels: Floats, theme: Theme) -> None:
    """Write a text below a robot at `pixels` (N, 2)."""
    tall = line_height(image.height)
    caption = text_image(text, tall, theme.text, theme.halo)
    low = pixels.min(axis=0)
    high = pixels.max(axis=0)
    left = 0.5 * (low[0] + high[0] - caption.width)
    x = int(np.clip(left, 0, image.width - caption.width))
    y = int(np.clip(high[1] + 0.1 * tall, 0, image.height - caption.height))
    image.alpha_composite(caption, (max(x, 0), y))


def supersampling(size: tuple[int, int]) -> int:
    """Return the factor by which an image of `size` pixels is drawn larger."""
    if SUPERSAMPLING * max(size) <= MAX_EDGE:
        return SUPERSAMPLING
    return 1


def _transparent(scene: Scene, camera: Camera) -> Image.Image:
    """Return the image of a camera without a background.

    The difference between a white and a black background gives the transparency of each
    pixel. So transparent pixels do not affect the colours of their neighbours.
    """
    from PIL import Image

    images = []
    for brightness in (0.0, 1.0):
        scene.background((brightness, brightness, brightness))
        images.append(np.asarray(scene.draw(camera), dtype=np.float32)[..., :3])
    black, white = images
    # Cover α: black = α·c and white = α·c + 255·(1 − α), so α follows from the
    # difference, and the colour c from black / α.
    cover = 255.0 - (white - black).max(axis=2, keepdims=True)
    color = black * (255.0 / np.maximum(cover, 1.0))
    pixels = np.clip(np.concatenate([color, cover], axis=2), 0.0, 255.0)
    return Image.fromarray(np.round(pixels).astype(np.uint8))


def _row(
    clouds: Sequence[Floats], roots: Sequence[Floats], camera: Camera
) -> list[Floats]:
    """Return translations (3,) of robots, so that the camera sees them apart.

    Robots at points (N, 3), with `roots` (3,), that are apart keep their positions.
    Others are put in a row, the earliest on the left.
    """
    # To the right in the image, on the ground.
    right = np.array([*camera.axes[0][:2], 0.0])
    right /= np.linalg.norm(right)
    # (N, 2) the extent of each robot along this direction.
    spans = np.array(
        [[(cloud @ right).min(), (cloud @ right).max()] for cloud in clouds]
    )
    widths = spans[:, 1] - spans[:, 0]
    middles = spans.mean(axis=1)
    # Robots that move in one direction and overlap little keep their positions.
    steps = np.diff(middles)
    needed = 0.5 * (widths[1:] + widths[:-1])
    in_one_direction = (steps > 0).all() or (steps < 0).all()
    if in_one_direction and (np.abs(steps) >= (1.0 - MAX_OVERLAP) * needed).all():
        return [np.zeros(3) for _ in clouds]
    # Otherwise a row: equal depth, distances by their widths.
    ahead = np.cross([0.0, 0.0, 1.0], right)
    spaces = SPACING * np.maximum(needed, MIN_SPACE * widths.max())
    goals = np.concatenate([[0.0], np.cumsum(spaces)])
    # How far each root is from the camera: all get that of the first.
    depths = np.array([root @ ahead for root in roots])
    to_right = (goals - middles)[:, None] * right
    return list(to_right + (depths[0] - depths)[:, None] * ahead)


@dataclass(frozen=True, eq=False)
class JointMark:
    """A joint as it is drawn.

    `number` in joint arrays, name, type, `position` [m] and `axis` (3,) in the world,
    and `limits` as text.
    """

    number: int
    name: str
    type: str
    position: Floats
    axis: Floats
    limits: str = ""


def joint_marks(body: Body, link_poses: Floats) -> list[JointMark]:
    """Return the marks of all joints with a link, in order of joint arrays.

    `link_poses` (L, 7).
    """
    marks = []
    for number, index in enumerate(body.joint_links):
        if index < 0:
            continue
        link = body.links[index]
        joint = link.joint
        pose = link_poses[index]
        mark = JointMark(
            number,
            joint.name or link.name,
            joint.type,
            pose[:3],
            rotations.rotate(pose[3:], joint.axis),
            limits_text(joint),
        )
        marks.append(mark)
    return marks


def four_views(playback: Playback, settings: Settings) -> Image.Image:
    """Return the image of the model in the first frame."""
    from PIL import Image, ImageDraw

    factor = supersampling(settings.size)
    width = factor * settings.size[0]
    height = factor * settings.size[1]
    theme = settings.theme
    moment = playback.at(playback.first)
    points = playback.points(moment)
    marks = joint_marks(playback.scene.body, moment)
    # A model without joints has no list.
    list_share = LIST_WIDTH if marks else 0.0
    # Two by two panels beside the list.
    panel = (int(width * (1.0 - list_share)) // 2, height // 2)
    cameras = _side_cameras(points, panel)
    scene = Scene(
        playback,
        panel,
        theme=None,
        camera=cameras[-1],
        area=points[:, :2],
        ground=False,
        pale=PALE,
        line_width=factor,
    )
    floor = tuple(round(255 * value) for value in theme.floor)
    canvas = Image.new("RGB", (width, height), floor)
    with closing(scene):
        scene.background(theme.floor)
        scene.pose([moment])
        # The same scene from four sides, each with its own light.
        for k, ((name, _), camera) in enumerate(zip(SIDES, cameras, strict=True)):
            scene.light(camera)
            view = scene.draw(camera).convert("RGB")
            _draw_panel(
                ImageDraw.Draw(view), name, camera, marks, playback.size, theme, panel
            )
            canvas.paste(view, (panel[0] * (k % 2), panel[1] * (k // 2)))
    # Lines between panels, then the list.
    draw = ImageDraw.Draw(canvas)
    right = 2 * panel[0]
    borders = [(panel[0], 0, panel[0], height), (0, panel[1], right, panel[1])]
    if marks:
        borders.append((right, 0, right, height))
    for border in borders:
        draw.line(border, fill=theme.sections, width=factor)
    if marks:
        _draw_list(draw, playback, marks, theme, (right, width, height))
    if factor == 1:
        return canvas
    return canvas.resize(settings.size, Image.Resampling.BOX)


def _side_cameras(points: Floats, panel: tuple[int, int]) -> list[Camera]:
    """Return the cameras of the four sides, all in the scale of the largest."""
    cameras = []
    # Without perspective, so that all four have one scale.
    for _, direction in SIDES:
        cameras.append(fitted(points, direction, panel, flat=True, margin=0.08))
    largest = max(camera.height or 0.0 for camera in cameras)
    return [replace(camera, height=largest) for camera in cameras]


def _draw_panel(
    draw: Canvas,
    name: str,
    camera: Camera,
    marks: list[JointMark],
    size: float,
    theme: Theme,
    panel: tuple[int, int],
) -> None:
    """Draw name, scale bar, axes and numbers into a panel."""
    # Sizes are for a panel 500 pixels high.
    unit = panel[1] / 500
    edge = round(14 * unit)
    draw.text((edge, edge), name, fill=theme.text, font=font(round(17 * unit)))
    _draw_scale(draw, camera, theme, panel, unit)
    pixels = camera.project(
        np.array([mark.position for mark in marks]).reshape(-1, 3), panel
    )
    for mark in marks:
        _draw_axis(draw, camera, mark, size, theme, panel, unit)
    _draw_numbers(
        draw,
        [(mark, pixel) for mark, pixel in zip(marks, pixels, strict=True)],
        theme,
        panel,
        unit,
    )


def _draw_scale(
    draw: Canvas, camera: Camera, theme: Theme, panel: tuple[int, int], unit: float
) -> None:
    """Draw a scale bar of a round length."""
    assert camera.height is not None
    scale = panel[1] / camera.height
    # The longest of 1, 2 or 5 times a power of ten that takes 30 % of the panel.
    max_length = 0.3 * panel[0] / scale
    power = 10.0 ** np.floor(np.log10(max_length))
    length = power * max(step for step in (1.0, 2.0, 5.0) if step * power <= max_length)
    edge = round(14 * unit)
    wide = max(round(2 * unit), 1)
    right = panel[0] - edge
    low = panel[1] - edge
    left = right - round(length * scale)
    for line in (
        (left, low, right, low),
        (left, low - 3 * wide, left, low),
        (right, low - 3 * wide, right, low),
    ):
        draw.line(line, fill=theme.text, width=wide)
    if length >= 1:
        text = f"{length:g} m"
    elif length >= 0.01:
        text = f"{100 * length:g} cm"
    else:
        text = f"{1000 * length:g} mm"
    draw.text(
        (0.5 * (left + right), low - 3 * wide),
        text,
        fill=theme.text,
        font=font(round(13 * unit)),
        anchor="mb",
    )


def _color(mark: JointMark, theme: Theme) -> tuple[int, int, int]:
    """Return the colour of a joint."""
    rotating, sliding = ROTATION_AXIS, SLIDE_AXIS
    if theme.dark:
        rotating, sliding = DARK_COLORS
    if mark.type == "slide":
        return sliding
    return rotating


def _draw_axis(
    draw: Canvas,
    camera: Camera,
    mark: JointMark,
    size: float,
    theme: Theme,
    panel: tuple[int, int],
    unit: float,
) -> None:
    """Draw the axis of a joint as an arrow.

    One towards the camera as a dot in a ring, one away from it as a ring.
    """
    # To both sides of the joint, along its axis.
    reach = AXIS_LENGTH * size * mark.axis
    tail, middle, tip = camera.project(
        np.stack([mark.position - reach, mark.position, mark.position + reach]), panel
    )
    color = _color(mark, theme)
    wide = max(round(2 * unit), 1)
    direction = tip - tail
    length = float(np.linalg.norm(direction))
    # An axis along the view: a ring, with a dot where it points to the camera.
    if length < 8 * unit:
        ring = 4.5 * unit
        draw.ellipse((*(middle - ring), *(middle + ring)), outline=color, width=wide)
        if mark.axis @ camera.axes[2] < 0:
            draw.ellipse((*(middle - 1.8 * unit), *(middle + 1.8 * unit)), fill=color)
        return
    direction /= length
    across = np.array([-direction[1], direction[0]])
    # The head of the arrow, not longer than a part of a short one.
    head = min(7 * unit, 0.4 * length)
    draw.line((*tail, *(tip - 0.8 * head * direction)), fill=color, width=wide)
    ends = (tip - head * (direction + side * across) for side in (-0.45, 0.45))
    draw.polygon([tuple(tip), *map(tuple, ends)], fill=color)
    draw.ellipse((*(middle - 2 * unit), *(middle + 2 * unit)), fill=color)


def _draw_numbers(
    draw: Canvas,
    marks_at: list[tuple[JointMark, Floats]],
    theme: Theme,
    panel: tuple[int, int],
    unit: float,
) -> None:
    """Write the number of each joint near it, with a line to the joint.

    It is where it covers as little as possible of other joints and numbers.
    """
    letters = font(round(12 * unit))
    # (N, 4) boxes that numbers should not cover: left, upper, right, lower.
    joints = np.array(
        [[*(pixel - 4 * unit), *(pixel + 4 * unit)] for _, pixel in marks_at]
    ).reshape(-1, 4)
    wide = max(round(unit), 1)
    numbers: list[Floats] = []
    for mark, pixel in marks_at:
        text = str(mark.number)
        half_width = 0.5 * draw.textlength(text, font=letters) + 3 * unit
        half = np.array([half_width, 9 * unit])
        # Candidates around the joint, each with the box of its number.
        middles = pixel + 16 * unit * OFFSETS
        boxes = np.concatenate([middles - half, middles + half], axis=1)
        # How far a box is outside of the panel [px].
        outside = np.maximum(-boxes[:, :2], 0.0).sum(axis=1)
        outside += np.maximum(boxes[:, 2:] - panel, 0.0).sum(axis=1)
        # Area of covered joints, and more for covered numbers.
        covered = _overlap(boxes[:, None], joints[None]).sum(axis=1)
        if numbers:
            on_numbers = _overlap(boxes[:, None], np.array(numbers)[None])
            covered += OVERLAP_COST * on_numbers.sum(axis=1)
        # The nearer the better, where all else is equal.
        distances = 27 * unit**2 * np.linalg.norm(OFFSETS, axis=1)
        costs = covered + OUTSIDE_COST * outside + distances
        best = middles[np.argmin(costs)]
        numbers.append(np.array([*(best - half), *(best + half)]))
        draw.line((*pixel, *best), fill=_color(mark, theme), width=wide)
    # Numbers over all lines, on the colour of the floor.
    fill = tuple(round(255 * value) for value in theme.floor)
    for (mark, _), box in zip(marks_at, numbers, strict=True):
        draw.rounded_rectangle(
            tuple(box),
            radius=5 * unit,
            fill=fill,
            outline=_color(mark, theme),
            width=wide,
        )
        draw.text(
            tuple((box[:2] + box[2:]) / 2),
            str(mark.number),
            fill=theme.text,
            font=letters,
            anchor="mm",
        )


def _overlap(some: Floats, others: Floats) -> Floats:
    """Return the areas (...) of the intersections of boxes (..., 4)."""
    low = np.maximum(some[..., :2], others[..., :2])
    high = np.minimum(some[..., 2:], others[..., 2:])
    return np.asarray(np.prod(np.maximum(high - low, 0.0), axis=-1))


def _draw_list(
    draw: Canvas,
    playback: Playback,
    marks: list[JointMark],
    theme: Theme,
    area: tuple[int, int, int],
) -> None:
    """Write the title and the list of joints into a column.

    `area` is its left, right and height.
    """
    left, right, height = area
    unit = height / 1000
    edge = round(16 * unit)
    title = shown(playback.scene.title, 200)
    # All characters at once, so that those without a font are reported at once.
    names = "".join(shown(mark.name, 60) for mark in marks)
    font(12, "".join({*title, *names}))
    letters = font(round(24 * unit), title)
    title = _shortened(draw, title, letters, right - left - 2 * edge)
    draw.text((left + edge, edge), title, fill=theme.text, font=letters)
    # As many columns as needed, up to three; then as many rows.
    top = edge + round(44 * unit)
    columns = min(-(-len(marks) // ROWS), MAX_COLUMNS)
    rows = min(-(-len(marks) // columns), 2 * ROWS)
    # Rows shrink to fit, letters with them.
    row = min(round(24 * unit), (height - top - edge) // (rows + 1))
    tall = max(round(0.62 * row), 6)
    wide = (right - left - 2 * edge) / columns
    for k, mark in enumerate(marks[: columns * 2 * ROWS]):
        # Column after column; numbers are right-aligned before their names.
        y = top + (k % rows + 0.5) * row
        number = left + edge + (k // rows) * wide + 2.0 * tall
        draw.text(
            (number, y),
            str(mark.number),
            fill=_color(mark, theme),
            font=font(tall),
            anchor="rm",
        )
        limits_width = 0.0
        free = wide - 3.0 * tall
        # Limits only where there is space.
        if columns < MAX_COLUMNS:
            limits_width = draw.textlength(mark.limits, font=font(tall, mark.limits))
        if limits_width:
            free -= limits_width + tall
        name = shown(mark.name, 60)
        letters = font(tall, name)
        name = _shortened(draw, name, letters, free)
        draw.text(
            (number + 0.8 * tall, y), name, fill=theme.text, font=letters, anchor="lm"
        )
        if limits_width:
            end = number + wide - 3.0 * tall
            draw.text(
                (end, y),
                mark.limits,
                fill=theme.sections,
                font=font(tall, mark.limits),
                anchor="rm",
            )
    if len(marks) > columns * 2 * ROWS:
        more = f"… and {len(marks) - columns * 2 * ROWS} more"
        draw.text(
            (left + edge, height - 0.5 * edge),
            more,
            fill=theme.text,
            font=font(tall),
            anchor="lb",
        )


def _shortened(draw: Canvas, text: str, letters: Font, width: float) -> str:
    """Return the beginning of a text that fits into `width` pixels.

    "…" stands for the rest.
    """
    while len(text) > 1 and draw.textlength(text, font=letters) > width:
        text = text[:-2] + "…"
    return text
