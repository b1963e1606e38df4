"""A stand-in robot: it speaks the real protocol on 127.0.0.1, takes animations and sequences as a robot does, and says what it plays.

=================== ====================================================================================================
`certificates`      a throw-away certificate authority
`answers`           headers and times of answers
`gate`              who may ask: users, passwords, tokens
`leases`            who may move the robot
`stage`             what it knows and does: animations, sequences, the dance of the moment
`moves`, `ranges`   a move of a sequence; the ranges of parameters that are only named
`verdicts`          what it says about an animation or a sequence
`dancing`           a sequence as a motion of Spot
`basic_services`    robot id, login, directory, time, licence, leases, power, state
`choreography`      the service of the dances
`server`            all of it behind one port
=================== ====================================================================================================
"""

from bodymotion.spot.rehearsal.server import StandIn

__all__ = ["StandIn"]
