"""What compiling costs, what was tuned, and what the validator finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from statistics import median

from generated import table

from .items import UNIT, Sentence, Table, benchmark, results


def compiler() -> Iterator[Table | Sentence]:
    """What LLVM's passes cost."""
    _, found = results("llvm_passes")
    every, own = ({**one} for one in found["ways"])
    assert own["name"] == "as tilec does"
    assert own["sass"] >= every["sass"]
    assert own["sass_loops"] >= every["sass_loops"]
    assert own["registers"] <= every["registers"]
    yield Sentence(
        "Without them LLVM takes {time} of its time for {modules} modules of five targets; SASS "
        "has {all} % more instructions, in loops {loops} %, and {registers} % fewer registers",
        time=f"{own['seconds'] / every['seconds']:.2f}",
        modules=found["modules"],
        **{
            name: f"{abs(100 * (own[figure] / every[figure] - 1)):.2g}"
            for name, figure in (
                ("all", "sass"), ("loops", "sass_loops"), ("registers", "registers")
            )
        },
    )  # fmt: skip


def from_triton() -> Iterator[Table | Sentence]:
    """Triton's tutorials in both languages."""
    peers = benchmark("triton_tutorials").PEERS
    _, found = results("triton_tutorials")
    rows = []
    for name, peer in peers.items():
        theirs, own = (found[side][name] for side in ("triton", "tilec"))
        lines = (f"{side['lines']} ({side['body']})" for side in (theirs, own))
        share = median(own["seconds"]) / median(theirs["seconds"])
        rows.append((peer.tutorial, *lines, f"{share:.2f}"))
    yield Table("tutorials", table(("tutorial", "Triton", "tilec", "time"), rows))


def kernels() -> Iterator[Table | Sentence]:
    """What a launch takes."""
    _, found = results("launch_path")
    again = [us for name, us in found.items() if name.startswith("same")]
    yield Sentence(
        "takes {least} to {most} µs in Python (`benchmarks/launch_path.py`)",
        least=round(min(again)),
        most=round(max(again)),
    )


def tuning() -> Iterator[Table | Sentence]:
    """How fast `tile-tune` is, and what the table of defaults is worth."""
    file, found = results("tune")
    one, two = found["runs"]
    assert found["same"]
    yield Sentence(
        "kills a run with SIGKILL {kills} times",
        kills={10: "ten"}.get(found["kills"], found["kills"]),
    )
    yield Sentence(
        "{candidates} candidates of a GEMM for three targets, equal but for the times, at {one} "
        "candidates a second with one worker and {two} with two on two cores "
        "(`benchmarks/results/{file}`)",
        candidates=f"{one['candidates']:,}",
        one=f"{one['rate']:.1f}",
        two=f"{two['rate']:.1f}",
        file=file,
    )
    file, found = results("defaults")
    less = [row["target"] for row in found["rows"] if row["time"] < 1 - 1e-9]
    newest = ("sm_90a", "sm_100a")
    assert all(row["time"] <= 1 + 1e-9 for row in found["rows"])
    assert all(row["target"] not in newest or row["time"] < 1 for row in found["rows"])
    yield Sentence(
        "Of {sizes} sizes on four targets none takes longer, and {less} less, on sm_90a and "
        "sm_100a all (`benchmarks/results/{file}`)",
        sizes=len(found["rows"]),
        less=len(less),
        file=file,
    )


def validating() -> Iterator[Table | Sentence]:
    """What the validator finds and `tile-reduce` leaves."""
    mutants, injected = (
        json.loads((UNIT / name).read_text(encoding="utf-8"))
        for name in ("validation/mutants.json", "reduction/injected.json")
    )
    yield Sentence(
        "it finds {named} of the {mutants} in `mutants.json`",
        named=sum(one["named"] == one["mutated"] for one in mutants),
        mutants=len(mutants),
    )
    before = [one["before"] for one in injected]
    yield Sentence(
        "lists {all} of them, with {least} to {most} lines; {small} are reduced to fewer than "
        "fifteen lines",
        all=len(injected),
        least=min(before),
        most=max(before),
        small=sum(one["lines"] < 15 for one in injected),
    )
