"""The frames of a dance while its moves are put together, each track by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bodymotion.geometry import poses
from bodymotion.geometry.arrays import Floats
from bodymotion.motion import Motion
from bodymotion.spot.animation import Animation
from bodymotion.spot.playback import SpotPose
from bodymotion.spot.playback.arm import arm_joints, hand_poses
from bodymotion.spot.playback.legs import leg_joints
from bodymotion.spot.playback.playing import arm_playback
from bodymotion.spot.playback.stance import feet_in_world

LEGS = slice(0, 12)
ARM = slice(12, 18)
GRIPPER = slice(18, 19)
# Columns of the joints.
NUM_JOINTS = 19
FEET = slice(0, 4)
# Columns of the distances to goals.
HAND = 4
# [m] A hand that differs more from its goal was carried along by the body.
MOVED_HAND = 1e-9


class _Base(NamedTuple):
    """What a move does with body and legs in N frames."""

    body: Floats
    legs: Floats
    contacts: Floats
    misses: Floats


class Frames:
    """The T frames of a dance, filled from the start on, each track by itself.

    A move of the body beside one of the legs moves the body relative to where the legs
    carry it; the joints of the legs then follow from body and feet. A hand with a pose
    in the world keeps that pose.

    Attributes
    ----------
    body, joints, contacts:
        (T, 7), (T, 19) and (T, 4): the motion.
    misses:
        (T, 5) [m] How far feet and hand are from their goals.
    """

    def __init__(self, count: int, rest: SpotPose) -> None:
        """Allocate `count` frames, the first of them the pose `rest`."""
        self.body = np.empty((count, 7))
        self.joints = np.empty((count, NUM_JOINTS))
        self.contacts = np.empty((count, 4))
        self.misses = np.zeros((count, 5))
        # The body as moves of the legs alone carry it, and where they put the feet.
        self._carried = np.empty((count, 7))
        self._feet = np.empty((count, 4, 3))
        self.body[0] = rest.body
        self._carried[0] = rest.body
        self._feet[0] = rest.feet
        self.joints[0] = np.concatenate([rest.legs.ravel(), rest.arm, [rest.gripper]])
        self.contacts[0] = 1.0
        # Body and legs are filled together: one moves with the other. These are views:
        # writing into them fills the arrays above.
        self._tracks: dict[str, tuple[Floats, ...]] = {
            "base": (
                self.body,
                self.joints[:, LEGS],
                self.contacts,
                self._carried,
                self._feet,
            ),
            "arm": (self.joints[:, ARM],),
            "gripper": (self.joints[:, GRIPPER],),
        }
        # The number of frames of each track that are known; the first one is.
        self._num_filled = dict.fromkeys(self._tracks, 1)
        # The frames at which the last moves of legs and body end.
        self._ends = {"legs": 0, "body": 0}
        # First frames and poses (N, 7) in the world of hands that keep them.
        self._hands: list[tuple[int, Floats]] = []

    def fill(self, end: int) -> None:
        """Hold the last pose of each track up to the frame `end`."""
        for track, filled in self._num_filled.items():
            if filled < end:
                for part in self._tracks[track]:
                    part[filled:end] = part[filled - 1]
                self._num_filled[track] = end

    def pose(self, frame: int) -> SpotPose:
        """Return the pose at a frame."""
        self.fill(frame + 1)
        joints = self.joints[frame]
        legs = joints[LEGS].reshape(4, 3)
        return SpotPose(
            self.body[frame], legs, joints[ARM], float(joints[GRIPPER.start])
        )

    def put(self, played: Motion, animation: Animation, first: int) -> None:
        """Write the tracks of a move from the frame `first` on."""
        # In the order of `components`.
        root, joints, contacts, misses = (one.values for one in played.timed)
        stop = min(first + played.num_frames, len(self.joints))
        count = stop - first
        frames = slice(first, stop)
        body = root[:count, 0]
        joints = joints[:count]
        base = {"legs", "body"} & set(animation.controls)
        if base:
            move = _Base(body, joints[:, LEGS], contacts[:count], misses[:count, FEET])
            self._put_base(base, move, frames)
        # Arm and gripper are on their own tracks, beside any move of body and legs.
        has_arm = joints.shape[1] > LEGS.stop
        for track, columns in (("arm", ARM), ("gripper", GRIPPER)):
            if track in animation.controls and has_arm:
                self.joints[frames, columns] = joints[:, columns]
                self._num_filled[track] = stop
        if "arm" in animation.controls and has_arm:
            self.misses[frames, HAND] = misses[:count, HAND]
        # The hand keeps its pose in the world: remember it, the body may still change.
        if "arm" in animation.controls and arm_playback(animation) != "jointspace":
            hands = poses.compose(body, hand_poses(joints[:, ARM]))
            self._hands.append((first, hands))

    def _put_base(self, base: set[str], move: _Base, frames: slice) -> None:
        """Write body and legs; beside a move of the other one, both together."""
        first = frames.start
        # Before anything is written: the solution starts near these joints.
        legs_before = self.joints[first, LEGS].reshape(4, 3).copy()
        others = {"legs", "body"} - base
        end_of_other = max((self._ends[track] for track in others), default=0)
        if "legs" in base:
            self._carried[frames] = move.body
            self._feet[frames] = feet_in_world(move.body, move.legs.reshape(-1, 4, 3))
            self.contacts[frames] = move.contacts
            self.misses[frames, FEET] = move.misses
        # A move of the other track that goes on: both together move the robot.
        if end_of_other <= first:
            self._put_base_alone(base, move, frames)
        else:
            self._combine(base, move, frames, end_of_other, legs_before)
        self._ends |= dict.fromkeys(base, frames.stop)

    def _put_base_alone(self, base: set[str], move: _Base, frames: slice) -> None:
        """Write body and legs as a move has them."""
        first = frames.start
        self.body[frames] = move.body
        self.joints[frames, LEGS] = move.legs
        self.misses[frames, FEET] = move.misses
        # A move of the body alone carries nothing: the feet stay.
        if "legs" not in base:
            self._carried[frames] = self._carried[first]
            self._feet[frames] = self._feet[first]
            self.contacts[frames] = move.contacts
        self._num_filled["base"] = frames.stop

    def _combine(
        self,
        base: set[str],
        move: _Base,
        frames: slice,
        end_of_other: int,
        legs_before: Floats,
    ) -> None:
        """Move the body relative to where the legs carry it, up to the later end."""
        first = frames.start
        # Both moves, up to the end of the longer one.
        whole = slice(first, max(frames.stop, end_of_other))
        # The legs stand still after the end of their move.
        end_of_legs = frames.stop if "legs" in base else end_of_other
        for part in (self._carried, self._feet, self.contacts):
            part[end_of_legs : whole.stop] = part[end_of_legs - 1]
        self.misses[end_of_legs : whole.stop, FEET] = 0.0
        # The body, too.
        body = self.body[first:end_of_other] if "legs" in base else move.body
        # After the end of its move the body keeps its last pose.
        rows = np.minimum(np.arange(whole.stop - first), len(body) - 1)
        # Where the legs have carried the body since the first frame, applied to the
        # pose that the body's own move gives.
        walk = poses.compose(self._carried[whole], poses.inverse(self._carried[first]))
        self.body[whole] = poses.compose(walk, body[rows])
        # The feet stay where the legs' move puts them: solve the legs again.
        to_body = poses.inverse(self.body[whole])[:, None]
        feet = poses.transform_points(to_body, self._feet[whole])
        solved = leg_joints(feet, legs_before)
        self.joints[whole, LEGS] = solved.joints.reshape(-1, 12)
        self.misses[whole, FEET] = np.maximum(self.misses[whole, FEET], solved.miss)
        self._num_filled["base"] = whole.stop

    def keep_hands(self) -> None:
        """Bring hands back to poses in the world that another move has changed."""
        for first, goals in self._hands:
            frames = slice(first, first + len(goals))
            body = self.body[frames]
            # Where the hand is now, after all moves of the body.
            hands = poses.compose(body, hand_poses(self.joints[frames, ARM]))
            if not np.abs(hands - goals).max(initial=0.0) > MOVED_HAND:
                continue
            # The goal as seen from the moved body; the search starts from the joints
            # before.
            in_body = poses.compose(poses.inverse(body), goals)
            solved = arm_joints(in_body, self.joints[max(first - 1, 0), ARM])
            self.joints[frames, ARM] = solved.joints
            self.misses[frames, HAND] = np.maximum(
                self.misses[frames, HAND], solved.miss
            )
