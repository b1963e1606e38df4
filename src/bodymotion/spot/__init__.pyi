from bodymotion.spot.cha_proto import from_bytes as from_bytes
from bodymotion.spot.cha_proto import from_proto as from_proto
from bodymotion.spot.cha_proto import from_text as from_text
from bodymotion.spot.cha_proto import read_state_log as read_state_log
from bodymotion.spot.cha_proto import to_bytes as to_bytes
from bodymotion.spot.cha_proto import to_move_info as to_move_info
from bodymotion.spot.cha_proto import to_proto as to_proto
from bodymotion.spot.cha_proto import to_text as to_text
from bodymotion.model.body import Body
from bodymotion.spot.choreography import check_choreography as check_choreography
from bodymotion.spot.choreography.playing import Ensemble as Ensemble
from bodymotion.spot.choreography.playing import ensemble as ensemble
from bodymotion.spot.client.connection import Credentials as Credentials
from bodymotion.spot.client.connection import SpotError as SpotError
from bodymotion.spot.client.connection import connected as connected
from bodymotion.spot.client.connection import find_credentials as find_credentials
from bodymotion.spot.client.dances import download_log as download_log
from bodymotion.spot.client.dances import list_moves as list_moves
from bodymotion.spot.client.dances import perform as perform
from bodymotion.spot.client.dances import perform_together as perform_together
from bodymotion.spot.client.uploads import Outcome as Outcome
from bodymotion.spot.client.uploads import upload as upload
from bodymotion.spot.playback import SpotPose as SpotPose
from bodymotion.spot.playback import play as play
from bodymotion.spot.playback import sit as sit
from bodymotion.spot.playback import stand as stand
from bodymotion.spot.playback import validate as validate
from bodymotion.spot.playback.arm import Arm as Arm
from bodymotion.spot.playback.arm import arm_joints as arm_joints
from bodymotion.spot.playback.arm import hand_poses as hand_poses
from bodymotion.spot.playback.legs import Legs as Legs
from bodymotion.spot.playback.legs import foot_positions as foot_positions
from bodymotion.spot.playback.legs import leg_joints as leg_joints
from bodymotion.spot.rehearsal import StandIn as StandIn

def body(*, arm: bool = True) -> Body: ...
