from bodymotion.spot.choreography.playing import play_choreography as play_choreography
from bodymotion.spot.choreography.validation import check_choreography as check_choreography
from bodymotion.spot.choreography.values import Choreography as Choreography
from bodymotion.spot.choreography.values import Move as Move
