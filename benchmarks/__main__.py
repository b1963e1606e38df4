"""Run all benchmarks, or those named: ``python -m benchmarks [NAME…]``. Compare ratios; times differ from machine to machine."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

NAMES = (
    "importing",
    "commands",
    "seq_reading",
    "seq_writing",
    "vrml_parsing",
    "model_loading",
    "model_conversion",
    "kinematics",
    "inverse_dynamics",
    "simulation",
    "pictures",
    "closed_loops",
    "inverse_kinematics",
    "resampling",
    "checking",
    "many_motions",
    "cha_reading",
    "bvh_reading",
    "retargeting",
    "spot_message",
    "render",
)
PEERS = ("numpy", "scipy", "numba", "PyYAML", "pysimdjson", "pin", "mujoco", "vtk")


def machine() -> str:
    """Say on what the numbers were measured."""
    versions = []
    for name in ("bodymotion", *PEERS):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} -")
    cores = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    return f"{cores}, Python {platform.python_version()}\n{', '.join(versions)}"


def main(names: list[str]) -> int:
    """Run benchmarks one after another and print their rows as one table; 1 if one could not be run."""
    print(f"{machine()}\n")
    rows: list[tuple] = []
    failed = False
    for name in names or NAMES:
        try:
            rows += importlib.import_module(f"benchmarks.{name}").main() or []
        except (ImportError, SystemExit) as error:
            failed = True
            print(f"{name}: not run: {error}", file=sys.stderr)
    print(f"\n{'ours [ms]':>10}  {'peer [ms]':>10}  {'ratio':>8}  target")
    for name, ours, peer, ratio, target in rows:
        print(f"{ours * 1e3:10.2f}  {peer * 1e3:10.2f}  {ratio:8.2f}  {target}: {name}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
