"""Arrays, rotations, poses, shapes, and operations on their meshes.

Rotations are quaternions w x y z, poses x y z qw qx qy qz.
"""
