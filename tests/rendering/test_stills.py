"""Stills show what they should, where it should be: structure, not pixels."""

from __future__ import annotations

import numpy as np
import pytest
from small_robots import arm, box, colored, link

import bodymotion as bm
from bodymotion.motion.components import Timeline
from bodymotion.rendering.playback import Playback
from bodymotion.rendering.settings import Settings
from bodymotion.scene.scene import make_scene

pytestmark = pytest.mark.usefixtures("drawing")
SIZE = (320, 240)


def pixels(picture) -> np.ndarray:
    return np.asarray(picture).astype(int)


def of_color(picture, channel: int) -> np.ndarray:
    """Return the rows and columns (N, 2) of pixels in which a colour channel clearly leads."""
    rgb = pixels(picture)[..., :3]
    others = np.delete(rgb, channel, axis=2).max(axis=2)
    return np.argwhere(rgb[..., channel] > others + 60)


def walker(distance: float, frames: int = 40) -> bm.Motion:
    """A motion of the arm whose root goes along x."""
    poses = np.zeros((frames, 1, 7))
    poses[:, 0, 3] = 1.0
    poses[:, 0, 0] = np.linspace(0.0, distance, frames)
    timeline = Timeline.uniform(frames, 20.0)
    return bm.Motion(
        components=(
            bm.MultiSE3Seq(content="LinkPosition", timeline=timeline, values=poses),
            bm.MultiValueSeq(
                content="JointDisplacement",
                timeline=timeline,
                values=np.zeros((frames, 2)),
            ),
        )
    )


@pytest.mark.parametrize(
    "camera", ["corner", "front", "back", "left", "top", "iso", (2.0, -3.0, 1.5)]
)
def test_links_are_where_their_projection_says(camera):
    body = arm()
    settings = Settings(SIZE, camera)
    playback = Playback(make_scene(body, None))
    moment = playback.at(0.0)
    lens = settings.camera_for(playback.points(moment))
    picture = bm.render(body, size=SIZE, camera=camera)
    assert picture.size == SIZE and picture.mode == "RGB"
    assert np.unique(pixels(picture).reshape(-1, 3), axis=0).shape[0] > 50
    for index, channel in ((0, 0), (1, 1), (2, 2)):
        found = of_color(picture, channel)
        if camera == "top" and index < 2:
            continue  # it is covered
        assert len(found) > 20, (camera, index)
        points = playback.scene.extent
        own = points.placed(moment)[points.links == index]
        corners = lens.project(own, SIZE)
        low, high = corners.min(axis=0) - 1.5, corners.max(axis=0) + 1.5
        assert (found[:, 1] >= low[0]).all() and (found[:, 1] <= high[0]).all(), (
            camera,
            index,
        )
        assert (found[:, 0] >= low[1]).all() and (found[:, 0] <= high[1]).all(), (
            camera,
            index,
        )


def test_the_shadow_is_on_the_floor_and_darker_than_it():
    ball = bm.Body(
        links=(
            link(
                "B",
                0,
                -1,
                (0, 0, 1.0),
                kind="free",
                visuals=(box((0.3, 0.3, 0.3), (0, 0, 0), colored(1, 0, 0)),),
            ),
        ),
        root_pose=(0, 0, 1.0, 1, 0, 0, 0),
    )
    with_shadow = pixels(
        bm.render(
            ball, size=SIZE, camera=(3.0, -2.0, 2.5), look_at=(0, 0, 0.3), stand=False
        )
    )
    gray = np.ptp(with_shadow, axis=2) < 14
    floor = np.median(with_shadow[-40:, :, :].sum(axis=2))
    dark = gray & (with_shadow.sum(axis=2) < 0.8 * floor)
    assert dark.sum() > 200
    none = pixels(
        bm.render(
            ball,
            size=SIZE,
            camera=(3.0, -2.0, 2.5),
            look_at=(0, 0, 0.3),
            stand=False,
            ground=False,
        )
    )
    assert ((np.ptp(none, axis=2) < 14) & (none.sum(axis=2) < 0.8 * floor)).sum() < 20
    # It falls away from the camera, to the right of it: the sun is over its left shoulder.
    rows, columns = np.argwhere(dark).mean(axis=0)
    foot = (
        Settings(SIZE, (3.0, -2.0, 2.5), (0, 0, 0.3))
        .camera_for(np.zeros((1, 3)))
        .project([0.0, 0.0, 0.0], SIZE)
    )
    assert columns > foot[0] and rows < foot[1]


