"""Compare two motions, bodies or choreographies: each difference as text and numbers, with the frame and the joint of the largest one."""

from bodymotion.comparison.bodies import compare_bodies
from bodymotion.comparison.choreographies import compare_choreographies
from bodymotion.comparison.difference import Comparison, Difference
from bodymotion.comparison.motions import compare_motions

__all__ = ["Comparison", "Difference", "compare_bodies", "compare_choreographies", "compare_motions"]
