"""Scenes in COLLADA files (.dae), of the versions 1.4 and 1.5: nodes, meshes, plain materials.

What robots' files need of it::

    <COLLADA> <asset> <unit meter="0.001"/> </asset>
      <library_effects> <effect id> … <phong> <diffuse> <color> | <texture texture="SAMPLER"/> …
      <library_materials> <material id> <instance_effect url="#…"/>
      <library_geometries> <geometry id> <mesh> <source id> … <vertices id> …
                           <triangles> | <polylist> | <polygons> | <tristrips> | <trifans>
      <library_visual_scenes> <visual_scene id> <node id name> <matrix> | <translate> | <rotate> | <scale>, <instance_geometry>, <node> …
      <scene> <instance_visual_scene url="#…"/>

Lengths are brought to metres. `up_axis` changes nothing: robot models place such files by their coordinates as they are. Animations,
skins, lights and cameras are not read. Only the file itself is opened.
"""

from __future__ import annotations

from bodymotion.formats.meshes.collada.reader import Part, SceneNode, read_collada

__all__ = ["Part", "SceneNode", "read_collada"]
