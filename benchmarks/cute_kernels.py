"""The CuTe DSL's side of `kernel_stats.py`: the same problems, compiled to PTX without a GPU.

    python cute_kernels.py gemm_128x256

It prints what Triton's side prints: bytes of dynamic shared memory in a comment, then the PTX. The
kernels are `Gemm` and `Attention` of `test/unit/sim_cute`, of which tests show that they compute
what numpy does: a warpgroup that loads through rings of stages, two that multiply, a store by TMA,
with the tiles and types of `examples/hopper/tiles.mlir` and `examples/kernels/attention.py`. The
package itself has no attention. This one overlaps products of two blocks, as tilec's does.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).resolve().parents[1] / "test" / "unit" / "sim_cute"
OPERAND = {"type_": "f16", "major": "row", "swizzle": 128}
REQUESTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gemm_128x256": (
        "kernels",
        "Gemm",
        {
            "tile": (128, 256, 64),
            "stages": 3,
            "cluster": 1,
            "a": OPERAND,
            "b": OPERAND,
            "out": "f16",
        },
    ),
    **{
        f"attention_{depth}": (
            "attention",
            "Attention",
            {"queries": 128, "keys": keys, "depth": depth, "stages": 2},
        )
        for depth, keys in ((64, 128), (128, 128), (256, 64))
    },
}
"""By problem the module, the class in it, and of what size it is."""


def main() -> None:
    """Compile one kernel."""
    module, name, request = REQUESTS[sys.argv[1]]
    with tempfile.TemporaryDirectory() as folder:
        # It reads them when it is imported, and writes the PTX into the folder.
        os.environ |= {
            "CUTE_DSL_ARCH": "sm_90a",
            "CUTE_DSL_KEEP": "ptx",
            "CUTE_DSL_DUMP_DIR": folder,
            "CUTE_DSL_CACHE_DIR": folder,
        }
        sys.path.insert(0, str(KERNELS))
        from cutlass import cute

        kernel = getattr(import_module(module), name)(**request)
        ptx: str = cute.compile(kernel, *kernel.arguments).__ptx__
    assert len(re.findall(r"\.entry ", ptx)) == 1
    print(f"// {kernel.shared} bytes of dynamic shared memory\n{ptx}")


if __name__ == "__main__":
    main()
