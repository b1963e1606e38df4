"""What extensions add to the help of commands: the names of scripts, and examples.

In docstrings `{script}` and `{scripts}` stand for one and for many scripts that are
played at a tempo, and `{robots}` for the names of built-in robots.
"""

from bodymotion.diagnostics.text import listed, with_article
from bodymotion.extensions import extensions, kinds


def script_text() -> str:
    """Return what messages call a script: "a Spam script"."""
    names = [
        with_article(f"{kind.robot} {kind.noun}") for kind in kinds() if kind.has_tempo
    ]
    return " or ".join(names) or "a script"


def scripts_text() -> str:
    """Return what messages call scripts: "Spam scripts"."""
    return listed([kind.plural for kind in kinds() if kind.has_tempo]) or "scripts"


def robots_text() -> str:
    """Return the names of built-in robots, in backquotes."""
    robots = [one.name for one in extensions() if one.function("retarget") is not None]
    return " or ".join(f"`{name}`" for name in robots) or "a name"


def extended_help(text: str, command: str) -> str:
    """Return the docstring of a command with what extensions add to it."""
    text = text.replace("{scripts}", scripts_text())
    text = text.replace("{script}", script_text()).replace("{robots}", robots_text())
    examples = []
    for extension in extensions():
        examples += [f"\n  {line}" for line in extension.examples.get(command, ())]
    before, heading, after = text.partition("\nExamples:\n")
    if not heading:
        return text
    # Examples of extensions are put behind the others, before the options.
    own_examples, gap, options = after.partition("\n\n")
    return f"{before}{heading}{own_examples}{''.join(examples)}{gap}{options}"
