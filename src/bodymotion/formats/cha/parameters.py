"""The second section: lines of a name with minimum, default and maximum, or of a name only; or `no parameters`."""

from __future__ import annotations

from bodymotion.animation import Parameter
from bodymotion.formats.cha import rules
from bodymotion.formats.cha.comments import Remark, RemarkKeeper
from bodymotion.formats.cha.findings import Findings, Place
from bodymotion.formats.cha.options import near, number
from bodymotion.formats.cha.text import Line
from bodymotion.formats.cha.words import OPTIONS, PARAMETERS

__all__ = ["ParametersReader"]


class ParametersReader:
    """Reads parameters; `parameters` are those that could be read, `places` where all known ones and their values stand."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.parameters: dict[str, Parameter] = {}
        self.places: dict[str, tuple[Place, ...]] = {}
        self._keeper = RemarkKeeper()
        self._none: Place | None = None

    def read(self, lines: list[Line]) -> None:
        """Read all lines."""
        for line in lines:
            if not line.words:
                self._keeper.alone(line.comment)
            elif [word.text.lower() for word in line.words[:2]] == ["no", "parameters"]:
                self._none = line.place
                if [word.text for word in line.words] != ["no", "parameters"]:
                    said = f"read as 'no parameters': {line.text.strip()[:60]!r}"
                    self.findings.add(rules.NO_PARAMETERS_WORDS, said, line.place)
                elif line.text.strip() != "no parameters":
                    said = "more than one space, or a tab, between 'no' and 'parameters'"
                    self.findings.add(rules.NO_PARAMETERS_BLANKS, said, line.place)
                self._keeper.at("", line.comment)
            else:
                self._parameter(line)
        if self._none is not None and self.places:
            self.findings.add(rules.NO_PARAMETERS_FALSE, f"there are: {', '.join(self.places)}", self._none)

    @property
    def remarks(self) -> dict[str, Remark]:
        """The comments at the parameters."""
        return self._keeper.remarks

    @property
    def end(self) -> tuple[str, ...]:
        """The comments after the last parameter."""
        return self._keeper.end()

    def _parameter(self, line: Line) -> None:
        word = line.words[0]
        name = word.text.lower()
        if name not in PARAMETERS:
            hint = "it is an option: options stand in the first section" if name in OPTIONS else ""
            hint = hint or near(name, PARAMETERS, "parameter")
            self.findings.add(rules.PARAMETER_UNKNOWN, f"{word.text[:60]!r} is no parameter", word.place, hint)
            if line.comment:
                self._keeper.alone(line.comment)
            return
        if word.text != name:
            self.findings.add(rules.PARAMETER_CASE, f"{word.text!r} is read as {name!r}", word.place)
        if name in self.places:
            said = f"{name!r} stands in line {self.places[name][0].line}, too"
            self.findings.add(rules.PARAMETER_TWICE, said, word.place)
        self.places[name] = tuple(w.place for w in line.words)
        self._keeper.at(name, line.comment)
        self._values(name, line)

    def _values(self, name: str, line: Line) -> None:
        words = line.words[1:]
        if len(words) not in (0, 3):
            place = line.end if len(words) < 3 else words[3].place
            said = f"{name!r} has {len(words)} value{'s' * (len(words) != 1)} instead of three"
            self.findings.add(rules.PARAMETER_VALUES, said, place)
        values = []
        for word, what in zip(words[:3], ("minimum", "default", "maximum"), strict=False):
            value = number(word)
            if value is None:
                said = f"the {what} of {name!r} is {word.text[:40]!r}, which is no finite number"
                self.findings.add(rules.PARAMETER_NUMBER, said, word.place)
            else:
                values.append(value)
        if not words:
            self.parameters[name] = Parameter()
        elif len(values) == 3:
            self.parameters[name] = Parameter(*values)
