"""tilec: an MLIR/LLVM toolkit for NVIDIA's matrix instructions."""

from __future__ import annotations

__version__ = "0.1.0"
