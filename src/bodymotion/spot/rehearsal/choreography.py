"""ChoreographyService: upload and download of animations and sequences, and dances.

Animations and sequences are validated as on a robot; the ranges of the parameters of
moves are in `RANGES`.
"""

# ruff: noqa: ANN401, N802 - messages of protobuf are made at run time

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from bodymotion.diagnostics import Diagnostics, FormatError, Problem
from bodymotion.formats.untrusted import call_within_limits
from bodymotion.spot.animation import Animation, Parameter
from bodymotion.spot.cha import check_animation
from bodymotion.spot.cha_proto import from_bytes, to_move_info
from bodymotion.spot.cha_proto.sequence import (
    choreography_from_bytes,
    robot_moves_of,
)
from bodymotion.spot.cha_proto.state_log import log_bytes
from bodymotion.spot.cha_proto.writer import message_of
from bodymotion.spot.choreography import check_choreography, rules
from bodymotion.spot.choreography.playing import motion_at, play_choreography
from bodymotion.spot.choreography.validation import danced
from bodymotion.spot.choreography.values import (
    PREFIX,
    Choreography,
    MoveInfo,
    RobotMoves,
)
from bodymotion.spot.rehearsal.access import Accounts
from bodymotion.spot.rehearsal.basic_services import BasicServices, set_invalid_request
from bodymotion.spot.rehearsal.store import (
    NANO,
    Dance,
    Store,
    UploadedAnimation,
    UploadedSequence,
    slices_of,
)
from bodymotion.system.limited import OF_OTHERS

MAX_RECORDING = 300 * NANO
LOGGED_AFTER = 3 * NANO
# [ns] The longest recording, and further times of logs. The time after a dance that its
# log has, and the time between two states.
LOG_STEP = NANO // 100

# The location of what ends the process that reads an upload.
UPLOAD = "upload"

_OFFSETS = ("shoulder_0", "shoulder_1", "elbow_0", "elbow_1", "wrist_0", "wrist_1")

# Minimum, default and maximum of each parameter that an animation only names. Our
# judgement; a real robot has its own.
RANGES: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "speed": (0.25, 1.0, 2.0),
        "offset_slices": (0.0, 0.0, 32.0),
        "body_entry_slices": (0.0, 1.0, 8.0),
        "body_exit_slices": (0.0, 1.0, 8.0),
        **{f"translation_multiplier.{axis}": (0.0, 1.0, 2.0) for axis in "xyz"},
        **{
            f"rotation_multiplier.{axis}": (0.0, 1.0, 2.0)
            for axis in ("roll", "pitch", "yaw")
        },
        "body_tracking_stiffness": (1.0, 5.0, 11.0),
        "arm_entry_slices": (0.0, 1.0, 8.0),
        **{f"{name}_offset": (-1.0, 0.0, 1.0) for name in _OFFSETS},
        "gripper_offset": (-1.0, 0.0, 1.0),
        "gripper_multiplier": (0.0, 1.0, 2.0),
        "gripper_strength_fraction": (0.0, 1.0, 1.0),
        "arm_dance_frame_id": (0.0, 0.0, 20.0),
    }
)


def config_text() -> str:
    """Return the ranges as the text of a robot's list of moves.

    A block of lines, the first of which names `animate_params`.
    """
    rows = [
        f"{name} {low:g} {default:g} {high:g}"
        for name, (low, default, high) in RANGES.items()
    ]
    return "\n".join(["animate_params", *rows, ""])


def validate_animation(
    animation: Animation, name: str, *, arm: bool
) -> tuple[Problem, ...]:
    """Return the problems of an animation on a robot.

    With or without arm; the robot refuses it where one is an error.
    """
    found = Diagnostics()
    found.extend(check_animation(animation))
    if arm and "arm_prohibited" in animation.options:
        found.report(
            rules.ARM, "the animation is not for a robot with arm (arm_prohibited)"
        )
    if not arm and "arm_required" in animation.options:
        found.report(rules.ARM, "the animation needs a robot with arm (arm_required)")
    if not name:
        found.report(rules.NAME, "the animation has no name")
    return found.problems


