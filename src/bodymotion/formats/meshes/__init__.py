"""Meshes in files of their own, beside the models that name them.

`folder` collects the meshes of a model and writes them as `obj`, `stl` or `glb`; `reading` opens the files that a model names. The default
is OBJ: it is what Pinocchio, yourdfpy, RViz, MuJoCo and Gazebo all read, it is the only one of the three that keeps numbers to the bit and
vertices as they are shared by faces, and with its library of materials it holds colours and textures. STL is read as widely and holds
neither; GLB is small and keeps colours, but MuJoCo and Pinocchio do not read it.
"""
