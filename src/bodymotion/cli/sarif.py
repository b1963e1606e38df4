"""The findings of a check as SARIF 2.1.0, which code hosts and editors show beside the lines.

The standard is OASIS SARIF Version 2.1.0; the parts used are runs, results, rules and locations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bodymotion import __version__

if TYPE_CHECKING:
    from bodymotion.diagnostics import Location, Problem

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(found: Sequence[tuple[Path, tuple[Problem, ...]]]) -> dict[str, Any]:
    """Return a SARIF log with one run: a descriptor for each rule that is broken, and a result for each problem."""
    from bodymotion.diagnostics.catalogue import catalogue, retired

    known, old = catalogue(), retired()
    problems = [(path, problem) for path, some in found for problem in some]
    codes = sorted({problem.rule for _, problem in problems})
    index = {code: number for number, code in enumerate(codes)}
    descriptors = []
    for code in codes:
        descriptor: dict[str, Any] = {"id": code}
        aliases = sorted(name for name, new in old.items() if new == code)
        if aliases:
            descriptor["deprecatedIds"] = aliases
        rule = known.get(code)
        if rule is not None:
            descriptor["shortDescription"] = {"text": rule.sentence}
            descriptor["defaultConfiguration"] = {"level": rule.severity}
            descriptor["properties"] = {"source": rule.source, "fixable": rule.fixable}
            lines = [rule.hint] if rule.hint else []
            lines += [f"{kind}: {text}" for kind, text in zip(("wrong", "right"), rule.example or (), strict=False)]
            if lines:
                descriptor["help"] = {"text": "\n".join(lines)}
        descriptors.append(descriptor)
    driver = {"name": "bodymotion", "version": __version__, "semanticVersion": __version__, "rules": descriptors}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(str(path))}} for path, _ in found],
        "results": [
            {
                "ruleId": problem.rule,
                "ruleIndex": index[problem.rule],
                "level": problem.severity,
                "message": {"text": problem.message + (f" [{problem.hint}]" if problem.hint else "")},
                "locations": [_location(path, problem.location)],
            }
            for path, problem in problems
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _location(path: Path, location: Location) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(location.path or str(path))}}
    if location.line is not None and location.line >= 1:
        region = {"startLine": location.line}
        if location.column is not None and location.column >= 1:
            region["startColumn"] = location.column
        physical["region"] = region
    found: dict[str, Any] = {"physicalLocation": physical}
    if location.inside:
        found["logicalLocations"] = [{"fullyQualifiedName": location.inside}]
    return found


def _uri(path: str) -> str:
    """Return a relative reference for a relative path, which stays valid when the folder is moved; else a file URL."""
    file = Path(path)
    if file.is_absolute():
        return "file://" + quote(file.as_posix(), errors="surrogateescape")
    # A colon in the first part would be read as the end of a scheme.
    text = quote(file.as_posix(), errors="surrogateescape")
    return text.replace(":", "%3A")
