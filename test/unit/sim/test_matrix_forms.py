"""Every form of the table runs from PTX: operands, selectors, memory and results in their places.

The kernel is built from the table (`isa.assembly`); what it stores is compared with
`tilec.sim.tensor` on the same registers for products, whose arithmetic has tests of its own, and
with the formulas of the PTX ISA, written out here, for `ldmatrix`, `stmatrix` and `movmatrix`.
wmma is compared as stored matrices.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tilec.isa import (
    Form,
    Major,
    MatrixMemory,
    Mma,
    Operand,
    WmmaMemory,
    WmmaMma,
    assembly,
    warp_forms,
)
from tilec.sim import launch, tensor

HEAD = ".version 9.1\n.target sm_120a\n.address_size 64\n"
WARPS = 2


def prologue(space: int) -> str:
    """%rd8: the warp's part of the input, %rd9: of the output, %r2 the lane, %r3 shared memory."""
    return f"""
  .reg .b32 %r<9>; .reg .b64 %rd<20>; .reg .pred %p;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shr.u32 %r4, %r1, 5;
  mul.wide.u32 %rd3, %r4, {space}; add.s64 %rd8, %rd1, %rd3; add.s64 %rd9, %rd2, %rd3;
  mov.u32 %r3, smem; mad.lo.u32 %r3, %r4, 4096, %r3;
"""


def entry(body: str, space: int) -> str:
    return (
        f"{HEAD}.shared .align 16 .b8 smem[8192];\n"
        f".visible .entry k(.param .u64 in, .param .u64 out) {{{prologue(space)}{body}\n ret;\n}}\n"
    )


def moves(names: list[str], bits: int, first: int, *, load: bool) -> Iterator[str]:
    """Loads or stores of registers from row `first` on; a row is 32 lanes of 8 bytes."""
    yield "  mul.wide.u32 %rd10, %r2, 8; add.s64 %rd11, %rd8, %rd10; add.s64 %rd12, %rd9, %rd10;"
    for row, name in enumerate(names, first):
        yield (
            f"  ld.global.b{bits} {name}, [%rd11+{256 * row}];"
            if load
            else f"  st.global.b{bits} [%rd12+{256 * row}], {name};"
        )


def plausible(rng: np.random.Generator, operand: Operand) -> np.ndarray:
    """Registers with small finite floats, or any bits."""
    shape = (WARPS, operand.registers, 32)
    if operand.type.name == "f64":
        return rng.integers(-8, 8, shape).astype(np.float64).view(np.uint64)
    if operand.type.name == "f32":
        return rng.integers(-8, 8, shape).astype(np.float32).view(np.uint32)
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    if operand.type.name == "ue8m0":
        return np.uint32(0x7F7E807F) + (bits & np.uint32(0x01010101))
    # Clear the highest bits of the exponents: no infinities, no overflow.
    quiet = {"f16": 0xBBFFBBFF, "bf16": 0xBFFFBFFF, "tf32": 0xBFFFE000}
    if operand.type.name in quiet:
        return bits & np.uint32(quiet[operand.type.name])
    return bits & np.uint32(0xBFBFBFBF) if operand.type.name == "ue4m3" else bits


PRODUCTS = [f for f in warp_forms().values() if isinstance(f, Mma)]


def arch_of(form: Form) -> str:
    names = [c.target for c in form.since]
    return names[0] if names[0] not in ("sm_72", "sm_75") else "sm_80"


