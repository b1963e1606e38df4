"""Problems as they are met: the first fault ends the reading of a file, or, where all are wanted, is noted like the others."""

from __future__ import annotations

from dataclasses import replace

from bodymotion.diagnostics import FormatError, Location, Problem, Rule

__all__ = ["Findings"]


class Findings(list[Problem]):
    """What is said about a file's headers. `lenient`: whoever reads goes on after a fault as well as can be; `one_by_one`: also where rows
    are no YAML.
    """

    def __init__(self, lenient: bool = False, one_by_one: bool = False) -> None:
        super().__init__()
        self.lenient, self.one_by_one = lenient or one_by_one, one_by_one
        self._faults: set[Problem] = set()

    def fault(self, rule: Rule, message: str, where: Location, hint: str | None = None) -> None:
        """Note a fault, or raise it.

        Raises
        ------
        FormatError
            Where the first fault ends the reading.
        """
        problem = rule.problem(message, where, hint)
        if not self.lenient:
            raise FormatError(problem)
        if problem not in self._faults:
            self._faults.add(problem)
            self.append(problem)

    def worsen(self, problem: Problem, refused: bool = True) -> None:
        """Make an error of a problem that was noted, for what follows from it; where the file is `refused` for that, raise it.

        Raises
        ------
        FormatError
            Where the first fault ends the reading.
        """
        worse = replace(problem, severity="error")
        self[:] = [worse if known == problem else known for known in self]
        if refused and not self.lenient:
            raise FormatError(worse, tuple(self))
