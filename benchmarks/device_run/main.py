"""The run of a pack: sections in processes of their own, then one JSON file and a table."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tilec.isa import target as find_target

from .driver import Cuda, DeviceError
from .machine import versions
from .pack import Pack
from .sections import SECTIONS, until
from .table import table, wrong

GRACE = 20.0
"""Seconds that a section may take beyond its time before it is ended."""


def main(folder: Path, arguments: Sequence[str], library: Any = None) -> int:
    """The command.

    Args:
        folder: the pack.
        arguments: of the command line.
        library: CUDA's driver, in tests; sections then run in this process.

    Returns:
        The exit status.
    """
    names = [section.name for section in SECTIONS]
    parser = argparse.ArgumentParser("run_device.py", description="Run a pack beside a GPU.")
    parser.add_argument("--sections", default=",".join(names), metavar="NAME,...")
    parser.add_argument("--minutes", type=float, default=8.5, help="for everything")
    parser.add_argument("--out", type=Path, default=Path("results.json"))
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    chosen = given.sections.split(",")
    for name in chosen:
        if name not in names:
            parser.error(f"unknown section '{name}'; there are {', '.join(names)}")
    try:
        cuda, pack = Cuda(library), Pack(folder)
        _check(cuda, pack)
        if given.only:
            _section(cuda, pack, given.only, given.seconds, given.out)
            return 0
    except DeviceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    about = {
        "gpu": cuda.name,
        "architecture": cuda.architecture,
        "target": pack.target,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {**pack.about["versions"], **versions(cuda)},
    }
    print(f"{cuda.name}, CUDA {cuda.driver}; kernels for {pack.target}", flush=True)
    started, total = time.monotonic(), given.minutes * 60
    rows: dict[str, list[dict[str, Any]]] = {}
    for section in SECTIONS:
        left = total - (time.monotonic() - started)
        if section.name not in chosen:
            continue
        seconds = min(left, section.share * total)
        part = given.out.with_suffix(f".{section.name}.jsonl")
        failure = _apart(cuda, pack, section.name, seconds, part, library)
        rows[section.name] = [*_read(part), *([{"failure": failure}] if failure else [])]
        spent = time.monotonic() - started
        print(f"{spent:6.1f} s: {section.name}, {len(rows[section.name])} rows", flush=True)
        document = {**about, "rows": _flat(about, rows)}
        given.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(table(rows))
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


def _section(cuda: Cuda, pack: Pack, name: str, seconds: float, out: Path) -> None:
    """One section in this process, a line of JSON for each row."""
    (section,) = (one for one in SECTIONS if one.name == name)
    with out.open("w", encoding="utf-8") as file:
        for row in section.run(cuda, pack, until(seconds)):
            print(json.dumps(row), file=file, flush=True)


def _apart(
    cuda: Cuda, pack: Pack, name: str, seconds: float, out: Path, library: Any
) -> str | None:
    """One section in a process of its own; what went wrong with it as a whole."""
    if library is not None:
        _section(cuda, pack, name, seconds, out)
        return None
    if seconds <= 0:
        return "out of time"
    out.unlink(missing_ok=True)
    command = [sys.executable, str(pack.folder / "run_device.py"), "--only", name]
    command += ["--seconds", str(seconds), "--out", str(out)]
    try:
        done = subprocess.run(
            command, timeout=seconds + GRACE, stderr=subprocess.PIPE, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return f"ended after {seconds + GRACE:.0f} s"
    return None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[-2000:]}"


def _read(part: Path) -> list[dict[str, Any]]:
    """The whole lines of a section's file, which is then taken away."""
    if not part.exists():
        return []
    lines = part.read_text(encoding="utf-8").split("\n")[:-1]
    part.unlink()
    return [json.loads(line) for line in lines]


def _flat(about: dict[str, Any], rows: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """All rows, each with where and when it was made."""
    common = {name: about[name] for name in ("gpu", "date", "versions")}
    return [{"section": n, **row, **common} for n, found in rows.items() for row in found]
