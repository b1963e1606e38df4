"""Playback of an animation: the motion of Spot's joints and body.

What the robot's controller does with an animation (balance, `precise_steps`,
`timing_adjustability`, `track_swing_trajectories`, stiffness, the gripper's strength)
is not simulated: the motion is the one that the animation commands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from bodymotion.diagnostics import Location, Problem
from bodymotion.geometry import poses, rotations
from bodymotion.geometry.arrays import Floats, frozen
from bodymotion.model.body import Body
from bodymotion.motion import Motion
from bodymotion.spot.animation import Animation
from bodymotion.spot.cha import unplayable
from bodymotion.spot.cha.head_checks import keyframe_number
from bodymotion.spot.choreography.values import Choreography
from bodymotion.spot.playback import rules
from bodymotion.spot.playback.arm import Arm, arm_joints, hand_poses
from bodymotion.spot.playback.dimensions import LEG_JOINTS, NOMINAL_HEIGHT
from bodymotion.spot.playback.legs import Legs, leg_joints
from bodymotion.spot.playback.recording import components, last_pose
from bodymotion.spot.playback.robot import spot_body
from bodymotion.spot.playback.stance import SpotPose, footprint, sit, stand
from bodymotion.spot.playback.timing import (
    OFFSETS,
    Timing,
    blended,
    entry_weights,
    exit_weights,
    settings,
    timing,
)
from bodymotion.spot.playback.tracks import Tracks

MIN_KEYFRAME_GAP = 1e-6  # [s] Smallest time between keyframes that is accepted.
LOOP_TOLERANCE = 1e-2  # [m or rad] Accepted difference between the ends of a loop.
BLOCK = 4096  # Frames whose link poses are in memory at a time.
MAX_ITERATIONS = 60
# [m] Accepted error of the centre of mass. Where legs are too short for it,
# `MAX_ITERATIONS` end the search.
CENTER_TOLERANCE = 1e-10


def play(
    animation: Animation,
    *,
    bpm: float | None = None,
    slices: float | None = None,
    parameters: Mapping[str, float] | None = None,
    start: SpotPose | Motion | None = None,
    arm: bool | None = None,
    frame_rate: float | None = None,
    dance_frames: Mapping[int, npt.ArrayLike] | None = None,
) -> Motion:
    """Return the motion that an animation commands.

    Parameters
    ----------
    bpm:
        The script's beats per minute; by default the animation's own, else 120.
    slices:
        Length of the move [quarter beats]; by default that of the animation. Longer
        needs `extendable`, shorter `truncatable`.
    parameters:
        Values of parameters by name; the others have the animation's defaults.
    start:
        The pose before the move, or a motion that ends in it; by default the nominal
        stand at the world's origin, or sitting there for `starts_sitting`.
    arm:
        Whether Spot has an arm; by default where the animation controls arm or gripper,
        or requires an arm.
    frame_rate:
        [Hz]; by default such that a slice is a whole number of frames, and at least 100
        Hz.
    dance_frames:
        Poses (7,) in the world of dance frames by their ids, for `arm_playback
        workspace_dance_frame`; by default the one at the start.

    Returns
    -------
    Motion
        With the components LinkPosition (the body's pose in the world, whose floor is
        at z = 0), JointDisplacement (12 or 19 joints, named), FootContact (T, 4; 1 in
        contact) and ReachError (T, 4 or 5; [m], the distance of each foot, and the
        hand, from its goal). `extra["spot"]` has the tempo, the slices and the
        animation frame. `problems` has the jump of a move that starts again from
        another pose than that in which it ends: with `speed` above 1, `offset_slices`
        above 0, or more slices.

    Raises
    ------
    ValueError
        When there is no keyframe, a number is not finite or above 1 000 000, times do
        not increase, a parameter or length is not allowed, the frames do not fit into
        memory, the dance frame is missing, or the arm does not agree with the
        animation's options.
    """
    # Which Spot: the options may require or forbid an arm.
    if arm is None:
        arm = needs_arm(animation) and "arm_prohibited" not in animation.options
    if arm and "arm_prohibited" in animation.options:
        raise ValueError(
            "the animation must not be played by a Spot with arm (arm_prohibited)"
        )
    if not arm and "arm_required" in animation.options:
        raise ValueError("the animation needs a Spot with arm (arm_required)")
    check_keyframes(animation)
    # Values and frames of the playback.
    values = settings(animation, parameters)
    times = timing(
        animation,
        bpm=bpm,
        slices=slices,
        speed=values["speed"],
        offset=values["offset_slices"],
        frame_rate=frame_rate,
    )
    # The pose from which the move starts.
    if isinstance(start, Motion):
        start = last_pose(start)
    elif not isinstance(start, SpotPose | None):
        raise ValueError(
            "start: expected a pose of Spot (`SpotPose`) or a motion that ends in "
            f"one, got {start!r}"
        )
    return _Move(animation, values, times, start or default_start(animation)).motion(
        arm=arm, dance_frames=_dance_frames(dance_frames)
    )


def needs_arm(animation: Animation) -> bool:
    """Return whether an animation is for a Spot with arm.

    It controls arm or gripper, or requires an arm.
    """
    return "arm_required" in animation.options or bool(
        {"arm", "gripper"} & set(animation.controls)
    )


def body_and_motion(
    animation: Animation, *, bpm: float | None = None
) -> tuple[Body, Motion]:
    """Return Spot and the motion of an animation; see `Animation.body_and_motion`."""
    return spot_body(arm=needs_arm(animation)), play(animation, bpm=bpm)


def play_together(scripts: Sequence[Animation | Choreography]) -> list[Motion]:
    """Return the motions of scripts on one Spot: with its arm where one needs it."""
    joints = [script.play().joint_displacement for script in scripts]
    arm = any(one is not None and one.num_parts > len(LEG_JOINTS) for one in joints)
    return [script.play(arm=arm) for script in scripts]


def arm_playback(animation: Animation) -> str:
    """Return how the arm is played.

    The option `arm_playback`, else "workspace" for a hand with a pose, "jointspace" for
    joints.
    """
    # Which columns there are does not depend on the start: any will do.
    by_hand = Tracks(animation, stand(), poses.IDENTITY).has_hand
    return str(
        animation.options.get("arm_playback")
        or ("workspace" if by_hand else "jointspace")
    )


def check_keyframes(animation: Animation) -> None:
    """Raise ValueError when keyframes cannot be played.

    None, faulty ones, or such that are too near to each other in time.
    """
    keys = animation.keyframes
    if not len(keys):
        raise ValueError("the animation has no keyframes")
    # Reported faults prevent playback only where the keyframes have them; those of
    # parameters and tempo are checked by `settings` and `timing`.
    for problem in unplayable(animation):
        if problem.subject[:1] == ("keyframes",):
            raise ValueError(problem.message)
    gaps = np.diff(keys.times)
    if gaps.min(initial=1.0) < MIN_KEYFRAME_GAP:
        row = int(np.argmin(gaps)) + 1
        raise ValueError(
            f"keyframes {row} and {row + 1} are {gaps[row - 1]:g} s apart; the "
            f"smallest gap is {MIN_KEYFRAME_GAP:g} s"
        )


def _dance_frames(frame_poses: Mapping[int, npt.ArrayLike] | None) -> dict[int, Floats]:
    """Return dance frames (7,) with unit quaternions; ValueError for unusable ones."""
    frames = {
        number: frozen(pose, (7,), f"dance frame {number}")
        for number, pose in (frame_poses or {}).items()
    }
    for number, frame in frames.items():
        if not np.isfinite(frame).all() or not frame[3:].any():
            raise ValueError(
                f"dance frame {number}: expected finite numbers and a quaternion, got "
                f"{frame}"
            )
    return {
        number: poses.from_parts(frame[:3], rotations.normalized(frame[3:]))
        for number, frame in frames.items()
    }


def default_start(animation: Animation) -> SpotPose:
    """Return the pose before an animation at the world's origin.

    Sitting for `starts_sitting`, else the nominal stand.
    """
    if "starts_sitting" in animation.options:
        return sit()
    return stand()


class _Move:
    """One playback. Arrays are over frames.

    Variables named `animated` are in the animation frame.
    """

    def __init__(
        self,
        animation: Animation,
        values: Mapping[str, float],
        times: Timing,
        before: SpotPose,
    ) -> None:
        """Find the animation frame and the tracks in it."""
        self.animation = animation
        self.values = values
        self.times = times
        # The animation's own time in each frame, not that of the script.
        self.at = times.moments
        self.before = before
        # The animation frame: centre and yaw of the feet at the start.
        self.frame = before.frame
        tracks = Tracks(animation, before, self.frame)
        # `neutral_start`: the feet are assumed in the nominal stand, whatever the pose
        # before. Arm and gripper keep theirs.
        if "neutral_start" in animation.options and not tracks.has_legs:
            neutral = stand(self.frame)
            self.before = SpotPose(
                neutral.body, neutral.legs, before.arm, before.gripper
            )
            tracks = Tracks(animation, self.before, self.frame)
        # Feet that start off the floor: positions have another origin (as in some
        # recordings). All of them are raised or lowered.
        correction = tracks.floor_correction()
        if correction:
            self.frame = poses.compose(
                self.frame, [0.0, 0.0, correction, 1.0, 0.0, 0.0, 0.0]
            )
            tracks = Tracks(animation, self.before, self.frame)
        self.tracks = tracks

    def motion(self, *, arm: bool, dance_frames: Mapping[int, Floats]) -> Motion:
        """Return the motion, with the components that `play` lists."""
        tracks = self.tracks
        at = self.at
        # Step 1: the arm's joints, which the centre of mass needs.
        if arm:
            joints_of_arm = tracks.arm_joints(at)
        else:
            joints_of_arm = None
        # Offsets are added once: here to columns, in `_arm` to solved joints of a hand
        # pose.
        if joints_of_arm is not None and not tracks.has_hand:
            joints_of_arm += self._offsets()
        # Step 2: the body as animated; with multipliers also as it is to be.
        animated = self._animated_body(joints_of_arm, multiplied=False)
        frames = self._frames()
        # "speed" and "gripper_multiplier" have no axis and no effect on the body.
        multiplies = any(
            value != 1.0
            for name, value in self.values.items()
            if "_multiplier." in name
        )
        if multiplies:
            desired = self._animated_body(joints_of_arm, multiplied=True)
        else:
            desired = animated
        # Step 3: the feet follow the animated body, not the multiplied one: they stay
        # where the animation has them.
        feet = tracks.feet(at, animated)
        feet_world = poses.transform_points(frames[:, None], feet)
        # Step 4: blends with the poses before and after, then joints that reach the
        # feet.
        body_world = self._blended(poses.compose(frames, desired), feet_world)
        legs = self._legs(feet_world, body_world, poses.compose(frames, animated))
        timeline = self.times.timeline
        joints = [legs.joints.reshape(len(at), 12)]
        errors = [legs.miss]
        # Step 5: arm and gripper, with the errors of the hand as a fifth column.
        if arm:
            found = self._arm(animated, frames, body_world, joints_of_arm, dance_frames)
            joints += [found.joints, self._gripper()[:, None]]
            errors.append(found.miss[:, None])
        summary = {
            "animation": self.animation.name,
            "bpm": self.times.bpm,
            "slice": self.times.slice,
            "slices": self.times.slices,
            "naturalSlices": self.times.natural,
            "animationFrame": [float(value) for value in self.frame],
        }
        return Motion(
            components(
                timeline,
                body_world,
                np.hstack(joints),
                tracks.contacts(at),
                np.hstack(errors),
            ),
            extra={"spot": summary},
            # A single round cannot jump; `validate` reports the rule SPOT013 for all.
            problems=loop_problems(self.animation, tracks, self.times)
            if self.times.rounds.any()
            else (),
        )

    def _offsets(self) -> Floats:
        """Return the offsets (6,) of the arm's joints.

        Zero for those that the animation does not move.
        """
        moved = self.tracks.arm_columns | self.tracks.has_hand
        return np.where(moved, [self.values[name] for name in OFFSETS], 0.0)

    def _animated_body(self, arm: Floats | None, *, multiplied: bool) -> Floats:
        """Return the body's poses (T, 7) in the animation frame.

        Multipliers scale its distance from the nominal pose.
        """
        tracks = self.tracks
        at = self.at
        # A body that the animation does not control is on its legs, or stays where it
        # was.
        if not tracks.has_body:
            if tracks.has_legs:
                return tracks.body_on_legs(at)
            return np.tile(
                poses.compose(poses.inverse(self.frame), self.before.body), (len(at), 1)
            )
        # `com_pos` are positions of the centre of mass: its nominal height is the
        # default.
        if tracks.by_center_of_mass:
            height = _nominal_center_height(arm is not None)
        else:
            height = NOMINAL_HEIGHT
        position = tracks.body_position(at, height)
        orientation = tracks.body_orientation(at)
        # Multipliers scale the distance from the nominal pose: level, at `height` above
        # the origin.
        if multiplied:
            middle = np.array([0.0, 0.0, height])
            position = middle + (position - middle) * [
                self.values[f"translation_multiplier.{axis}"] for axis in "xyz"
            ]
            factors = [
                self.values[f"rotation_multiplier.{axis}"]
                for axis in ("roll", "pitch", "yaw")
            ]
            # Angles from columns keep full turns, which a multiplier scales too; those
            # from quaternions have to be unwrapped first.
            angles = tracks.body_angles(at)
            if angles is None:
                angles = self._continuous(rotations.to_rpy(orientation))
            orientation = rotations.from_rpy(angles * factors)
        # So far `position` is that of the centre of mass: find the body's origin.
        if tracks.by_center_of_mass:
            position = _body_positions(
                tracks, at, position, orientation, arm, self.before
            )
        return poses.from_parts(position, orientation)

    def _continuous(self, angles: Floats) -> Floats:
        """Return angles (T, 3) without jumps by full turns within each loop."""
        # unwrap() works across loops as well: shift each loop back to its own first
        # angle.
        continuous = np.unwrap(angles, axis=0)
        begins = np.concatenate([[True], np.diff(self.times.rounds) != 0])
        # (T,) the first frame of the loop that each frame is in.
        first = np.maximum.accumulate(np.where(begins, np.arange(len(angles)), 0))
        return np.asarray(continuous - continuous[first] + angles[first])

    def _frames(self) -> Floats:
        """Return the animation frame (T, 7) in the world.

        Each loop starts where the feet were at the end of the one before.
        """
        frames = np.tile(self.frame, (len(self.at), 1))
        rounds = self.times.rounds
        if not self.tracks.has_legs or not rounds.any():
            return frames
        # The frame moves by what the feet move from the start to the end of a round. A
        # round may be cut off before the last keyframe.
        ends = np.array(
            [
                0.0,
                min(
                    self.times.natural * self.times.seconds_per_slice,
                    self.animation.duration,
                ),
            ]
        )
        if self.tracks.has_body:
            body = self.tracks.body_poses(ends)
        else:
            body = self.tracks.body_on_legs(ends)
        first, last = footprint(self.tracks.feet(ends, body))
        # The step from the frame of the feet at the start to that at the end, level.
        step = poses.compose(last, poses.inverse(first))
        step[2] = 0.0
        # Nothing to do for steps that are only rounding: 1e-6 m and 1e-6 in the
        # quaternion's vector part (2e-6 rad).
        if np.abs(step[:3]).max() < 1e-6 and np.abs(step[4:]).max() < 1e-6:
            return frames
        current = self.frame
        for k in range(int(rounds.max()) + 1):
            frames[rounds == k] = current
            current = poses.compose(current, step)
        return frames

    def _blended(self, body: Floats, feet: Floats) -> Floats:
        """Return body poses (T, 7) blended at both ends.

        With the pose before the move, and at its end with the nominal pose over the
        feet.
        """
        # Entry and exit are for a body that the animation moves.
        if not self.tracks.has_body:
            return body
        weight = entry_weights(self.times, self.values["body_entry_slices"])
        body = blended(self.before.body, body, weight)
        weight = exit_weights(self.times, self.values["body_exit_slices"])
        # After the move the robot stands over where the feet are at the end.
        return blended(body, stand(footprint(feet[-1])).body, weight)

    def _legs(self, feet: Floats, body: Floats, animated: Floats) -> Legs:
        """Return the legs' joints.

        Those of the animation, or from the feet where the body is not at its animated
        pose.
        """
        tracks = self.tracks
        # Neither legs nor body: the legs do not move at all.
        if not tracks.has_legs and not tracks.has_body:
            return Legs(
                np.tile(self.before.legs, (len(self.at), 1, 1)),
                np.zeros((len(self.at), 4)),
            )
        result = leg_joints(
            poses.transform_points(poses.inverse(body)[:, None], feet), self.before.legs
        )
        # Joints from columns are exact where the body is as animated. Solving them back
        # from feet could choose another branch, or count as out of reach.
        by_joints = tracks.legs_by_joints
        if by_joints.any():
            unchanged = np.abs(body - animated).max(axis=1) < 1e-12
            still = unchanged[:, None] & by_joints
            result.joints[still] = tracks.leg_joints(self.at)[still]
            result.miss[still] = 0.0
        return result

    def _arm(
        self,
        animated: Floats,
        frames: Floats,
        body: Floats,
        joints: Floats | None,
        dance_frames: Mapping[int, Floats],
    ) -> Arm:
        """Return the joints of the arm over frames, and the errors of the hand."""
        tracks = self.tracks
        at = self.at
        zero = np.zeros(len(at))
        assert joints is not None
        found = Arm(joints, zero, zero)
        playback = arm_playback(self.animation)
        # The hand is solved for when its pose is given, or must not move with the body.
        # Otherwise joints from columns are used as they are.
        if tracks.has_hand or (tracks.arm_columns.any() and playback != "jointspace"):
            if tracks.has_hand:
                # Without columns, components of the hand's pose stay as before the
                # move.
                before = poses.compose(self.before.body, hand_poses(self.before.arm))
                hand = tracks.hand(at, poses.compose(poses.inverse(self.frame), before))
            else:
                # `workspace` with joints: the hand moves as with the animated body.
                hand = poses.compose(animated, hand_poses(joints))
            # Goals are in the body's frame: of the animated body for `jointspace`, so
            # that the arm moves along with multipliers and blends; of the real one
            # otherwise.
            if playback == "jointspace":
                goal = poses.compose(poses.inverse(animated), hand)
            else:
                frame = frames
                if playback == "workspace_dance_frame":
                    number = round(self.values["arm_dance_frame_id"])
                    if dance_frames and number not in dance_frames:
                        known = ", ".join(map(str, dance_frames))
                        raise ValueError(
                            f"the arm uses dance frame {number}; dance_frames has "
                            f"only {known}"
                        )
                    frame = dance_frames.get(number, self.frame)
                goal = poses.compose(poses.inverse(body), poses.compose(frame, hand))
            # Offsets come after the solution: the hand misses its goal by them, on
            # purpose.
            found = arm_joints(goal, self.before.arm)
            if tracks.has_hand:
                found = replace(found, joints=found.joints + self._offsets())
        # Blend in only where the animation moves the arm.
        if tracks.has_hand or tracks.arm_columns.any():
            found = replace(found, joints=self._entered(self.before.arm, found.joints))
        return found

    def _gripper(self) -> Floats:
        """Return the angles (T,) [rad] of the gripper."""
        angle = self.tracks.gripper(self.at)
        if angle is None:
            return np.full(len(self.at), self.before.gripper)
        angle = (
            angle * self.values["gripper_multiplier"] + self.values["gripper_offset"]
        )
        return self._entered(self.before.gripper, angle[:, None])[:, 0]

    def _entered(self, before: Floats | float, joints: Floats) -> Floats:
        """Return joints (T, J) of arm or gripper.

        At first blended with those before the move.
        """
        weight = entry_weights(self.times, self.values["arm_entry_slices"])[:, None]
        # `where` keeps the exact joints at weight 1, without rounding.
        return np.where(weight == 1.0, joints, before + weight * (joints - before))


def loop_problems(
    animation: Animation, tracks: Tracks, times: Timing
) -> tuple[Problem, ...]:
    """Return the problem of an animation that jumps where it starts again.

    It may start again, or does, from another pose than that in which it ends.
    """
    starts_again = bool(times.rounds.any())
    # A loop needs two rounds: played here, or allowed by `extendable`.
    if "no_looping" in animation.options or not (
        starts_again or "extendable" in animation.options
    ):
        return ()
    amount = _difference_of_ends(tracks, animation.duration)
    if amount <= LOOP_TOLERANCE:
        return ()
    last = len(animation.keyframes) - 1
    path = animation.source.path
    known = animation.source.locations.locate(("keyframes", last)) or Location(
        None if path is None else str(path)
    )
    message = f"the last keyframe differs from the first by {amount:.3f} (m or rad)"
    if starts_again:
        at = float(times.timeline.times[np.argmax(times.rounds > 0)])
        message = f"the move starts again at {at:.2f} s with a jump: {message}"
    where = replace(known, inside=f"keyframe {keyframe_number(animation, last)}")
    found = rules.LOOP.problem(
        message, where, subject=("keyframes", last), data={"amount": amount}
    )
    return (replace(found, severity="warning") if starts_again else found,)


# Only the amount counts, not where it is.
def _difference_of_ends(tracks: Tracks, duration: float) -> float:
    """Return the largest difference between the ends of an animation.

    Relative to the feet, as a walk may end elsewhere.
    """
    ends = np.array([0.0, duration])
    body = tracks.body_poses(ends)
    parts: list[Floats] = []
    # Relative to the body: a walk ends elsewhere, in the same pose.
    if tracks.has_legs:
        feet = poses.transform_points(
            poses.inverse(body)[:, None], tracks.feet(ends, body)
        )
        parts.append(feet.reshape(2, -1))
    elif tracks.has_body:
        # q and −q are the same orientation.
        parts += [body[:, :3], np.abs(body[:, 3:])]
    if tracks.arm_columns.any():
        parts.append(tracks.arm_joints(ends))
    gripper = tracks.gripper(ends)
    if gripper is not None:
        parts.append(gripper[:, None])
    return max((float(np.abs(part[1] - part[0]).max()) for part in parts), default=0.0)


def center_of_mass(body: Floats, legs: Floats, arm: Floats | None) -> Floats:
    """Return Spot's centre of mass (T, 3) [m].

    For body poses (T, 7) and joints of legs (T, 4, 3) and arm (T, 6), None without arm.
    """
    joints = [legs.reshape(len(legs), 12)]
    if arm is not None:
        # Six joints of the arm, and the gripper closed.
        joints += [np.broadcast_to(arm, (len(legs), 6)), np.zeros((len(legs), 1))]
    robot = spot_body(arm=arm is not None)
    q = np.hstack(joints)
    centers = np.empty((len(q), 3))
    # Blocks limit the memory: link poses take much more than joints.
    for first in range(0, len(q), BLOCK):
        part = slice(first, first + BLOCK)
        centers[part] = robot.center_of_mass(
            robot.forward_kinematics(q[part], body[part])
        )
    return centers


@cache
def _nominal_center_height(arm: bool) -> float:
    """Return the height [m] of the centre of mass over the feet.

    In a nominal stand, over their centres.
    """
    pose = stand(poses.IDENTITY)
    center = center_of_mass(
        pose.body[None], pose.legs[None], pose.arm[None] if arm else None
    )
    return float(center[0, 2])


def _body_positions(
    tracks: Tracks,
    at: Floats,
    centers: Floats,
    orientations: Floats,
    arm: Floats | None,
    before: SpotPose,
) -> Floats:
    """Return body positions (T, 3) for centres of mass.

    Of its origin, for `centers` (T, 3) in the animation frame.

    Legs that are defined by joints move with the body, the feet of the others stay at
    their goals. The solution is iterative: each step moves the body by the error of the
    centre of mass. The arm has its joints, or those before the move where the hand's
    pose defines it.
    """
    # First guess: the body's origin in the centre of mass, a few centimetres off.
    position = np.array(centers)
    by_joints = tracks.legs_by_joints
    if by_joints.any():
        angles = tracks.leg_joints(at)
    else:
        angles = None
    feet = tracks.feet(at, poses.from_parts(position, orientations))
    for _ in range(MAX_ITERATIONS):
        body = poses.from_parts(position, orientations)
        # `nearest` is left out: clipped joints do while the body still moves.
        legs = leg_joints(
            poses.transform_points(poses.inverse(body)[:, None], feet),
            before.legs,
            nearest=False,
        ).joints
        if angles is not None:
            legs[:, by_joints] = angles[:, by_joints]
        # Moving body and feet goals apart shifts the centre by almost the same
        # distance, because the body and the arm have most of the mass: the error
        # shrinks quickly.
        error = centers - center_of_mass(body, legs, arm)
        position += error
        if np.abs(error).max(initial=0.0) < CENTER_TOLERANCE:
            break
    return position
