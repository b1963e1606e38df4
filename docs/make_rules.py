"""Write docs/rules.md from the rules in the code: ``python docs/make_rules.py``."""

from __future__ import annotations

import html
import importlib
import pkgutil
import re
from pathlib import Path

import bodymotion.checks
import bodymotion.diagnostics.losses
import bodymotion.dynamics
import bodymotion.editing
import bodymotion.formats
import bodymotion.motion.interpolation
import bodymotion.scene
import bodymotion.spot.playback
from bodymotion.diagnostics import Rule
from bodymotion.diagnostics.catalogue import retired

PACKAGES = (
    bodymotion.formats,
    bodymotion.motion.interpolation,
    bodymotion.spot.playback,
    bodymotion.editing,
    bodymotion.dynamics,
    bodymotion.checks,
    bodymotion.scene,
)
"""The packages that define rules."""

PAGE = Path(__file__).with_name("rules.md")

TITLES = {
    "FMT": "Files (FMT)",
    "SEQ": "Body motions, .seq (SEQ)",
    "VRML": "The language VRML97, .wrl (VRML)",
    "WRL": "OpenHRP models, .wrl (WRL)",
    "BDY": "Choreonoid models, .body (BDY)",
    "MJCF": "MuJoCo models (MJCF)",
    "CAP": "Spot animations as messages, .cap .pb, and logs (CAP)",
    "XML": "XML, of .urdf and .xml (XML)",
    "URDF": "URDF models, .urdf (URDF)",
    "CHA": "Spot animations, .cha (CHA)",
    "SPOT": "Spot animations on a robot (SPOT)",
    "TAB": "Tables of numbers (TAB)",
    "CSV": "Tables of motion, .csv (CSV)",
    "NPZ": "NumPy archives, .npz (NPZ)",
    "OTX": "OpenHRP plain text, .pos .waist .hip .zmp (OTX)",
    "BODY": "Models of any format (BODY)",
    "MOT": "Motions, and motions on a body (MOT)",
    "CHK": "The check itself (CHK)",
    "EDIT": "Changing motions (EDIT)",
    "MEAS": "Measuring a motion (MEAS)",
    "LOSS": "What a save cannot keep (LOSS)",
    "VIEW": "The viewer (VIEW)",
}
"""The groups of rules, by the letters that their codes begin with, in the order of the page."""

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

`bodymotion check --fix` fixes the rules that are marked, if there is one right answer. Loading a file with errors raises `FormatError` with
one of these codes. Findings in files that can be loaded are in `problems`.

Old codes that other rules replaced are in [Retired codes](#retired-codes).
"""

RETIRED = """
## Retired codes

These rules were replaced. The old codes still work with `--select` and `--ignore`, and are listed in the output of `--json` and `--sarif`.

| old code | new code | rule |
|---|---|---|
"""


def rules() -> list[Rule]:
    """Return all rules of all formats, in order of code."""
    found: dict[str, Rule] = {}
    inside = (
        info.name for package in PACKAGES for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    )
    for name in (bodymotion.diagnostics.losses.__name__, *inside):
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, Rule) and found.setdefault(value.code, value) != value:
                raise ValueError(f"two rules have the code {value.code}")
    return sorted(found.values(), key=lambda rule: rule.code)


def page() -> str:
    """Return the text of the page."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules():
        groups.setdefault(re.sub(r"\d", "", rule.code), []).append(rule)
    text = TOP
    for letters in sorted(groups, key=lambda letters: [*TITLES, letters].index(letters)):
        text += (
            f"\n## {TITLES.get(letters, letters)}\n\n| code | severity | rule | wrong → right | what to do | from |\n"
        )
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


def _retired_rows() -> list[str]:
    """Return a row for each code that another rule replaced, in the order of the old codes."""
    sentences = {rule.code: rule.sentence for rule in rules()}
    return [f"| {old} | {new} | {_cell(sentences[new])} |\n" for old, new in sorted(retired().items())]


def _what_to_do(rule: Rule) -> str:
    return "; ".join(part for part in (rule.hint, "`--fix` fixes it" if rule.fixable else "") if part)


def _example(rule: Rule) -> str:
    return "" if rule.example is None else " → ".join(map(_code, rule.example))


def _code(text: str) -> str:
    """Return a piece of a file as code; as HTML if Markdown's own syntax cannot hold it."""
    text = text.replace("\t", "⇥").translate({code: 0x2400 + code for code in range(32) if code != 10})
    if not set(text) & set("`|\\\n") and "  " not in text:
        return f"`{text}`"
    text = html.escape(text, quote=False)
    for mark in "\\|*_`[]":
        text = text.replace(mark, f"&#{ord(mark)};")
    return f"<code>{text.replace('  ', '&nbsp; ').replace(chr(10), '<br>')}</code>"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
