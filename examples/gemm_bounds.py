"""The program of gemm_bounds.mlir, built from Python: that of gemm.py with every access masked.

Run as a program it prints the PTX, for the target given as an argument.
"""

import sys
from typing import Any

import tilec
from gemm import gemm


def gemm_bounds() -> Any:
    """The module."""
    return gemm(bounds=True)


if __name__ == "__main__":
    print(tilec.compile(gemm_bounds(), target=sys.argv[1] if len(sys.argv) > 1 else None).ptx)
