"""Retargeting of a dance of 131 s to Unitree G1, feet pinned, in iterations of mink, by wall time: we use all cores, mink one.

A frame of GMR, which makes the same motion without pinning feet, takes the time of 39 iterations of mink on SR1 with five frame tasks; 25
times its speed is 1.6 of them a frame.
"""

from __future__ import annotations

import time

ITERATIONS, REPEATS = 100, 7
GMR_ITERATIONS, TARGET = 39.0, 25.0
LINKS = ("WAIST", "RLEG_ANKLE_R", "LLEG_ANKLE_R", "RARM_WRIST_R", "LARM_WRIST_R")


def mink_iteration(body):
    """Return a function that measures the time [s] of one iteration of mink with five frame tasks."""
    import mink

    from bodymotion.simulation import to_mujoco

    configuration = mink.Configuration(to_mujoco(body).model)
    tasks = [
        mink.FrameTask(name, "body", position_cost=1.0, orientation_cost=1.0)
        for name in LINKS
    ]
    for task in tasks:
        task.set_target_from_configuration(configuration)
    limits = [mink.ConfigurationLimit(configuration.model)]

    def iterate():
        start = time.perf_counter()
        for _ in range(ITERATIONS):
            speed = mink.solve_ik(
                configuration, tasks, 0.01, "daqp", 1e-6, limits=limits
            )
            configuration.integrate_inplace(speed, 0.01)
        return (time.perf_counter() - start) / ITERATIONS

    return iterate


def main() -> list[tuple[str, float, float, float, str]]:
    """Print one row; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    import bodymotion as bm
    from benchmarks.samples import sample

    clip = "mocap/Roboparty+human-humanoid-tools/assets/motions/mimic/LAFAN/dance1_subject2.bvh"
    dance = bm.load(sample(clip))
    robot = bm.load(sample("robots/YanjieZe+GMR/assets/unitree_g1/g1_mocap_29dof.xml"))
    walker = bm.load(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    iterate = mink_iteration(walker)
    motion = bm.retarget(dance, robot)
    ours = iteration = float("inf")
    for _ in range(REPEATS):
        iteration, start = min(iteration, iterate()), time.perf_counter()
        bm.retarget(dance, robot)
        ours = min(ours, time.perf_counter() - start)
    theirs = GMR_ITERATIONS * iteration * dance.num_frames
    row = (
        "retargeting, a dance of 131 s to G1, against GMR (39 iterations of mink a frame)",
        ours,
        theirs,
        theirs / ours,
        ">= 25",
    )
    print(
        f"{row[0]}: ours {ours:.2f} s, GMR {theirs:.1f} s, ratio {row[3]:.1f} (target {TARGET:g})"
    )
    print(
        f"  {ours / dance.num_frames / iteration:.2f} iterations of mink a frame, {1e3 * iteration:.3f} ms each"
    )
    found = bm.retargeting.compare_retarget(dance, robot, motion)
    print("  " + str(found).replace("\n", "\n  ").rstrip())
    return [row]


if __name__ == "__main__":
    main()
