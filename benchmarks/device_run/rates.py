"""The section `rates`: how fast an instruction is where nothing else takes time.

Warps repeat the instruction on operands in registers, with accumulators enough to hide its latency.
What a GEMM reaches is to be seen beside this; and a form that the architecture only emulates shows.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from tilec.isa import LANES, Mma, Target
from tilec.isa import form as find_form
from tilec.isa import target as find_target
from tilec.isa.ptx import assembly
from tilec.isa.sass import execution

from .driver import Cuda
from .machine import Sampler
from .pools import piece

Row = dict[str, Any]

WARPS, CTAS_PER_SM, ACCUMULATORS = 8, 2, 4
ROUNDS = 7

FORMS = tuple(
    f"mma.{name}"
    for name in (
        "sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
        "sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
        "sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
        "sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16",
        "sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
        "sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
        "sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
        "sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
        "sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn",
        "sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rn",
        "sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",
        "sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e4m3.f32",
        "sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32",
        "sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.s4.s4.s32",
    )
)

RATIOS = tuple(
    (f"mma.sync.aligned.{narrow}", f"mma.sync.aligned.{wide}")
    for narrow, wide in (
        ("m16n8k64.row.col.s32.s4.s4.s32", "m16n8k32.row.col.s32.s8.s8.s32"),
        ("m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k16.row.col.f32.f16.f16.f32"),
        ("m16n8k256.row.col.s32.b1.b1.s32.and.popc", "m16n8k32.row.col.s32.s8.s8.s32"),
    )
)
"""Forms whose operands are narrower than another's."""

NATIVE = 1.5
"""Ratio of rates above which narrower operands have instructions of their own."""


def program(form: Mma, target: Target) -> str:
    """PTX of `rate`, which takes pointers to the registers of A, B and D and a count of rounds.

    D is what all accumulators come to, so that nothing can be left out.
    """
    (d,) = form.results
    sets = [[f"%d{s}_{n}" for n in range(d.registers)] for s in range(ACCUMULATORS)]
    inputs = [form.operand(name) for name in "ab"]
    names = {o.name: [f"%{o.name}{n}" for n in range(o.registers)] for o in inputs}
    lines = ["ld.param.u64 %at, [d];", "mov.u32 %lane, %laneid;"]
    for operand in inputs:
        width = operand.register.bits // 8
        lines += [
            f"ld.param.u64 %p, [{operand.name}];",
            f"mad.wide.u32 %p, %lane, {operand.registers * width}, %p;",
        ]
        lines += [
            f"ld.global.{operand.register.ptx} {register}, [%p+{width * n}];"
            for n, register in enumerate(names[operand.name])
        ]
    zero = {"f32": "0f00000000", "f64": "0d0000000000000000"}.get(d.register.ptx, "0")
    lines += [f"mov.{d.register.ptx} {r}, {zero};" for s in sets for r in s]
    lines += ["ld.param.u32 %left, [rounds];", "again:"]
    extra = {selector.name: [str(selector.legal[0])] for selector in form.selectors}
    if form.sparsity:
        lines.insert(0, f"mov.b32 %e, {form.sparsity.codes[0] * 0x11111111};")
        extra["e"] = ["%e"]
    lines += [assembly(form, {**names, **extra, "c": s, "d": s}) for s in sets]
    lines += ["sub.u32 %left, %left, 1;", "setp.ne.u32 %more, %left, 0;", "@%more bra again;"]
    width = d.register.bits // 8
    lines.append(f"mad.wide.u32 %at, %lane, {ACCUMULATORS * d.registers * width}, %at;")
    lines += [
        f"st.global.{d.register.ptx} [%at+{width * n}], {register};"
        for n, register in enumerate(r for s in sets for r in s)
    ]
    declared = [
        *(f".reg .{o.register.ptx} {', '.join(names[o.name])};" for o in inputs),
        *(f".reg .{d.register.ptx} {', '.join(s)};" for s in sets),
        ".reg .b64 %p, %at;",
        ".reg .b32 %lane, %left, %e;",
        ".reg .pred %more;",
    ]
    parameters = ", ".join([*(f".param .u64 {name}" for name in "abd"), ".param .u32 rounds"])
    body = "\n".join(f"    {line}" for line in (*declared, *lines, "ret;"))
    return (
        f".version {form.require(target)}\n.target {target}\n.address_size 64\n"
        f".visible .entry rate({parameters})\n{{\n{body}\n}}\n"
    )


