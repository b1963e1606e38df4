"""Closing two loops over 7146 frames: one call here, a Python loop of Newton steps over Pinocchio's Jacobians there.

The body is the example humanoid with a parallelogram in each hand. Pinocchio's model is built from our Body; its loop begins each frame
where the one before ended and takes steps until the points meet within 1e-10 m. It looks out for no branches and no singular poses; ours
does.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from bodymotion.model.body import Body
from bodymotion.model.closed_loops import Loops, loop_errors

FRAMES = 7146
WARM_UP = 25  # So many calls are enough for poses to be computed by compiled code.
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def moving(body: Body, driving: tuple[int, ...]) -> np.ndarray:
    """Return joint values (T, J): the drivers open and close, all else stands still, and what follows is 0."""
    q = np.zeros((FRAMES, body.num_joints))
    q[:, list(driving)] = (
        0.3 + 0.25 * np.sin(np.linspace(0, 40 * np.pi, FRAMES))[:, None]
    )
    return q


class Peer:
    """Newton's method with Pinocchio."""

    def __init__(self, body: Body, following: tuple[int, ...]) -> None:
        import pinocchio as pin

        from benchmarks.kinematics import pinocchio_model

        self.pin = pin
        self.model, self.columns, parents, placements = pinocchio_model(body)
        self.pairs = []
        for number, joint in enumerate(body.extra_joints):
            frames = []
            for end, (index, point) in enumerate(
                zip(joint.links, joint.positions, strict=True)
            ):
                at = placements[index] * pin.SE3(np.eye(3), np.array(point))
                frame = pin.Frame(
                    f"loop_{number}_{end}", parents[index], at, pin.FrameType.OP_FRAME
                )
                frames.append(self.model.addFrame(frame))
            self.pairs.append(frames)
        self.data = self.model.createData()
        self.following = following
        self.places = [self.columns[column] for column in following]
        self.speeds = [place - 1 for place in self.places]

    def close(self, q: np.ndarray) -> np.ndarray:
        """Return joint values (T, J) whose loops are closed."""
        pin, model, data = self.pin, self.model, self.data
        found = np.array(q)
        x = pin.neutral(model)
        for row in found:
            for column, place in self.columns.items():
                if column not in self.following:
                    x[place] = row[column]
            for _ in range(20):
                pin.computeJointJacobians(model, data, x)
                pin.updateFramePlacements(model, data)
                apart, slopes = [], []
                for first, second in self.pairs:
                    apart.append(
                        data.oMf[second].translation - data.oMf[first].translation
                    )
                    one, other = (
                        pin.getFrameJacobian(
                            model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
                        )[:3]
                        for frame in (first, second)
                    )
                    slopes.append((other - one)[:, self.speeds])
                residual = np.concatenate(apart)
                if np.abs(residual).max() < 1e-10:
                    break
                x[self.places] -= np.linalg.lstsq(
                    np.concatenate(slopes), residual, rcond=1e-9
                )[0]
            row[list(self.following)] = x[self.places]
        return found


def main() -> list[tuple[str, float, float, float, str]]:
    """Print one row; return (name, ours [s], peer [s], ratio peer/ours, target)."""
    import bodymotion as bm

    body = bm.load(EXAMPLES / "biped.wrl")
    loops = Loops(body)
    q = moving(body, loops.driving())
    for _ in range(WARM_UP):
        closed = loops.close(q)
    peer = Peer(body, closed.following)
    ours, theirs = [], []
    for turn in range(5):
        start = time.perf_counter()
        closed = loops.close(q)
        ours.append(time.perf_counter() - start)
        if turn < 2:
            start = time.perf_counter()
            found = peer.close(q)
            theirs.append(time.perf_counter() - start)
    mine, other = float(np.median(ours)), float(np.median(theirs))
    row = (
        "two closed loops over 7146 frames, against Newton steps over Pinocchio's Jacobians",
        mine,
        other,
        other / mine,
        ">= 3",
    )
    apart = loop_errors(body, body.forward_kinematics(found))[0].max()
    print(
        f"{row[0]}: ours {mine * 1e3:.1f} ms, Pinocchio {other * 1e3:.0f} ms, ratio {row[3]:.1f} (target {row[4]})"
    )
    print(
        f"  residual: ours {closed.residual.max():.1e} m, theirs {apart:.1e} m; joints apart {np.abs(closed.q - found).max():.1e} rad"
    )
    return [row]


if __name__ == "__main__":
    main()