def run_product(form: Mma) -> None:
    rng = np.random.default_rng(len(form.ptx))
    names: dict[str, list[str]] = {}
    declared, row = [], 0
    inputs: dict[str, np.ndarray] = {}
    memory = np.zeros((WARPS, 64, 32), np.uint64)
    body: list[str] = []
    for operand in (*form.results, *form.operands):
        regs = [f"%{operand.name}{i}" for i in range(operand.registers)]
        names[operand.name] = regs
        declared.append(f"  .reg .{operand.register.ptx} {', '.join(regs)};")
    for operand in form.operands:
        value = plausible(rng, operand)
        if operand.name == "e":
            value = np.full_like(value, 0xEEEEEEEE if form.sparsity and form.sparsity.chunk != 2
                                 else 0x44444444 | 0)  # fmt: skip
        inputs[operand.name] = value
        memory[:, row : row + operand.registers] = value
        body += moves(names[operand.name], operand.register.bits, row, load=True)
        row += operand.registers
    chosen = {s.name: s.legal[-1] for s in form.selectors}
    names |= {n: [str(v)] for n, v in chosen.items()}
    body.append("  " + assembly(form, names))
    (result,) = form.results
    body += moves(names["d"], result.register.bits, 0, load=False)
    text = entry("\n".join([*declared, *body]), memory[0].nbytes)
    out = np.zeros_like(memory)
    report = launch(text, "k", 1, 32 * WARPS, [memory, out], arch=arch_of(form))
    assert report.ok, report.findings
    expected = tensor.multiply(form, inputs, chosen, arch=arch_of(form), numerics="exact")
    assert np.array_equal(out[:, : result.registers], expected), form.ptx
    assert [(m.form, m.warps) for m in report.matrix] == [(form.ptx, WARPS)]
    assert report.flops == 2 * form.shape.m * form.shape.n * form.shape.k * form.products * WARPS


@pytest.mark.parametrize("start", range(8))
def test_products(start: int) -> None:
    for form in PRODUCTS[start::8]:
        run_product(form)


MOVES = [f for f in warp_forms().values() if isinstance(f, MatrixMemory)]


def element(form: MatrixMemory, lane: int, k: int, j: int) -> tuple[int, int, int]:
    """Matrix, row in memory and element of it in a lane's register k, part j (PTX ISA)."""
    g, t = lane >> 2, lane & 3
    if "m8n8." in form.ptx:
        return (k, 2 * t + j, g) if form.transposed else (k, g, 2 * t + j)
    if "m16n8." in form.ptx:
        return k, 2 * t + (j & 1), g + 8 * (j >> 1)
    if "m16n16." in form.ptx:
        return k >> 1, 4 * t + j, g + 8 * (k & 1)
    return k, g, 4 * t + j


def unpacked(form: MatrixMemory, row: np.ndarray) -> np.ndarray:
    """The elements of a row in memory."""
    if form.source is None:
        return row.view(np.uint16) if ".b16" in form.ptx else row
    bits = int("".join(c for c in form.source if c.isdecimal())[:1])
    number = int.from_bytes(row.tobytes(), "little")
    values = np.array([number >> (bits * e) & ((1 << bits) - 1) for e in range(16)], np.int64)
    if form.source.startswith("s"):
        values = np.where(values >= 1 << (bits - 1), values - (1 << bits), values)
    return (values & 0xFF).astype(np.uint8)


