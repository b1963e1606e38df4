"""Mesh files beside the models that name them.

`folder` collects the meshes of a model and writes them as OBJ, STL or GLB; `reading`
reads the files that a model names (also COLLADA).
The default is OBJ: Pinocchio, yourdfpy, RViz, MuJoCo and Gazebo all read it. It alone
keeps numbers to the bit and vertices shared by faces, and with its library of materials
it holds colours and textures. STL is read as widely and holds neither. GLB is small and
keeps colours, but MuJoCo and Pinocchio do not read it.
"""

__all__ = ["DEFAULT_CREASE_ANGLE"]

DEFAULT_CREASE_ANGLE = 0.5
"""[rad] Crease angle of a mesh without one.

Rounded parts look round, edges stay edges.
"""
