"""What an animation means for the robot.

Spot as a body, its kinematics, playback, validation, and animations made from motions.
"""

from bodymotion.system.deferred import public

__all__, __getattr__ = public(__name__)
