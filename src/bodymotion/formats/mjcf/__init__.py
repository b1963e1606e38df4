"""MJCF, the XML of MuJoCo: robots and scenes, read and written.

The elements that are read (`names` has all of them)::

    <mujoco model="arm">
      <compiler angle="degree | radian" autolimits eulerseq meshdir texturedir
      inertiafromgeom …/> <default> <geom …/> <default class="leg"> … </default>
      </default> <include file="leg.xml"/> <asset> <mesh name file vertex/> <texture
      name file/> <material name rgba texture/> </asset> <worldbody>
        <body name="base" pos quat | axisangle | euler | xyaxes | zaxis>
          <inertial pos mass diaginertia | fullinertia/> <freejoint/> | <joint name
          type="hinge | slide | ball | free" pos axis range armature ref …/> <geom type
          size pos mesh material class …/> <site name/> <camera name fovy/> <frame> …
          </frame> <body> … </body>
        </body>
      </worldbody>
      <equality> <connect body1 body2 anchor | site1 site2/> </equality>
      <sensor> <gyro site/> … </sensor>
      <actuator> <motor joint gear forcerange/> … </actuator>
      <custom> <text name="bodymotion …" data="{JSON}"/> what MJCF cannot hold </custom>
    </mujoco>

`reader` makes a Body of a file and those that it includes, `writer` writes one. One
kind of element each is read and written in `bodies`,
`geoms`, `devices`, `loops` (closed loops), `extra` (what a Body has no field for) and
`names` (their spelling and numbers, and the texts of what MJCF cannot hold); `defaults`
reads settings and classes. Source: the XML reference of MuJoCo 4.0.
"""

from bodymotion.formats.mjcf.reader import parse_mjcf, read_mjcf
from bodymotion.formats.mjcf.writer import write_mjcf

__all__ = ["parse_mjcf", "read_mjcf", "write_mjcf"]
