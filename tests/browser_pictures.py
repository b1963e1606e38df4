"""What is seen in a browser: pictures of the scene, and colours in them."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from PIL import Image


def enter(field, text: str) -> Callable[[], None]:
    """Return the action of typing into a field of a page, for `until`."""

    def act() -> None:
        field.fill(text)
        field.press("Enter")

    return act


def picture(page) -> np.ndarray:
    """The three-dimensional part of the page, left of the panel, once it is at rest: (H, W, 3) in 0…255."""
    return np.asarray(
        Image.open(
            io.BytesIO(
                page.screenshot(clip={"x": 0, "y": 0, "width": 310, "height": 330})
            )
        ).convert("RGB")
    ).astype(int)


def at_rest(page) -> np.ndarray:
    """The picture when two in a row are the same, with frames drawn between them."""
    last = picture(page)
    for _ in range(60):
        page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )
        now = picture(page)
        if np.abs(now - last).max() <= 2:
            return now
        last = now
    return last


RED, GREEN, BLUE = (1, 0, 0), (0, 1, 0), (0, 0, 1)
ORANGE = (1, 0.4, 0)


def colored(image: np.ndarray, color: tuple[float, ...]) -> np.ndarray:
    """The places (N, 2) in the picture that have clearly that colour."""
    light = image.max(axis=2, keepdims=True).clip(1)
    near = np.abs(image / light - np.array(color)).max(axis=2) < 0.32
    return np.argwhere(near & (light[..., 0] > 90))


def middle(image: np.ndarray, color: tuple[float, ...]) -> np.ndarray:
    """The mean (2,) of the places in the picture that have clearly that colour."""
    return colored(image, color).mean(axis=0)


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The share of pixels that differ clearly."""
    return float((np.abs(a - b).max(axis=2) > 25).mean())
