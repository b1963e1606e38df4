"""The frames of the cameras of a body along a motion, as defined by the OpenHRP document for its VisionSensor.

A camera looks along its −z axis with +y up. Its field of view is the angle over the shorter side of the image. Row 0 is at the top,
column 0 on the left. A pixel shows what the ray through its centre hits first, of the environment and of the body itself. Faces are
visible from outside, two-sided ones from both sides. Nothing is visible before the front clip plane or behind the back one.

Depth is measured along the camera's axis, as in a depth buffer: a wall straight ahead has the same depth everywhere. It is inf where
nothing is visible.

Colours follow the lighting equation of VRML97 (ISO/IEC 14772-1, 4.14.4) with two parallel white lights, one along the camera's axis
(0.7) and one from straight above (0.4), and ambient light (0.5). There are no shadows, and the background is black. What is more than
half transparent is invisible, all else is opaque.

The rays are those of range sensors (`bodymotion.kernels.rays`): depths agree with geometry to 1e-9, those of VTK's z-buffer only to 1e-3,
and no window and no extra is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from bodymotion.dynamics.sensors import Scenery, Thing, scan_times
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, check_memory, frozen
from bodymotion.model.links import VisionSensor
from bodymotion.motion.interpolation import sampled

if TYPE_CHECKING:
    from bodymotion.dynamics.measures import Measures

Bytes = npt.NDArray[np.uint8]
BLOCK_BYTES = 64 * 2**20
"""Memory of the frames that are drawn together."""
BYTES_PER_PIXEL = 8 + 3
LUMA = np.array([0.299, 0.587, 0.114])
"""Weights of red, green and blue in grey (ITU-R BT.601)."""


@dataclass(frozen=True, eq=False)
class CameraFrame:
    """One frame at `time` [s]: `color` (H, W, 3) in 0…255 and `depth` (H, W) [m], each None where the sensor does not have it."""

    time: float
    color: Bytes | None
    depth: Floats | None


@dataclass(frozen=True, eq=False, kw_only=True)
class CameraFrames:
    """The frames of one camera, drawn when they are read: `for frame in frames`, `frames[3]`, `frames[10:20].depth`.

    Attributes
    ----------
    device:
        The camera.
    times:
        (N,) [s] of the frames: `frame_rate` times a second from the first frame of the motion on.
    """

    device: VisionSensor
    times: Floats
    measures: Measures = field(repr=False)
    scenery: Scenery = field(repr=False)

    def __repr__(self) -> str:
        device = self.device
        return f"CameraFrames({device.name!r}: {len(self)} of {device.width} × {device.height}, {device.type})"

    def __len__(self) -> int:
        return len(self.times)

    @overload
    def __getitem__(self, chosen: int) -> CameraFrame: ...
    @overload
    def __getitem__(self, chosen: slice) -> CameraFrames: ...
    def __getitem__(self, chosen: int | slice) -> CameraFrame | CameraFrames:
        """Return one frame, or those of a slice, which are not drawn yet."""
        if isinstance(chosen, slice):
            return self.at(self.times[chosen])
        index = range(len(self))[chosen]
        return next(iter(self.at(self.times[index : index + 1])))

    def __iter__(self) -> Iterator[CameraFrame]:
        """Draw the frames, some megabytes at a time."""
        many = max(1, BLOCK_BYTES // (BYTES_PER_PIXEL * self.device.width * self.device.height))
        for start in range(0, len(self), many):
            some = slice(start, start + many)
            color, depth = self._drawn(self.times[some])
            for k, time in enumerate(self.times[some]):
                yield CameraFrame(float(time), None if color is None else color[k], None if depth is None else depth[k])

    def at(self, times: npt.ArrayLike) -> CameraFrames:
        """Return the frames at these times [s] of the motion; before its start and after its end the camera rests."""
        return replace(self, times=frozen(np.atleast_1d(np.asarray(times, dtype=np.float64)), (None,), "times"))

    @property
    def has_color(self) -> bool:
        """Whether the sensor's type has colours; those of MONO are grey."""
        return "COLOR" in self.device.type or "MONO" in self.device.type

    @property
    def has_depth(self) -> bool:
        """Whether the sensor's type has depths; that of a POINT_CLOUD does."""
        return "DEPTH" in self.device.type or "POINT_CLOUD" in self.device.type

    @property
    def color(self) -> Bytes | None:
        """(N, H, W, 3) in 0…255 of all frames, None where the sensor has no colours.

        Raises
        ------
        MemoryError
            When they do not fit into memory; read a slice, or one after the other.
        """
        return self._all[0]

    @property
    def depth(self) -> Floats | None:
        """(N, H, W) [m] along the camera's axis, inf where nothing is visible, None where the sensor has no depths; errors as of
        `color`.
        """
        return self._all[1]

    @cached_property
    def _all(self) -> tuple[Bytes | None, Floats | None]:
        return self._drawn(self.times)

    def _drawn(self, times: Floats) -> tuple[Bytes | None, Floats | None]:
        device = self.device
        if not (self.has_color or self.has_depth):
            return None, None
        shape = (len(times), device.height, device.width)
        check_memory(BYTES_PER_PIXEL * int(np.prod(shape, dtype=np.int64)), f"{len(times)} frames of {device.name!r}")
        depths = np.empty(shape)
        colors = np.zeros((*shape, 3), dtype=np.uint8) if self.has_color else None
        right, up = device.half_size
        rays = np.full((*shape[1:], 3), -1.0)
        rays[..., 0] = right * ((2.0 * np.arange(device.width) + 1.0) / device.width - 1.0)
        rays[..., 1] = up * (1.0 - (2.0 * np.arange(device.height)[:, None] + 1.0) / device.height)
        own = self.measures.visible_shapes
        for k, views in enumerate(self._views(times)):
            layers = ((own, 0, views), (self.scenery.visible_shapes, own.num_faces, views[-1:]))
            owners = np.full(shape[1:], -1, dtype=np.intp)
            depths[k] = np.nextafter(device.back_clip_distance, np.inf)
            for shapes, first, placed in layers:
                shapes.draw(first, placed, rays, device.front_clip_distance, depths[k], owners)
            depths[k][owners < 0] = np.inf
            if colors is not None:
                for shapes, first, placed in layers:
                    shapes.shade(first, placed, rays, owners, colors[k])
        if colors is not None:
            if "MONO" in device.type:
                colors[...] = np.rint(colors @ LUMA)[..., None]
            colors.flags.writeable = False
        depths.flags.writeable = False
        return colors, depths if self.has_depth else None

    def _views(self, times: Floats) -> Floats:
        """Return matrices (N, L + 1, 3, 4) that take points of the camera to the frames of the links and of the world (the last one)."""
        links = self.measures.link_poses
        check_memory(2 * links[0].nbytes * len(times), f"the poses of {links.shape[1]} links in {len(times)} frames")
        placed = sampled(links, self.measures.times, times, "cubic") if len(links) > 1 else links[[0] * len(times)]
        camera = poses.compose(placed[:, self.device.link], self.device.pose)
        camera[:, 3:] = rotations.normalized(camera[:, 3:])
        world = np.broadcast_to(poses.IDENTITY, (len(times), 1, 7))
        together = np.concatenate([placed, world], axis=1)
        return np.asarray(poses.to_matrix(poses.compose(poses.inverse(together), camera[:, None]))[..., :3, :])


