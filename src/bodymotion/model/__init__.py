"""Robot models: `Body` with its links, joints, devices, extra joints, inertias and closed loops."""
