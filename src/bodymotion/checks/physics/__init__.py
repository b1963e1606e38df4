"""Rules about the physics of a motion on a body.

Jumps, foot slip, contact height, balance, torques.

====== ==========================================================================
MOT30x jumps and spikes of joints and of the root (`sudden`)
MOT31x feet on the ground: slip, contact below the ground, no contact (`feet`)
MOT32x balance: the computed zero moment point, and the recorded one (`checking`)
MOT33x torques beyond the limits of the motors (`checking`)
====== ==========================================================================

No document defines these rules; they are our judgement. The rules MOT31x to MOT33x
share one measurement (`samples.Samples`), which is made in blocks of frames, so that
memory stays bounded. docs/motion-checks.md explains the thresholds.
"""
