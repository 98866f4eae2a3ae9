"""PTX beside the tile program that it was compiled from, bit for bit in the algebra."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec import sim
from tilec.compiled import Compiled
from tilec.driver import compile_input
from tilec.frontend.inputs import TextInput
from tilec.isa import TilecError
from tilec.launch.arguments import passed
from tilec.options import Options
from tilec.passes.instrumentation import Instrumentation
from tilec.report.diagnostics import Source
from tilec.tools.tilec import main
from tilec.validation.ptx import InexactError, pairs
from tilec.validation.validator import Validator

from .ptx_mutants import mutants

EXAMPLES = Path(__file__).parents[3] / "examples"
SMALL = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = arith.constant 0 : index
    %x = tile.load %a[%i, %i] masked : memref<?x?xf16> -> tensor<32x32xf16>
    %y = tile.load %b[%i, %i] masked : memref<?x?xf16> -> tensor<32x32xf16>
    %z = arith.constant dense<0.0> : tensor<32x32xf32>
    %half = arith.constant dense<1.5> : tensor<32x32xf16>
    %w = arith.mulf %x, %half : tensor<32x32xf16>
    %d = tile.dot %w, %y, %z : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    %m = tile.reduce arith.maxnumf %d axis 1 : tensor<32x32xf32> -> tensor<32xf32>
    %n = tile.expand %m axis 1 : tensor<32xf32> -> tensor<32x1xf32>
    %o = tile.broadcast %n : tensor<32x1xf32> -> tensor<32x32xf32>
    %s = arith.subf %d, %o : tensor<32x32xf32>
    %f = arith.constant dense<4.0> : tensor<32x32xf32>
    %e = math.exp %s : tensor<32x32xf32>
    %q = arith.divf %e, %f : tensor<32x32xf32>
    tile.store %q, %c[%i, %i] masked : tensor<32x32xf32>, memref<?x?xf32>
    gpu.return
  }
}
"""


def validated(text: str, target: str | None = None) -> tuple[Compiled, Validator]:
    validator = Validator(shrinks=False)
    watched = Instrumentation(watchers=(validator.around,))
    options = Options(instrumentation=watched, target=target)
    return compile_input(TextInput(Source("-", text)), options), validator


@pytest.fixture(scope="module")
def small() -> tuple[Compiled, Validator]:
    return validated(SMALL)


class Changed:
    """A compilation with other PTX."""

    def __init__(self, compiled: Compiled, ptx: str) -> None:
        self.target, self.ptx, self.kernels = compiled.target, ptx, compiled.kernels


def verdict(compiled: Compiled, validator: Validator, ptx: str) -> str:
    """What becomes of changed PTX: same, differs, or not run."""
    assert validator._first is not None
    _, kernels = validator._first
    known = [(name, one.function, one.known) for name, one in kernels.items()]
    for name, pair in pairs(Changed(compiled, ptx), known):
        for plan, _ in kernels[name].outcomes:
            try:
                if pair.difference(plan) is not None:
                    return "differs"
            except InexactError:
                return "rounds"
            except TilecError:
                return "not run"
    return "same"


def test_functions_and_constants_agree(small: tuple[Compiled, Validator]) -> None:
    compiled, validator = small
    validator.check_ptx(compiled)
    assert validator.in_ptx == ["k"], validator.report()


def changes(compiled: Compiled, ptx: str) -> bool:
    """Whether changed PTX leaves other bits, by the hardware's arithmetic, or something is wrong.

    Nothing of the algebra, nor of the interpreter, decides here.
    """
    random = np.random.default_rng(0)
    given = [random.standard_normal((27, 31)).astype(np.float16) for _ in range(2)]
    left = []
    for text in (compiled.ptx, ptx):
        c = np.zeros((27, 31), np.float32)
        values = [*given, c]
        parameters: list[Any] = []
        for array in values:
            parameters += [array, *array.shape, array.strides[0] // array.itemsize]
        (kernel,) = compiled.kernels
        shared = kernel.dynamic_shared
        given_now = passed(kernel, values, grid=(1, 1, 1))
        report = sim.launch(text, "k", 1, 128, given_now, dynamic_smem=shared, max_steps=200_000)
        if report.findings:
            return True
        left.append(c)
    scale = np.abs(left[0]).max()
    return bool((np.abs(left[0] - left[1]) > 1e-3 * scale).any())


def mutated(small: tuple[Compiled, Validator], count: int) -> tuple[int, list[str]]:
    compiled, validator = small
    wrong, missed = 0, []
    for text, what in mutants(compiled.ptx, 1, count):
        try:
            if not changes(compiled, text):
                continue
        except TilecError:
            continue
        wrong += 1
        if verdict(compiled, validator, text) != "differs":
            missed.append(what)
    return wrong, missed


def test_mutations_of_ptx_are_found(small: tuple[Compiled, Validator]) -> None:
    wrong, missed = mutated(small, 5)
    assert wrong >= 3
    assert not missed


@pytest.mark.slow
def test_most_mutations_of_ptx_are_found(small: tuple[Compiled, Validator]) -> None:
    wrong, missed = mutated(small, 80)
    assert wrong >= 40
    assert len(missed) <= 0.05 * wrong, missed


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("kernels/gemm", "kernels/split_k_gemm", "kernels/attention", "kernels/layer_norm"),
        *("kernels/softmax", "kernels/conv", "gemm", "kernels/gemm_types"),
    ],
)
def test_examples_agree_bit_for_bit(name: str) -> None:
    text = (EXAMPLES / f"{name}.mlir").read_text(encoding="utf-8")
    compiled, validator = validated(text)
    validator.check_ptx(compiled)
    assert set(validator.in_ptx) == {kernel.name for kernel in compiled.kernels}


def test_the_command_names_ptx(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "small.mlir"
    program.write_text(SMALL, encoding="utf-8")
    assert main([str(program), "--validate", "-o", str(tmp_path / "small.ptx")]) == 0
    assert "validated the PTX of 'k'" in capsys.readouterr().err


def test_a_wrong_instruction_is_reported(
    small: tuple[Compiled, Validator], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled, validator = small
    wrong = compiled.ptx.replace("max.f32", "min.f32")
    assert wrong != compiled.ptx
    with pytest.raises(TilecError, match="the PTX of 'k' does not compute what the program does"):
        validator.check_ptx(Changed(compiled, wrong))


def test_products_are_those_of_integers() -> None:
    """A GEMM of numpy's integers, wrapped to the width of the sum."""
    compiled = tilec.compile((EXAMPLES / "kernels/gemm.mlir").read_text(encoding="utf-8"))
    (kernel,) = compiled.kernels
    random = np.random.default_rng(0)
    a, b = random.integers(-(2**15), 2**15, (2, 64, 64)).astype(np.int16)
    c = np.zeros((64, 64), np.int32)
    values = [a.view(np.float16), b.view(np.float16), c.view(np.float32)]
    report = sim.launch(
        compiled.ptx,
        kernel.name,
        1,
        kernel.block,
        passed(kernel, values, grid=(1, 1, 1)),
        dynamic_smem=kernel.dynamic_shared,
        numerics="algebraic",
    )
    assert not report.findings
    np.testing.assert_array_equal(c, (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32))
