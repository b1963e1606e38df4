"""Arrays, rotations (wxyz), poses (x y z qw qx qy qz), shapes, and operations on their
meshes.
"""