def warning(problem: Problem) -> str:
    """Return a problem as a warning of a response."""
    return f"{problem.rule} {problem.message}"


def choreography_of(
    sequence: Any,
    animations: Mapping[str, UploadedAnimation],
    listed: Any = None,
) -> Choreography:
    """Return the choreography of the vendor's message.

    With the animations of the stand-in robot, and the moves that it lists as its own.
    """
    return _choreography_of(sequence.SerializeToString(), animations, _moves_of(listed))


def _moves_of(listed: Any) -> RobotMoves:
    """Return the moves of a list of them; none without one."""
    if listed is None:
        return RobotMoves()
    return robot_moves_of(listed)


def _choreography_of(
    data: bytes, animations: Mapping[str, UploadedAnimation], own: RobotMoves
) -> Choreography:
    """Return the choreography of a message, as `choreography_of` does."""
    known = {name: one.animation for name, one in animations.items()}
    limits = {name: Parameter(*limit) for name, limit in RANGES.items()}
    # Uploaded animations are moves under the vendor's prefix.
    infos = {
        f"{PREFIX}{name}": MoveInfo(f"{PREFIX}{name}", one.controls)
        for name, one in known.items()
    }
    # The robot's own moves, and the ranges of parameters of animations.
    robot = RobotMoves(
        {**own.infos, **infos}, {**own.ranges, "animation": ("animate_params", limits)}
    )
    return replace(
        choreography_from_bytes(data),
        animations=known,
        robot=robot,
    )


def validate_sequence(
    sequence: Any,
    animations: Mapping[str, UploadedAnimation],
    listed: Any = None,
) -> tuple[Any, tuple[Problem, ...]]:
    """Return the part of a sequence that can be danced, and all problems.

    See `danced`.

    The subject of a move's is ("moves", index, …).
    """
    data, found = _read_sequence(
        sequence.SerializeToString(), animations, _moves_of(listed)
    )
    return type(sequence).FromString(data), found


def _read_upload(
    data: bytes, name: str, arm: bool
) -> tuple[Animation | None, tuple[Problem, ...]]:
    """Return the animation of a message, and its problems."""
    try:
        animation = from_bytes(data)
    except FormatError as error:
        return None, error.problems
    return animation, validate_animation(animation, name, arm=arm)


def _read_sequence(
    data: bytes, animations: Mapping[str, UploadedAnimation], own: RobotMoves
) -> tuple[bytes, tuple[Problem, ...]]:
    """Return the message of what can be danced of a sequence, and problems."""
    choreography = _choreography_of(data, animations, own)
    found = tuple(
        one
        for one in check_choreography(choreography, jumps=False)
        if one.severity != "note"
    )
    return bytes(message_of(danced(choreography, found)).SerializeToString()), found


