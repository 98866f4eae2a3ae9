"""Every `tcgen05.mma` that an op can be, with each type, M and three N, and its descriptor.

Kinds, types, shapes, spellings and the descriptor's bits are those of the ISA's tables (9.7.16.2,
9.7.16.4.2, 9.7.16.10.9), written down here; nothing of tilec's table is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from tilec.dialects.tile import builders as tile
from tilec.ir.aliases import Value

FLOATS = {"e4m3": 0, "e5m2": 1, "e2m3": 3, "e3m2": 4, "e2m1": 5}
"""Codes of the types of A and B of 8 bits and less."""
CODES = {
    "f16": {"f16": 0, "bf16": 1}, "tf32": {"tf32": 2}, "f8f6f4": FLOATS, "mxf8f6f4": FLOATS,
    "i8": {"u8": 0, "s8": 1}, "mxf4": {"e2m1": 1}, "mxf4nvf4": {"e2m1": 1},
}  # fmt: skip
_NARROW = list(product(FLOATS, FLOATS))
TYPES: dict[str, list[tuple[str, str, str]]] = {
    "f16": [("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16")],
    "tf32": [("f32", "tf32", "tf32")],
    "f8f6f4": [(d, a, b) for d in ("f16", "f32") for a, b in _NARROW],
    "i8": [("s32", a, b) for a, b in product(("u8", "s8"), repeat=2)],
    "mxf8f6f4": [("f32", a, b) for a, b in _NARROW],
    "mxf4": [("f32", "e2m1", "e2m1")],
    "mxf4nvf4": [("f32", "e2m1", "e2m1")],
}
VECTORS = {
    "mxf8f6f4": ("", ".scale_vec::1X", ".block32"),
    "mxf4": ("", ".scale_vec::2X", ".block32"),
    "mxf4nvf4": (".scale_vec::2X", ".scale_vec::4X", ".block32", ".block16"),
}
"""What may follow `.block_scale`."""
_OF_A = ("", *(f".collector::a::{use}" for use in ("fill", "use", "lastuse", "discard")))
_OF_B = tuple(
    f".collector::b{n}::{use}" for n in range(4) for use in ("fill", "use", "lastuse", "discard")
)
_SHIFTING = (".ashift", ".ashift.collector::a::lastuse", ".ashift.collector::a::discard")
_ELEMENTS = {
    "f16": "f16", "bf16": "bf16", "tf32": "f32", "s8": "i8", "u8": "i8", "f32": "f32", "s32": "i32",
    "e4m3": "f8E4M3FN", "e5m2": "f8E5M2",
}  # fmt: skip
_RESULTS = {"f16": 0, "f32": 1, "s32": 2}
_BYTES = {"f16": 2, "bf16": 2, "f32": 4}


@dataclass(frozen=True)
class Shape:
    """Products that differ only in how they are carried out.

    Attributes:
        kind: of the mnemonic.
        group: CTAs that take part.
        stationary: whether they are `.ws`.
        sparse: whether they are `.sp`.
        types: of D, A and B.
        m, n: extents, of a pair those of both CTAs.
    """

    kind: str
    group: int
    stationary: bool
    sparse: bool
    types: tuple[str, str, str]
    m: int
    n: int

    @property
    def mnemonics(self) -> list[tuple[str, bool]]:
        """Each mnemonic, and whether A is in tensor memory."""
        words = [f".block_scale{one}" for one in VECTORS.get(self.kind, ())] or [""]
        tails = ("", *_OF_B) if self.stationary else _OF_A
        head = f"tcgen05.mma{'.ws' * self.stationary}{'.sp' * self.sparse}"
        head += f".cta_group::{self.group}.kind::{self.kind}"
        found = [(head + w + t, at) for w, t, at in product(words, tails, (False, True))]
        if self.kind not in VECTORS and not self.stationary:
            found += [(head + tail, True) for tail in _SHIFTING]
        return found

    def descriptor(self, mnemonic: str) -> int:
        """The 32 bits by the table of 9.7.16.4.2, with everything else at zero."""
        d, a, b = self.types
        word = self.sparse << 2 | CODES[self.kind][a] << 7 | CODES[self.kind][b] << 10
        word |= self.n >> 3 << 17 | self.m >> 4 << 24
        if self.kind not in VECTORS:
            return word | _RESULTS[d] << 4
        return word | (0 if re.search("4X|block16", mnemonic) else 1) << 23

    def build(self, mnemonics: list[tuple[str, bool]]) -> None:
        """Ops with some of the mnemonics, all between the same buffers."""
        d, a, b = self.types
        words = " cta_group::2" * (self.group == 2) + " ws" * self.stationary
        acc = self._tensor(f"{self.m}x{self.n}x{_ELEMENTS[d]}", f"d{words}")
        left = self._shared(a, self.m // self.group, 32)
        right = self._shared(b, self.n // self.group, 64 if self.sparse else 32)
        there = self._left(a, f"a{words}")
        sides: list[Value] = []
        if self.sparse:
            sides.append(self._tensor(f"{128 * self.group}x4xi32", f"e{words}"))
        if self.kind in VECTORS:
            rows = self.m // self.group, -(-self.n // 32) * 32
            halves = " halves" * (self.m == 128 and self.group == 2)
            sides.append(self._tensor(f"{rows[0]}x4xi8", "scale"))
            sides.append(self._tensor(f"{rows[1]}x4xi8", f"scale{halves}"))
        ops = {
            (False, False): tile.tcgen05_mma, (True, False): tile.tcgen05_mma_sp,
            (False, True): tile.tcgen05_mma_scaled, (True, True): tile.tcgen05_mma_sp_scaled,
        }  # fmt: skip
        make = ops[self.sparse, self.kind in VECTORS]
        for mnemonic, in_tensor in mnemonics:
            form = f"{mnemonic}.a::{'tensor' if in_tensor else 'descriptor'}"
            given = (there if in_tensor else left, right, acc, *sides)
            make(form, ".".join(self.types), *given, *[0] * (2 * len(given)))

    def _tensor(self, shape: str, held: str) -> Value:
        return tile.alloc_tensor(f'memref<{shape}, #tile.tensor<"{held}">>', self.group)

    def _shared(self, type_: str, rows: int, row_bytes: int) -> Value:
        element = _ELEMENTS.get(type_, "i8")
        element = "i8" if type_ in FLOATS else element
        return tile.alloc_shared(
            (rows, row_bytes // _BYTES.get(element, 1)), element, f"{row_bytes}B"
        )

    def _left(self, type_: str, held: str) -> Value:
        """A in tensor memory: eight columns of words, packed as the kind has it."""
        if self.kind in ("mxf4", "mxf4nvf4"):
            return self._tensor(f"{self.m}x64xf4E2M1FN", held)
        element = _ELEMENTS.get(type_, "i8")
        return self._tensor(f"{self.m}x{32 // _BYTES.get(element, 1)}x{element}", held)


def shapes() -> Iterator[Shape]:
    """Every one that an op takes: not M = 64 of a CTA in a sparse product.

    Scale factors of a pair of M = 128 are of N of 64, 128 and 256, whose halves are powers of two.
    """
    for kind, group, stationary, sparse in product(TYPES, (1, 2), (False, True), (False, True)):
        if stationary and (group == 2 or kind in VECTORS):
            continue
        rows = _rows(kind, group, stationary=stationary, sparse=sparse)
        columns = _columns(kind, group, stationary=stationary, sparse=sparse)
        for types, m in product(TYPES[kind], rows):
            halves = kind in VECTORS and (group, m) == (2, 128)
            for n in [64, 128, 256] if halves else columns:
                yield Shape(kind, group, stationary, sparse, types, m, n)


def _rows(kind: str, group: int, *, stationary: bool, sparse: bool) -> list[int]:
    if stationary:
        return [32, 64, 128]
    if group == 2:
        return [256] if sparse else [128, 256]
    return [128] if sparse or kind in VECTORS else [64, 128]


def _columns(kind: str, group: int, *, stationary: bool, sparse: bool) -> list[int]:
    """The smallest, one in the middle, and the largest."""
    if stationary:
        return [64, 128] if sparse else [64, 128, 256]
    if group == 2:
        return [32, 128, 256] if kind == "i8" else [16, 144, 256]
    return [8, 144, 256]


def has(mnemonic: str, name: str) -> bool:
    """Whether a target has an instruction, by the ISA's "Target ISA Notes"."""
    found = re.fullmatch(r"sm_(100|101|103|107|110)([af])", name)
    if found is None:
        return False
    exact = found[2] == "a"
    if ".kind::i8" in mnemonic:
        return exact and found[1] in ("100", "101", "110")
    sparse4 = ".sp." in mnemonic and ".kind::mxf4" in mnemonic
    return exact or not (sparse4 or "scale_vec" in mnemonic)