@pytest.mark.parametrize("form", MOVES, ids=lambda f: f.ptx)
def test_matrix_moves(form: MatrixMemory) -> None:
    rng = np.random.default_rng(7)
    (operand,) = (*form.results, *form.operands)
    regs = [f"%m{i}" for i in range(operand.registers)]
    lanes = form.matrices * form.rows
    order = rng.permutation(lanes)
    places = "  mov.u32 %r5, 0;\n" + "\n".join(
        f"  setp.eq.u32 %p, %r2, {lane}; @%p mov.u32 %r5, {16 * int(order[lane])};"
        for lane in range(lanes)
    )
    memory = np.zeros((WARPS, 64, 32), np.uint64)
    flat = memory.reshape(WARPS, -1).view(np.uint8)
    flat[:] = rng.integers(0, 256, flat.shape)
    copy = """
  mul.wide.u32 %rd10, %r2, 16; add.s64 %rd11, {g}, %rd10; mad.lo.u32 %r6, %r2, 16, %r3;
  {load}.v4.b32 {{%q0, %q1, %q2, %q3}}, [{a}]; {store}.v4.b32 [{b}], {{%q0, %q1, %q2, %q3}};
  bar.warp.sync -1;
"""
    form_text = "  " + assembly(form, {operand.name: regs, "address": ["%r5"]})
    declared = f"  .reg .b32 {', '.join(regs)}, %q<4>; .reg .b64 %zero; mov.b64 %zero, 0;"
    if form.results:
        body = [copy.format(g="%rd8", load="ld.global", a="%rd11", store="st.shared", b="%r6"),
                places, "  add.u32 %r5, %r5, %r3;", form_text,
                *moves(regs, 32, 0, load=False)]  # fmt: skip
    else:
        clear = "  mad.lo.u32 %r6, %r2, 16, %r3; st.shared.v2.b64 [%r6], {%zero, %zero};"
        back = copy.format(g="%rd9", load="ld.shared", a="%r6", store="st.global", b="%rd11")
        body = [*moves(regs, 32, 0, load=True), places, "  add.u32 %r5, %r5, %r3;", clear,
                " bar.warp.sync -1;", form_text, " bar.warp.sync -1;", back]  # fmt: skip
    text = entry("\n".join([declared, *body]), memory[0].nbytes)
    out = np.zeros_like(memory)
    report = launch(text, "k", 1, 32 * WARPS, [memory, out])
    assert report.ok, report.findings
    count = 32 // operand.container
    part = np.uint16 if operand.container == 16 else np.uint8
    for warp in range(WARPS):
        if form.results:
            rows = [flat[warp, 16 * r : 16 * r + form.row_bytes] for r in order]
            got = out[warp, : operand.registers].astype(np.uint32)
        else:
            given = memory[warp, : operand.registers].astype(np.uint32)
            stored = out.reshape(WARPS, -1).view(np.uint8)[warp]
            rows = [stored[16 * r : 16 * r + 16] for r in order]
            got = given
        for k in range(operand.registers):
            for lane in range(32):
                halves = got[k, lane : lane + 1].view(part)
                for j in range(count):
                    matrix, row, at = element(form, lane, k, j)
                    assert unpacked(form, rows[matrix * form.rows + row])[at] == halves[j]


def test_movmatrix() -> None:
    memory = np.zeros((WARPS, 64, 32), np.uint64)
    memory[:, 0] = np.random.default_rng(0).integers(0, 1 << 32, (WARPS, 32))
    body = [" .reg .b32 %a, %d;", *moves(["%a"], 32, 0, load=True),
            "  movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;",
            *moves(["%d"], 32, 0, load=False)]  # fmt: skip
    out = np.zeros_like(memory)
    launch(entry("\n".join(body), memory[0].nbytes), "k", 1, 64, [memory, out]).require_ok()
    for warp in range(WARPS):
        before, after = (
            x[warp, 0].astype(np.uint32).view(np.uint16).reshape(8, 8) for x in (memory, out)
        )
        assert np.array_equal(after, before.T)


WMMA = [f for f in warp_forms().values() if isinstance(f, WmmaMma)]
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32,
          "s8": np.int8, "u8": np.uint8}  # fmt: skip


def wmma_memory(name: str, form: WmmaMma, operand: Operand, major: str) -> WmmaMemory:
    """The load or store of an operand of a product."""
    wanted = name if name != "d" else "d"
    for other in warp_forms().values():
        if isinstance(other, WmmaMemory) and other.shape == form.shape:
            (inside,) = (*other.results, *other.operands)
            words = other.ptx.split(".")
            kind = "store" if name == "d" else "load"
            if words[1:3] == [kind, wanted] and inside.type == operand.type and major in words:
                return other
    raise AssertionError((name, form.ptx, major))


def matrix_of(rng: np.random.Generator, operand: Operand) -> np.ndarray:
    size = (operand.rows, operand.cols)
    low = 0 if operand.type.name in ("u8", "u4", "b1") else -4
    if operand.type.bits < 8:
        top = 1 << (operand.type.bits - (operand.type.name == "s4"))
        return rng.integers(-top if operand.type.name == "s4" else 0, top, size)
    return rng.integers(low, 5, size)


