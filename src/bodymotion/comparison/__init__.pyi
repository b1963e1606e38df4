from bodymotion.comparison.bodies import compare_bodies as compare_bodies
from bodymotion.comparison.difference import Comparison as Comparison
from bodymotion.comparison.difference import Difference as Difference
from bodymotion.comparison.motions import compare_motions as compare_motions
