"""Optional packages: import one, or report which extra installs it."""

from importlib import import_module
from typing import Any


def need(module: str, extra: str, what: str) -> Any:  # noqa: ANN401
    """Import a module of an extra; `what` names the feature that needs it, for the message when it is missing.

    Raises
    ------
    ImportError
        When it is not installed; the message names the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        missing = error.name or module
        raise ImportError(
            f"{what} needs an extra: pip install 'bodymotion[{extra}]' ({missing.partition('.')[0]} is missing)",
            name=error.name,
        ) from error
