"""Every tcgen05 instruction that has an op, of every type and shape: legal, or refused at its line.

Kinds, types, M, N and which target has what are those of the ISA's tables (9.7.16.2, "Target ISA
Notes"), written down here; nothing of the table is used but how an op's fragment is typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest
from tilec.dialects.tile import builders as tile
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.isa import TARGETS
from tilec.passes.base import ProgramError
from tilec.passes.check_target import CheckTarget
from tilec.report.diagnostics import SOURCE, Source

NARROW = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e2m3": "f6E2M3FN", "e3m2": "f6E3M2FN"}
NARROW |= {"e2m1": "f4E2M1FN"}
ELEMENTS = NARROW | {
    "f16": "f16", "bf16": "bf16", "tf32": "f32", "s8": "i8", "u8": "i8", "f32": "f32", "s32": "i32",
}  # fmt: skip
_PAIRS = list(product(NARROW, NARROW))
TYPES = {
    "f16": [("f16", "f16", "f16"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16")],
    "tf32": [("f32", "tf32", "tf32")],
    "f8f6f4": [(d, a, b) for d in ("f16", "f32") for a, b in _PAIRS],
    "i8": [("s32", a, b) for a, b in product(("u8", "s8"), repeat=2)],
    "mxf8f6f4": [("f32", a, b) for a, b in _PAIRS],
    "mxf4": [("f32", "e2m1", "e2m1")],
    "mxf4nvf4": [("f32", "e2m1", "e2m1")],
}
K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}
PACKED = ("e2m3", "e3m2", "e2m1")
REDUCTIONS = [f"{op}{tail}" for op in ("min", "max") for tail in (".f32", ".abs.f32", ".NaN.f32")]
REDUCTIONS += [f"{op}.abs.NaN.f32" for op in ("min", "max")]
REDUCTIONS += [f"{op}.{type_}" for op in ("min", "max") for type_ in ("u32", "s32")]
PLAIN = ("f16", "tf32", "f8f6f4", "i8")
VECTORS = {
    "mxf8f6f4": ("", ".scale_vec::1X", ".block32"),
    "mxf4": ("", ".scale_vec::2X", ".block32"),
    "mxf4nvf4": (".scale_vec::2X", ".scale_vec::4X", ".block32", ".block16"),
}
USES = ("", *(f".collector::a::{use}" for use in ("fill", "use", "lastuse", "discard")))
WS_USES = ("", ".collector::b0::fill", ".collector::b3::lastuse")


def m_and_n(kind: str, group: int, *, stationary: bool) -> tuple[list[int], list[int]]:
    """Every M, and the smallest, a middle and the largest N."""
    if stationary:
        return [32, 64, 128], [64, 128, 256]
    if group == 2:
        # Of 128 rows of a pair SFB lies in halves: `test_tensor_emission` has those.
        return [256] if kind in VECTORS else [128, 256], [32, 128, 256] if kind == "i8" else [
            16,
            144,
            256,
        ]
    return [128] if kind in VECTORS else [64, 128], [8, 144, 256]


@dataclass(frozen=True)
class Case:
    """A dense product."""

    form: str
    kind: str
    types: tuple[str, str, str]
    m: int
    n: int

    @property
    def group(self) -> int:
        return 2 if "cta_group::2" in self.form else 1

    @property
    def mnemonic(self) -> str:
        return self.form.partition(".a::")[0]

    def build(self) -> None:
        """The op, between buffers that nobody fills."""
        d, a, b = self.types
        ws = " ws" * (".ws." in self.form)
        pair = " cta_group::2" * (self.group == 2)
        whole = f"{self.m}x{self.n}x{ELEMENTS[d]}"
        acc = tile.alloc_tensor(f'memref<{whole}, #tile.tensor<"d{pair}{ws}">>', self.group)
        if self.form.endswith("tensor"):
            padded = a in PACKED and self.kind[:4] != "mxf4"
            shape = f"{self.m}x{K[self.kind]}x{'i8' if padded else ELEMENTS[a]}"
            left = tile.alloc_tensor(f'memref<{shape}, #tile.tensor<"a{pair}{ws}">>', self.group)
        else:
            left = self._shared(a, self.m // self.group)
        right = self._shared(b, self.n // self.group)
        words = ".".join(self.types)
        if self.kind not in VECTORS:
            tile.tcgen05_mma(self.form, words, left, right, acc, *[0] * 6)
            return
        factor = "f8E4M3FN" if re.search("4X|block16", self.form) else "f8E8M0FNU"
        rows = self.m // self.group, -(-self.n // 32) * 32
        scales = [
            tile.alloc_tensor(f'memref<{r}x4x{factor}, #tile.tensor<"scale">>', self.group)
            for r in rows
        ]
        tile.tcgen05_mma_scaled(self.form, words, left, right, acc, *scales, *[0] * 10)

    def _shared(self, type_: str, rows: int) -> object:
        element = "i8" if type_ in NARROW else ELEMENTS[type_]
        size = {"f32": 4, "f16": 2, "bf16": 2}.get(element, 1)
        return tile.alloc_shared((rows, 128 // size), element, "128B")


def cases(*, every: bool) -> Iterator[Case]:
    """Every mnemonic of a dense product, with each type and M and three N; or with one in turn."""
    turn = 0
    for kind, tail, group in product((*PLAIN, *VECTORS), (False, True), (1, 2)):
        stationary = tail
        if stationary and (group == 2 or kind in VECTORS):
            continue
        ms, ns = m_and_n(kind, group, stationary=stationary)
        words = [f".block_scale{one}" for one in VECTORS.get(kind, ())] or [""]
        tails = WS_USES if stationary else USES
        forms = [
            f"tcgen05.mma{'.ws' * stationary}.cta_group::{group}.kind::{kind}{word}{use}.a::{place}"
            for word, use, place in product(words, tails, ("descriptor", "tensor"))
        ]
        if kind in PLAIN and not stationary:
            forms += [
                f"tcgen05.mma.cta_group::{group}.kind::{kind}.ashift{use}.a::tensor"
                for use in ("", ".collector::a::lastuse", ".collector::a::discard")
            ]
        for form in forms:
            shapes = list(product(TYPES[kind], ms, ns))
            for types, m, n in shapes if every else [shapes[turn % len(shapes)]]:
                turn += 1
                yield Case(form, kind, types, m, n)


def has(mnemonic: str, name: str) -> bool:
    """Whether a target has an instruction."""
    found = re.fullmatch(r"sm_(100|101|103|107|110)([af])", name)
    if found is None:
        return False
    exact = found[2] == "a"
    if ".ld.red." in mnemonic:
        return found[1] != "100"
    if ".kind::i8" in mnemonic:
        return exact and found[1] in ("100", "101", "110")
    return exact or "scale_vec" not in mnemonic


def around() -> Iterator[str]:
    """What stands around products: each instruction, whose op is built next."""
    d = tile.alloc_tensor('memref<128x512xf32, #tile.tensor<"d">>')
    i = tile.alloc_tensor('memref<128x512xi32, #tile.tensor<"d">>')
    h = tile.alloc_tensor('memref<128x512xf16, #tile.tensor<"d">>')
    sf = tile.alloc_tensor('memref<128x4xi8, #tile.tensor<"scale">>')
    atoms, bars = tile.alloc_shared((32, 16), "i8"), tile.alloc_shared((1,), "i64")
    slot = tile.alloc_shared((1, 1), "i32")
    rows = tile.alloc_shared((128, 64), "f16", "128B")
    left = tile.alloc_tensor('memref<128x64xf16, #tile.tensor<"a">>')
    most = {"32x32b": 7, "16x64b": 7, "16x128b": 6, "16x256b": 5}
    for shape, last in most.items():
        for n, (of, packed) in product(range(last + 1), ((d, ""), (h, "pack::16b."))):
            words = f"sync.aligned.{shape}.x{1 << n}."
            load = f"tcgen05.ld.{words}{packed}b32"
            yield load
            loaded = tile.tcgen05_ld(load, of, 0, 0)
            store = f"tcgen05.st.{words}{'un' * bool(packed)}{packed}b32"
            yield store
            tile.tcgen05_st(store, loaded, of, 0, 0)
    for reduction in REDUCTIONS:
        of = d if reduction.endswith("f32") else i
        yield f"tcgen05.ld.red.sync.aligned.32x32b.x4.{reduction}"
        tile.tcgen05_ld_red(f"tcgen05.ld.red.sync.aligned.32x32b.x4.{reduction}", of, 0, 0)
    yield "tcgen05.wait::ld.sync.aligned"
    tile.tcgen05_wait_ld(loaded)
    yield "tcgen05.wait::st.sync.aligned"
    tile.tcgen05_wait_st()
    for group in (1, 2):
        words = f"cta_group::{group}"
        yield f"tcgen05.alloc.{words}.sync.aligned.shared::cta.b32"
        tile.tcgen05_alloc(slot, 32, group)
        yield f"tcgen05.dealloc.{words}.sync.aligned.b32"
        tile.tcgen05_dealloc(slot, 32, group)
        yield f"tcgen05.relinquish_alloc_permit.{words}.sync.aligned"
        tile.tcgen05_relinquish(group)
        commit = f"tcgen05.commit.{words}.mbarrier::arrive::one.shared::cluster"
        yield f"{commit}.b64"
        tile.tcgen05_commit(bars, 0, group=group)
        yield f"{commit}.multicast::cluster.b64"
        tile.tcgen05_commit(bars, 0, 3, group=group)
        yield f"tcgen05.cp.{words}.32x128b.warpx4"
        tile.tcgen05_cp(f"tcgen05.cp.{words}.32x128b.warpx4", atoms, sf, *[0] * 4)
    for shape in ("128x256b", "128x128b"):
        yield f"tcgen05.cp.cta_group::1.{shape}"
        tile.tcgen05_cp(f"tcgen05.cp.cta_group::1.{shape}", rows, left, *[0] * 4)
    for side in ("before", "after"):
        yield f"tcgen05.fence::{side}_thread_sync"
        tile.tcgen05_fence(side)


def text_of(some: list[Case], *, others: bool) -> tuple[str, dict[int, str]]:
    """A program of such ops, and the instruction of each by its line."""
    wanted = []
    with tile.module("m", target="sm_100a") as module, tile.kernel("k", {}, block=128):
        for case in some:
            case.build()
            wanted.append(case.mnemonic)
        wanted += [*around(), *sparse()] if others else []
    text = str(module)
    lines = [n for n, line in enumerate(text.splitlines(), 1) if "tile.tcgen05_" in line]
    return text, dict(zip(lines, wanted, strict=True))


def refused(text: str, name: str) -> dict[int, str]:
    """What is said of each line, by `tile-check-target` for a target."""
    with new_context() as context:
        module = parse(Source(SOURCE, text), context)
        try:
            CheckTarget(name).apply(module)
        except ProgramError as error:
            return {
                int(re.findall(r":(\d+):\d+", str(found.location))[0]): found.message
                for found in error.diagnostics
            }
    return {}


def compared(some: list[Case], names: list[str], *, others: bool) -> None:
    """Hold what is refused, and how, against what the ISA's tables say."""
    text, wanted = text_of(some, others=others)
    for name in names:
        # Where buffers are given out, their `tcgen05.alloc` is refused, too.
        found = {n: said for n, said in refused(text, name).items() if n in wanted}
        lacking = {line for line, mnemonic in wanted.items() if not has(mnemonic, name)}
        assert found.keys() == lacking, name
        for line, message in found.items():
            assert f"does not exist on {name}; it needs sm_10" in message, message
            assert wanted[line] in message


