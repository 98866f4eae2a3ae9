"""`examples/kernels/gemm.py` from its Python to PTX, as `compile_time.py` times it.

    python benchmarks/python_gemm.py once|cached|serve

It enters at level 1: tiles without layouts, which tilec chooses as Triton does.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "kernels"))

from gemm import gemm  # type: ignore[import-not-found]


def main() -> None:
    kernel = gemm.using(target="sm_80")
    a, c = np.empty((512, 512), np.float16), np.empty((512, 512), np.float32)
    (mode,) = sys.argv[1:]
    if mode != "serve":
        kernel.compile(a, a, c)
        return
    import tilec

    for _ in sys.stdin:
        start = time.perf_counter()
        compiled = tilec.compile(kernel.build(a, a, c).module, target="sm_80")
        seconds = time.perf_counter() - start
        report = {"seconds": seconds, "mma": compiled.ptx.count("mma.sync"), "stages": []}
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