def check_camera(device: VisionSensor) -> None:
    """Raise ValueError when a camera has no pixels, or its field of view or clip distances make no image."""
    device.half_size  # noqa: B018
    if not 0 < device.front_clip_distance < device.back_clip_distance:
        raise ValueError(
            f"{device.name or 'a camera'}: expected clip distances that are positive and increase, got "
            f"{device.front_clip_distance:g} and {device.back_clip_distance:g} m"
        )


def camera_frames(measures: Measures, device: VisionSensor, scenery: Scenery | Iterable[Thing] = ()) -> CameraFrames:
    """Return the frames of a camera of the body along the motion; they are drawn when they are read.

    Parameters
    ----------
    scenery:
        Meshes, shapes and bodies in the world.

    Raises
    ------
    ValueError
        When the image has no pixels, the field of view is not between 0 and π, or the clip distances are not positive and increasing.
    """
    if not 0 <= device.link < len(measures.body.links):
        raise ValueError(
            f"camera {device.name!r} is on link {device.link}; the body has {len(measures.body.links)} links"
        )
    check_camera(device)
    return CameraFrames(
        device=device,
        times=frozen(scan_times(device, measures.times)),
        measures=measures,
        scenery=scenery if isinstance(scenery, Scenery) else Scenery(scenery),
    )
