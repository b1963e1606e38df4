"""Closed loops: compute the joints that follow from the driving joints and the extra joints of a body.

The links of a body are a tree. An `ExtraJoint` connects two links in addition, so that some joints follow from others. Let P₁, P₂ be its
two points in the world, R₁, R₂ the rotations of its two links, a its axis, and u ⊥ v two unit vectors normal to a. Its equations are:

    type            equations                           frame                                             count
    xyz, ball       R₁ᵀ·(P₂ − P₁) = 0                   all three directions                              3
    xy, piston      u·R₁ᵀ·(P₂ − P₁) = 0, v·… = 0        normal to the axis, which goes with the first link 2
    z               a·R₁ᵀ·(P₂ − P₁) = 0                 along the axis, which goes with the first link    1
    hinge           the three of xyz, and               the same numbers a are the axis in the first       5
                    u·R₁ᵀ·R₂·a = 0, v·… = 0             link's frame and in the second link's

xyz, xy and z are defined by the OpenHRP document. The other three are Choreonoid's, as in its simulator: "ball" is xyz, "piston" is xy
(the point slides along the axis and the links may rotate against each other), "hinge" keeps the two axes on one line.

`mechanism` has the equations, the groups of loops with common joints, and the errors of link poses. `closing` chooses the driving joints
and closes loops over a motion.
"""

from bodymotion.model.closed_loops.closing import Closed, Loops, close_loops
from bodymotion.model.closed_loops.mechanism import loop_errors

__all__ = ["Closed", "Loops", "close_loops", "loop_errors"]
