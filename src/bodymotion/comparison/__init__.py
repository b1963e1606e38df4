"""What differs between two motions, or two bodies: in words and numbers, with the worst frame and joint by name."""

from bodymotion.comparison.bodies import compare_bodies
from bodymotion.comparison.difference import Comparison, Difference
from bodymotion.comparison.motions import compare_motions

__all__ = ["Comparison", "Difference", "compare_bodies", "compare_motions"]
