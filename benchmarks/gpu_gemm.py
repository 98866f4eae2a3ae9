"""Times GEMMs on this machine's GPU beside cuBLAS and Triton, in one run and in turns.

    python benchmarks/gpu_gemm.py [--sections gemm,...] [--dtype f16,...] [--out FILE]

The timings of `pack_device.py --run` without its proofs: TFLOP/s by CUDA events, warmed
up, medians; inputs normal numbers, more than L2 holds; clocks and power beside them. Sections:
gemm (sparse ones included), sweep, attention, rates, overhead.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from device_pack.kernels import timed_kernels
from device_pack.write import write
from device_run.main import main as run
from tilec.isa import TilecError
from tilec.runtime import cuda

SECTIONS = ("gemm", "sweep", "attention", "rates", "overhead")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sections", default="gemm", metavar="NAME,...")
    parser.add_argument("--dtype", default="", metavar="NAME,...", help="default: all")
    parser.add_argument("--minutes", default="8.5", help="for everything")
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    given = parser.parse_args()
    for name in given.sections.split(","):
        if name not in SECTIONS:
            parser.error(f"unknown section '{name}'; there are {', '.join(SECTIONS)}")
    try:
        target = cuda.gpu().target.name
        dtypes = set(filter(None, given.dtype.split(",")))
        kernels = [k for k in timed_kernels(target) if not dtypes or k.fields["dtype"] in dtypes]
        if not kernels:
            raise TilecError(f"no kernel of {given.dtype}")
    except TilecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        pack = Path(folder, "pack")
        write(
            pack,
            target,
            chosen=[],
            elements=0,
            kernels=kernels,
            with_programs=False,
            jobs=1,
            say=lambda _: None,
        )
        options = ["--sections", given.sections, "--minutes", given.minutes]
        return run(pack, [*options, "--out", str(given.out.resolve())])


if __name__ == "__main__":
    sys.exit(main())
