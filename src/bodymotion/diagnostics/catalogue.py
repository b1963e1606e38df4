"""All rules by their codes, and the selection of problems by codes."""

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from types import ModuleType

from bodymotion.diagnostics import Problem, Rule
from bodymotion.extensions import extensions

# The packages that define rules, beside those of extensions.
PACKAGES = (
    "diagnostics.losses",
    "motion",
    "model",
    "formats",
    "editing",
    "dynamics",
    "simulation",
    "checks",
    "balancing",
)


def catalogue() -> dict[str, Rule]:
    """Return the rules of all formats and of the checks, sorted by code.

    Imports all formats.
    """
    return _collected()[0]


def rules_of(module: ModuleType) -> tuple[Rule, ...]:
    """Return the rules that a module defines or imports, in their order there."""
    return tuple(value for value in vars(module).values() if isinstance(value, Rule))


def retired() -> dict[str, str]:
    """Return the codes that rules had before, with the present ones.

    From the tables RETIRED of the packages' rules.
    """
    return _collected()[1]


@cache
def _collected() -> tuple[dict[str, Rule], dict[str, str]]:
    """Return all rules by their codes, and retired codes with the present ones."""
    found: dict[str, Rule] = {}
    old: dict[str, str] = {}
    names = [f"bodymotion.{name}" for name in PACKAGES]
    for extension in extensions():
        names += extension.rules
    # A package that imports needs all its modules walked: rules may be in any of them.
    for package in map(importlib.import_module, tuple(names)):
        path = getattr(package, "__path__", ())
        modules = pkgutil.walk_packages(path, f"{package.__name__}.")
        names += [module.name for module in modules]
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError:
            # Made for a package that is not installed.
            continue
        for rule in rules_of(module):
            # One rule is imported by many modules. Two rules of one code are a mistake.
            if found.setdefault(rule.code, rule) != rule:
                raise ValueError(f"two rules have the code {rule.code}")
        old.update(getattr(module, "RETIRED", {}))
    return dict(sorted(found.items())), old


def selected(
    problems: Iterable[Problem], select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> tuple[Problem, ...]:
    """Keep the problems of rules that are selected and not ignored.

    All rules are selected where none is named.

    A rule is named by its code or the beginning of it: `BODY` is all of them, `SEQ2`
    those from SEQ200 on. Codes that it had before name it, too, as do their beginnings.
    Where a rule is named in both, the longer name counts; of equally long ones,
    `ignore`.

    Raises
    ------
    ValueError
        When a name is the beginning of no code.
    """
    problems = tuple(problems)
    if not select and not ignore:
        return problems
    select = [retired().get(name, name) for name in select]
    ignore = [retired().get(name, name) for name in ignore]
    # The names of each rule: its code and those that it had before. A problem may be of
    # a rule that the catalogue does not have.
    codes = {code: [code] for code in catalogue()}
    for problem in problems:
        codes.setdefault(problem.rule, [problem.rule])
    for former, code in retired().items():
        codes.setdefault(code, [code]).append(former)
    every = list(chain.from_iterable(codes.values()))
    # A misspelt name would select nothing, and hide all problems.
    for name in (*select, *ignore):
        if not name or not any(code.startswith(name) for code in every):
            raise ValueError(
                f"there is no rule {name!r}, and none that begins with this"
            )
    # Without a selection, all are selected, but any name that is ignored is longer.
    unselected = -1 if select else 0
    chosen = []
    for problem in problems:
        names = codes[problem.rule]
        by_select = _longest_match(select, names, unselected)
        if by_select > _longest_match(ignore, names, -1):
            chosen.append(problem)
    return tuple(chosen)


def _longest_match(
    beginnings: Iterable[str], codes: Iterable[str], default: int
) -> int:
    """Return the length of the longest beginning of one of some codes."""
    # Of `BODY` and `BODY136` the longer name is the more exact one.
    longest = default
    for start in beginnings:
        if any(code.startswith(start) for code in codes):
            longest = max(longest, len(start))
    return longest
