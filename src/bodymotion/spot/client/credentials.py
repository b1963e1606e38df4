"""Who asks: a user name and a password, or a token, from the environment or from a prompt.

Never from a command line, never in a message.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["PASSWORD", "TOKEN", "USERNAME", "Credentials", "find_credentials"]

USERNAME, PASSWORD = "BOSDYN_CLIENT_USERNAME", "BOSDYN_CLIENT_PASSWORD"
"""The environment variables of the vendor's own programs."""
TOKEN = "BOSDYN_CLIENT_TOKEN"
"""And one for a token that a robot gave before."""


@dataclass(frozen=True)
class Credentials:
    """A user name with its password, or a token; neither of the secrets is shown."""

    username: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)


def find_credentials(
    ask: Callable[[str], tuple[str, str]] | None = None,
    *,
    username: str = "",
    environment: Mapping[str, str] | None = None,
) -> Credentials:
    """Take credentials from the environment, else ask for them.

    Parameters
    ----------
    ask:
        Called with the user name, as far as it is known; gives user name and password.
    username:
        Goes before that of the environment.

    Raises
    ------
    ValueError
        When they are not in the environment and nobody can be asked; the message names the variables.
    """
    given = os.environ if environment is None else environment
    known = username or given.get(USERNAME, "")
    if given.get(TOKEN) and not username:
        return Credentials(token=given[TOKEN])
    if known and given.get(PASSWORD):
        return Credentials(known, given[PASSWORD])
    if ask is None:
        raise ValueError(f"no credentials for the robot: set {USERNAME} and {PASSWORD}, or {TOKEN}")
    return Credentials(*ask(known))
