"""The kernel of `launch_path.py`."""

import tilec
import tilec.lang as tl

Vector = tl.Array[tl.float32, int]


@tilec.kernel
def add(x: Vector, y: Vector, out: Vector, by: float, n: int, size: tl.Constant[int]) -> None:
    at = tl.program_id(0) * size
    held = tl.load(x, at, size) + tl.load(y, at, size) * by
    tl.store(out, at, held, mask=at + tl.arange(size) < n)
