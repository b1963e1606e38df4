"""The first section: lines of a keyword and its values."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

from bodymotion.animation import TRACKS
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.comments import Remark, RemarkKeeper
from bodymotion.formats.cha.findings import Findings, Place
from bodymotion.formats.cha.rows import NUMBER
from bodymotion.formats.cha.text import Line, Word
from bodymotion.formats.cha.words import OPTIONS, PARAMETERS, PLAYBACKS, Option, tracks_text

__all__ = ["OptionsReader", "near"]

_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)


def near(word: str, known: Iterable[str], what: str) -> str:
    """Return a hint for a word that is not known."""
    found = difflib.get_close_matches(word[:60].lower().rstrip(":="), list(known), 1, 0.7)
    return f"did you mean {found[0]!r}?" if found else f"there is no such {what} in the document"


class OptionsReader:
    """Reads options; `options` are those that could be read, `places` where all known ones and their values stand."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.options: dict[str, object] = {}
        self.places: dict[str, tuple[Place, ...]] = {}
        self.unread: list[str] = []
        """The lines that stand for nothing."""
        self._keeper = RemarkKeeper()

    def read(self, lines: list[Line]) -> None:
        """Read all lines."""
        for line in lines:
            if not line.words:
                self._keeper.alone(line.comment)
                continue
            name = line.words[0].text
            if name in OPTIONS:
                self._option(OPTIONS[name], line)
                self._keeper.at(name, "" if self._is_cut(name, line) else line.comment)
                continue
            self._unknown(line)
            self.unread.append(line.text.strip())
            if line.comment:
                self._keeper.alone(line.comment)

    @property
    def remarks(self) -> dict[str, Remark]:
        """The comments at the options."""
        return self._keeper.remarks

    @property
    def end(self) -> tuple[str, ...]:
        """The comments after the last option."""
        return self._keeper.end()

    def _unknown(self, line: Line) -> None:
        word = line.words[0]
        if word.text.lower() in OPTIONS:
            message = f"{word.text!r} is not the option {word.text.lower()!r}"
            self.findings.add(rules.OPTION_CASE, message, word.place)
        else:
            hint = "it is a parameter: parameters stand in the second section" if word.text in PARAMETERS else ""
            hint = hint or near(word.text, OPTIONS, "option")
            self.findings.add(rules.OPTION_UNKNOWN, f"{word.text[:60]!r} is no option", word.place, hint)

    def _is_cut(self, name: str, line: Line) -> bool:
        """Whether a description goes on in what has become a comment, rather than being followed by one."""
        return name == "description" and bool(line.comment) and line.text[-1:] not in (" ", "\t")

    def _option(self, option: Option, line: Line) -> None:
        name, values = option.keyword, line.words[1:]
        if name in self.places:
            said = f"{name!r} stands in line {self.places[name][0].line}, too"
            self.findings.add(rules.OPTION_TWICE, said, line.place)
        self.places[name] = tuple(word.place for word in line.words)
        if option.values == "text":
            self._text(option, line)
        elif option.values == "tracks":
            self._tracks(line)
        elif option.values == "color":
            self._color(option, line)
        elif self._has_count(option, line):
            if not option.values:
                self.options[name] = True
            elif option.values == "number":
                self._number(option, values[0])
            elif values[0].text in PLAYBACKS:
                self.options[name] = values[0].text
            else:
                hint = near(values[0].text, PLAYBACKS, "way of playback")
                self.findings.add(
                    rules.PLAYBACK, f"{values[0].text[:60]!r} is no way of playback", values[0].place, hint
                )
        if not option.in_document:
            self.findings.add(rules.CONVERTER_ONLY, f"{name!r} is not in the document", line.place)

    def _has_count(self, option: Option, line: Line) -> bool:
        wanted, given = int(bool(option.values)), len(line.words) - 1
        if given < wanted:
            said = f"{option.keyword!r} has no value"
            self.findings.add(rules.OPTION_VALUE_MISSING, said, line.end, f"write '{option.shape}'")
        elif given > wanted:
            takes = "one value" if wanted else "no values"
            said = f"{option.keyword!r} takes {takes}, but {line.words[wanted + 1].text[:40]!r} follows"
            self.findings.add(rules.OPTION_VALUE_EXTRA, said, line.words[wanted + 1].place)
        return given >= wanted

    def _text(self, option: Option, line: Line) -> None:
        word = line.words[0]
        assert word.place.column is not None
        text = line.text[word.place.column - 1 + len(word.text) :].strip()
        if line.comment:
            said = f"the description ends before {line.comment[:40]!r}"
            self.findings.add(rules.DESCRIPTION_CUT, said, Place(line.number, len(line.text) + 1))
        if text:
            self.options[option.keyword] = text
        else:
            self.findings.add(
                rules.OPTION_VALUE_MISSING, "the description is empty", line.end, f"write '{option.shape}'"
            )

    def _tracks(self, line: Line) -> None:
        tracks: list[str] = []
        for word in line.words[1:]:
            if word.text not in TRACKS:
                hint = near(word.text.strip(","), TRACKS, "track")
                self.findings.add(rules.CONTROLS_TRACK, f"{word.text[:60]!r} is no track", word.place, hint)
                # What is most likely meant counts, so that nothing more is said about that track.
                tracks += [track for track in _meant(word.text) if track not in tracks]
            elif word.text in tracks:
                self.findings.add(rules.CONTROLS_TWICE, f"{word.text!r} is named twice", word.place)
            else:
                tracks.append(word.text)
        if len(line.words) == 1:
            self.findings.add(rules.CONTROLS_EMPTY, "'controls' names no track", line.end)
        elif tracks:
            self.options["controls"] = tuple(tracks)

    def _color(self, option: Option, line: Line) -> None:
        values = line.words[1:]
        if len(values) != 3:
            place = line.end if len(values) < 3 else values[3].place
            self.findings.add(
                rules.COLOR_COUNT, f"{len(values)} value{'s' * (len(values) != 1)} instead of three", place
            )
        good = []
        for word, name in zip(values[:3], ("red", "green", "blue"), strict=False):
            if word.text.isascii() and word.text.isdigit() and len(word.text) < 10 and int(word.text) <= option.highest:
                good.append(int(word.text))
            else:
                said = f"{name} is {word.text[:40]!r}, which is no whole number from 0 to 255"
                self.findings.add(rules.COLOR_RANGE, said, word.place)
        if len(good) == len(values) == 3:
            self.options[option.keyword] = tuple(good)

    def _number(self, option: Option, word: Word) -> None:
        value = number(word)
        if value is None:
            said = f"{option.keyword!r} is {word.text[:40]!r}, which is no finite number"
            self.findings.add(rules.OPTION_NUMBER, said, word.place)
        else:
            self.options[option.keyword] = value
            if option.keyword == "bpm" and value > 0 and value.is_integer() and not _WHOLE.fullmatch(word.text):
                self.findings.add(rules.BPM_WHOLE, f"{word.text[:40]!r} beats per minute", word.place)


def _meant(word: str) -> list[str]:
    parts = [part for part in re.split("[,;]", word[:200].lower()) if part]
    return [track for part in parts for track in difflib.get_close_matches(part, TRACKS, 1, 0.7)]


def number(word: Word) -> float | None:
    """Return the number that a word is; None if it is none, or not finite."""
    value = float(word.text) if NUMBER.fullmatch(word.text) else math.nan
    return value if math.isfinite(value) else None


def shown(tracks: Iterable[str]) -> str:
    """Return tracks in a row, or `none`."""
    return tracks_text(tuple(tracks)) or "none"
