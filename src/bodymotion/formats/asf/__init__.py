"""Recorded motion of skeletons by Acclaim: a skeleton (.asf) and its motions (.amc), both text.

The shape of the two files::

    :version 1.10                    # comment
    :units
      length 0.45                    :FULLY-SPECIFIED
      angle deg                      :DEGREES
    :root                            1
      order TX TY TZ RX RY RZ        root 9.37 17.87 -17.32 -2.02 -7.60 -3.23
      axis XYZ                       lfemur 4.00 1.20 -13.84
      position 0 0 0                 ltibia 20.09
      orientation 0 0 0              2
    :bonedata                        root 9.37 17.87 -17.32 -2.06 -7.59 -3.10
      begin                          …
        name lfemur
        direction 0.34 -0.94 0
        length 7.16
        axis 0 0 20 XYZ
        dof rx ry rz
      end
    :hierarchy
      begin
        root lfemur
        lfemur ltibia
      end

A bone begins where its parent ends; those under `root` begin at its position. With C = Rz·Ry·Rx of `axis` and A the same of the numbers of
a frame, Q = Q_parent · C · A · C⁻¹ is its rotation, and its end is its beginning + Q · direction · length. A bone without `dof` does not
move in its parent, and has no line in a frame. `length` is the unit: 0.0254 m divided by it. The frame rate is in neither file.

The `Skeleton` has a joint for each bone, where the bone begins, and the channels Zrotation, Yrotation and Xrotation of C · A · C⁻¹.
"""

from bodymotion.formats.asf.reader import read_asf

__all__ = ["read_asf"]