class Services(BasicServices):
    """All services of the robot.

    `log` gets a line for each event, `danced` each dance that starts.
    """

    def __init__(
        self,
        accounts: Accounts,
        store: Store,
        *,
        arm: bool,
        log: Callable[[str], object],
        danced: Callable[[Dance], object],
    ) -> None:
        super().__init__(accounts, store, arm=arm)
        self._log = log
        self._danced = danced

    def ListAllMoves(self, request: Any, response: Any) -> None:
        """List the animations, as moves, and the moves of its own."""
        for name, known in sorted(self._store.animations.items()):
            info = response.moves.add()
            info.CopyFrom(to_move_info(known.animation))
            info.name = PREFIX + name
            info.animated_move_generated_id.value = known.generated_id
        if self._store.listed is not None:
            response.MergeFromString(self._store.listed.SerializeToString())
        response.move_param_config = "\n\n".join(
            filter(None, (response.move_param_config, config_text()))
        )

    def UploadAnimatedMove(self, request: Any, response: Any) -> None:
        """Accept or refuse an animation.

        Without one, answer that the service is there.
        """
        if not request.HasField("animated_move"):
            response.status = response.STATUS_PING_RESPONSE
            return
        name = request.animated_move.name
        if self._store.is_dancing():
            response.status = response.STATUS_REJECTED_DANCE_ACTIVE
            self._log(f"upload {name}: refused, a dance is running")
            return
        # An upload is untrusted: it is read in a child process within limits.
        animation = None
        data = request.animated_move.SerializeToString()
        try:
            animation, problems = call_within_limits(
                _read_upload,
                data,
                name,
                self._arm,
                files=[UPLOAD],
                limits=OF_OTHERS.for_size(len(data)),
            )
        except FormatError as error:
            problems = error.problems
        # Any error refuses the animation.
        accepted = animation is not None and not any(
            problem.severity == "error" for problem in problems
        )
        warnings = tuple(map(warning, problems))
        response.warnings.extend(warnings)
        if accepted:
            response.status = response.STATUS_OK
        else:
            response.status = response.STATUS_ANIMATION_VALIDATION_FAILED
        if accepted and animation is not None:
            self._store.add(
                request.animated_move,
                animation,
                request.animated_move_generated_id.value,
            )
        if accepted:
            count = f", {len(request.animated_move.animation_keyframes)} keyframes"
        else:
            count = ""
        self._log(
            "\n  ".join(
                (f"upload {name}: {'ok' if accepted else 'refused'}{count}", *warnings)
            )
        )

    def GetAnimation(self, request: Any, response: Any) -> None:
        """Return an uploaded animation."""
        known = self._store.animations.get(request.name.removeprefix(PREFIX))
        if known is None:
            set_invalid_request(response, f"unknown animation {request.name}")
            return
        response.animated_move.CopyFrom(known.message)

    def UploadChoreography(self, request: Any, response: Any) -> None:
        """Accept a sequence, with warnings.

        With non-strict parsing its valid part can be danced.
        """
        sequence = request.choreography_sequence
        danced = None
        try:
            data, problems = call_within_limits(
                _read_sequence,
                sequence.SerializeToString(),
                # The child process needs no messages, which have no pickle.
                {
                    name: replace(one, message=None)
                    for name, one in self._store.animations.items()
                },
                _moves_of(self._store.listed),
                files=[UPLOAD],
                limits=OF_OTHERS.for_size(sequence.ByteSize()),
            )
            danced = type(sequence).FromString(data)
        except FormatError as error:
            problems = error.problems
        warnings = tuple(map(warning, problems))
        # Strict parsing needs a sequence without warnings.
        kept = UploadedSequence(
            sequence,
            warnings,
            danced if request.non_strict_parsing or not warnings else None,
        )
        kept.labels.update(dict.fromkeys(sequence.choreography_info.labels))
        self._store.sequences[sequence.name] = kept
        response.warnings.extend(warnings)
        self._log(
            "\n  ".join(
                (f"sequence {sequence.name}: {len(sequence.moves)} moves", *warnings)
            )
        )

    def ListAllSequences(self, request: Any, response: Any) -> None:
        """List the sequences."""
        for name, sequence in sorted(self._store.sequences.items()):
            response.known_sequences.append(name)
            info = response.sequence_info.add()
            info.name = name
            info.labels.extend(sequence.labels)
            if sequence.saved:
                info.saved_state = info.SAVED_STATE_RETAINED
            else:
                info.saved_state = info.SAVED_STATE_TEMPORARY

    def GetChoreographySequence(self, request: Any, response: Any) -> None:
        """Return an uploaded sequence, with its animations."""
        found = self._sequence(request, response)
        if found is None:
            return
        response.choreography_sequence.CopyFrom(found.message)
        names = dict.fromkeys(
            move.type.removeprefix(PREFIX) for move in found.message.moves
        )
        for name in names:
            known = self._store.animations.get(name)
            if known is not None and request.return_animation_names_only:
                response.animation_names.append(name)
            elif known is not None:
                response.animated_moves.add().CopyFrom(known.message)

    def SaveSequence(self, request: Any, response: Any) -> None:
        """Mark a sequence as saved.

        Like all others it is lost when the stand-in robot stops.
        """
        if found := self._sequence(request, response):
            found.saved = True
            found.labels.update(dict.fromkeys(request.add_labels))

    def ModifyChoreographyInfo(self, request: Any, response: Any) -> None:
        """Change the labels of a sequence."""
        if found := self._sequence(request, response):
            for label in request.remove_labels:
                found.labels.pop(label, None)
            found.labels.update(dict.fromkeys(request.add_labels))

    def DeleteSequence(self, request: Any, response: Any) -> None:
        """Delete a sequence."""
        if self._sequence(request, response):
            del self._store.sequences[request.sequence_name]

    def _sequence(self, request: Any, response: Any) -> UploadedSequence | None:
        """Return the sequence that a call names, and set the status of its response.

        Whether there is one.
        """
        found = self._store.sequences.get(request.sequence_name)
        if found is None:
            response.status = response.STATUS_UNKNOWN_SEQUENCE
        else:
            response.status = response.STATUS_OK
        return found

    def ClearAllSequenceFiles(self, request: Any, response: Any) -> None:
        """Mark all sequences as not saved."""
        for sequence in self._store.sequences.values():
            sequence.saved = False
        response.status = response.STATUS_OK

    def ExecuteChoreography(self, request: Any, response: Any) -> None:
        """Start a dance, now or later.

        This needs a lease, and motors that are on.
        """
        name = request.choreography_sequence_name
        found = self._store.sequences.get(name)
        # Reasons to refuse, in order: lease, sequence, motors, validity, start.
        if not self._leases.check(request.lease, response.lease_use_result):
            response.status = response.STATUS_LEASE_ERROR
            self._log(f"dance {name}: refused, the lease of the body is not active")
        elif found is None:
            response.status = response.STATUS_UNKNOWN_SEQUENCE
            self._log(f"dance {name}: refused, the sequence was not uploaded")
        elif not self.motors_on:
            response.status = response.STATUS_ROBOT_COMMAND_ISSUES
            self._log(f"dance {name}: refused, the motors are off")
        elif found.danced is None or not found.danced.moves:
            response.status = response.STATUS_INVALID_UPLOADED_CHOREOGRAPHY
            self._log(f"dance {name}: refused, the sequence is not valid")
        elif not 0 <= request.choreography_starting_slice < slices_of(found.danced):
            set_invalid_request(
                response,
                f"the sequence has no slice {request.choreography_starting_slice:g}",
            )
            self._log(
                f"dance {name}: refused, it has no slice "
                f"{request.choreography_starting_slice:g}"
            )
        else:
            # Without a time it starts now.
            if request.HasField("start_time"):
                start = request.start_time.ToNanoseconds()
            else:
                start = self._store.now()
            dance = self._store.start_dance(
                found.danced, start, request.choreography_starting_slice
            )
            response.status, response.execution_id = response.STATUS_OK, dance.number
            self._log(
                f"dance {name}: {dance.slices} slices at "
                f"{found.danced.slices_per_minute:g} per minute"
            )
            self._danced(dance)

    def StartRecordingState(self, request: Any, response: Any) -> None:
        """Record for a while from now on, at most five minutes in all.

        A recording that is named goes on.
        """
        # 0 asks for a new recording; another number must be the current one.
        number, begun, _ = self._store.recording or (0, 0, 0)
        if request.recording_session_id not in (0, number):
            response.status = response.STATUS_UNKNOWN_RECORDING_SESSION_ID
            return
        now = self._store.now()
        if not request.recording_session_id:
            number = number + 1
            begun = now
        wanted = now + request.continue_recording_duration.ToNanoseconds()
        # At most `MAX_RECORDING` from its begin, however often it is continued.
        self._store.recording = number, begun, min(wanted, begun + MAX_RECORDING)
        response.recording_session_id = number
        is_full = wanted > begun + MAX_RECORDING
        if is_full:
            response.status = response.STATUS_RECORDING_BUFFER_FULL
        else:
            response.status = response.STATUS_OK

    def StopRecordingState(self, request: Any, response: Any) -> None:
        """End the recording."""
        if self._store.recording is not None:
            number, begun, end = self._store.recording
            self._store.recording = number, begun, min(end, self._store.now())

    def DownloadRobotStateLog(self, request: Any, response: Any) -> None:
        """Return the states of the last dance or recording.

        Of a dance until three seconds after it.

        Those that the dance commands.
        """
        dance = self._store.dance
        recording = self._store.recording
        now = self._store.now()
        if recording is None:
            span = None
        else:
            span = recording[1:]
        # The log of a dance goes on for `LOGGED_AFTER` after it.
        if request.log_type == request.LOG_TYPE_LAST_CHOREOGRAPHY:
            if dance is None:
                span = None
            else:
                span = (dance.start, dance.end + LOGGED_AFTER)
        if span is None or span[0] >= now:
            response.status = response.STATUS_NO_RECORDED_INFORMATION
            return
        # Times [ns] of the states, every 10 ms.
        at = np.arange(span[0], min(span[1], now) + 1, LOG_STEP)
        motion = None
        if dance is not None:
            known = choreography_of(
                dance.sequence, dict(self._store.animations), self._store.listed
            )
            motion = play_choreography(
                known, first_slice=dance.first_slice, arm=self._arm
            )
        # Without a dance all states are those of a stand.
        if dance is None:
            seconds = np.zeros(len(at))
        else:
            seconds = np.array([dance.seconds_at(int(time)) for time in at])
        states = Animation.from_motion(motion_at(motion, seconds, arm=self._arm))
        keyframes = replace(states.keyframes, times=(at - at[0]) / NANO)
        response.chunk.data = log_bytes(
            replace(states, keyframes=keyframes), int(at[0])
        )
        response.chunk.total_size = len(response.chunk.data)
        response.status = response.STATUS_OK

    def ChoreographyStatus(self, request: Any, response: Any) -> None:
        """Return the state of the dance."""
        now = self._store.now()
        dance = self._store.dance
        response.validity_time.FromNanoseconds(now)
        if dance is None:
            if self.motors_on:
                response.status = response.STATUS_OTHER
            else:
                response.status = response.STATUS_POWERED_OFF
            return
        at = dance.slice_at(now)
        response.execution_id, response.sequence_name = (
            dance.number,
            dance.sequence.name,
        )
        response.sequence_slices = dance.slices
        response.sequence_slices_per_minute = dance.sequence.slices_per_minute
        response.current_slice = min(at, float(dance.slices))
        # The start of slice 0, which may be before the start of the dance.
        begun = dance.start - round(
            dance.first_slice * 60.0 / dance.sequence.slices_per_minute * NANO
        )
        response.sequence_start_time.FromNanoseconds(begun)
        if dance.stopped_at is not None:
            response.status = response.STATUS_INTERRUPTED
        elif dance.is_over(now):
            response.status = response.STATUS_COMPLETED_SEQUENCE
        elif now < dance.start:
            response.status = response.STATUS_WAITING_FOR_START_TIME
        else:
            response.status = response.STATUS_DANCING
            # Moves that are going on; those from before the first slice are skipped.
            for move in dance.sequence.moves:
                if (
                    dance.first_slice
                    <= move.start_slice
                    <= at
                    < move.start_slice + move.requested_slices
                ):
                    response.active_moves.add().move.CopyFrom(move)
