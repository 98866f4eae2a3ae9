"""Compiles here what runs beside a GPU elsewhere: one small folder, started by one command.

    python benchmarks/pack_device.py [OUT] [--target sm_90a] [--forms WORDS] [--elements N]
    python OUT/run_device.py                                     # on the machine with the GPU
    python benchmarks/pack_device.py [OUT] --run                 # both, on this one

The folder holds PTX of every instruction form of the target with what the simulator gives for
random memory, probes of what is not known of its arithmetic, kernels to time, and the programs that
run all this. It needs no compiler there, and no tilec.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from device_pack.forms import forms_of
from device_pack.kernels import timed_kernels
from device_pack.suite import suite
from device_pack.write import write
from device_run.main import main as run
from tilec.isa import TilecError
from tilec.isa import target as find_target


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", nargs="?", type=Path, default=Path("device-pack"), metavar="OUT")
    parser.add_argument("--target", default="sm_90a", help="default: %(default)s")
    parser.add_argument("--forms", default="", metavar="WORDS", help="only forms that hold these")
    parser.add_argument("--elements", type=int, default=1 << 20, help="of each form")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="default: all cores")
    parser.add_argument("--run", action="store_true", help="run the pack here as well")
    parser.add_argument("-q", "--quiet", action="store_true")
    given = parser.parse_args()
    start = time.monotonic()
    try:
        target = find_target(given.target)
        modern = target.number >= 80
        write(
            given.out,
            given.target,
            chosen=forms_of(target, given.forms),
            elements=given.elements,
            kernels=timed_kernels(given.target) if modern else [],
            suite=suite(given.target) if modern else [],
            with_programs=modern,
            jobs=given.jobs,
            say=(lambda _: None) if given.quiet else (lambda text: print(text, flush=True)),
        )
    except TilecError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    size = sum(file.stat().st_size for file in given.out.rglob("*") if file.is_file())
    seconds = time.monotonic() - start
    print(f"{given.out}: {size / 1e6:.1f} MB in {seconds:.0f} s; run {given.out}/run_device.py")
    return run(given.out, ["--out", str(given.out / "results.json")]) if given.run else 0


if __name__ == "__main__":
    sys.exit(main())
