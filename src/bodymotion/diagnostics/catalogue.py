"""All rules by their codes, and the selection of problems by codes."""

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
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
    """Return the codes that rules had before, each with the code of the rule that took
    over.

    The tables RETIRED of the packages' rules.
    """
    return _collected()[1]


@cache
def _collected() -> tuple[dict[str, Rule], dict[str, str]]:
    found: dict[str, Rule] = {}
    old: dict[str, str] = {}
    names = [f"bodymotion.{name}" for name in PACKAGES]
    names += [name for extension in extensions() for name in extension.rules]
    for package in map(importlib.import_module, tuple(names)):
        names += [
            info.name
            for info in pkgutil.walk_packages(
                getattr(package, "__path__", ()), f"{package.__name__}."
            )
        ]
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError:
            # Made for a package that is not installed.
            continue
        for rule in rules_of(module):
            if found.setdefault(rule.code, rule) != rule:
                raise ValueError(f"two rules have the code {rule.code}")
        old.update(getattr(module, "RETIRED", {}))
    return dict(sorted(found.items())), old


def selected(
    problems: Iterable[Problem], select: Sequence[str] = (), ignore: Sequence[str] = ()
) -> tuple[Problem, ...]:
    """Keep the problems of the rules that are selected (all, where none is named) and
    not ignored.

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
    select, ignore = (
        tuple(retired().get(name, name) for name in names) for names in (select, ignore)
    )
    codes = {
        code: [code] for code in (*catalogue(), *(problem.rule for problem in problems))
    }
    for old, new in retired().items():
        codes.setdefault(new, [new]).append(old)
    for name in (*select, *ignore):
        if not name or not any(
            code.startswith(name) for known in codes.values() for code in known
        ):
            raise ValueError(
                f"there is no rule {name!r}, and none that begins with this"
            )

    def length(names: Sequence[str], rule: str, default: int) -> int:
        return max(
            (
                len(one)
                for one in names
                if any(code.startswith(one) for code in codes[rule])
            ),
            default=default,
        )

    def kept(problem: Problem) -> bool:
        return length(select, problem.rule, -1 if select else 0) > length(
            ignore, problem.rule, -1
        )

    return tuple(problem for problem in problems if kept(problem))
