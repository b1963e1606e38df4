"""Logs of robots: MCAP and rosbag2.

A rosbag2 is a folder with `metadata.yaml` and files `.mcap`, or `.db3` of SQLite.

Messages are known by their fields, in any encoding: CDR of ROS 2 (its standard types),
JSON and protobuf, as of Foxglove.

==============================================
=============================================================================
``name``, ``position``                         JointState: joints by their names [rad or
m]; or ``joints``, a list of such
``joint_names``, ``points``                    JointTrajectory: ``positions`` at
``time_from_start``; read where no joints are
``transforms`` of ``child_frame_id``           TFMessage, FrameTransforms:
``translation`` [m] and ``rotation``, x y z w by name
``child_frame_id``, ``pose``                   Odometry: ``position`` and
``orientation``
==============================================
=============================================================================

The time of a message is its ``header.stamp`` or ``timestamp``, and that of the log
where these are zero and not the start of a simulation. Poses of links in the world
follow from the tree of frames below the first one, which is a link itself unless it is
called world, map, odom or earth. Other frames are read at the times of the frame with
the most messages, by interpolation. Names of joints may come in any order; a joint
without a value keeps its last one. A trajectory replaces the rest of the one before it.
Dates become times from the first message on.
"""

from bodymotion.formats.mcap.reader import read_mcap
from bodymotion.formats.mcap.writer import write_mcap

__all__ = ["read_mcap", "write_mcap"]
