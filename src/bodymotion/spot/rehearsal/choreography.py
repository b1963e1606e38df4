"""ChoreographyService: animations and sequences up and down, and dances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bodymotion.formats.cha_proto import to_move_info
from bodymotion.spot.rehearsal.answers import NANO, answering, refused, set_time, time_of
from bodymotion.spot.rehearsal.basic_services import Power
from bodymotion.spot.rehearsal.leases import Leases
from bodymotion.spot.rehearsal.ranges import config_text
from bodymotion.spot.rehearsal.stage import PREFIX, Dance, Sequence, Stage, slices_of
from bodymotion.spot.rehearsal.verdicts import in_words, judge_animation, judge_sequence

__all__ = ["Choreography"]

PB = "bosdyn.api.spot.choreography_sequence_pb2"


class Choreography:
    """The service. `say` gets a line for what happens; `danced` is called with each dance that begins."""

    def __init__(
        self,
        stage: Stage,
        leases: Leases,
        power: Power,
        *,
        arm: bool,
        say: Callable[[str], object],
        danced: Callable[[Dance], object],
    ) -> None:
        self._stage, self._leases, self._power, self._arm = stage, leases, power, arm
        self._say, self._danced = say, danced

    @answering(PB, "ListAllMovesResponse")
    def ListAllMoves(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """List the animations, as moves."""
        for name, known in sorted(self._stage.animations.items()):
            info = answer.moves.add()
            info.CopyFrom(to_move_info(known.animation))
            info.name = PREFIX + name
            info.animated_move_generated_id.value = known.generated_id
        answer.move_param_config = config_text()

    @answering(PB, "UploadAnimatedMoveResponse")
    def UploadAnimatedMove(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Take an animation, or say why not; without one, say that somebody is there."""
        if not request.HasField("animated_move"):
            answer.status = answer.STATUS_PING_RESPONSE
            return
        name = request.animated_move.name
        if self._stage.dancing():
            answer.status = answer.STATUS_REJECTED_DANCE_ACTIVE
            self._say(f"upload {name}: refused, a dance goes on")
            return
        animation, faults = self._stage.read(request.animated_move)
        if animation is None:
            good, said = False, tuple(map(in_words, faults))
        else:
            good, said = judge_animation(animation, arm=self._arm)
        if not name:
            good, said = False, (*said, "the animation has no name")
        answer.warnings.extend(said)
        answer.status = answer.STATUS_OK if good else answer.STATUS_ANIMATION_VALIDATION_FAILED
        if good and animation is not None:
            self._stage.keep(request.animated_move, animation, request.animated_move_generated_id.value)
        count = f", {len(request.animated_move.animation_keyframes)} keyframes" if good else ""
        self._say(f"upload {name}: {'ok' if good else 'refused'}{count}" + "".join(f"\n  {line}" for line in said))

    @answering(PB, "GetAnimationResponse")
    def GetAnimation(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Return an animation back."""
        known = self._stage.animations.get(request.name.removeprefix(PREFIX))
        if known is None:
            refused(answer, f"there is no animation {request.name}")
            return
        answer.animated_move.CopyFrom(known.message)

    @answering(PB, "UploadChoreographyResponse")
    def UploadChoreography(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Take a sequence, and say what is wrong with it; with non-strict parsing it is danced without that."""
        sequence = request.choreography_sequence
        danced, said = judge_sequence(sequence, self._stage.animations)
        kept = Sequence(sequence, said, danced if request.non_strict_parsing or not said else None)
        kept.labels.extend(sequence.choreography_info.labels)
        self._stage.sequences[sequence.name] = kept
        answer.warnings.extend(said)
        self._say(f"sequence {sequence.name}: {len(sequence.moves)} moves" + "".join(f"\n  {line}" for line in said))

    @answering(PB, "ListAllSequencesResponse")
    def ListAllSequences(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """List the sequences."""
        for name, sequence in sorted(self._stage.sequences.items()):
            answer.known_sequences.append(name)
            info = answer.sequence_info.add()
            info.name = name
            info.labels.extend(sequence.labels)
            info.saved_state = info.SAVED_STATE_RETAINED if sequence.saved else info.SAVED_STATE_TEMPORARY

    @answering(PB, "GetChoreographySequenceResponse")
    def GetChoreographySequence(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Return a sequence back, with its animations."""
        found = self._stage.sequences.get(request.sequence_name)
        if found is None:
            answer.status = answer.STATUS_UNKNOWN_SEQUENCE
            return
        answer.status = answer.STATUS_OK
        answer.choreography_sequence.CopyFrom(found.message)
        names = dict.fromkeys(move.type.removeprefix(PREFIX) for move in found.message.moves)
        for name in names:
            known = self._stage.animations.get(name)
            if known is not None and request.return_animation_names_only:
                answer.animation_names.append(name)
            elif known is not None:
                answer.animated_moves.add().CopyFrom(known.message)

    @answering(PB, "SaveSequenceResponse")
    def SaveSequence(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Mark a sequence as saved; it is forgotten with the stand-in robot all the same."""
        found = self._stage.sequences.get(request.sequence_name)
        if found is None:
            answer.status = answer.STATUS_UNKNOWN_SEQUENCE
            return
        found.saved = True
        found.labels.extend(label for label in request.add_labels if label not in found.labels)
        answer.status = answer.STATUS_OK

    @answering(PB, "ModifyChoreographyInfoResponse")
    def ModifyChoreographyInfo(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Change the labels of a sequence."""
        found = self._stage.sequences.get(request.sequence_name)
        if found is None:
            answer.status = answer.STATUS_UNKNOWN_SEQUENCE
            return
        found.labels[:] = [label for label in found.labels if label not in request.remove_labels]
        found.labels.extend(label for label in request.add_labels if label not in found.labels)
        answer.status = answer.STATUS_OK

    @answering(PB, "DeleteSequenceResponse")
    def DeleteSequence(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Forget a sequence."""
        found = self._stage.sequences.pop(request.sequence_name, None)
        answer.status = answer.STATUS_UNKNOWN_SEQUENCE if found is None else answer.STATUS_OK

    @answering(PB, "ClearAllSequenceFilesResponse")
    def ClearAllSequenceFiles(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Forget what was saved."""
        for sequence in self._stage.sequences.values():
            sequence.saved = False
        answer.status = answer.STATUS_OK

    @answering(PB, "ExecuteChoreographyResponse")
    def ExecuteChoreography(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Begin a dance: with a lease, with the motors on, now or at a time to come."""
        name = request.choreography_sequence_name
        found = self._stage.sequences.get(name)
        if not self._leases.judge(request.lease, answer.lease_use_result):
            answer.status = answer.STATUS_LEASE_ERROR
            self._say(f"dance {name}: refused, no lease of the body in force")
        elif found is None:
            answer.status = answer.STATUS_UNKNOWN_SEQUENCE
            self._say(f"dance {name}: refused, no such sequence was uploaded")
        elif not self._power.on:
            answer.status = answer.STATUS_ROBOT_COMMAND_ISSUES
            self._say(f"dance {name}: refused, the motors are off")
        elif found.danced is None or not found.danced.moves:
            answer.status = answer.STATUS_INVALID_UPLOADED_CHOREOGRAPHY
            self._say(f"dance {name}: refused, the sequence has faults")
        elif not 0 <= request.choreography_starting_slice < slices_of(found.danced):
            refused(answer, f"the sequence has no slice {request.choreography_starting_slice:g}")
            self._say(f"dance {name}: refused, it has no slice {request.choreography_starting_slice:g}")
        else:
            start = time_of(request.start_time) if request.HasField("start_time") else self._stage.now()
            dance = self._stage.begin(found.danced, start, request.choreography_starting_slice)
            answer.status, answer.execution_id = answer.STATUS_OK, dance.number
            self._say(f"dance {name}: {dance.slices} slices at {found.danced.slices_per_minute:g} a minute")
            self._danced(dance)

    @answering(PB, "ChoreographyStatusResponse")
    def ChoreographyStatus(self, request: Any, answer: Any, context: Any) -> None:  # noqa: ANN401, N802
        """Say what is danced."""
        now, dance = self._stage.now(), self._stage.dance
        set_time(answer.validity_time, now)
        if dance is None:
            answer.status = answer.STATUS_OTHER if self._power.on else answer.STATUS_POWERED_OFF
            return
        at = dance.slice_at(now)
        answer.execution_id, answer.sequence_name = dance.number, dance.sequence.name
        answer.sequence_slices = dance.slices
        answer.sequence_slices_per_minute = dance.sequence.slices_per_minute
        answer.current_slice = min(at, float(dance.slices))
        begun = dance.start - round(dance.first_slice * 60.0 / dance.sequence.slices_per_minute * NANO)
        set_time(answer.sequence_start_time, begun)
        if dance.stopped_at is not None:
            answer.status = answer.STATUS_INTERRUPTED
        elif dance.over(now):
            answer.status = answer.STATUS_COMPLETED_SEQUENCE
        elif now < dance.start:
            answer.status = answer.STATUS_WAITING_FOR_START_TIME
        else:
            answer.status = answer.STATUS_DANCING
            for move in dance.sequence.moves:
                if move.start_slice <= at < move.start_slice + move.requested_slices:
                    answer.active_moves.add().move.CopyFrom(move)
