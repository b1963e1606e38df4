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

ROOMS = (
    bodymotion.formats,
    bodymotion.motion.interpolation,
    bodymotion.spot.playback,
    bodymotion.editing,
    bodymotion.dynamics,
    bodymotion.checks,
    bodymotion.scene,
)
"""Where rules are."""

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
    "SPOT": "What a Spot would mind about an animation (SPOT)",
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

What bodymotion says about files, by the codes of its messages. This page is written by `docs/make_rules.py` from the rules in the code.

- **error**: the document forbids it, or nothing can be made of it.
- **warning**: it is read, and may well be a mistake.
- **note**: it is read, and good to know.

An example is a piece of a file that breaks the rule, and the same without the fault, or a few words about both; a test reads or does each.
The last column says where a rule comes from: the format's *document*, the *reference* program (Choreonoid's loader) where the document is
silent, or our own *judgement*.
`bodymotion check --fix` mends what is marked so, wherever there is one right answer.
A reader that can make nothing of a file raises `FormatError` with one of these; whatever is odd but readable is in `problems`.
"""


def rules() -> list[Rule]:
    """Return all rules of all formats, in order of code."""
    found: dict[str, Rule] = {}
    inside = (info.name for room in ROOMS for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}."))
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
    return text


def _what_to_do(rule: Rule) -> str:
    return "; ".join(part for part in (rule.hint, "`--fix` mends it" if rule.fixable else "") if part)


def _example(rule: Rule) -> str:
    return "" if rule.example is None else " → ".join(map(_code, rule.example))


def _code(text: str) -> str:
    """Return a piece of a file as code; as HTML where Markdown's own marks do not hold it."""
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