def stored(matrix: np.ndarray, operand: Operand, major: Major | str) -> np.ndarray:
    """A matrix as bytes in memory, its rows or columns one after the other."""
    lines = matrix if major == "row" else matrix.T
    if operand.type.bits < 8:
        bits = operand.type.bits
        each = (lines.astype(np.int64)[..., None] >> np.arange(bits)) & 1
        return np.packbits(each.reshape(-1).astype(np.uint8), bitorder="little")
    if operand.type.name in ("bf16", "tf32"):
        wide = np.ascontiguousarray(lines.astype(np.float32)).view(np.uint32)
        return (wide >> 16).astype(np.uint16).view(np.uint8).reshape(-1) if (
            operand.type.name == "bf16") else wide.view(np.uint8).reshape(-1)  # fmt: skip
    return np.ascontiguousarray(lines.astype(DTYPES[operand.type.name])).view(np.uint8).reshape(-1)


@pytest.mark.parametrize("form", WMMA[::3], ids=lambda f: f.ptx)
def test_wmma(form: WmmaMma) -> None:
    rng = np.random.default_rng(1)
    a, b = form.operand("a"), form.operand("b")
    majors = {"a": str(a.major or "row"), "b": str(b.major or "col"), "c": "col", "d": "row"}
    matrices = {n: matrix_of(rng, form.operand(n)) for n in "abc"}
    memory = np.zeros(16384, np.uint8)
    body, starts = [], {"a": 0, "b": 4096, "c": 8192}
    for name in "abcd":
        operand = form.operand(name)
        regs = [f"%{name}{i}" for i in range(operand.registers)]
        body.append(f"  .reg .{operand.register.ptx} {', '.join(regs)};")
    for name in "abc":
        operand = form.operand(name)
        data = stored(matrices[name], operand, majors[name])
        memory[starts[name] : starts[name] + data.size] = data
        regs = [f"%{name}{i}" for i in range(operand.registers)]
        move = wmma_memory(name, form, operand, majors[name])
        body.append(f"  add.s64 %rd4, %rd1, {starts[name]};")
        body.append(
            "  " + assembly(move, {move.results[0].name: regs, "address": ["%rd4"]}, "global")
        )
    named = {n: [f"%{n}{i}" for i in range(form.operand(n).registers)] for n in "abcd"}
    body.append("  " + assembly(form, named))
    move = wmma_memory("d", form, form.operand("d"), "row")
    stride = str(form.shape.n)
    body.append("  " + assembly(move, {move.operands[0].name: named["d"], "address": ["%rd2"],
                                       "stride": [stride]}, "global"))  # fmt: skip
    out = np.zeros(8192, np.uint8)
    report = launch(entry("\n".join(body), 0), "k", 1, 32, [memory, out], arch=arch_of(form))
    assert report.ok, report.findings
    x, y, z = (matrices[n].astype(np.int64) for n in "abc")
    if form.bit_op:
        op = np.bitwise_xor if form.bit_op == "xor" else np.bitwise_and
        expected = op(x[:, :, None], y[None]).sum(1) + z
    else:
        expected = x @ y + z
    dtype = DTYPES[form.operand("d").type.name]
    got = out.view(dtype)[: expected.size].reshape(expected.shape)
    assert np.array_equal(got, expected.astype(dtype))


def test_wmma_before_ptx_6_3() -> None:
    """Without `.aligned`, which ptxas asks for from PTX 6.3 on and refuses before."""
    head = """.target sm_70
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{ .reg .b32 %r<9>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; """
    body = """wmma.load.c.sync.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4}, [%rd1];
  wmma.store.d.sync.col.m16n16k16.global.f16 [%rd2], {%r1, %r2, %r3, %r4}; ret; }"""
    x = np.arange(256, dtype=np.float16).reshape(16, 16)
    for version, text in (("6.0", body), ("6.3", body.replace(".sync.", ".sync.aligned."))):
        y = np.zeros((16, 16), np.float16)
        report = launch(f".version {version}\n{head}{text}", "k", 1, 32, [x, y], arch="sm_70")
        report.require_ok()
        assert (y == x.T).all()
        assert {count.form for count in report.matrix} == {
            "wmma.load.c.sync.aligned.row.m16n16k16.f16",
            "wmma.store.d.sync.aligned.col.m16n16k16.f16",
        }
