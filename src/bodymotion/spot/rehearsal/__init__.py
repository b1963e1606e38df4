"""A stand-in robot: the real protocol on 127.0.0.1.

With animations, sequences and dances as on a robot.

================
=================================================================================================================
`server`         all services behind one port; certificates
`access`         users, passwords and tokens; leases for moving the robot
`store`          the uploaded animations and sequences, and the current dance
`choreography`   ChoreographyService; validation of animations and sequences, parameters
of moves, a sequence as a motion of Spot
`basic_services` robot id, login, directory, time, licence, leases, power, state
================
=================================================================================================================
"""

from bodymotion.spot.rehearsal.server import StandIn

__all__ = ["StandIn"]
