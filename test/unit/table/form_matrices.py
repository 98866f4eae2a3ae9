"""Matrices for one kernel of `tilec.dialects.tile.form_program`, and their images in memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from product_model import FORMATS, doubles, floats, integers
from tilec.isa import Mma, Operand, WmmaMma, form
from tilec.runtime import compress, pack, prune

MOODS = ("near", "wide", "tiny", "any")
"""Kinds of random floats: about one; over many exponents; such that products are at the edge of
the accumulators' subnormals, and zeros; uniformly random bits. The first two have some subnormals,
infinities and NaNs among them, the last has many."""


def product_of(kernel: Any) -> Mma | WmmaMma | None:
    """The product that a kernel forms: its own, or the one around a wmma load."""
    if isinstance(kernel.form, (Mma, WmmaMma)):
        return kernel.form
    found = re.search(r'form = "(wmma\.mma\.[^"]*)"', kernel.text.function({}))
    return form(found[1]) if found else None


# Random matrices


def random_bits(rng: np.random.Generator, type_: str, shape: Any, mood: str) -> np.ndarray:
    """Elements as bits."""
    if type_ == "s32":  # many of them near the limits, for saturation
        bits = rng.integers(0, 1 << 32, shape)
        limits = rng.choice([0x7FFFFFFF, 0x80000000], shape) ^ rng.integers(0, 1 << 10, shape)
        return np.where(rng.random(shape) < 0.5, limits, bits).astype(np.uint64)
    width = {"f64": 64, "tf32": 32}.get(type_) or int(re.search(r"\d+", type_)[0])
    if type_ in FORMATS and type_ not in ("tf32", "bf16", "f16", "f32"):
        width = 8 if type_ == "ue8m0" else 7 if type_ == "ue4m3" else 1 + sum(FORMATS[type_][:2])
    bits = rng.integers(0, 1 << width, shape, dtype=np.uint64)
    if mood == "any" or (type_ not in FORMATS and type_ != "f64"):
        return bits
    e, m, _ = (11, 52, True) if type_ == "f64" else FORMATS[type_]
    if type_ == "tf32":
        m = 23  # as it lies in memory
    top, bias = (1 << e) - 1, (1 << e - 1) - 1
    pick = rng.random(shape)
    if mood == "tiny" and type_[0] != "u":
        first = {"bf16": 54, "tf32": 54, "f64": 490}.get(type_, 0)
        field = rng.integers(first, first + 4, shape).astype(np.uint64)
        bits = np.where(pick < 0.3, 0, bits & ~np.uint64(top << m) | field << np.uint64(m))
        return bits.astype(np.uint64)
    span = 3 if mood == "near" else min(bias, 40)
    field = np.clip(bias + rng.integers(-span, span + 1, shape), 0, top - (m > 0))
    field = np.where(pick < 0.02, 0, np.where(pick > 0.996, top, field)).astype(np.uint64)
    bits = np.where(pick > 0.998, bits & ~np.uint64((1 << m) - 1), bits)
    return bits & ~np.uint64(top << m) | field << np.uint64(m)


def mixed_bits(
    rng: np.random.Generator, type_: str, shape: tuple[int, ...], axis: int | None
) -> np.ndarray:
    """Elements of which each row (axis -2) or column (-1), or each for itself, has a mood."""
    extents = list(shape) if axis is None else [1] * len(shape)
    if axis is not None:
        extents[axis] = shape[axis]
    mood = rng.choice(len(MOODS), extents, p=(0.3, 0.3, 0.3, 0.1))
    found = np.zeros(shape, np.uint64)
    for number, name in enumerate(MOODS):
        found = np.where(mood == number, random_bits(rng, type_, shape, name), found)
    return found


def shapes(product: Mma | WmmaMma) -> dict[str, tuple[int, ...]]:
    """Extents of the operands that a kernel reads, as stored; of four if it has four products."""
    outer = (4,) if getattr(product, "products", 1) == 4 else ()
    return {
        o.name: (o.rows, o.cols) if o.name[0] in "es" else (*outer, o.rows, o.cols)
        for o in product.operands
    }


def random_matrices(rng: np.random.Generator, product: Mma | WmmaMma) -> dict[str, np.ndarray]:
    """Bits of every operand; rows of A and columns of B have their moods."""
    axes = {"a": -2, "sfa": -2, "b": -1, "sfb": -1}
    found = {
        name: mixed_bits(rng, product.operand(name).type.name, shape, axes.get(name))
        for name, shape in shapes(product).items()
        if name != "e"
    }
    if "e" in shapes(product):
        legal = [0b0100, 0b1110] if product.sparsity.chunk == 2 else [4, 8, 9, 12, 13, 14]
        found["e"] = rng.choice(np.array(legal, np.uint64), shapes(product)["e"])
    return found


def whole_numbers(
    rng: np.random.Generator, product: Mma | WmmaMma
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Small numbers of every operand, and D: numpy's product of the matrices they stand for."""
    sizes = shapes(product)
    k = product.shape.k
    sizes["a"] = (*sizes["a"][:-1], k)

    def small(name: str) -> np.ndarray:
        type_ = product.operand(name).type.name
        limits = {"b1": (0, 2), "s4": (-8, 8), "u4": (0, 16), "s8": (-128, 128), "u8": (0, 256)}
        low, high = limits.get(type_, (-4, 5))
        return rng.integers(low, high, sizes[name])

    given = {name: small(name) for name in "abc"}
    left, right = given["a"], given["b"]
    if "e" in sizes:
        left = prune(product, left)
        given["a"], given["e"] = compress(product, left)
    if "sfa" in sizes:
        for name in ("sfa", "sfb"):
            given[name] = np.exp2(rng.integers(-2, 3, sizes[name]))
        chunks = product.scaling.chunks
        left = left * given["sfa"].repeat(k // chunks, axis=1)
        right = right * given["sfb"].repeat(k // chunks, axis=0)
    if product.bit_op == "xor":
        return given, (left[:, :, None] ^ right[None]).sum(axis=1) + given["c"]
    return given, left @ right + given["c"]


# The model


def columns(chunk: int, codes: np.ndarray, stored: int) -> np.ndarray:
    """Logical columns of the elements stored of each row of a sparse A."""
    i = np.arange(stored)
    code = codes.astype(np.int64)[:, i // max(1, chunk // 2)]
    first, second = code & 3, code >> 2
    if chunk == 2:
        return 2 * i + (code != 0b0100)
    if chunk == 4:
        return 4 * (i // 2) + np.where(i % 2 == 0, first, second)
    return 8 * (i // 4) + 2 * np.where(i % 4 < 2, first, second) + i % 2


def signed(type_: str, bits: np.ndarray) -> np.ndarray:
    """Integer elements."""
    values = bits.astype(np.int64)
    width = int(type_[1:])
    return values - (values >> width - 1 << width) if type_[0] == "s" else values


def expected(product: Mma | WmmaMma, given: dict[str, np.ndarray], arch: str) -> np.ndarray:
    """Bits of D by the model."""
    if given["a"].ndim == 3:
        singles = [{name: x[i] for name, x in given.items()} for i in range(4)]
        return np.stack([expected(product, single, arch) for single in singles])
    a, b, c = (given[name] for name in "abc")
    types = tuple(product.operand(name).type.name for name in "dabc")
    if types[1] == "f64":
        d = doubles(a.view("f8"), b.view("f8"), c.view("f8"), product.rounding)
        return np.where(np.isnan(d), np.uint64(0x7FF8 << 48), d.view(np.uint64))
    left, right = a.T[:, :, None], b[:, None, :]
    if "e" in given:
        at = columns(product.sparsity.chunk, given["e"], a.shape[1])
        right = b[at.T]  # (stored k, m, n)
    if types[0] == "s32":
        values = signed(types[1], left), signed(types[2], right), signed("s32", c)
        d = integers(*values, satfinite=product.satfinite, bit_op=product.bit_op)
        return d.view(np.uint32).astype(np.uint64)
    scales = None
    if "sfa" in given:
        name = product.operand("sfa").type.name
        scales = name, given["sfa"].T[:, :, None], given["sfb"][:, None, :]
    packed = product.operand("a").container < 8
    quad_pairs = getattr(product, "products", 1) == 4
    found = floats(arch, types, left, right, c, scales, packed=packed, quad_pairs=quad_pairs)
    return found.astype(np.uint64)


# Memory


def placed(product: Any, name: str, matrix: np.ndarray, chosen: Any, noise: Any) -> np.ndarray:
    """An operand as the kernel takes it: with what its selectors do not pick as well."""
    rows, cols = matrix.shape[-2:]
    if name == "e":
        count = len(product.sparsity.selectors)
        whole = noise((rows, count * cols))
        at = chosen["selector"] * cols
        whole[:, at : at + cols] = matrix
    elif name == "sfa":
        whole = noise((2 * rows, 4))
        row, col = chosen["thread_id_a"] * rows, chosen["byte_id_a"]
        whole[row : row + rows, col : col + cols] = matrix
    elif name == "sfb":
        whole = noise((4, 4 * cols))
        row, col = chosen["byte_id_b"], chosen["thread_id_b"] * cols
        whole[row : row + rows, col : col + cols] = matrix
    else:
        whole = matrix
    return whole


def image(argument: Any, operand: Operand, matrix: np.ndarray, *, numbers: bool) -> np.ndarray:
    """The bytes of an argument: by `runtime` from numbers, by this file from bits."""
    lines = np.swapaxes(matrix, -1, -2) if argument.transposed else matrix
    if numbers:
        padded = operand.container == 8 and operand.type.bits < 8
        made = pack(lines, operand.type, "f8f6f4" if padded else "packed")
    elif operand.container < 8:
        single = lines.astype(np.uint8)[..., None] >> np.arange(operand.container, dtype=np.uint8)
        whole = (single & 1).reshape(*lines.shape[:-1], -1)
        made = np.packbits(whole, axis=-1, bitorder="little")
    else:
        bits = lines.astype(np.uint64) << np.uint64(operand.shift)
        made = np.ascontiguousarray(bits.astype(f"u{operand.container // 8}")).view(np.uint8)
    # The lines of a wmma matrix may be further apart than they are long.
    outer = np.prod(argument.shape[:-1], dtype=int)
    across = argument.shape[-1] * element_bytes(argument)
    made = made.reshape(outer, -1)
    return np.pad(made, ((0, 0), (0, across - made.shape[1]))).reshape(-1)


def element_bytes(argument: Any) -> int:
    """Bytes of a memref's element."""
    bits = re.search(r"\d+", argument.element)
    return int(bits[0]) // 8


def read_back(argument: Any, operand: Operand, memory: np.ndarray) -> np.ndarray:
    """Bits of the result."""
    bits = memory.view(f"u{operand.container // 8}").reshape(argument.shape)
    return np.swapaxes(bits, -1, -2) if argument.transposed else bits
