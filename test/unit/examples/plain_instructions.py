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
BITS |= {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}
BITS |= {"e4m3": 8, "e5m2": 8, "e3m2": 8, "e2m3": 8, "e2m1": 8}  # the narrow ones in bytes

SMALL_FLOATS = {
    # exponent bits, mantissa bits, lowest bit of the code in its byte
    "e4m3": (4, 3, 0),
    "e5m2": (5, 2, 0),
    "e3m2": (3, 2, 0),
    "e2m3": (2, 3, 0),
    "e2m1": (2, 1, 2),
}

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


def quad_pair_place(operand: str, column: bool, lane: int, i: int) -> tuple[int, int, int]:
    """Product, row and column of element i of m8n8k4 on f16; of `c` where it is f32, `c32`."""
    product, x, h = (lane >> 2) & 3, lane & 3, 4 if lane >= 16 else 0
    match operand, column:
        case "a", False:
            return product, x + h, i
        case "a", True:
            return product, i + h, x
        case "b", False:
            return product, x, i + h
        case "b", True:
            return product, i, x + h
        case "c32", _:
            return product, (lane & 1) + (i & 2) + h, (i & 4) + (lane & 2) + (i & 1)
    return product, x + h, i


@cache
def places(mnemonic: str, operand: str) -> tuple[tuple[Any, ...], int]:
    """The place of each (lane, element) of an operand, and the bits of an element."""
    match = re.match(r"mma\.sync\.aligned\.m(\d+)n(\d+)k(\d+)\.(row|col)\.(row|col)\.", mnemonic)
    assert match, mnemonic
    m, n, k = map(int, match.groups()[:3])
    kinds = types(mnemonic)
    bits = BITS[kinds[operand]]
    packed = max(1, 32 // bits)
    rows, cols = {"a": (m, k), "b": (k, n)}.get(operand, (m, n))
    quad_pairs = (m, n, k) == (8, 8, 4) and kinds["a"] == "f16"
    held = rows * cols * (4 if quad_pairs else 1) // LANES

    def place(lane: int, i: int) -> tuple[int, ...]:
        if quad_pairs:
            column = {"a": match[4], "b": match[5]}.get(operand) == "col"
            name = operand if operand in "ab" else f"c{bits}"
            return quad_pair_place(name, column, lane, i)
        if operand == "a":
            return a_place(m, packed, lane, i)
        if operand == "b":
            return b_place(packed, lane, i)
        return c_place(lane, i)

    index = np.array([[place(lane, i) for i in range(held)] for lane in range(LANES)])
    return tuple(np.moveaxis(index, 2, 0)), bits


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
    whole = codes.astype(np.int64)
    if type_ in SMALL_FLOATS:
        return small_floats(whole, *SMALL_FLOATS[type_])
    if type_.startswith("s"):
        bits = BITS[type_]
        whole = whole - ((whole >> (bits - 1)) << bits)
    return whole.astype(np.float64)


def small_floats(bytes_: Any, exponent: int, mantissa: int, shift: int) -> Any:
    """Finite floats of less than 9 bits."""
    code = bytes_ >> shift
    fraction = (code & ((1 << mantissa) - 1)) / 2.0**mantissa
    field = (code >> mantissa) & ((1 << exponent) - 1)
    bias = (1 << (exponent - 1)) - 1
    magnitude = np.where(
        field > 0, (1 + fraction) * 2.0 ** (field - bias), fraction * 2.0 ** (1 - bias)
    )
    return np.where((code >> (exponent + mantissa)) & 1, -magnitude, magnitude)


def registers_of(values: Any, type_: str) -> Any:
    """Results (warps, lanes, elements) as registers (warps, registers, lanes)."""
    match type_:
        case "f64":
            words = values.view(np.uint64)
        case "f32":
            words = values.astype(np.float32).view(np.uint32)
        case "s32":
            words = values.astype(np.int64).astype(np.uint32)
        case "f16":
            halves = values.astype(np.float16).view(np.uint16).astype(np.uint32)
            words = halves[:, :, ::2] | halves[:, :, 1::2] << np.uint32(16)
        case _:
            raise NotImplementedError(type_)
    return np.ascontiguousarray(np.moveaxis(words, 1, 2))


def multiply(form: Any, operands: Any) -> Any:
    """A product of registers by operand: sums of float64, exact for small whole numbers."""
    name = form.ptx
    kinds = types(name)
    matrices = {}
    for operand in "abc":
        index, bits = places(name, operand)
        held = numbers(elements(operands[operand], bits), kinds[operand])
        matrix = np.zeros((len(held), *(axis.max() + 1 for axis in index)))
        matrix[(slice(None), *index)] = held
        matrices[operand] = matrix
    a, b = matrices["a"], matrices["b"]
    product = a @ (1 - b) + (1 - a) @ b if ".xor." in name else a @ b
    index, _ = places(name, "d")
    result = np.ascontiguousarray((product + matrices["c"])[(slice(None), *index)])
    return registers_of(result, kinds["d"])


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
