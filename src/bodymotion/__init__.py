"""Robot bodies and robot motions: open them, see them, trust their numbers.

>>> import bodymotion as bm
>>> body = bm.load("SR1.wrl")           # doctest: +SKIP
>>> motion = bm.load("SR1Walk.seq")     # doctest: +SKIP
>>> bm.view(body, motion)               # doctest: +SKIP
"""

from bodymotion.system.deferred import public

__version__ = "0.3.0.dev0"
# Names that were here until 0.2; they work until 0.4, with a warning.
_RENAMED = {
    "AccelerationSensor": "bodymotion.model.AccelerationSensor",
    "BalanceReport": "bodymotion.balancing.BalanceReport",
    "BalancedMotion": "bodymotion.balancing.BalancedMotion",
    "Box": "bodymotion.shapes.Box",
    "Capsule": "bodymotion.shapes.Capsule",
    "Closed": "bodymotion.model.ClosedLoopSolution",
    "Collection": "bodymotion.collection.Collection",
    "Cone": "bodymotion.shapes.Cone",
    "Cylinder": "bodymotion.shapes.Cylinder",
    "Device": "bodymotion.model.Device",
    "ExtraJoint": "bodymotion.model.ExtraJoint",
    "ForceSensor": "bodymotion.model.ForceSensor",
    "Gyro": "bodymotion.model.Gyro",
    "KeyPose": "bodymotion.keyposes.KeyPose",
    "Keyframes": "bodymotion.spot.Keyframes",
    "Lines": "bodymotion.shapes.Lines",
    "LinkKey": "bodymotion.keyposes.LinkKey",
    "Material": "bodymotion.shapes.Material",
    "Mesh": "bodymotion.shapes.Mesh",
    "Move": "bodymotion.spot.Move",
    "Music": "bodymotion.music.Music",
    "OtherDevice": "bodymotion.model.OtherDevice",
    "OtherSeq": "bodymotion.motion.OtherSeq",
    "Parameter": "bodymotion.spot.Parameter",
    "Plot": "bodymotion.plots.Plot",
    "Points": "bodymotion.shapes.Points",
    "RangeSensor": "bodymotion.model.RangeSensor",
    "RetargetComparison": "bodymotion.retargeting.RetargetComparison",
    "Rule": "bodymotion.diagnostics.Rule",
    "Shape": "bodymotion.shapes.Shape",
    "SimulationResult": "bodymotion.simulation.SimulationResult",
    "SkeletonJoint": "bodymotion.skeleton.SkeletonJoint",
    "Source": "bodymotion.diagnostics.Source",
    "Sphere": "bodymotion.shapes.Sphere",
    "Texture": "bodymotion.shapes.Texture",
    "Viewpoint": "bodymotion.model.Viewpoint",
    "VisionSensor": "bodymotion.model.VisionSensor",
    "close_loops": "bodymotion.model.close_loops",
    "compare_retarget": "bodymotion.retargeting.compare_retarget",
    "load_music": "bodymotion.music.load_music",
    "loop_errors": "bodymotion.model.loop_errors",
    "retarget_to_spot": "bodymotion.spot.retarget_to_spot",
    "side_by_side": "bodymotion.retargeting.side_by_side",
    "simulate_many": "bodymotion.simulation.simulate_many",
    "to_skeleton": "bodymotion.retargeting.to_skeleton",
    "Simulation": "bodymotion.simulation.SimulationResult",
}

__all__, __getattr__ = public(__name__, "__version__", renamed=_RENAMED)


def __dir__() -> list[str]:
    return sorted(__all__)
