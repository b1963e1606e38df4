"""Closed loops: the joints that the extra joints of a body leave no choice, worked out from those that drive.

Links make a tree, and each joint moves what hangs on it. An `ExtraJoint` holds two of its links together beside the tree, so that some of
the joints follow from others. With P₁, P₂ its two points in the world, R₁, R₂ the turns of its two links, a its axis and u ⊥ v two unit
vectors normal to a, it asks of the joints:

    type            equations                           frame                                             count
    xyz, ball       R₁ᵀ·(P₂ − P₁) = 0                   all three directions                              3
    xy, piston      u·R₁ᵀ·(P₂ − P₁) = 0, v·… = 0        normal to the axis, which goes with the first link 2
    z               a·R₁ᵀ·(P₂ − P₁) = 0                 along the axis, which goes with the first link    1
    hinge           the three of xyz, and               the same numbers a are the axis in the first       5
                    u·R₁ᵀ·R₂·a = 0, v·… = 0             link's frame and in the second link's

xyz, xy and z are the OpenHRP document's. The other three are Choreonoid's, as its own simulator takes them: "ball" is xyz, "piston" is xy
(the point slides along the axis and the links may turn against each other), "hinge" keeps the two axes on one line.

`mechanism` puts the loops of a body into groups that share joints, `driving` says which joints drive, `closing` closes them over a motion,
`errors` says how far link poses are from closing.
"""

from bodymotion.model.closed_loops.closing import Closed, Loops, close_loops
from bodymotion.model.closed_loops.errors import loop_errors

__all__ = ["Closed", "Loops", "close_loops", "loop_errors"]
