from bodymotion.comparison.bodies import compare_bodies as compare_bodies
from bodymotion.spot.comparison import compare_animations as compare_animations
from bodymotion.spot.comparison import compare_choreographies as compare_choreographies
from bodymotion.comparison.difference import Comparison as Comparison
from bodymotion.comparison.difference import Difference as Difference
from bodymotion.comparison.motions import compare_motions as compare_motions
from bodymotion.spot.recordings import compare_recording as compare_recording
