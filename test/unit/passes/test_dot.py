"""`tile.dot` on any distribution of its tiles is the product that numpy computes.

Rows and columns of instructions are dealt out at random to registers and warps, in any order;
operands come from global memory or, by matrix loads, from swizzled shared memory, as they are or
transposed. Elements are small integers, so that every form is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import tilec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tilec.isa import Mma, form
from tilec.layout import LinearLayout, fragment_of
from tilec.sim import launch

FORMS = {
    # form: MLIR's element types of A and B, and of C; how numpy has them
    "m16n8k8.row.col.f32.f16.f16.f32": ("f16", "f32", np.float16, np.float32),
    "m16n8k16.row.col.f32.f16.f16.f32": ("f16", "f32", np.float16, np.float32),
    "m16n8k16.row.col.f16.f16.f16.f16": ("f16", "f16", np.float16, np.float16),
    "m16n8k16.row.col.f32.bf16.bf16.f32": ("bf16", "f32", ml_dtypes.bfloat16, np.float32),
    "m16n8k8.row.col.f32.tf32.tf32.f32": ("tf32", "f32", np.float32, np.float32),
    "m16n8k32.row.col.s32.s8.s8.s32": ("i8", "i32", np.int8, np.int32),
    "m8n8k16.row.col.s32.s8.s8.s32": ("i8", "i32", np.int8, np.int32),
    "m8n8k4.row.col.f64.f64.f64.f64.rn": ("f64", "f64", np.float64, np.float64),
}
STORED = {"tf32": "f32"}


@dataclass(frozen=True)
class Product:
    """A kernel that multiplies two tiles.

    Attributes:
        form: of the instructions.
        shape: M, N and K of the tiles.
        layouts: of A, B and C.
        warps: of the CTA.
        transposed: whether memory holds the transposes of A and of B.
        shared: the swizzle of the shared memory that A and B pass through, or None.
        target: a target.
    """

    form: str
    shape: tuple[int, int, int]
    layouts: tuple[LinearLayout, LinearLayout, LinearLayout]
    warps: int
    transposed: tuple[bool, bool]
    shared: str | None
    target: str

    @property
    def text(self) -> str:
        m, n, k = self.shape
        narrow, wide, *_ = FORMS[self.form]
        extents = {"a": (m, k), "b": (k, n), "c": (m, n)}
        types = {
            name: f"tensor<{rows}x{cols}x{wide if name == 'c' else narrow}, "
            f'#tile.layout<"{layout}">>'
            for (name, (rows, cols)), layout in zip(extents.items(), self.layouts, strict=True)
        }
        memory, body = {}, ""
        for name, turned in zip("ab", self.transposed, strict=True):
            rows, cols = reversed(extents[name]) if turned else extents[name]
            stored = STORED.get(narrow, narrow)
            memory[name] = f"memref<{rows}x{cols}x{stored}>"
            unit = "transposed" if turned else ""
            source, space = f"%{name}", memory[name]
            if self.shared is not None:
                source = f"%s{name}"
                space = f'memref<{rows}x{cols}x{stored}, #tile.shared<"{self.shared}">>'
                body += f"""
    {source} = "tile.alloc_shared"() : () -> {space}
    "tile.async_copy"(%{name}, {source}, %z, %z, %z, %z) {{shape = array<i64: {rows}, {cols}>}}
        : ({memory[name]}, {space}, index, index, index, index) -> ()"""
            body += f"""
    "tile.async_commit"() : () -> ()
    "tile.async_wait"() {{pending = 0}} : () -> ()
    gpu.barrier
    %t{name} = "tile.load"({source}, %z, %z) {{{unit}}}
        : ({space}, index, index) -> {types[name]}"""
        memory["c"] = f"memref<{m}x{n}x{wide}>"
        a, b, c = types.values()
        return f"""