def test_colours_are_those_of_the_file():
    """A surface that faces the sun is about as bright as its own colour; nothing burns out."""
    for color in ((0.8, 0.2, 0.2), (0.75, 0.75, 0.75), (0.1, 0.3, 0.9)):
        shape = box(
            (1.0, 1.0, 1.0),
            (0, 0, 0.5),
            colored(*color, specular=(1.0, 1.0, 1.0), shininess=1.0),
        )
        body = bm.Body(
            links=(link("B", 0, -1, (0, 0, 0), kind="fixed", visuals=(shape,)),)
        )
        seen = pixels(
            bm.render(body, size=SIZE, ground=False, background="transparent")
        )
        opaque = seen[seen[..., 3] == 255][:, :3]
        share = opaque / (255 * np.array(color))
        assert 0.8 < np.percentile(share.max(axis=1), 95) < 1.2
        assert share.min() > 0.35


def test_a_transparent_background_is_transparent():
    seen = pixels(bm.render(arm(), size=SIZE, background="transparent", ground=False))
    assert seen.shape == (240, 320, 4)
    assert (seen[:5, :, 3] == 0).all() and (seen[-5:, :, 3] == 0).all()
    body = seen[..., 3] == 255
    assert 0.01 < body.mean() < 0.5
    with_shadow = pixels(bm.render(arm(), size=SIZE, background="transparent"))
    partly = (with_shadow[..., 3] > 40) & (with_shadow[..., 3] < 200)
    assert partly.sum() > 50 and with_shadow[partly][:, :3].mean() < 90


def test_backgrounds_are_light_and_dark():
    light, dark = (
        pixels(bm.render(arm(), size=SIZE, background=name))
        for name in ("light", "dark")
    )
    assert light[:20].mean() > 200 and dark[:20].mean() < 60


def test_what_is_see_through_lets_through():
    glass = colored(0.1, 0.2, 0.9, transparency=0.7)
    wall = box((0.05, 1.0, 1.0), (-0.3, 0, 0.5), colored(0.9, 0.1, 0.1))
    body = bm.Body(
        links=(
            link(
                "B",
                0,
                -1,
                (0, 0, 0),
                kind="fixed",
                visuals=(wall, box((0.05, 0.6, 0.6), (0.3, 0, 0.5), glass)),
            ),
        )
    )
    middle = (
        pixels(bm.render(body, size=SIZE, camera="front"))[118:122, 158:162]
        .reshape(-1, 3)
        .mean(axis=0)
    )
    assert middle[0] > middle[1] + 25


def test_a_texture_is_shown(tmp_path):
    from PIL import Image

    picture = np.zeros((64, 64, 3), dtype=np.uint8)
    picture[:32] = (0, 220, 0)
    picture[32:] = (220, 0, 0)
    Image.fromarray(picture).save(tmp_path / "half.png")
    (tmp_path / "board.wrl").write_text(
        """#VRML V2.0 utf8
PROTO Joint [ exposedField MFNode children [] field SFString jointType "fixed" exposedField SFVec3f translation 0 0 0 ]
{ Transform { translation IS translation children IS children } }
DEF R Joint { children [ Shape {
  appearance Appearance { material Material { } texture ImageTexture { url "half.png" } }
  geometry IndexedFaceSet { solid FALSE
    coord Coordinate { point [ 0 -1 0, 0 1 0, 0 1 2, 0 -1 2 ] } coordIndex [ 0 1 2 3 -1 ]
    texCoord TextureCoordinate { point [ 0 0, 1 0, 1 1, 0 1 ] } texCoordIndex [ 0 1 2 3 -1 ] } } ] }
"""
    )
    try:
        body = bm.load(tmp_path / "board.wrl")
    except bm.FormatError as error:
        pytest.fail(str(error))
    seen = bm.render(
        body, size=SIZE, camera=(6.0, 0.0, 1.0), look_at=(0, 0, 1), ground=False
    )
    green, red = of_color(seen, 1), of_color(seen, 0)
    assert len(green) > 300 and len(red) > 300
    assert green[:, 0].max() <= red[:, 0].min() + 1  # the image's upper half is above


def test_lines_points_and_vertex_colours_are_drawn():
    corners = np.array([[0, -1, 0], [0, 1, 0], [0, 0, 2.0]])
    from bodymotion.geometry.shapes import Corners

    mesh = bm.shapes.Mesh(
        corners,
        np.array([[0, 1, 2]]),
        two_sided=True,
        colors=Corners(
            np.array([[0.9, 0.0, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 0.9]]),
            np.array([[0, 1, 2]]),
        ),
    )
    lines = bm.shapes.Shape(
        bm.shapes.Lines(
            np.array([[0, -1, 0], [0, -1, 2.0]]),
            np.array([[0, 1]]),
            np.array([[1.0, 0, 1.0], [1.0, 0, 1.0]]),
        )
    )
    body = bm.Body(
        links=(
            link(
                "B",
                0,
                -1,
                (0, 0, 0),
                kind="fixed",
                visuals=(bm.shapes.Shape(mesh), lines),
            ),
        )
    )
    seen = bm.render(body, size=SIZE, camera="front", ground=False)
    assert all(len(of_color(seen, channel)) > 100 for channel in range(3))
    rgb = pixels(seen)
    assert (
        (rgb[..., 0] > rgb[..., 1] + 60) & (rgb[..., 2] > rgb[..., 1] + 60)
    ).sum() > 20


