"""Options of the display of a scene, with their labels in the viewer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from bodymotion.diagnostics import WrongUseError

# The options that colour links, with the limit that each is about. At most one of them
# is on.
LIMIT_OPTIONS = {"velocity_limits": "velocity", "torque_limits": "torque"}


def _checkbox(label: str, on: bool = False) -> Any:  # noqa: ANN401
    return field(default=on, metadata={"label": label})


@dataclass
class DisplayOptions:
    """The display options; they stay when the viewer loads files again.

    Attributes
    ----------
    path:
        The name of the link whose path is drawn.
    quantity, plotted:
        The quantity that is plotted (None: joint values), and the names of its curves.
    trail_seconds:
        [s] The length of trails.
    """

    visuals: bool = _checkbox("Shapes", True)
    collisions: bool = _checkbox("Collision shapes")
    frames: bool = _checkbox("Link frames")
    axes: bool = _checkbox("Joint axes")
    names: bool = _checkbox("Joint names and ids")
    inertias: bool = _checkbox("Masses and inertias")
    devices: bool = _checkbox("Devices")
    mass: bool = _checkbox("Centre of mass")
    zmp: bool = _checkbox("ZMP, recorded", True)
    measured_zmp: bool = _checkbox("ZMP, computed")
    contacts: bool = _checkbox("Foot contacts")
    support: bool = _checkbox("Support polygon")
    trails: bool = _checkbox("Trails")
    velocity_limits: bool = _checkbox("Use of velocity limits")
    torque_limits: bool = _checkbox("Use of torque limits")
    follow: bool = _checkbox("Camera follows root")
    stand: bool = _checkbox("Stand on ground")
    shadows: bool = _checkbox("Shadows", True)
    dark: bool = _checkbox("Dark mode")
    loops: bool = _checkbox("Close loops when posing", True)
    motion_loops: bool = _checkbox("Close loops of the motion")
    path: str | None = None
    plotted: tuple[str, ...] = ()
    quantity: str | None = None
    trail_seconds: float = 2.0

    @classmethod
    def with_names(cls, names: Iterable[str]) -> DisplayOptions:
        """Return the default options with those of `LABELS` that are named switched on.

        WrongUseError for another name.
        """
        options = cls()
        for name in names:
            if name not in LABELS:
                raise WrongUseError(
                    f"unknown display option {name!r}; the options are "
                    f"{', '.join(LABELS)}"
                )
            setattr(options, name, True)
        return options


# The options with a checkbox in the viewer, in the order of the panel.
LABELS: dict[str, str] = {
    one.name: one.metadata["label"] for one in fields(DisplayOptions) if one.metadata
}
