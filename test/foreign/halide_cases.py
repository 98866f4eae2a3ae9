"""Cases of `halide_kernels.py`: what each kernel is given, and what numpy gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .case import Case
from .samples import whole, zeros


def _case(pipeline: str, *more: Any, kernel: str = "", **named: Any) -> Case:
    return Case(f"halide_{pipeline}.ptx", kernel or pipeline, *more, **named)


def cases() -> Iterator[Case]:
    """The cases."""
    image = whole((26, 50), 0, 1000, np.uint16)
    nine = sum(image[i : i + 24, j : j + 48] for i in range(3) for j in range(3)) // 9
    yield _case("blur", (3, 3), (16, 10), [image, zeros(24, 48, type_="u2")], {1: nine}, shared=320)
    a, b = whole((32, 48)), whole((48, 64)) + 1
    yield _case("product", (4, 2), (16, 16), [a, b, zeros(32, 64, type_="f4")], {2: a @ b})
    data = whole(1000, 0, 256, np.uint8)
    bins = np.bincount(data, minlength=256)
    yield _case("histogram", 4, 64, [zeros(256) + 7], {0: np.zeros(256)})
    yield _case("histogram", 8, 128, [zeros(256), data], {0: bins}, kernel="histogram_again")
    x = whole((8, 161), type_=np.int32)
    s = x[:, :-1] + x[:, 1:]
    wanted = s[:, :128] * s[:, 1:129] + s[:, 2:130]
    yield _case("lanes", (4, 2), (32, 4), [x, zeros(8, 128)], {1: wanted})
    v = np.random.default_rng(6).uniform(-6, 6, 600).astype("f4")
    d, up = v.astype("f8"), np.abs(v).astype("f8")
    shown = np.where(v > 0, up ** np.float32(0.45) + np.arctan2(d, 2), np.sin(d) * np.exp(d))
    yield _case("tone", 5, 128, [v, np.zeros_like(v)], {1: shown}, tolerance=1e-4)
