"""Five poses of SR1 over 10 000 frames of a walk: one call here, a loop over mink with daqp there. By the processor's time of
one thread: what other threads of the process do, such as those of benchmarks before, does not count.

Both get the same targets for waist, feet and wrists (forward kinematics of SR1WalkPattern2, its root moved and rotated), the same limits of
joints and a free root. mink's loop takes steps in each frame until no task is missed by more than `TOLERANCE`, and begins each frame where
the one before ended; ours ends a frame at 1e-10. The residuals of both are printed.
"""

from __future__ import annotations

import time

import numpy as np

FRAMES = 10_000
PEER_FRAMES = 500
"""Frames of mink's loop, whose time is scaled to `FRAMES`."""
REPETITIONS = 3  # Of both by turns; the best of each counts.
TOLERANCE = 1e-6
LINKS = ("WAIST", "RLEG_ANKLE_R", "LLEG_ANKLE_R", "RARM_WRIST_R", "LARM_WRIST_R")


def mink_loop(body, q, root, targets):
    """Return joint values (T, J) and the number of QPs of mink's loop from the first frame's pose."""
    import mink

    from bodymotion.simulation import to_mujoco

    model = to_mujoco(body).model
    places = {
        c: model.joint(joint.name).qposadr[0]
        for c, joint in enumerate(body.joints)
        if joint.name
    }
    start = np.array(model.qpos0)
    start[:7] = root
    for column, place in places.items():
        start[place] = q[column]
    configuration = mink.Configuration(model, start)
    tasks = [
        mink.FrameTask(name, "body", position_cost=1.0, orientation_cost=1.0)
        for name in LINKS
    ]
    limits = [mink.ConfigurationLimit(model, gain=1.0)]
    found, steps = np.empty((len(targets), body.num_joints)), 0
    for row, goals in zip(found, targets, strict=True):
        for task, goal in zip(tasks, goals, strict=True):
            task.set_target(mink.SE3(np.concatenate([goal[3:], goal[:3]])))
        for _ in range(50):
            if (
                max(np.abs(task.compute_error(configuration)).max() for task in tasks)
                <= TOLERANCE
            ):
                break
            speed = mink.solve_ik(
                configuration, tasks, 1.0, "daqp", 1e-9, limits=limits
            )
            configuration.integrate_inplace(speed, 1.0)
            steps += 1
        row[list(places)] = configuration.q[list(places.values())]
    return found, steps


def main() -> list[tuple[str, float, float, float, str]]:
    """Print one row; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    import bodymotion as bm
    from benchmarks.samples import sample

    body = bm.load(sample("wrl/choreonoid+choreonoid/share/model/SR1/SR1.wrl"))
    motion = bm.load(
        sample("seq/choreonoid+choreonoid/sample/SimpleController/SR1WalkPattern2.seq")
    )
    motion = motion.resample(FRAMES / motion.duration)[:FRAMES]
    q = body.joint_values(motion.joint_displacement)
    phase = np.linspace(0, 40 * np.pi, len(q))[:, None]
    root = bm.poses.from_parts(
        np.sin(phase * [1, 0.5, 2]) * [0.05, 0.1, 0.02],
        bm.rotations.from_rpy(np.sin(phase * [0.3, 0.5, 0.1]) * 0.3),
    )
    index = [body.link(name).index for name in LINKS]
    targets = body.forward_kinematics(q, root)[:, index]
    goals = {name: targets[:, k] for k, name in enumerate(LINKS)}
    known = {"q0": q[0], "root": root[0], "free_root": True}
    body.ik({name: goal[:2] for name, goal in goals.items()}, **known)
    ours = theirs = np.inf
    for _ in range(REPETITIONS):
        start = time.thread_time()
        found = body.ik(goals, **known)
        ours = min(ours, time.thread_time() - start)
        start = time.thread_time()
        other, steps = mink_loop(body, q[0], root[0], targets[:PEER_FRAMES])
        theirs = min(theirs, (time.thread_time() - start) * len(targets) / PEER_FRAMES)
    row = (
        f"inverse kinematics, five tasks of SR1 over {len(targets)} frames, against a loop over mink with daqp",
        ours,
        theirs,
        theirs / ours,
        ">= 5",
    )
    print(
        f"{row[0]}: ours {ours * 1e3:.0f} ms, mink {theirs * 1e3:.0f} ms, ratio {row[3]:.1f} (target {row[4]})"
    )
    apart = np.abs(found.q[:PEER_FRAMES] - other).max()
    print(
        f"  residual: ours {found.errors.max():.1e} m or rad, theirs at most {TOLERANCE:.0e} with {steps / PEER_FRAMES:.1f} QPs a frame"
    )
    print(
        f"  joints apart {apart:.1e} rad in {PEER_FRAMES} frames; all reached: {found.reached.all()}"
    )
    return [row]


if __name__ == "__main__":
    main()
