"""Matrix instructions once more, from the PTX ISA's index formulas alone.

Nothing of tilec is used: neither its table nor its layouts. The functions take the places of
those in `tilec.sim.tensor`, so that a fault in a layout, which compiler and simulator would
share, shows. A form is known here by its mnemonic only; lane, register and element are plain
loops, tabulated once for each form.
"""

import re
from functools import cache
from typing import Any

import numpy as np

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32}
BITS |= {"s8": 8, "u8": 8, "s4": 4, "u4": 4}

LANES = 32


def g_and_t(lane: int) -> tuple[int, int]:
    """The ISA's groupID and threadID_in_group."""
    return lane >> 2, lane & 3


def a_place(rows: int, packed: int, lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of A."""
    g, t = g_and_t(lane)
    register, j = divmod(i, packed)
    if rows == 8:
        return g, packed * t + j
    return g + 8 * (register & 1), packed * t + j + 4 * packed * (register >> 1)


def b_place(packed: int, lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of B."""
    g, t = g_and_t(lane)
    register, j = divmod(i, packed)
    return packed * t + j + 4 * packed * register, g


def c_place(lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of C or D."""
    g, t = g_and_t(lane)
    return g + 8 * (i >> 1), 2 * t + (i & 1)


@cache
def places(mnemonic: str, operand: str) -> tuple[Any, Any, int]:
    """Row and column of each (lane, element) of an operand, and the bits of an element."""
    match = re.match(r"mma\.sync\.aligned\.m(\d+)n(\d+)k(\d+)\.row\.col\.", mnemonic)
    assert match, mnemonic
    m, n, k = map(int, match.groups())
    d, a, b, c = [t for t in mnemonic[match.end() :].split(".") if t in BITS]
    type_ = {"a": a, "b": b, "c": c, "d": d}[operand]
    bits = BITS[type_]
    packed = max(1, 32 // bits)
    rows, cols = {"a": (m, k), "b": (k, n)}.get(operand, (m, n))
    held = rows * cols // LANES
    row, col = np.zeros((2, LANES, held), int)
    for lane in range(LANES):
        for i in range(held):
            if operand == "a":
                place = a_place(m, packed, lane, i)
            elif operand == "b":
                place = b_place(packed, lane, i)
            else:
                place = c_place(lane, i)
            row[lane, i], col[lane, i] = place
    return row, col, bits


def types(mnemonic: str) -> dict[str, str]:
    """Type of each operand of a product."""
    d, a, b, c = [t for t in mnemonic.split(".") if t in BITS]
    return {"a": a, "b": b, "c": c, "d": d}


def elements(registers: Any, bits: int) -> Any:
    """Registers (warps, registers, lanes) as elements (warps, lanes, elements), low bits first."""
    words = np.moveaxis(registers, 1, 2)
    if bits >= 32:
        return words
    parts = [(words >> (bits * j)) & ((1 << bits) - 1) for j in range(32 // bits)]
    stacked = np.stack(parts, axis=-1)
    return stacked.reshape(*words.shape[:2], -1)


def numbers(codes: Any, type_: str) -> Any:
    """The numbers that bit patterns stand for, as float64."""
    match type_:
        case "f64":
            return codes.view(np.float64)
        case "f32":
            return codes.astype(np.uint32).view(np.float32).astype(np.float64)
        case "tf32":
            kept = codes.astype(np.uint32) & np.uint32(0xFFFFE000)
            return kept.view(np.float32).astype(np.float64)
        case "f16":
            return codes.astype(np.uint16).view(np.float16).astype(np.float64)
        case "bf16":
            return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    bits = BITS[type_]
    whole = codes.astype(np.int64)
    if type_.startswith("s"):
        whole = whole - ((whole >> (bits - 1)) << bits)
    return whole.astype(np.float64)


def codes(values: Any, type_: str) -> Any:
    """The bit patterns of results."""
    match type_:
        case "f64":
            return values.view(np.uint64)
        case "f32":
            return values.astype(np.float32).view(np.uint32)
        case "s32":
            return values.astype(np.int64).astype(np.uint32)
    raise NotImplementedError(type_)


def multiply(form: Any, operands: Any) -> Any:
    """A product of registers by operand: sums of float64, exact for small whole numbers."""
    name = form.ptx
    kinds = types(name)
    matrices = {}
    for operand in "abc":
        row, col, bits = places(name, operand)
        held = numbers(elements(operands[operand], bits), kinds[operand])
        matrix = np.zeros((len(held), row.max() + 1, col.max() + 1))
        matrix[:, row, col] = held
        matrices[operand] = matrix
    result = matrices["a"] @ matrices["b"] + matrices["c"]
    row, col, _ = places(name, "d")
    return np.ascontiguousarray(np.moveaxis(codes(result[:, row, col], kinds["d"]), 1, 2))


def ld_element(lane: int, j: int, transposed: bool) -> tuple[int, int]:
    """Row and element, of 16 bits, of half j of a register of ldmatrix or stmatrix."""
    g, t = g_and_t(lane)
    return (2 * t + j, g) if transposed else (g, 2 * t + j)


def load_matrix(form: Any, rows: Any) -> Any:
    """`ldmatrix` m8n8.b16, row r of matrix m at 8·m + r."""
    match = re.fullmatch(r"ldmatrix\.sync\.aligned\.m8n8\.x([124])(\.trans)?\.b16", form.ptx)
    assert match, form.ptx
    halves = np.ascontiguousarray(rows).view(np.uint16)
    count = int(match[1])
    registers = np.zeros((len(rows), count, LANES), np.uint32)
    for k in range(count):
        for lane in range(LANES):
            for j in range(2):
                row, element = ld_element(lane, j, bool(match[2]))
                half = halves[:, 8 * k + row, element].astype(np.uint32)
                registers[:, k, lane] |= half << np.uint32(16 * j)
    return registers


def store_matrix(form: Any, registers: Any) -> Any:
    """`stmatrix` m8n8.b16, the mirror of it."""
    match = re.fullmatch(r"stmatrix\.sync\.aligned\.m8n8\.x([124])(\.trans)?\.b16", form.ptx)
    assert match, form.ptx
    count = int(match[1])
    halves = np.zeros((len(registers), 8 * count, 8), np.uint16)
    for k in range(count):
        for lane in range(LANES):
            for j in range(2):
                row, element = ld_element(lane, j, bool(match[2]))
                halves[:, 8 * k + row, element] = registers[:, k, lane] >> np.uint32(16 * j)
    return halves.view(np.uint8)
