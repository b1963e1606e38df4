"""Motions: how a body moves, as components over time, named as in the .seq document."""

from bodymotion.motion.components import JOINT_DISPLACEMENT as JOINT_DISPLACEMENT
from bodymotion.motion.components import JOINT_EFFORT as JOINT_EFFORT
from bodymotion.motion.components import LINK_POSITION as LINK_POSITION
from bodymotion.motion.components import ZMP as ZMP
from bodymotion.motion.components import Component as Component
from bodymotion.motion.components import MultiSE3Seq as MultiSE3Seq
from bodymotion.motion.components import MultiValueSeq as MultiValueSeq
from bodymotion.motion.components import OtherSeq as OtherSeq
from bodymotion.motion.components import TimedComponent as TimedComponent
from bodymotion.motion.components import Timeline as Timeline
from bodymotion.motion.components import Vector3Seq as Vector3Seq
from bodymotion.motion.interpolation.resampling import not_resampled as not_resampled
from bodymotion.motion.motion import Motion as Motion
