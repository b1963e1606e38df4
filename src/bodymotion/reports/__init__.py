"""One page about a motion on a body: the robot playing, key figures, findings, plots, worst moments. See docs/report.md."""

from __future__ import annotations

from bodymotion.reports.api import PLOTS, report
from bodymotion.reports.contents import Contents, contents_of

__all__ = ["PLOTS", "Contents", "contents_of", "report"]
