"""Read and write OpenHRP models.

They are robots in VRML97 with the prototypes Humanoid, Joint, Segment, sensors and
ExtraJoint.

Humanoid { humanoidBody [ Joint { children [ Segment, sensors, Joint … ] } ] }: the tree
of Joints is the tree of links. The language itself, the shapes and the parts in other
files belong to `bodymotion.formats.vrml`.
"""

from bodymotion.formats.openhrp.reader import read_openhrp

__all__ = ["read_openhrp"]
