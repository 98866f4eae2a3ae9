"""The run of a pack: a plan, its entries in processes of their own, one JSON file and a table."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tilec.isa import target as find_target

from .driver import Cuda, DeviceError
from .entries import collected, run_apart, run_here, write_lines
from .machine import versions
from .pack import ABOUT, Pack
from .plan import TABLE, Entry, in_order, planned
from .sections import SECTIONS, entries
from .table import left_out, table, wrong


def main(folder: Path, arguments: Sequence[str], library: Any = None) -> int:
    """The command.

    Args:
        folder: the pack.
        arguments: of the command line.
        library: CUDA's driver, in tests; entries then run in this process.

    Returns:
        The exit status.
    """
    names = [section.name for section in SECTIONS]
    parser = argparse.ArgumentParser("run_device.py", description="Run a pack beside a GPU.")
    parser.add_argument("--sections", default=",".join(names), metavar="NAME,...")
    parser.add_argument("--minutes", type=float, default=8.5, help="for everything")
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--plan", action="store_true", help="only say what would be run")
    parser.add_argument("--entries", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    chosen = given.sections.split(",")
    for name in chosen:
        if name not in names:
            parser.error(f"unknown section '{name}'; there are {', '.join(names)}")
    if not (folder / ABOUT).is_file():
        parser.error(f"{folder} is not a pack: it has no {ABOUT}; pack_device.py makes packs")
    pack = Pack(folder)
    plan, seconds = in_order(entries(pack, chosen)), given.minutes * 60
    if given.plan:
        print("\n".join(planned(plan, seconds, each=True)))
        return 0
    try:
        cuda = Cuda(library)
        _check(cuda, pack)
        if given.entries:
            numbers = [int(number) for number in given.entries.split(",")]
            with given.out.open("w", encoding="utf-8") as out:
                write_lines(run_here(cuda, pack, plan, numbers, given.seconds), out)
            return 0
        return _run(cuda, pack, plan, seconds, given, library)
    except DeviceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _run(
    cuda: Cuda,
    pack: Pack,
    plan: Sequence[Entry],
    seconds: float,
    given: argparse.Namespace,
    library: Any,
) -> int:
    """Run the plan, and say what was found."""
    started = time.monotonic()
    about = {
        "gpu": cuda.name,
        "architecture": cuda.architecture,
        "target": pack.target,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {**pack.about["versions"], **versions(cuda)},
    }
    print(f"{cuda.name}, CUDA {cuda.driver}; kernels for {pack.target}")
    print("\n".join(planned(plan, seconds)), flush=True)
    numbers, rows = range(len(plan)), dict[str, list[Any]]()
    allowed = seconds - TABLE
    lines = (
        run_apart(pack.folder, plan, numbers, allowed, given.sections)
        if library is None
        else run_here(cuda, pack, plan, numbers, allowed)
    )
    took: list[dict[str, Any]] = []
    for entry, spent in collected(plan, lines, rows):
        took.append({"section": entry.section, "entry": entry.name, "planned": entry.seconds})
        took[-1]["seconds"] = spent
        if spent is not None:
            now, name = time.monotonic() - started, f"{entry.section}, {entry.name}"
            print(f"{now:6.1f} s: {name}: {spent:.1f} s, planned {entry.seconds:.1f}", flush=True)
        document = {**about, "plan": took, "rows": _flat(about, rows)}
        given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    document = {**about, "plan": took, "rows": _flat(about, rows)}
    given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print("\n".join(left_out(took)))
    print(table({section.name: rows[section.name] for section in SECTIONS if section.name in rows}))
    return 1 if wrong(rows) else 0


def _check(cuda: Cuda, pack: Pack) -> None:
    """That the GPU is the one whose bits the pack holds.

    Raises:
        DeviceError: if it is not.
    """
    if f"sm_{find_target(pack.target).number}" != cuda.architecture:
        raise DeviceError(
            f"the pack is for {pack.target}, and {cuda.name} is an {cuda.architecture}: "
            f"pack_device.py --target makes one for it"
        )


def _flat(about: dict[str, Any], rows: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """All rows, each with where and when it was made."""
    common = {name: about[name] for name in ("gpu", "date", "versions")}
    return [{"section": n, **row, **common} for n, found in rows.items() for row in found]
