"""Products of integers by every form there is: signs are as flags and forms say, or refused.

What a form takes is read off its mnemonic, as PTX ISA spells it.
"""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import Mma, warp_forms
from tilec.passes.base import ProgramError
from tilec.runtime import pack, sparse

SPELLING = re.compile(
    r"(mma(?:\.sp)?).*\.m(\d+)n(\d+)k(\d+)\..*\.s32\.([us])([48])\.([us])[48]\.s32$"
)
FORMS = {name: match for name in warp_forms() if (match := SPELLING.match(name))}
FLAGS = [
    frozenset(n for n, one in zip("ab", flags, strict=True) if one)
    for flags in itertools.product((False, True), repeat=2)
]


def without_sign(name: str) -> frozenset[str]:
    """The operands whose integers have no sign."""
    match = FORMS[name]
    return frozenset(n for n, letter in zip("ab", match.group(5, 7), strict=True) if letter == "u")


def program(name: str, unsigned: frozenset[str], *, form: bool = True) -> str:
    """One instruction's product, of tiles without layouts."""
    kind, *extents, _, bits, _ = FORMS[name].groups()
    m, n, k = map(int, extents)
    stored = k // 2 if kind == "mma.sp" else k
    a, b, c, e = (
        f"{m}x{stored}xi{bits}",
        f"{k}x{n}xi{bits}",
        f"{m}x{n}xi32",
        f"{m}x{codes_of(name)}xi4",
    )
    names = {"a": a, "b": b, "c": c} | ({"e": e} if kind == "mma.sp" else {})
    held = {x: memory(text) for x, text in names.items()}
    transposed = {"b"} if bits == "4" else set()
    if transposed:
        held["b"] = memory(f"{n}x{k}xi{bits}")
    loads = "\n".join(
        f'    %t{x} = "tile.load"(%{x}, %z, %z) {{{"transposed" if x in transposed else ""}}} : '
        f"({held[x]}, index, index) -> tensor<{text}>"
        for x, text in names.items()
    )
    attributes = [f"unsigned_{x}" for x in sorted(unsigned)]
    attributes += [f'form = "{name}"'] if form else []
    op = "tile.dot_sp" if kind == "mma.sp" else "tile.dot"
    return f"""
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k({", ".join(f"%{x}: {type_}" for x, type_ in held.items())})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
{loads}
    %d = "{op}"({", ".join(f"%t{x}" for x in names)}) {{{", ".join(attributes)}}} : (
        {", ".join(f"tensor<{text}>" for text in names.values())}) -> tensor<{c}>
    "tile.store"(%d, %c, %z, %z) : (tensor<{c}>, {held["c"]}, index, index) -> ()
    gpu.return
  }}
}}
"""


def codes_of(name: str) -> int:
    """Columns of the metadata of a sparse form."""
    found = warp_forms()[name]
    assert isinstance(found, Mma)
    return found.operand("e").cols if found.sparsity is not None else 0


def memory(text: str) -> str:
    """The memref of a tile: elements of 4 bits lie two in a byte."""
    rows, cols, element = text.split("x")
    return f"memref<{rows}x{int(cols) // 2}xi8>" if element == "i4" else f"memref<{text}>"


@pytest.mark.parametrize("name", FORMS)
def test_flags_against_the_form(name: str) -> None:
    """Flags that say another thing than the form are refused at the product's place."""
    for unsigned in FLAGS:
        text = program(name, unsigned)
        if unsigned in (frozenset(), without_sign(name)):
            tilec.transform(text, "tile-select-mma")
            continue
        with pytest.raises(ProgramError, match="legal: mma") as caught:
            tilec.transform(text, "tile-select-mma")
        (found,) = caught.value.diagnostics
        assert ":".join(str(found.location).split(":")[1:]).startswith(
            str(text[: text.index('"tile.dot')].count("\n") + 1)
        )
        (legal,) = re.findall(r"legal: (\S+),", found.message)
        assert SPELLING.sub(r"\2\3\4\6", legal) == SPELLING.sub(r"\2\3\4\6", name)
        assert without_sign(legal) == unsigned


