"""Loops in SASS as `benchmarks/kernel_stats.py` counts them, and faults that tests insert."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from generated import table

from .items import Sentence, Table, entries, results

_KINDS = {
    "SASS": "all", "HGMMA": "mma", "products": "mma", "waits": "wgmma wait", "moves": "mov",
    "barriers": "barrier", "shuffles": "shfl",
}  # fmt: skip
_SHARED = ("ld.shared", "st.shared")
Row = tuple[tuple[str, ...], str, str]
"""The first cells, compiler and kernel."""


@cache
def loops(target: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The loop of each compiler's kernels: counts by kind, registers and spills."""
    _, found = results(f"kernel_stats-{target}")
    return {
        (one["compiler"], one["kernel"]): {
            **one["sass_loop"],
            ", ".join(_SHARED): sum(one["sass_loop"][kind] for kind in _SHARED),
            "registers": one["registers"],
            "spills": one["spills"],
        }
        for one in found["kernels"]
    }


def _loops(name: str, target: str, columns: Sequence[str], rows: Sequence[Row]) -> Table:
    """A table of loops: a row for each kernel, a column for each kind."""
    lines = [
        (*cells, *(str(loops(target)[compiler, kernel][_KINDS.get(c, c)]) for c in columns))
        for cells, compiler, kernel in rows
    ]
    return Table(name, table(("",) * len(rows[0][0]) + tuple(columns), lines))


def hopper() -> Iterator[Table | Sentence]:
    """Loops beside the CuTe DSL's and Triton's."""
    columns = (
        "SASS", "HGMMA", "waits", "moves", "mbarrier", "shuffles", "registers", "spills",
    )  # fmt: skip
    own, cute, triton = ("tilec", "tilec"), ("CuTe DSL", "cute"), ("Triton", "triton")
    rows: list[Row] = []
    for title, kernel, compilers in (
        ("GEMM 128x256x64", "gemm_128x256", (own, cute, triton)),
        ("attention, head size 128, 128 keys", "attention_128", (own, cute, triton)),
        ("head size 64, 128 keys", "attention_64", (own, cute, triton)),
        ("head size 256, 64 keys", "attention_256", (own, cute)),
    ):
        for number, (shown, compiler) in enumerate(compilers):
            rows.append((("" if number else title, shown), compiler, kernel))
    yield _loops("loops for sm_90a", "sm_90a", columns, rows)
    file, _ = results("kernel_stats-sm_90a")
    yield Sentence("[raw results](../benchmarks/results/{file})", file=file)
    found = loops("sm_90a")
    gemm, pingpong = found["tilec", "gemm_128x256"], found["tilec", "gemm_pingpong"]
    yield Sentence(
        "takes {all} SASS instructions, four of them HGMMA, and uses {registers} registers without",
        **gemm,
    )
    yield Sentence("The CuTe DSL's takes {all}.", **found["cute", "gemm_128x256"])
    yield Sentence(
        "takes {all} SASS instructions per 64 of K, four of them HGMMA, with {registers} registers "
        "and no spills",
        **pingpong,
    )
    yield Sentence(
        "takes {deep} SASS instructions per block of 128 keys at head size 128, {flat} at 64, "
        "and {wide} per block of 64 keys at 256",
        **{
            name: found["tilec", f"attention_{size}"]["all"]
            for name, size in (("deep", 128), ("flat", 64), ("wide", 256))
        },
    )
    yield Sentence(
        "contains {count} faults with the line",
        count=entries("examples/hopper_faults.py", "PLAIN", "CLUSTER"),
    )


def blackwell() -> Iterator[Table | Sentence]:
    """Loops beside Triton's."""
    name, target = "kernel_stats-sm_100a", "sm_100a"
    columns = (
        "SASS", "products", "tcgen05.ld", "tcgen05.st", "barriers", "cp.async", "moves",
        "registers", "spills",
    )  # fmt: skip
    rows: list[Row] = [
        ((f"{title}, {shown}",), shown.lower(), kernel)
        for title, kernel in (("GEMM", "gemm"), ("attention", "attention"))
        for shown in ("tilec", "Triton")
    ]
    yield _loops("loops for sm_100a", target, columns, rows)
    yield Sentence("[raw results](../benchmarks/results/{file})", file=results(name)[0])
    columns = (
        "SASS", "products", "tcgen05.cp", "tcgen05.st", "barriers", "cp.async", "ld.global",
        ", ".join(_SHARED), "moves", "registers", "spills",
    )  # fmt: skip
    by_all = "tilec, copied and issued by the threads that compute"
    rows = [
        (("tilec",), "tilec", "scaled_gemm"),
        ((by_all,), "tilec", "scaled_gemm by all threads"),
        (("Triton",), "triton", "scaled_gemm"),
    ]
    yield _loops("loops with scale factors", target, columns, rows)
    examples = "examples/test_blackwell_{}.py"
    yield Sentence(
        "finds each of {count} faults in the PTX of a pair",
        count=entries(examples.format("pairs"), "FAULTS"),
    )
    yield Sentence(
        "Of {count} faults in PTX,", count=entries(examples.format("ptx_faults"), "FAULTS")
    )
    yield Sentence(
        "finds each of {count} faults in their PTX",
        count=entries(examples.format("scaled_rings"), "FAULTS", "OF_PAIRS"),
    )
    yield Sentence(
        "each of {count} faults inserted into the level 3 of a product",
        count=entries("examples/blackwell_programs.py", "FAULTS"),
    )
    yield Sentence(
        "Each of {count} faults inserted into it is found at its line",
        count=entries("examples/blackwell_faults.py", "FAULTS"),
    )