def test_a_motion_alone_is_shown_as_frames_with_its_path():
    seen = pixels(
        bm.render(walker(2.0).replaced(walker(2.0).components[0]), at=1.0, size=SIZE)
    )
    violet = (seen[..., 2] > seen[..., 1] + 60) & (seen[..., 0] > seen[..., 1] + 20)
    assert violet.sum() > 40


def test_a_stroboscope_shows_each_moment_apart():
    # Where it walks far it stays where it is; on the spot it is put in a row.
    for distance in (0.0, 6.0):
        seen = bm.render(
            arm(),
            walker(distance),
            strobe=4,
            size=(640, 240),
            camera="right",
            overlay=(),
        )
        columns = np.zeros(640, dtype=bool)
        columns[np.unique(of_color(seen, 0)[:, 1])] = True
        starts = np.flatnonzero(np.diff(columns.astype(int)) == 1)
        assert len(starts) == 4, distance


def test_overlays_are_written_and_say_the_moment(monkeypatch):
    from bodymotion.rendering import stills
    from bodymotion.rendering import texts as drawn

    texts = []
    for module in (stills, drawn):
        monkeypatch.setattr(
            module,
            "text_image",
            lambda text, *more, _draw=drawn.text_image: (
                texts.append(text) or _draw(text, *more)
            ),
        )
    plain = pixels(bm.render(arm(), walker(1.0), at=1.0, size=SIZE))
    written = pixels(
        bm.render(
            arm(), walker(1.0), at=1.0, size=SIZE, overlay=("title", "time", "frame")
        )
    )
    assert texts == ["arm   1.00 s   frame 20"]
    differ = np.argwhere((plain != written).any(axis=2))
    assert len(differ) > 100 and differ[:, 0].min() > 200 and differ[:, 1].max() < 220
    texts.clear()
    bm.render(arm(), walker(1.0), frame=np.array([0, 10, 39]), size=SIZE)
    assert texts == ["0.00 s", "0.50 s", "1.95 s"]


def test_between_two_frames_things_are_in_between():
    playback = Playback(make_scene(arm(), walker(2.0, frames=3)))
    halfway = playback.at(0.025)
    np.testing.assert_allclose(
        halfway[0, :3], [0.5, 0.0, playback.at(0.0)[0, 2]], atol=1e-9
    )
    np.testing.assert_allclose(playback.at(5.0), playback.at(0.1))


def test_it_stands_where_nobody_says_where_it_is(examples):
    body = bm.load(examples / "biped.wrl")
    for stand in (None, True):
        playback = Playback(make_scene(body, None), stand)
        assert abs(playback.points(playback.at(0.0))[:, 2].min()) < 0.02


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"camera": "above"}, "unknown camera 'above'"),
        ({"camera": "front", "look_at": (0, 0, 0)}, "look_at needs"),
        ({"camera": (0.0, 0.0, 0.0), "look_at": (0, 0, 0)}, "finite and different"),
        ({"size": (4, 4)}, "16 to 8192 pixels"),
        ({"at": 99.0}, "0 to 1.95 s"),
        ({"frame": 40}, "frames are 0 to 39"),
        ({"at": 0.0, "frame": 0}, "at and frame exclude"),
        ({"strobe": 0}, "1 to 60 moments"),
        ({"strobe": 3, "start": 1.5, "end": 1.0}, "outside the motion"),
        ({"start": 1.0}, "for videos and strobe"),
        ({"overlay": ("clock",)}, "unknown overlay 'clock'"),
        ({"background": "pink"}, "unknown background 'pink'"),
        ({"sheet": True, "at": 1.0}, "shows the model"),
        ({"output": "a.bmp"}, "images are .png"),
        ({"output": "a.jpg", "background": "transparent"}, "can be transparent"),
        ({"output": "a.mp4", "strobe": 3}, "is for images"),
        ({"output": "a.mp4", "fps": 0.0}, "fps must be"),
        ({"output": "a.mp4", "speed": -1.0}, "positive"),
        ({"output": "a.mp4", "speed": 1e-9}, "more than 1000000 frames"),
        ({"at": ()}, "1 to 60 moments"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(wish, words):
    with pytest.raises(ValueError, match=words):
        bm.render(arm(), walker(1.0), **wish)


def test_far_away_and_broken_poses_are_drawn_somehow():
    motion = walker(1.0)
    values = np.array(motion.components[0].values)
    values[5], values[6, :, 0] = np.nan, 1e30
    broken = motion.replaced(
        bm.MultiSE3Seq(
            content="LinkPosition",
            timeline=motion.components[0].timeline,
            values=values,
        ),
        motion.components[1],
    )
    for frame in (5, 6):
        assert bm.render(arm(), broken, frame=frame, size=(64, 48)).size == (64, 48)
