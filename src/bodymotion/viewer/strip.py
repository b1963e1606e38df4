"""The time line of a move as a picture: beats and slices, when each foot is in stance, what a robot would mind.

All of it is one piece of HTML; only the line that says where the time is moves, by a variable of CSS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from bodymotion.motion.timeline import Timeline
from bodymotion.viewer.beats import SLICES_IN_A_BEAT, Beats
from bodymotion.viewer.contacts import HAND, MISSED, STANCE, SWING, Contacts
from bodymotion.viewer.text import html_text

__all__ = ["runs", "strip_html", "strip_now"]

COLUMNS = 1000
"""Contacts are looked at in so many moments: more cannot be seen."""
LEFT, RIGHT, RULER, ROW = 24, 12, 20, 9
"""Pixels: room for the names of feet, on the right, for the numbers of beats, for each foot."""
MOST_NUMBERS = 9
MOST_SLICES, MOST_BEATS = 80, 160
"""Of more slices, or beats, only every second, fifth, tenth … beat has a tick."""
MOST_MARKS = 60


def strip_html(
    timeline: Timeline, beats: Beats | None, contacts: Contacts | None, marks: Sequence[tuple[float, str]] = ()
) -> str:
    """Draw the time line of a move; `marks` are times [s] with what a robot would mind there. Nothing to draw gives no text."""
    if timeline.num_frames < 2 or (beats is None and contacts is None):
        return ""
    start, span = float(timeline.times[0]), float(timeline.duration)
    names = () if contacts is None else contacts.names
    rows = [k for k, name in enumerate(names) if name != HAND or (contacts is not None and contacts.short[:, k].any())]
    height = RULER + ROW * len(rows) + (11 if marks else 0)
    drawn, words = ("", "") if beats is None else _ruler(beats, start, span)
    top = RULER
    for k in rows:
        assert contacts is not None
        words += _text(f"left:0;top:{top - 2}px;width:{LEFT - 5}px;text-align:right", html_text(names[k].upper(), 5))
        drawn += _row(timeline, contacts.stance[:, k], contacts.short[:, k], names[k] != HAND, top)
        top += ROW
    for time, what in marks[:MOST_MARKS]:
        share = min(max((time - start) / span, 0.0), 1.0)
        words += (
            f'<div title="{html_text(what, 300)}" style="position:absolute;top:{top}px;cursor:help;transform:translateX(-50%);'
            f'{_across(share)};color:rgb{MISSED};font-size:10px;line-height:10px">▲</div>'
        )
    inside = f"left:{LEFT}px;right:{RIGHT}px;top:0;height:{height}px"
    return (
        f'<div style="position:relative;height:{height}px;margin:0.3em 0.6em 0.2em;font-size:9px;line-height:12px">'
        f'<svg style="position:absolute;{inside};width:calc(100% - {LEFT + RIGHT}px);overflow:visible" '
        f'viewBox="0 0 {COLUMNS} {height}" preserveAspectRatio="none">{drawn}</svg>{words}'
        f'<div style="position:absolute;{inside};pointer-events:none"><div style="position:absolute;top:0;bottom:0;'
        'border-left:1.5px solid #e02020;left:calc(var(--bodymotion-strip, 0) * 100%)"></div></div></div>'
        + ("" if contacts is None else _legend(contacts, bool(marks)))
    )


def strip_now(timeline: Timeline, time: float) -> str:
    """Return the tiny piece of HTML that puts the line to a time [s]."""
    share = (time - float(timeline.times[0])) / max(float(timeline.duration), 1e-12)
    return f"<style>:root{{--bodymotion-strip:{min(max(share, 0.0), 1.0):.5f}}}</style>"


def runs(on: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Return the first index and the one after the last of each run of true values in (N,)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _ruler(beats: Beats, start: float, span: float) -> tuple[str, str]:
    """Draw a tick for each beat, a small one for each slice, and give the numbers of beats."""
    paths, words = "", ""
    count = beats.slices / SLICES_IN_A_BEAT
    every = _rounded(count / MOST_BEATS)
    numbered = max(_rounded(count / MOST_NUMBERS), every)
    slices = np.arange(0, int(np.floor(beats.slices + 1e-6)) + 1) if beats.slices <= MOST_SLICES else np.zeros(0, int)
    for number in slices[slices % SLICES_IN_A_BEAT != 0]:
        paths += _tick((number * beats.slice - start) / span, 4, 0.3)
    for beat in range(0, int(np.floor(count + 1e-6)) + 1, every):
        share = (beat * SLICES_IN_A_BEAT * beats.slice - start) / span
        paths += _tick(share, 8, 0.6)
        if beat % numbered == 0 and beat < count - 1e-6:
            words += _text(f"top:0;{_across(share)};transform:translateX(-50%)", str(beat + 1))
    return paths, words


def _rounded(at_least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20 … that is not below a number."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if factor * power >= at_least:
                return factor * power
        power *= 10


def _row(
    timeline: Timeline, stance: npt.NDArray[np.bool_], short: npt.NDArray[np.bool_], is_foot: bool, top: int
) -> str:
    times = timeline.times[0] + (np.arange(COLUMNS) + 0.5) / COLUMNS * timeline.duration
    frames = np.asarray(timeline.frames_at(times))
    text = ""
    if is_foot:
        for first, end in runs(~stance[frames]):
            text += _bar(first, end, top + 3, ROW - 6, SWING)
        for first, end in runs(stance[frames]):
            text += _bar(first, end, top + 1, ROW - 2, STANCE)
    # A miss of a single frame shall be seen, too.
    missed = short[frames]
    at = (timeline.times[np.flatnonzero(short)] - timeline.times[0]) / max(float(timeline.duration), 1e-12)
    missed[np.minimum((at * COLUMNS).astype(int), COLUMNS - 1)] = True
    for first, end in runs(missed):
        text += _bar(first, end, top + 1, ROW - 2, MISSED)
    return text


def _bar(first: int, end: int, top: int, height: int, color: tuple[int, int, int]) -> str:
    return f'<rect x="{first}" y="{top}" width="{end - first}" height="{height}" fill="rgb{color}"/>'


def _tick(share: float, length: int, strength: float) -> str:
    if not -1e-6 <= share <= 1 + 1e-6:
        return ""
    at = f"M{COLUMNS * share:.1f} {RULER - 1}V{RULER - 1 - length}"
    return f'<path d="{at}" stroke="currentColor" stroke-opacity="{strength}" vector-effect="non-scaling-stroke"/>'


def _across(share: float) -> str:
    return f"left:calc({LEFT}px + {share:.5f} * (100% - {LEFT + RIGHT}px))"


def _text(style: str, text: str) -> str:
    return f'<div style="position:absolute;{style};opacity:0.7">{text}</div>'


def _legend(contacts: Contacts, marked: bool) -> str:
    parts = [(STANCE, "●", "in stance"), (SWING, "●", "in swing")]
    if contacts.short.any():
        parts.append((MISSED, "●", "out of reach"))
    if marked:
        parts.append((MISSED, "▲", "a robot would mind"))
    said = " &nbsp; ".join(
        f'<span style="color:rgb{color}">{sign}</span>&nbsp;{words.replace(" ", "&nbsp;")}'
        for color, sign, words in parts
    )
    return f'<div style="padding:0 1.2em 0.2em;font-size:0.75em;line-height:1.3;opacity:0.85">{said}</div>'
