"""Robot models.

`Body` with its links, joints, devices, extra joints, inertias and closed loops.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
