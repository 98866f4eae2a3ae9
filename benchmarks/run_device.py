"""Runs a pack beside a GPU: proofs, probes and timings; a table last, and everything as JSON.

    python run_device.py [--sections NAME,...] [--minutes 9] [--out results.json]

Needs numpy, ml_dtypes and NVIDIA's driver; PyTorch and Triton are timed beside tilec where they are
installed. Each section runs in a process of its own, so that a kernel that faults or hangs takes
down no other; what it found until then is kept. Exit status 1 if anything is wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from device_run.main import main  # noqa: E402 (the pack's own folder comes first)

if __name__ == "__main__":
    sys.exit(main(HERE, sys.argv[1:]))