def sparse() -> Iterator[str]:
    """Sparse products of each kind, of one CTA and a pair, and `.ws`: as `around`."""
    for kind, (group, ws) in product(PLAIN, ((1, ""), (2, ""), (1, "ws"))):
        types = TYPES[kind][-1] if kind != "f8f6f4" else ("f32", "e4m3", "e5m2")
        d, a, _ = types
        element = "i8" if a in NARROW else ELEMENTS[a]
        size = 32 // K[kind]
        pair = " cta_group::2" * (group == 2) + f" {ws}" * bool(ws)
        left = tile.alloc_shared((128, 64 // size), element, "64B")
        right = tile.alloc_shared((64 // group, 128 // size), element, "128B")
        types_ = f"{128 * group}x64x{ELEMENTS[d]}", f"{128 * group}x4xi32"
        acc, meta = (
            tile.alloc_tensor(f'memref<{one}, #tile.tensor<"{held}{pair}">>', group)
            for one, held in zip(types_, "de", strict=True)
        )
        for place in ("descriptor", "tensor"):
            words = f"tcgen05.mma{f'.{ws}' * bool(ws)}.sp.cta_group::{group}.kind::{kind}"
            given = left
            if place == "tensor":
                if element != ELEMENTS[a]:
                    element = ELEMENTS[a]
                shape = f"{128 * group}x{64 // size}x{element}"
                given = tile.alloc_tensor(f'memref<{shape}, #tile.tensor<"a{pair}">>', group)
            yield words
            form = f"{words}.a::{place}"
            tile.tcgen05_mma_sp(form, ".".join(types), given, right, acc, meta, *[0] * 8)


WITH = [name for name, one in TARGETS.items() if one.has_tensor_memory]


def test_what_a_target_lacks_is_refused() -> None:
    """A sample of dense products, all sparse ones, and everything around them."""
    names = ["sm_90a", "sm_100", "sm_100f", "sm_103a", "sm_110a", "sm_120a"]
    compared(list(cases(every=False))[::9], names, others=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_what_every_target_lacks_is_refused(name: str) -> None:
    compared(list(cases(every=False)), [name], others=True)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_every_type_and_shape_is_legal_or_refused(part: int) -> None:
    compared(list(cases(every=True))[part::12], [*WITH, "sm_90a", "sm_120a"], others=False)
