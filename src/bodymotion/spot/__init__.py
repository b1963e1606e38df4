"""Spot: its body, animations, choreographies and messages.

And the client that uploads to a robot, and a stand-in robot.

>>> import bodymotion as bm
>>> animation = bm.load("wave.cha")             # doctest: +SKIP
>>> message = bm.spot.to_proto(animation)       # doctest: +SKIP
>>> info = bm.spot.to_move_info(animation)      # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bodymotion.system.deferred import public

if TYPE_CHECKING:
    from bodymotion.model.body import Body

__all__, __getattr__ = public(__name__, "body")


def body(*, arm: bool = True) -> Body:
    """Return Spot as a body, with or without its arm."""
    from bodymotion.spot.playback.robot import spot_body

    return spot_body(arm=arm)


def __dir__() -> list[str]:
    return sorted(__all__)
