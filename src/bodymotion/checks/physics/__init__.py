"""The physics of a motion on a body: what jumps, slips, sinks, flies, tips over, or needs more than a motor gives.

====== ====================================================================================
MOT3xx what is sudden: jumps and spikes of joints and of the root (`sudden`)
MOT31x feet on the ground: slip, sink, hover (`feet`)
MOT32x balance: the zero moment point worked out, and the motion's own (`balance`)
MOT33x torques beyond those that the motors give (`motors`)
====== ====================================================================================

All of it is judgement. What the rules of MOT31x to MOT33x look at is measured once, in pieces (`samples`), so that memory stays bounded.
docs/motion-checks.md explains thresholds.
"""
