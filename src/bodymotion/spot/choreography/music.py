"""The moves of a choreography on the beats of music."""

from dataclasses import replace
from heapq import heappop, heappush

from bodymotion.diagnostics import WrongUseError
from bodymotion.scene.music import Music
from bodymotion.spot.choreography.values import Choreography, Move

# [slices per minute] The slowest tempo that is advised for choreographies.
MIN_SLICES = 250.0
# [slices per minute] The fastest one.
MAX_SLICES = 450.0
# A beat has four slices; two or eight where that is too fast or too slow.
SLICES_PER_BEAT = (4, 2, 8)


def snap_to_beats(choreography: Choreography, music: Music) -> Choreography:
    """Return a choreography with the tempo of music, and its moves at beats.

    A slice is a quarter of a beat; where that is too fast or too slow for a robot, a
    half or an eighth. Moves keep their lengths in slices and begin at the nearest beat,
    or at the first one after all moves that ended before them.
    """
    if not music.tempo:
        raise WrongUseError(f"{music.path.name}: no beats were found")

    def excess(slices_per_beat: int) -> float:
        """Return the ratio of a tempo to the nearest advised one, at least 1."""
        tempo = slices_per_beat * music.tempo
        return max(MIN_SLICES / tempo, tempo / MAX_SLICES, 1.0)

    beat = min(SLICES_PER_BEAT, key=excess)
    moved = choreography.replaced(*_moves_at_beats(choreography.moves, beat))
    return replace(moved, slices_per_minute=beat * music.tempo)


def _moves_at_beats(moves: tuple[Move, ...], beat: int) -> list[Move]:
    """Return moves that begin at multiples of a beat [slices]."""
    moved = list(moves)
    # Ends of moves before and after the change, the earliest first.
    ends: list[tuple[int, int]] = []
    first_free = 0
    for index in sorted(range(len(moves)), key=lambda k: moves[k].start_slice):
        move = moves[index]
        while ends and ends[0][0] <= move.start_slice:
            first_free = max(first_free, heappop(ends)[1])
        nearest_beat = round(move.start_slice / beat)
        first_free_beat = -(-first_free // beat)
        start = beat * max(nearest_beat, first_free_beat)
        moved[index] = replace(move, start_slice=start)
        heappush(ends, (move.end_slice, moved[index].end_slice))
    return moved
