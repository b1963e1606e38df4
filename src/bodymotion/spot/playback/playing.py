"""Play an animation: a motion of Spot's joints and body.

What the robot's controller does with an animation (balance, `precise_steps`, `timing_adjustability`, `track_swing_trajectories`,
stiffness, the gripper's strength) is not simulated: the motion is what the animation asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import JOINT_DISPLACEMENT, LINK_POSITION, Motion, MultiSE3Seq, MultiValueSeq
from bodymotion.spot.playback.arm import Arm, arm_joints, hand_poses
from bodymotion.spot.playback.blending import blended, entering, leaving
from bodymotion.spot.playback.legs import Legs, leg_joints
from bodymotion.spot.playback.measures import JOINT_NAMES, LEG_JOINTS, LEGS, NOMINAL_HEIGHT
from bodymotion.spot.playback.motions import FOOT_CONTACT, REACH_ERROR
from bodymotion.spot.playback.parameters import OFFSETS, settings
from bodymotion.spot.playback.standing import Standing, footprint, last_pose, sit, stand
from bodymotion.spot.playback.timing import Timing, timing
from bodymotion.spot.playback.tracks import Tracks
from bodymotion.spot.playback.weighing import body_places, nominal_center

if TYPE_CHECKING:
    from bodymotion.animation import Animation

__all__ = ["check_keyframes", "needs_arm", "play"]


NEAREST = 1e-6
"""[s] Keyframes are at least so far apart."""


def play(
    animation: Animation,
    *,
    bpm: float | None = None,
    slices: float | None = None,
    parameters: Mapping[str, float] | None = None,
    start: Standing | Motion | None = None,
    arm: bool | None = None,
    frame_rate: float | None = None,
    dance_frames: Mapping[int, npt.ArrayLike] | None = None,
) -> Motion:
    """Return the motion that an animation asks of Spot.

    Parameters
    ----------
    bpm:
        The script's beats per minute; by default the animation's own, else 120.
    slices:
        How long the move is [quarter beats]; by default as long as it is by itself. Longer needs `extendable`, shorter `truncatable`.
    parameters:
        Values for parameters, by their names; the others have the animation's defaults.
    start:
        The pose before the move, or a motion that ends in it; by default the nominal stand in the middle of the world's floor, or sitting
        there for `starts_sitting`.
    arm:
        Whether it is a Spot with arm; by default one that fits the animation: with arm where arm or gripper are controlled or an arm is
        required.
    frame_rate:
        [Hz]; by default such that a slice is a whole number of frames, and at least 100 Hz.
    dance_frames:
        Poses (7,) in the world of dance frames by their ids, for `arm_playback workspace_dance_frame`; by default the frame in which the
        move starts.

    Returns
    -------
    Motion
        With the components LinkPosition (the body's pose in the world, whose floor is at z = 0), JointDisplacement (12 or 19 joints,
        named), FootContact (T, 4; 1 in stance) and ReachError (T, 4 or 5; [m] that each foot, and the hand, stays from where the
        animation has it). `extra["spot"]` says the tempo, slices and the animation frame.

    Raises
    ------
    ValueError
        When there is no keyframe, a number that is used is not finite or absurdly large, times do not increase, a parameter or length is
        not allowed, there would be more frames than memory for them, the dance frame is not among those given, or the robot has an arm
        and must not, or has none and must.
    """
    arm = _with_arm(animation, arm)
    check_keyframes(animation)
    values = settings(animation, parameters)
    times = timing(
        animation,
        bpm=bpm,
        slices=slices,
        speed=values["speed"],
        offset=values["offset_slices"],
        frame_rate=frame_rate,
    )
    before = _before(animation, start)
    return _Move(animation, values, times, before).motion(arm=arm, dance_frames=_dance_frames(dance_frames))


def needs_arm(animation: Animation) -> bool:
    """Whether an animation is for a Spot with arm: it controls arm or gripper, or says that one is required."""
    return "arm_required" in animation.options or bool({"arm", "gripper"} & set(animation.controls))


def _with_arm(animation: Animation, arm: bool | None) -> bool:
    if arm is None:
        arm = needs_arm(animation) and "arm_prohibited" not in animation.options
    if arm and "arm_prohibited" in animation.options:
        raise ValueError("the animation is not for a Spot with arm (arm_prohibited)")
    if not arm and "arm_required" in animation.options:
        raise ValueError("the animation needs a Spot with arm (arm_required)")
    return arm


def check_keyframes(animation: Animation) -> None:
    """Raise ValueError, in words, where keyframes cannot be played: none, times that do not increase, numbers that are none or absurd."""
    keys = animation.keyframes
    if not len(keys):
        raise ValueError("the animation has no keyframes")
    if not np.isfinite(keys.times).all():
        row = int(np.argmin(np.isfinite(keys.times)))
        raise ValueError(f"the time of keyframe {row + 1} is {keys.times[row]}: no finite number")
    gaps = np.diff(keys.times)
    if not (gaps > 0).all():
        row = int(np.argmin(gaps > 0)) + 1
        raise ValueError(
            f"the times of keyframes increase; keyframe {row + 1} is at {keys.times[row]:g} s, after {keys.times[row - 1]:g} s"
        )
    if gaps.min(initial=1.0) < NEAREST:
        row = int(np.argmin(gaps)) + 1
        raise ValueError(f"keyframes {row} and {row + 1} are {gaps[row - 1]:g} s apart: no robot is so quick")
    bad = ~np.isfinite(keys.values)
    if bad.any():
        row, column = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"{keys.columns[column]} of keyframe {row + 1} is {keys.values[row, column]}: no finite number"
        )
    huge = np.abs(keys.values) > 1e6
    if huge.any():
        row, column = (int(k) for k in np.argwhere(huge)[0])
        raise ValueError(
            f"{keys.columns[column]} of keyframe {row + 1} is {keys.values[row, column]:g}: no robot is so large"
        )


def _dance_frames(given: Mapping[int, npt.ArrayLike] | None) -> dict[int, Floats]:
    frames = {}
    for number, pose in (given or {}).items():
        try:
            frame = np.asarray(pose, dtype=np.float64)
        except (TypeError, ValueError):
            frame = np.zeros(0)
        if frame.shape != (7,) or not np.isfinite(frame).all() or not np.any(frame[3:]):
            raise ValueError(
                f"dance frame {number} is a pose of seven numbers, x y z and a quaternion w x y z, not {pose!r}"
            )
        frames[number] = poses.from_parts(frame[:3], rotations.normalized(frame[3:]))
    return frames


def _before(animation: Animation, start: Standing | Motion | None) -> Standing:
    if isinstance(start, Motion):
        return last_pose(start)
    if start is not None:
        if not isinstance(start, Standing):
            raise ValueError(f"start is a pose of Spot (`Standing`) or a motion that ends in one, not {start!r}")
        return start
    return sit() if "starts_sitting" in animation.options else stand()


class _Move:
    """An animation while it becomes a motion. Arrays are over frames; what is `animated` is in the animation frame."""

    def __init__(self, animation: Animation, values: Mapping[str, float], times: Timing, before: Standing) -> None:
        self.animation = animation
        self.values = values
        self.times = times
        self.at = times.moments
        self.before = before
        self.frame = before.frame
        tracks = Tracks(animation, before, self.frame)
        if "neutral_start" in animation.options and not tracks.has_legs:
            neutral = stand(self.frame)
            self.before = Standing(neutral.body, neutral.legs, before.arm, before.gripper)
            tracks = Tracks(animation, self.before, self.frame)
        lift = tracks.lift()
        if lift:
            self.frame = poses.compose(self.frame, [0.0, 0.0, lift, 1.0, 0.0, 0.0, 0.0])
            tracks = Tracks(animation, self.before, self.frame)
        self.tracks = tracks

    def motion(self, *, arm: bool, dance_frames: Mapping[int, Floats]) -> Motion:
        tracks, at = self.tracks, self.at
        joints_of_arm = tracks.arm_joints(at) if arm else None
        if joints_of_arm is not None and not tracks.has_hand:
            joints_of_arm += self._offsets()
        animated = self._animated_body(joints_of_arm, multiplied=False)
        frames = self._frames()
        wanted = self._animated_body(joints_of_arm, multiplied=True) if self._multiplies() else animated
        feet = tracks.feet(at, animated)
        feet_world = poses.transform_points(frames[:, None], feet)
        body_world = self._blended(poses.compose(frames, wanted), feet_world)
        legs = self._legs(feet_world, body_world, poses.compose(frames, animated))
        timeline = self.times.timeline
        joints = [legs.joints.reshape(len(at), 12)]
        errors = [legs.miss]
        if arm:
            done = self._arm(animated, frames, body_world, joints_of_arm, dance_frames)
            joints += [done.joints, self._gripper()[:, None]]
            errors.append(done.miss[:, None])
        names = JOINT_NAMES if arm else LEG_JOINTS
        return Motion(
            (
                MultiSE3Seq(
                    content=LINK_POSITION, timeline=timeline, values=body_world[:, None], part_labels=("body",)
                ),
                MultiValueSeq(
                    content=JOINT_DISPLACEMENT, timeline=timeline, values=np.hstack(joints), part_labels=names
                ),
                MultiValueSeq(
                    content=FOOT_CONTACT, timeline=timeline, values=tracks.contacts(at).astype(float), part_labels=LEGS
                ),
                MultiValueSeq(
                    content=REACH_ERROR,
                    timeline=timeline,
                    values=np.hstack(errors),
                    part_labels=(*LEGS, "hand")[: 5 if arm else 4],
                ),
            ),
            extra={"spot": self._summary()},
        )

    def _summary(self) -> dict[str, object]:
        return {
            "animation": self.animation.name,
            "bpm": self.times.bpm,
            "slice": self.times.slice,
            "slices": self.times.slices,
            "naturalSlices": self.times.natural,
            "animationFrame": [float(value) for value in self.frame],
        }

    def _offsets(self) -> Floats:
        """Return what is added (6,) to the arm's joints: to those that the animation moves."""
        moved = self.tracks.arm_columns | self.tracks.has_hand
        return np.where(moved, [self.values[name] for name in OFFSETS], 0.0)

    def _multiplies(self) -> bool:
        return any(value != 1.0 for name, value in self.values.items() if "_multiplier." in name)

    def _animated_body(self, arm: Floats | None, *, multiplied: bool) -> Floats:
        """Return the body's pose (T, 7) in the animation frame; multipliers scale how far it is from the nominal pose."""
        tracks, at = self.tracks, self.at
        if not tracks.has_body:
            if tracks.has_legs:
                return tracks.rest_of_legs(at)
            return np.tile(poses.compose(poses.inverse(self.frame), self.before.body), (len(at), 1))
        height = nominal_center(arm is not None) if tracks.by_center_of_mass else NOMINAL_HEIGHT
        place, turn = tracks.body_place(at, height), tracks.body_turn(at)
        if multiplied:
            middle = np.array([0.0, 0.0, height])
            place = middle + (place - middle) * [self.values[f"translation_multiplier.{axis}"] for axis in "xyz"]
            factors = [self.values[f"rotation_multiplier.{axis}"] for axis in ("roll", "pitch", "yaw")]
            angles = tracks.body_angles(at)
            turn = rotations.from_rpy((self._through(rotations.to_rpy(turn)) if angles is None else angles) * factors)
        if tracks.by_center_of_mass:
            place = body_places(tracks, at, place, turn, arm, self.before)
        return poses.from_parts(place, turn)

    def _through(self, angles: Floats) -> Floats:
        """Return angles (T, 3) that go on beyond half a turn where they would jump by a whole one, anew in each round."""
        through = np.unwrap(angles, axis=0)
        begins = np.concatenate([[True], np.diff(self.times.rounds) != 0])
        first = np.maximum.accumulate(np.where(begins, np.arange(len(angles)), 0))
        return np.asarray(through - through[first] + angles[first])

    def _frames(self) -> Floats:
        """Return the animation frame (T, 7) in the world. Each round begins where the feet were at the end of the one before."""
        frames = np.tile(self.frame, (len(self.at), 1))
        rounds = self.times.rounds
        if not self.tracks.has_legs or not rounds.any():
            return frames
        ends = np.array([0.0, min(self.times.natural * self.times.seconds_per_slice, self.animation.duration)])
        body = (
            poses.from_parts(self.tracks.body_place(ends), self.tracks.body_turn(ends))
            if self.tracks.has_body
            else self.tracks.rest_of_legs(ends)
        )
        first, last = footprint(self.tracks.feet(ends, body))
        step = poses.compose(last, poses.inverse(first))
        step[2] = 0.0
        if np.abs(step[:3]).max() < 1e-6 and np.abs(step[4:]).max() < 1e-6:
            return frames
        now = self.frame
        for k in range(int(rounds.max()) + 1):
            frames[rounds == k] = now
            now = poses.compose(now, step)
        return frames

    def _blended(self, body: Floats, feet: Floats) -> Floats:
        """Blend the body's pose with that before the move, and at its end with the nominal pose over the feet."""
        if not self.tracks.has_body:
            return body
        weight = entering(self.times, self.values["body_entry_slices"])
        body = blended(self.before.body, body, weight)
        weight = leaving(self.times, self.values["body_exit_slices"])
        return blended(body, stand(footprint(feet[-1])).body, weight)

    def _legs(self, feet: Floats, body: Floats, animated: Floats) -> Legs:
        """Return the legs' joints: as they are given, but by their feet where the body is not where it is with them."""
        tracks = self.tracks
        if not tracks.has_legs and not tracks.has_body:
            return Legs(np.tile(self.before.legs, (len(self.at), 1, 1)), np.zeros((len(self.at), 4)))
        result = leg_joints(poses.transform_points(poses.inverse(body)[:, None], feet), self.before.legs)
        by_joints = tracks.legs_by_joints
        if by_joints.any():
            there = np.abs(body - animated).max(axis=1) < 1e-12
            given = there[:, None] & by_joints
            result.joints[given] = tracks.leg_joints(self.at)[given]
            result.miss[given] = 0.0
        return result

    def _arm(
        self,
        animated: Floats,
        frames: Floats,
        body: Floats,
        joints: Floats | None,
        dance_frames: Mapping[int, Floats],
    ) -> Arm:
        tracks, at = self.tracks, self.at
        none = np.zeros(len(at))
        assert joints is not None
        done = Arm(joints, none, none)
        playback = self.animation.options.get("arm_playback") or ("workspace" if tracks.has_hand else "jointspace")
        if tracks.has_hand or (tracks.arm_columns.any() and playback != "jointspace"):
            hand = (
                tracks.hand(at, self._hand_before()) if tracks.has_hand else poses.compose(animated, hand_poses(joints))
            )
            if playback == "jointspace":
                seen = poses.compose(poses.inverse(animated), hand)
            else:
                frame = frames
                if playback == "workspace_dance_frame":
                    number = round(self.values["arm_dance_frame_id"])
                    if dance_frames and number not in dance_frames:
                        given = ", ".join(map(str, dance_frames))
                        raise ValueError(f"the arm is in dance frame {number}; dance_frames has {given} only")
                    frame = dance_frames.get(number, self.frame)
                seen = poses.compose(poses.inverse(body), poses.compose(frame, hand))
            done = arm_joints(seen, self.before.arm)
            if tracks.has_hand:
                done = Arm(done.joints + self._offsets(), done.miss, done.turn_miss)
        if tracks.has_hand or tracks.arm_columns.any():
            weight = entering(self.times, self.values["arm_entry_slices"])[:, None]
            mixed = self.before.arm + weight * (done.joints - self.before.arm)
            done = Arm(np.where(weight == 1.0, done.joints, mixed), done.miss, done.turn_miss)
        return done

    def _hand_before(self) -> Floats:
        """Return the hand's pose (7,) before the move, in the animation frame."""
        in_body = hand_poses(self.before.arm)
        return poses.compose(poses.inverse(self.frame), poses.compose(self.before.body, in_body))

    def _gripper(self) -> Floats:
        angle = self.tracks.gripper(self.at)
        if angle is None:
            return np.full(len(self.at), self.before.gripper)
        angle = angle * self.values["gripper_multiplier"] + self.values["gripper_offset"]
        weight = entering(self.times, self.values["arm_entry_slices"])
        return np.where(weight == 1.0, angle, self.before.gripper + weight * (angle - self.before.gripper))
