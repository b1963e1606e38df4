"""What keys and buttons do with a player, by name."""

from __future__ import annotations

from collections.abc import Callable

from bodymotion.viewer.player import Player

__all__ = ["move"]


def move(player: Player, name: str, first: Callable[[], None]) -> None:
    """Do what a key or a button stands for; `keys.KEYS` has the names. `first` is called before the player goes to another frame."""
    rate = (player.num_frames - 1) / max(player.end - player.start, 1e-9)
    tenth = max(1, round(0.1 * rate))
    moves: dict[str, Callable[[], None]] = {
        "next": lambda: player.step(1),
        "back": lambda: player.step(-1),
        "far_next": lambda: player.step(tenth),
        "far_back": lambda: player.step(-tenth),
        "first": lambda: player.seek_frame(0),
        "last": lambda: player.step(player.num_frames),
        "toggle": player.toggle,
    }
    others: dict[str, Callable[[], None]] = {
        "slower": player.slower,
        "faster": player.faster,
        "loop": lambda: setattr(player, "loop", not player.loop),
    }
    if name in others:
        others[name]()
    elif player.num_frames > 1:
        first()
        moves[name]()