gpu.module @m [#nvvm.target<chip = "{self.target}">] {{
  gpu.func @k(%a: {memory["a"]}, %b: {memory["b"]}, %c: {memory["c"]})
      kernel attributes {{known_block_size = array<i32: {32 * self.warps}, 1, 1>}} {{
    %z = arith.constant 0 : index
{body}
    %tc = "tile.load"(%c, %z, %z) : ({memory["c"]}, index, index) -> {c}
    %d = "tile.dot"(%ta, %tb, %tc) {{form = "mma.sync.aligned.{self.form}"}}
        : ({a}, {b}, {c}) -> {c}
    "tile.store"(%d, %c, %z, %z) : ({c}, {memory["c"]}, index, index) -> ()
    gpu.return
  }}
}}
"""

    def run(self) -> tuple[np.ndarray, np.ndarray]:
        """What arrives, and what should."""
        m, n, k = self.shape
        _, _, narrow, wide = FORMS[self.form]
        random = np.random.default_rng(m * n * k)
        a, b, c = (random.integers(-3, 4, size) for size in ((m, k), (k, n), (m, n)))
        wanted = (a @ b + c).astype(wide)
        first, second = (
            np.ascontiguousarray(x.T if turned else x).astype(narrow)
            for x, turned in zip((a, b), self.transposed, strict=True)
        )
        got = c.astype(wide)
        compiled = tilec.compile(self.text)
        (kernel,) = compiled.kernels
        report = launch(
            compiled.ptx,
            "k",
            1,
            kernel.block,
            [first, second, got],
            dynamic_smem=kernel.dynamic_shared,
        )
        assert not report.findings
        return got, wanted


@st.composite
def products(draw: st.DrawFn) -> Product:
    """Any product that `tile.dot` takes."""
    name = draw(st.sampled_from(sorted(FORMS)))
    found = form(f"mma.sync.aligned.{name}")
    assert isinstance(found, Mma)
    size = found.shape
    repeats = [draw(st.integers(0, 2)) for _ in range(3)]
    # Above an instruction's own bits, those of M and N go to registers or to warps.
    bits = {
        index: [unit << bit for bit in range(count)]
        for index, unit, count in zip("mnk", size, repeats, strict=True)
    }
    over = [(i, bit) for i in "mn" for bit in bits[i]]
    warped = draw(st.lists(st.sampled_from(over), unique=True, max_size=3)) if over else []
    held = [(i, bit) for i in "mnk" for bit in bits[i] if (i, bit) not in warped]
    layouts = []
    for operand, first, second in (("a", "m", "k"), ("b", "k", "n"), ("c", "m", "n")):
        unit = fragment_of(found, operand)
        registers = [(i, bit) for i, bit in held if i in (first, second)]
        registers = draw(st.permutations(registers)) if registers else []

        def place(step: tuple[str, int], first: str = first, second: str = second) -> list[int]:
            return [step[1] * (step[0] == index) for index in (first, second)]

        extents = [
            getattr(size, index) << count
            for index, count in zip("mnk", repeats, strict=True)
            if index in (first, second)
        ]
        layouts.append(
            LinearLayout.of(
                {
                    "register": [*unit.bases["register"], *map(place, registers)],
                    "lane": unit.bases["lane"],
                    "warp": [place(step) for step in warped],
                },
                dict(zip(("row", "col"), extents[:: -1 if operand == "b" else 1], strict=True)),
            )
        )
    late = draw(st.sampled_from(["sm_80", "sm_90"]))
    a, b, c = layouts
    return Product(
        form=name,
        shape=tuple(unit << count for unit, count in zip(size, repeats, strict=True)),
        layouts=(a, b, c),
        warps=1 << len(warped),
        transposed=(draw(st.booleans()), draw(st.booleans())),
        shared=draw(st.sampled_from([None, "none", "32B", "64B", "128B"])),
        target=late,
    )


@settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(products())
def test_any_product(product: Product) -> None:
    got, wanted = product.run()
    np.testing.assert_array_equal(got, wanted)
