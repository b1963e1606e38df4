"""ChoreographyService: upload and download of animations and sequences, and dances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bodymotion.choreography import PREFIX
from bodymotion.formats.cha_proto import to_move_info
from bodymotion.spot.rehearsal.access import Leases
from bodymotion.spot.rehearsal.basic_services import Power
from bodymotion.spot.rehearsal.responses import NANO, set_invalid_request, set_time, time_of
from bodymotion.spot.rehearsal.sequences import config_text, validate_animation, validate_sequence, warning
from bodymotion.spot.rehearsal.store import Dance, Store, UploadedSequence, slices_of


class Choreography:
    """The service. `log` gets a line for each event, `danced` each dance that starts."""

    def __init__(
        self,
        store: Store,
        leases: Leases,
        power: Power,
        *,
        arm: bool,
        log: Callable[[str], object],
        danced: Callable[[Dance], object],
    ) -> None:
        self._store, self._leases, self._power, self._arm = store, leases, power, arm
        self._log, self._danced = log, danced

    def ListAllMoves(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """List the animations, as moves, and the moves of its own."""
        for name, known in sorted(self._store.animations.items()):
            info = response.moves.add()
            info.CopyFrom(to_move_info(known.animation))
            info.name = PREFIX + name
            info.animated_move_generated_id.value = known.generated_id
        if self._store.listed is not None:
            response.MergeFromString(self._store.listed.SerializeToString())
        response.move_param_config = "\n\n".join(filter(None, (response.move_param_config, config_text())))

    def UploadAnimatedMove(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Accept or refuse an animation; without one, answer that the service is there."""
        if not request.HasField("animated_move"):
            response.status = response.STATUS_PING_RESPONSE
            return
        name = request.animated_move.name
        if self._store.is_dancing():
            response.status = response.STATUS_REJECTED_DANCE_ACTIVE
            self._log(f"upload {name}: refused, a dance is running")
            return
        animation, problems = self._store.read(request.animated_move)
        if animation is not None:
            problems = validate_animation(animation, name, arm=self._arm)
        accepted = animation is not None and not any(problem.severity == "error" for problem in problems)
        warnings = tuple(map(warning, problems))
        response.warnings.extend(warnings)
        response.status = response.STATUS_OK if accepted else response.STATUS_ANIMATION_VALIDATION_FAILED
        if accepted and animation is not None:
            self._store.add(request.animated_move, animation, request.animated_move_generated_id.value)
        count = f", {len(request.animated_move.animation_keyframes)} keyframes" if accepted else ""
        self._log(
            f"upload {name}: {'ok' if accepted else 'refused'}{count}" + "".join(f"\n  {line}" for line in warnings)
        )

    def GetAnimation(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Return an uploaded animation."""
        known = self._store.animations.get(request.name.removeprefix(PREFIX))
        if known is None:
            set_invalid_request(response, f"unknown animation {request.name}")
            return
        response.animated_move.CopyFrom(known.message)

    def UploadChoreography(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Accept a sequence, with warnings; with non-strict parsing its valid part can be danced."""
        sequence = request.choreography_sequence
        danced, problems = validate_sequence(sequence, self._store.animations, self._store.listed)
        warnings = tuple(map(warning, problems))
        kept = UploadedSequence(sequence, warnings, danced if request.non_strict_parsing or not warnings else None)
        kept.labels.extend(sequence.choreography_info.labels)
        self._store.sequences[sequence.name] = kept
        response.warnings.extend(warnings)
        self._log(
            f"sequence {sequence.name}: {len(sequence.moves)} moves" + "".join(f"\n  {line}" for line in warnings)
        )

    def ListAllSequences(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """List the sequences."""
        for name, sequence in sorted(self._store.sequences.items()):
            response.known_sequences.append(name)
            info = response.sequence_info.add()
            info.name = name
            info.labels.extend(sequence.labels)
            info.saved_state = info.SAVED_STATE_RETAINED if sequence.saved else info.SAVED_STATE_TEMPORARY

    def GetChoreographySequence(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Return an uploaded sequence, with its animations."""
        found = self._store.sequences.get(request.sequence_name)
        if found is None:
            response.status = response.STATUS_UNKNOWN_SEQUENCE
            return
        response.status = response.STATUS_OK
        response.choreography_sequence.CopyFrom(found.message)
        names = dict.fromkeys(move.type.removeprefix(PREFIX) for move in found.message.moves)
        for name in names:
            known = self._store.animations.get(name)
            if known is not None and request.return_animation_names_only:
                response.animation_names.append(name)
            elif known is not None:
                response.animated_moves.add().CopyFrom(known.message)

    def SaveSequence(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Mark a sequence as saved; like all others it is lost when the stand-in robot stops."""
        found = self._store.sequences.get(request.sequence_name)
        if found is None:
            response.status = response.STATUS_UNKNOWN_SEQUENCE
            return
        found.saved = True
        found.labels.extend(label for label in request.add_labels if label not in found.labels)
        response.status = response.STATUS_OK

    def ModifyChoreographyInfo(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Change the labels of a sequence."""
        found = self._store.sequences.get(request.sequence_name)
        if found is None:
            response.status = response.STATUS_UNKNOWN_SEQUENCE
            return
        found.labels[:] = [label for label in found.labels if label not in request.remove_labels]
        found.labels.extend(label for label in request.add_labels if label not in found.labels)
        response.status = response.STATUS_OK

    def DeleteSequence(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Delete a sequence."""
        found = self._store.sequences.pop(request.sequence_name, None)
        response.status = response.STATUS_UNKNOWN_SEQUENCE if found is None else response.STATUS_OK

    def ClearAllSequenceFiles(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Mark all sequences as not saved."""
        for sequence in self._store.sequences.values():
            sequence.saved = False
        response.status = response.STATUS_OK

    def ExecuteChoreography(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Start a dance, now or later; this needs a lease, and motors that are on."""
        name = request.choreography_sequence_name
        found = self._store.sequences.get(name)
        if not self._leases.check(request.lease, response.lease_use_result):
            response.status = response.STATUS_LEASE_ERROR
            self._log(f"dance {name}: refused, the lease of the body is not active")
        elif found is None:
            response.status = response.STATUS_UNKNOWN_SEQUENCE
            self._log(f"dance {name}: refused, the sequence was not uploaded")
        elif not self._power.on:
            response.status = response.STATUS_ROBOT_COMMAND_ISSUES
            self._log(f"dance {name}: refused, the motors are off")
        elif found.danced is None or not found.danced.moves:
            response.status = response.STATUS_INVALID_UPLOADED_CHOREOGRAPHY
            self._log(f"dance {name}: refused, the sequence is not valid")
        elif not 0 <= request.choreography_starting_slice < slices_of(found.danced):
            set_invalid_request(response, f"the sequence has no slice {request.choreography_starting_slice:g}")
            self._log(f"dance {name}: refused, it has no slice {request.choreography_starting_slice:g}")
        else:
            start = time_of(request.start_time) if request.HasField("start_time") else self._store.now()
            dance = self._store.start_dance(found.danced, start, request.choreography_starting_slice)
            response.status, response.execution_id = response.STATUS_OK, dance.number
            self._log(f"dance {name}: {dance.slices} slices at {found.danced.slices_per_minute:g} per minute")
            self._danced(dance)

    def ChoreographyStatus(self, request: Any, response: Any) -> None:  # noqa: ANN401, N802
        """Return the state of the dance."""
        now, dance = self._store.now(), self._store.dance
        set_time(response.validity_time, now)
        if dance is None:
            response.status = response.STATUS_OTHER if self._power.on else response.STATUS_POWERED_OFF
            return
        at = dance.slice_at(now)
        response.execution_id, response.sequence_name = dance.number, dance.sequence.name
        response.sequence_slices = dance.slices
        response.sequence_slices_per_minute = dance.sequence.slices_per_minute
        response.current_slice = min(at, float(dance.slices))
        begun = dance.start - round(dance.first_slice * 60.0 / dance.sequence.slices_per_minute * NANO)
        set_time(response.sequence_start_time, begun)
        if dance.stopped_at is not None:
            response.status = response.STATUS_INTERRUPTED
        elif dance.is_over(now):
            response.status = response.STATUS_COMPLETED_SEQUENCE
        elif now < dance.start:
            response.status = response.STATUS_WAITING_FOR_START_TIME
        else:
            response.status = response.STATUS_DANCING
            for move in dance.sequence.moves:
                if move.start_slice <= at < move.start_slice + move.requested_slices:
                    response.active_moves.add().move.CopyFrom(move)
