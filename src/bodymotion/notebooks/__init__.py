"""What a notebook shows of a body, a motion or an animation: a summary with a picture, and a page that plays inline."""

from __future__ import annotations

from bodymotion.notebooks.inline import InlinePage, inline
from bodymotion.notebooks.summaries import html_of

__all__ = ["InlinePage", "html_of", "inline"]
