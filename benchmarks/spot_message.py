"""A Spot animation of 36 000 keyframes, 31 values each: from the file to its message, as bytes and text, against the vendor's converter.

Ours also checks all values against the document. Both are timed in the same run, one after the other; the bytes, and the texts, are equal.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from pathlib import Path

import numpy as np

import bodymotion as bm

KEYFRAMES, RATE = 36_000, 30.0
HEADER = "time body_pos body_quat_wxyz leg_joints contact arm_joints gripper"


def write_sample(path: Path) -> None:
    """Write a long sway: legs, body, arm and gripper within their limits, all numbers different."""
    times = np.arange(KEYFRAMES) / RATE
    phase = 2 * np.pi * times[:, None]
    yaw = 0.1 * np.sin(0.31 * phase)
    legs = np.array([0.0, 0.8, -1.6] * 4) + 0.1 * np.sin(
        phase * np.linspace(0.2, 1.3, 12)
    )
    table = np.hstack(
        (
            times[:, None],
            [0, 0, 0.5] + 0.03 * np.sin(phase * [0.3, 0.4, 0.7]),
            np.cos(yaw / 2),
            np.zeros((KEYFRAMES, 2)),
            np.sin(yaw / 2),
            legs,
            np.ones((KEYFRAMES, 4)),
            [0, -1.5, 1.5, 0, 0.5, 0] + 0.2 * np.sin(phase * np.linspace(0.1, 0.9, 6)),
            -0.5 + 0.4 * np.sin(0.5 * phase),
        )
    )
    with path.open("w") as file:
        file.write(f"controls legs body arm gripper\n\nno parameters\n\n{HEADER}\n")
        np.savetxt(file, table, "%.8g")


def timed(work, repeats: int) -> tuple[float, object]:
    """Return the median of the seconds that some work takes, and its result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), result


def main(repeats: int = 7) -> list[tuple[str, float, float, float, str]]:
    """Print and return the rows: (name, ours [s], peer [s], ratio peer/ours, target)."""
    from bosdyn.choreography.client.animation_file_to_proto import (
        convert_animation_file_to_proto,
    )
    from google.protobuf import text_format

    def theirs():
        with contextlib.redirect_stdout(io.StringIO()):
            return convert_animation_file_to_proto(str(path)).proto

    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sway.cha"
        write_sample(path)
        animation, message = bm.load(path), theirs()
        bm.spot.to_bytes(animation)
        text = bm.spot.to_text(animation)
        print(
            f"  {path.stat().st_size / 1e6:.1f} MB, message of {message.ByteSize() / 1e6:.1f} MB"
        )
        for name, ours, peer, target in (
            (
                ".cha to the bytes of its message",
                lambda: bm.spot.to_bytes(bm.load(path)),
                lambda: theirs().SerializeToString(),
                ">= 4",
            ),
            (
                ".cha to the text of its message (.cap)",
                lambda: bm.spot.to_text(bm.load(path)),
                lambda: text_format.MessageToString(theirs()),
                "-",
            ),
            (
                "reading the text of a message",
                lambda: bm.spot.to_bytes(bm.spot.from_text(text)),
                lambda: text_format.Parse(text, type(message)()).SerializeToString(),
                "-",
            ),
        ):
            mine, made = timed(ours, repeats)
            other, expected = timed(peer, repeats if target != "-" else 1)
            assert made == expected, name
            print(
                f"{name}: ours {mine * 1e3:.1f} ms, the vendor's {other * 1e3:.0f} ms, ratio {other / mine:.1f}"
            )
            found.append((name, mine, other, other / mine, target))
    return found


if __name__ == "__main__":
    main()
