"""What differs between two motions, or two bodies: in words and numbers, with the worst frame and joint by name."""

from bodymotion.comparing.bodies import compare_bodies
from bodymotion.comparing.difference import Comparison, Difference
from bodymotion.comparing.motions import compare_motions

__all__ = ["Comparison", "Difference", "compare_bodies", "compare_motions"]
