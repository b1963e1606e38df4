"""Write docs/rules.md from the rules in the code: ``python docs/make_rules.py``."""

from __future__ import annotations

import html
import importlib
import re
from pathlib import Path

from bodymotion.diagnostics import Rule
from bodymotion.diagnostics.catalogue import catalogue, retired, rules_of
from bodymotion.formats.registry import FORMATS

PAGE = Path(__file__).with_name("rules.md")

TITLES = {
    "FMT": "Files",
    "VRML": "The language VRML97",
    "XML": "XML, of .urdf and .xml",
    "YAML": "YAML, of .body, .pseq and .seq",
    "TAB": "Tables of numbers",
    "SPOT": "Spot animations on a robot",
    "BODY": "Models of any format",
    "MOT": "Motions, and motions on a body",
    "KEY": "Key poses on a body",
    "SKEL": "Recorded motion",
    "CHK": "The check itself",
    "EDIT": "Changing motions",
    "MEAS": "Measuring a motion",
    "SIM": "Simulating a motion",
    "BAL": "Balancing a motion",
    "LOSS": "What a save cannot keep",
}
"""The groups of rules that are not of one format, by the letters that their codes begin with."""

TOP = """\
# Rules

All rules of bodymotion with their codes. `docs/make_rules.py` writes this page from the rules in the code.

- **error**: the document of the format forbids it, or it makes the file or a part of it unusable.
- **warning**: it can be read, and may well be a mistake.
- **note**: it can be read; additional information.

The columns:

- **wrong → right** is a piece of a file that breaks the rule, and the same without the fault, or a few words about both. A test reads each.
- **from** is the source of the rule: the format's *document*, the *reference* program (Choreonoid's loader) where the document does not
  define it, or our own *judgement*.

`bodymotion check --fix` fixes the rules that are marked, if there is one right answer. Loading a file raises `FormatError`, if errors
leave no whole value, with one of these codes. Findings in files that can be loaded are in `problems`.

Old codes that other rules replaced are in [Retired codes](#retired-codes).
"""

RETIRED = """
## Retired codes

These rules were replaced. The old codes still work with `--select` and `--ignore`, and are listed in the output of `--json` and `--sarif`.

| old code | new code | rule |
|---|---|---|
"""


def page() -> str:
    """Return the text of the page."""
    groups: dict[str, list[Rule]] = {}
    for rule in catalogue().values():
        groups.setdefault(re.sub(r"\d", "", rule.code), []).append(rule)
    text = TOP
    titles = _titles()
    for letters in titles:
        text += f"\n## {titles[letters]} ({letters})\n\n| code | severity | rule | wrong → right | what to do | from |\n"
        text += "|---|---|---|---|---|---|\n"
        for rule in groups[letters]:
            cells = (
                rule.code,
                rule.severity,
                _cell(rule.sentence),
                _example(rule),
                _cell(_what_to_do(rule)),
                rule.source,
            )
            text += f"| {' | '.join(cells)} |\n"
    return text + RETIRED + "".join(_retired_rows())


def _titles() -> dict[str, str]:
    """Return the titles of the groups of rules by the letters of their codes, those of formats in the order of the table of formats."""
    titles = dict(TITLES)
    for row in FORMATS:
        # The package or module of the format, such as bodymotion.formats.csv.
        place = ".".join(row.read.place.partition(":")[0].split(".")[:3])
        package = importlib.import_module(place)
        rules = rules_of(package) or rules_of(
            importlib.import_module(f"{package.__name__}.rules")
        )
        title = ", ".join(
            filter(
                None, (row.title[0].upper() + row.title[1:], " ".join(row.extensions))
            )
        )
        for letters in {re.sub(r"\d", "", rule.code) for rule in rules}:
            titles.setdefault(letters, title)
    return titles


def _retired_rows() -> list[str]:
    """Return a row for each code that another rule replaced, in the order of the old codes."""
    sentences = {rule.code: rule.sentence for rule in catalogue().values()}
    return [
        f"| {old} | {new} | {_cell(sentences[new])} |\n"
        for old, new in sorted(retired().items())
    ]


def _what_to_do(rule: Rule) -> str:
    return "; ".join(
        part for part in (rule.hint, "`--fix` fixes it" if rule.fixable else "") if part
    )


def _example(rule: Rule) -> str:
    return "" if rule.example is None else " → ".join(map(_code, rule.example))


def _code(text: str) -> str:
    """Return a piece of a file as code; as HTML if Markdown's own syntax cannot hold it."""
    text = text.replace("\t", "⇥").translate(
        {code: 0x2400 + code for code in range(32) if code != 10}
    )
    if not set(text) & set("`|\\\n") and "  " not in text:
        return f"`{text}`"
    text = html.escape(text, quote=False)
    for mark in "\\|*_`[]":
        text = text.replace(mark, f"&#{ord(mark)};")
    return f"<code>{text.replace('  ', '&nbsp; ').replace(chr(10), '<br>')}</code>"


def _cell(text: str) -> str:
    return (
        text.replace("\\", "\\\\")
        .replace("|", "\\|")
        .replace("<", "&lt;")
        .replace("*", "\\*")
        .replace("_", "\\_")
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
