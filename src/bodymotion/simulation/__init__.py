"""Simulate bodies that follow motions, with MuJoCo (extra `sim`).

See docs/simulation.md.

`plan` has what the joints are to do, `world` makes the model, `simulating` takes the
steps, and `result` is made of what they record.

>>> import bodymotion as bm
>>> body = bm.load_body("biped.wrl")  # doctest: +SKIP
>>> motion = bm.load_motion("biped_walk.seq")  # doctest: +SKIP
>>> result = bm.simulate(body, motion)  # doctest: +SKIP
>>> result.fall, result.root_error  # doctest: +SKIP
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(
    __name__, renamed={"Simulation": "bodymotion.simulation.SimulationResult"}
)
