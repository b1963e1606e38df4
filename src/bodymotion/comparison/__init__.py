"""Compare two motions, bodies, animations or choreographies, or a recording with what was commanded.

Each difference has a text and numbers, with the frame and the joint of the largest one.
"""

from bodymotion.comparison.animations import compare_animations
from bodymotion.comparison.bodies import compare_bodies
from bodymotion.comparison.choreographies import compare_choreographies
from bodymotion.comparison.difference import Comparison, Difference
from bodymotion.comparison.motions import compare_motions
from bodymotion.comparison.recordings import compare_recording

__all__ = [
    "Comparison",
    "Difference",
    "compare_animations",
    "compare_bodies",
    "compare_choreographies",
    "compare_motions",
    "compare_recording",
]
