"""Results of `bodymotion check`: a summary, JSON and SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from bodymotion import __version__
from bodymotion.cli.output import Data, problems_of
from bodymotion.diagnostics import Location, Problem
from bodymotion.diagnostics.text import counted

if TYPE_CHECKING:
    from bodymotion.diagnostics import Rule

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
    "sarif-schema-2.1.0.json"
)


@dataclass(frozen=True)
class Checked:
    """The problems of a file, and the traceback of a bug of bodymotion."""

    path: Path
    problems: tuple[Problem, ...]
    trace: str = ""


def count_severities(answers: Iterable[Checked]) -> Counter[str]:
    """Return the number of problems of each severity."""
    count: Counter[str] = Counter(error=0, warning=0, note=0)
    for answer in answers:
        for problem in answer.problems:
            count[problem.severity] += problem.count
    return count


def summary_of(answers: Sequence[Checked]) -> str:
    """Return a line with the number of files and problems."""
    numbers = [
        counted(number, severity)
        for severity, number in count_severities(answers).items()
        if number
    ]
    problems = ", ".join(numbers) or "no problems"
    num_faulty = 0
    for answer in answers:
        num_faulty += any(problem.severity == "error" for problem in answer.problems)
    with_errors = ""
    if num_faulty and len(answers) > 1:
        with_errors = f" (errors in {counted(num_faulty, 'file')})"
    return f"{counted(len(answers), 'file')} checked: {problems}{with_errors}\n"


def json_of(answers: Sequence[Checked]) -> Data:
    """Return the problems of all files, and former codes of their rules."""
    from bodymotion.diagnostics.catalogue import retired

    data: Data = {"num_files": len(answers)}
    for severity, number in count_severities(answers).items():
        data[f"num_{severity}s"] = number
    data["files"] = [
        {"file": str(answer.path), **problems_of(answer.problems)} for answer in answers
    ]
    # So that programs recognize rules by the codes that they know.
    codes = _codes(answers)
    if codes:
        data["aliases"] = {
            former: code for former, code in retired().items() if code in codes
        }
    return data


def _codes(answers: Sequence[Checked]) -> set[str]:
    """Return the codes of the rules that are broken."""
    codes: set[str] = set()
    for answer in answers:
        codes |= {problem.rule for problem in answer.problems}
    return codes


def sarif(answers: Sequence[Checked]) -> Data:
    """Return a log of OASIS SARIF 2.1.0 with one run.

    A descriptor of each rule that is broken, and a result for each problem.
    """
    from bodymotion.diagnostics.catalogue import catalogue

    rules = catalogue()
    codes = sorted(_codes(answers))
    # A result names its rule by the index of the descriptor.
    numbers = {code: number for number, code in enumerate(codes)}
    broken: list[Data] = []
    for answer in answers:
        for problem in answer.problems:
            broken.append(_result(answer.path, problem, numbers[problem.rule]))
    driver = {
        "name": "bodymotion",
        "version": __version__,
        "rules": [_descriptor(code, rules.get(code)) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        # Columns count characters; the default of SARIF is UTF-16 code units.
        "columnKind": "unicodeCodePoints",
        "artifacts": [
            {"location": {"uri": _uri(str(answer.path))}} for answer in answers
        ],
        "results": broken,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(code: str, rule: Rule | None) -> Data:
    """Return the descriptor of a rule."""
    from bodymotion.diagnostics.catalogue import retired

    descriptor: Data = {"id": code}
    # Suppressions by a former code stay valid.
    former_codes = sorted(name for name, new in retired().items() if new == code)
    if former_codes:
        descriptor["deprecatedIds"] = former_codes
    if rule is None:
        return descriptor
    descriptor["shortDescription"] = {"text": rule.sentence}
    descriptor["defaultConfiguration"] = {"level": rule.severity}
    descriptor["properties"] = {"source": rule.source, "fixable": rule.fixable}
    lines = [rule.hint] if rule.hint else []
    for kind, text in zip(("wrong", "right"), rule.example or (), strict=False):
        lines.append(f"{kind}: {text}")
    if lines:
        descriptor["help"] = {"text": "\n".join(lines)}
    return descriptor


def _result(path: Path, problem: Problem, index: int) -> Data:
    """Return a problem; `index` is that of the descriptor of its rule."""
    text = problem.message
    if problem.hint:
        text += f" [{problem.hint}]"
    return {
        "ruleId": problem.rule,
        "ruleIndex": index,
        "level": problem.severity,
        "message": {"text": text},
        "locations": [_location(path, problem.location)],
    }


def _location(path: Path, location: Location) -> Data:
    """Return a location in a file, and in what it holds."""
    physical: Data = {"artifactLocation": {"uri": _uri(location.path or str(path))}}
    if location.line is not None and location.line >= 1:
        # Lines and columns of SARIF begin at 1; a problem of the whole file has no
        # region.
        region = {"startLine": location.line}
        if location.column is not None and location.column >= 1:
            region["startColumn"] = location.column
        physical["region"] = region
    both: Data = {"physicalLocation": physical}
    if location.inside:
        both["logicalLocations"] = [{"fullyQualifiedName": location.inside}]
    return both


def _uri(path: str) -> str:
    """Return a relative reference for a relative path, else a file URL.

    A relative one stays valid when the folder is moved.
    """
    file = Path(path)
    text = quote(file.as_posix(), errors="surrogateescape")
    if file.is_absolute():
        return f"file://{text}"
    # A colon in the first part would be read as the end of a scheme.
    return text.replace(":", "%3A")
