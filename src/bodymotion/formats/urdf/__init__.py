"""URDF, the robot models of ROS: XML with links and the joints between them.

The elements that are read::

    <robot name="arm">
      <material name="red">
        <color rgba="1 0 0 1"/><texture filename="wall.png"/>
      </material>
      <link name="base">
        <inertial>
          <origin xyz rpy/><mass value/><inertia ixx ixy ixz iyy iyz izz/>
        </inertial>
        <visual name="shell">
          <origin xyz rpy/>
          <geometry>
            <box size/> | <cylinder radius length/> | <sphere radius/> |
            <capsule radius length/> | <mesh filename scale/>
          </geometry>
          <material name="red"/>
        </visual>
        <collision> as <visual>, without material </collision>
      </link>
      <joint name="shoulder" type="revolute | continuous | prismatic | fixed |
             floating | planar">
        <origin xyz rpy/><parent link/><child link/><axis xyz/>
        <limit lower upper effort velocity/><dynamics damping friction/>
        <mimic joint multiplier offset/><calibration rising falling/>
        <safety_controller soft_lower_limit soft_upper_limit k_position k_velocity/>
      </joint>
      <transmission name>
        <joint name/>
        <actuator name><mechanicalReduction>100</mechanicalReduction></actuator>
      </transmission>
      <gazebo reference="base">
        <sensor name type="imu | camera | depth | ray | force_torque | …"> … </sensor>
      </gazebo>
      <bodymotion version="2"> joint ids, motors, closed loops </bodymotion>
    </robot>

Lengths are metres, angles radians; `rpy` are rotations about the fixed axes x, y, z. A
link has the frame of its joint. Source: the XML specification of URDF (the pages
`urdf/XML` of the ROS wiki), SDFormat 1.9 for sensors.

`reader` makes a Body of the links in order (`tree`), `writer` a file of a Body.
`joints`, `shapes` and `devices` have one kind of element each, in both directions;
`extension` has <bodymotion>, `elements` what several others hold, and what URDF does
not have, `losses` what a file does not hold.
"""

from bodymotion.formats.urdf.reader import parse_urdf, read_urdf
from bodymotion.formats.urdf.writer import write_urdf

__all__ = ["parse_urdf", "read_urdf", "write_urdf"]