DENSE = [n for n, m in FORMS.items() if m[1] == "mma" and "satfinite" not in n]
SPARSE = [n for n, m in FORMS.items() if m[1] != "mma" and "satfinite" not in n and "ordered" in n]


@pytest.mark.parametrize("name", [*DENSE, *SPARSE])
def test_products_of_all_values(run, random, name) -> None:
    """The form, with the flags and without, and the flags alone, multiply what the numbers are."""
    kind, *extents, _, bits, _ = FORMS[name].groups()
    m, n, k = map(int, extents)
    width, unsigned = int(bits), without_sign(name)

    def integers(operand: str, shape: tuple[int, int]) -> np.ndarray:
        low = 0 if operand in unsigned else -(1 << width - 1)
        return random.integers(low, low + (1 << width), shape)

    def held(operand: str, matrix: np.ndarray) -> np.ndarray:
        letter = "u" if operand in unsigned else "s"
        return np.ascontiguousarray(pack(matrix, f"{letter}{bits}")).view(np.int8)

    a, b = integers("a", (m, k)), integers("b", (k, n))
    c = random.integers(-1000, 1000, (m, n)).astype(np.int32)
    arrays = {"a": a, "b": b if width == 8 else b.T}
    others = []
    if kind == "mma.sp":
        form = warp_forms()[name]
        assert isinstance(form, Mma)
        a = sparse.prune(form, a)
        arrays["a"], codes = sparse.compress(form, a)
        others = [(codes[:, ::2] | codes[:, 1::2] << 4).view(np.int8)]
    given = [held(x, matrix) for x, matrix in arrays.items()]
    for flags, with_form in ((frozenset(), True), (unsigned, True), (unsigned, False)):
        got = c.copy()
        compiled = run(program(name, flags, form=with_form), [*given, got, *others])
        assert not with_form or name in compiled.ptx
        np.testing.assert_array_equal(got, a @ b + c)


@pytest.mark.parametrize("op", ["dot", "dot_sp"])
def test_flags_of_what_is_no_integer(op) -> None:
    more, also = (", %e", ", tensor<16x8xi4>") if op == "dot_sp" else ("", "")
    k = 32 if op == "dot_sp" else 16
    for form in (
        "",
        f', form = "mma{".sp::ordered_metadata" * (k > 16)}.sync.aligned.m16n8k{k}.'
        'row.col.f32.f16.f16.f32"',
    ):
        text = f"""
func.func @f(%a: tensor<16x16xf16>, %b: tensor<{k}x8xf16>, %c: tensor<16x8xf32>,
             %e: tensor<16x8xi4>) {{
  %d = "tile.{op}"(%a, %b, %c{more}) {{unsigned_a{form}}} : (tensor<16x16xf16>,
      tensor<{k}x8xf16>, tensor<16x8xf32>{also}) -> tensor<16x8xf32>
  return
}}
"""
        with pytest.raises(ProgramError, match="unsigned_a applies to integers"):
            tilec.transform(text, "canonicalize")


@pytest.mark.parametrize(("dtype", "letter"), [(tl.int8, "u"), (tl.uint8, "s")])
def test_kernels_in_python(dtype, letter) -> None:
    """There an element's type says whether it has a sign, so that no form may say otherwise."""
    form = f"mma.sync.aligned.m16n8k32.row.col.s32.{letter}8.{letter}8.s32"

    @tilec.kernel
    def k(c: tl.Array[tl.int32, int, int]) -> None:
        tl.store(c, (0, 0), tl.dot(tl.zeros((16, 32), dtype), tl.zeros((32, 8), dtype), form=form))

    with pytest.raises(tl.KernelError, match=rf"takes {letter}8 as a, whose integers are"):
        k.build()
