from bodymotion.motion.interpolation.resampling import (
    check_motion_fits as check_motion_fits,
)
from bodymotion.motion.interpolation.resampling import resampled as resampled
from bodymotion.motion.interpolation.sampling import HOLDING as HOLDING
from bodymotion.motion.interpolation.sampling import Method as Method
from bodymotion.motion.interpolation.sampling import Wrap as Wrap
from bodymotion.motion.interpolation.sampling import find_wraps as find_wraps
from bodymotion.motion.interpolation.sampling import frames_needed as frames_needed
from bodymotion.motion.interpolation.sampling import held_frames as held_frames
from bodymotion.motion.interpolation.sampling import sampled as sampled
from bodymotion.motion.interpolation.sampling import taking_effect as taking_effect
from bodymotion.motion.interpolation.sampling import unwrapped as unwrapped