def run(cuda: Cuda, name: str, until: float, repeats: int = 4096) -> Iterator[Row]:
    """A row for each form that the target has.

    Args:
        cuda: the GPU.
        name: of the target.
        until: when to begin no further form.
        repeats: times that a warp repeats its instructions.
    """
    target = find_target(name)
    sampler = Sampler()
    found: dict[str, float] = {}
    for mnemonic in FORMS:
        form = find_form(mnemonic)
        assert isinstance(form, Mma)
        if form.min_ptx(target) is None:
            continue
        if time.monotonic() > until:
            yield {"work": "rate", "form": mnemonic, "skipped": "out of time"}
            continue
        row = _rate(cuda, form, target, repeats, sampler)
        found[mnemonic] = row["tflops"]
        yield row
    sampler.stop()
    yield from (_ratio(found, *pair) for pair in RATIOS if set(pair) <= set(found))


def _ratio(rates: dict[str, float], narrow: str, wide: str) -> Row:
    """How much faster a form of narrower operands is: twice as fast if it is native."""
    ratio = rates[narrow] / rates[wide]
    verdict = "native" if ratio > NATIVE else "emulated, or no faster"
    said = f"{ratio:.2f} times the rate of {wide}: {verdict}"
    question = "whether narrower operands are faster"
    return {
        "work": "probe",
        "question": question,
        "form": narrow,
        "verdict": verdict,
        "ratio": ratio,
        "says": f"{question} ({narrow}): {said}",
    }


def _rate(cuda: Cuda, form: Mma, target: Target, repeats: int, sampler: Sampler) -> Row:
    module = cuda.load(program(form, target))
    function = cuda.function(module, "rate")
    places = []
    for number, name in enumerate("abd"):
        operand = form.operand(name)
        count = LANES * operand.registers * operand.register.bits // 8
        places.append(cuda.alloc(count * ACCUMULATORS))
        if name != "d":
            kind = f"normal:{operand.type}" if operand.type.is_float else "bits"
            cuda.upload(places[-1], np.ascontiguousarray(piece(kind, number, count)))
    values = [*map(ctypes.c_uint64, places), ctypes.c_uint32(repeats)]
    ctas = CTAS_PER_SM * cuda.limits["multiprocessors"]
    start, end = cuda.event(), cuda.event()
    times = []
    began = time.monotonic()
    for _ in range(ROUNDS + 2):
        cuda.record(start)
        cuda.launch(function, (ctas, 1, 1), (LANES * WARPS, 1, 1), values)
        cuda.record(end)
        times.append(cuda.milliseconds(start, end))
    for place in places:
        cuda.free(place)
    cuda.unload(module)
    m, n, k = form.shape
    ms = statistics.median(times[2:])
    flops = 2 * m * n * k * ACCUMULATORS * repeats * WARPS * ctas
    tflops = flops / ms / 1e9
    machine = execution(form, target)
    as_said = "" if machine is None else f"{machine.count} {machine.opcode}"
    if machine is not None and machine.emulated:
        as_said += ", emulated"
    return {
        "work": "rate",
        "form": form.ptx,
        "ms": ms,
        "tflops": tflops,
        "sass": as_said,
        "clocks": sampler.since(began),
        "says": f"{tflops:8.1f} TFLOP/s  {form.ptx}  ({as_said})",
    }
