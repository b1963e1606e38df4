"""Robot bodies and robot motions: open them, see them, trust their numbers.

>>> import bodymotion as bm
>>> body = bm.load("SR1.wrl")           # doctest: +SKIP
>>> motion = bm.load("SR1Walk.seq")     # doctest: +SKIP
>>> bm.view(body, motion)               # doctest: +SKIP
"""

from bodymotion.system.deferred import public

__version__ = "0.3.0.dev0"
__all__, __getattr__ = public(
    __name__,
    "__version__",
    renamed={"Simulation": "bodymotion.SimulationResult"},
)


def __dir__() -> list[str]:
    return sorted(__all__)
