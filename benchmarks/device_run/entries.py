"""Entries of the plan, run in this process or in others, which write a line of JSON a step."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from .driver import Cuda
from .pack import Pack
from .plan import Entry
from .sections import Context, run_entry

Line = dict[str, Any]
"""`begin`, `end` or `left_out` with the number of an entry; or a `row` with that of its `entry`."""

PATIENCE = 30.0
"""Seconds without a line, beyond three times an entry's, after which a process is ended."""

GRACE = 20.0
"""Seconds beyond the deadline after which a process is ended."""

_POLL = 0.1


def run_here(
    cuda: Cuda, pack: Pack, plan: Sequence[Entry], numbers: Sequence[int], seconds: float
) -> Iterator[Line]:
    """Run entries of a plan; one begins only if there should be time for it.

    Args:
        cuda: the GPU.
        pack: the pack.
        plan: all entries.
        numbers: of those to run, in order.
        seconds: that they may take.

    Raises:
        DeviceError: if an entry has left the GPU unusable for this process.
    """
    deadline = time.monotonic() + seconds
    context = Context(cuda, pack)
    try:
        for number in numbers:
            entry = plan[number]
            if time.monotonic() + entry.seconds > deadline:
                yield {"left_out": number}
                continue
            yield {"begin": number}
            start = time.monotonic()
            try:
                for row in run_entry(context, entry, deadline):
                    yield {"row": row, "entry": number}
            except Exception as error:  # a fault of one must not take the others along
                failure = f"{entry.name}: {type(error).__name__}: {error}"
                yield {"row": {"failure": failure}, "entry": number}
            yield {"end": number, "seconds": round(time.monotonic() - start, 2)}
            cuda.synchronize()
        for row in context.refusals():
            yield {"row": row, "entry": numbers[-1]}
    finally:
        context.close()


def write_lines(lines: Iterator[Line], out: TextIO) -> None:
    """Write lines, each at once."""
    for line in lines:
        print(json.dumps(line), file=out, flush=True)


def run_apart(
    folder: Path,
    plan: Sequence[Entry],
    numbers: Sequence[int],
    seconds: float,
    sections: str,
) -> Iterator[Line]:
    """The same in processes of their own: after one that fails, another goes on behind its entry.

    Args:
        folder: the pack.
        plan: all entries.
        numbers: of those to run, in order.
        seconds: that they may take.
        sections: of which the plan was made.
    """
    deadline = time.monotonic() + seconds
    left = list(numbers)
    while left:
        allowed = deadline - time.monotonic()
        if allowed <= 0:
            yield from ({"left_out": number} for number in left)
            return
        alone = plan[left[0]].alone
        count = next((n for n, i in enumerate(left) if plan[i].alone != alone), len(left))
        some = left[: 1 if alone else count]
        part = folder / "part.jsonl"
        failure = _process(folder, plan, some, allowed, sections, part)
        begun, done = -1, set()
        for line in read_lines(part):
            begun = line.get("begin", begun)
            done |= {line[name] for name in ("end", "left_out") if name in line}
            yield line
        open_ = [number for number in some if number not in done]
        left = [*open_, *left[len(some) :]]
        if not failure:
            continue
        at_fault = begun if begun >= 0 else some[0]
        yield {"row": {"failure": f"{plan[at_fault].name}: {failure}"}, "entry": at_fault}
        if at_fault in left:
            left.remove(at_fault)
        if not done and begun < 0:  # it did not get as far as an entry, nor will another
            yield from ({"left_out": number} for number in left)
            return


def _process(
    folder: Path,
    plan: Sequence[Entry],
    numbers: Sequence[int],
    seconds: float,
    sections: str,
    part: Path,
) -> str:
    """Run a process; what went wrong with it as a whole."""
    part.unlink(missing_ok=True)
    command = [sys.executable, str(folder / "run_device.py"), "--sections", sections]
    command += ["--entries", ",".join(map(str, numbers)), "--seconds", str(seconds)]
    command += ["--out", str(part)]
    errors = part.with_suffix(".stderr")
    start = time.monotonic()
    with errors.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(command, stderr=said, text=True)
        late = ""
        while process.poll() is None:
            time.sleep(_POLL)
            late = late or _late(plan, part, start, seconds)
            if late:
                process.kill()
                process.wait()
    words = errors.read_text(encoding="utf-8", errors="replace")[-2000:]
    errors.unlink()
    return late or (f"exit {process.returncode}: {words}" if process.returncode else "")


def _late(plan: Sequence[Entry], part: Path, start: float, seconds: float) -> str:
    """Why a process must be ended; empty if it need not."""
    if time.monotonic() - start > seconds + GRACE:
        return f"ended after {seconds + GRACE:.0f} s"
    with suppress(OSError):
        silent = time.time() - part.stat().st_mtime
        begun = [line["begin"] for line in read_lines(part, keep=True) if "begin" in line]
        allowed = PATIENCE + (3 * plan[begun[-1]].seconds if begun else 0.0)
        if silent > allowed:
            return f"ended after {silent:.0f} s without a word"
    return ""


def read_lines(part: Path, *, keep: bool = False) -> list[Line]:
    """The whole lines of a process's file, which is then taken away unless it is kept."""
    if not part.exists():
        return []
    lines = part.read_text(encoding="utf-8").split("\n")[:-1]
    if not keep:
        part.unlink()
    return [json.loads(line) for line in lines]


def collected(
    plan: Sequence[Entry], lines: Iterator[Line], rows: dict[str, list[Mapping[str, Any]]]
) -> Iterator[tuple[Entry, float | None]]:
    """Sort rows by section, and tell of each entry that has ended how long it took.

    Args:
        plan: all entries.
        lines: as they come.
        rows: by section, to which rows are added; entries that are left out have a row as well.

    Yields:
        An entry, with its seconds, or None if it was left out.
    """
    for line in lines:
        if "row" in line:
            rows.setdefault(plan[line["entry"]].section, []).append(line["row"])
        elif "left_out" in line:
            entry = plan[line["left_out"]]
            skipped = {"name": entry.name, "skipped": "out of time"}
            rows.setdefault(entry.section, []).append(skipped)
            yield entry, None
        elif "end" in line:
            yield plan[line["end"]], line["seconds"]
