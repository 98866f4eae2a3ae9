"""The validator names passes that change what a kernel computes, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.passes.base import PassError
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source
from tilec.tools import tile_opt, tilec
from tilec.validation import validator
from tilec.validation.plans import plans
from tilec.validation.validator import Validator

from . import census, slips
from .slips import PROGRAM, with_slip

CENSUS = Path(__file__).with_name("census.json")


def validate(text: str, passes: list, seed: int = 0) -> Validator:
    """Run passes on a program, and compare."""
    found = Validator(seed)
    module = parse(Source("-", text), new_context())
    run_pipeline(module, passes, instrumentation=Instrumentation(watchers=(found.around,)))
    return found


@pytest.mark.parametrize(
    ("act", "behind", "message"),
    [
        (slips.exchange, "tile-check-target", "holds"),
        (slips.drop_store, "tile-assign-layouts", "holds"),
        (slips.drop_barriers, "tile-reuse-shared", "without a barrier in between"),
        (slips.drop_wait, "tile-stage-shared", "reads shared memory that|another copy"),
        (slips.share_places, "tile-reuse-shared", "overwritten|another copy|no barrier"),
        (slips.shorten_loop, "tile-infer-vectors", "holds"),
        (slips.other_constant, "tile-select-mma", "holds"),
    ],
)
def test_slips_are_named(act, behind: str, message: str) -> None:
    with pytest.raises(PassError) as raised:
        validate(PROGRAM, with_slip(act, behind))
    (found,) = raised.value.diagnostics
    name = f"test-{act.__name__.replace('_', '-')}"
    assert found.message.startswith(f"pass '{name}' changed the meaning of 'k': ")
    assert re.search(message, found.message)
    (note,) = found.notes
    assert note.message.startswith("on the smallest input: argument 0 of ")


def test_what_is_right_is_not_named() -> None:
    found = validate(PROGRAM, with_slip(slips.regroup, "tile-infer-vectors"))
    assert "test-regroup" in found.validated
    assert {"tile-assign-layouts", "tile-stage-shared", "tile-to-fragments"} <= set(found.validated)
    assert not found.left


def test_a_place_behind_the_smaller_argument_of_one_memory(monkeypatch) -> None:
    monkeypatch.setattr(validator, "plans", lambda *given: (p for p in plans(*given) if p.shared))
    text = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<4x4xf32>, %b: memref<32x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = arith.constant 16 : index
    %z = arith.constant dense<1.0> : tensor<16x16xf32>
    %x = tile.load %b[%i, %i] masked : memref<32x16xf32> -> tensor<16x16xf32>
    %y = arith.subf %x, %z : tensor<16x16xf32>
    %o = arith.constant 0 : index
    tile.store %y, %b[%i, %o] : tensor<16x16xf32>, memref<32x16xf32>
    gpu.return
  }
}
"""
    with pytest.raises(PassError) as raised:
        validate(text, ["tile-check-program", slips.slip(slips.exchange)])
    (found,) = raised.value.diagnostics
    assert "argument 1 holds 1 at [16, 0], and -1 before the pass" in found.message
    assert "arguments 1 and 0 in one memory" in found.notes[0].message


def test_the_smallest_input_is_small() -> None:
    with pytest.raises(PassError) as raised:
        validate(PROGRAM, with_slip(slips.exchange, "tile-check-target"))
    message = raised.value.diagnostics[0].notes[0].message
    sizes = re.findall(r"of ([\dx]+)xf\d+", message)
    assert max(int(n) for size in sizes for n in size.split("x")) <= 8
    assert "all zero" in message


def test_random_programs() -> None:
    """Nothing is named where nothing is wrong; `census.py` has more of them."""
    found = [census.tried(seed) for seed in range(12)]
    assert not [one for one in found if one.became in ("named", "not interpreted")]
    assert sum(one.changes for one in found) > 30


def test_the_census() -> None:
    """What was counted has a command that counts it again."""
    held = json.loads(CENSUS.read_text())
    counts = held["counts"]
    seeds = sum(last - first for first, last in held["seeds"])
    assert set(counts) <= {"validated", "refused", "changes compared"}
    assert counts["validated"] + counts["refused"] == seeds
    assert counts["changes compared"] > 4 * counts["validated"]


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(PROGRAM)
    out = str(tmp_path / "out")
    assert tile_opt.main([str(path), "--validate-each", "--tile-select-mma", "-o", out]) == 0
    assert "validated 1 change of kernels" in capsys.readouterr().err
    assert tilec.main([str(path), "--validate", "-o", out]) == 0
    shown = capsys.readouterr().err
    assert re.search(r"validated \d+ changes of kernels by passes", shown)
    assert "validated the PTX of 'k'" in shown
    # Without PTX what has no interpretation is said to be so.
    assert tilec.main([str(path), "--validate", "--emit", "nvvm", "-o", out]) == 0
    shown = capsys.readouterr().err
    assert "not validated: 'k' after pass 'tile-fragments-to-nvvm': 'llvm." in shown


def test_ops_without_a_meaning_are_said() -> None:
    text = PROGRAM.replace("    gpu.return", '    gpu.printf "x"\n    gpu.return')
    found = validate(text, ["tile-check-program", "tile-infer-vectors"])
    assert found.unknown == {"k": "'gpu.printf' op has no interpretation"}
    assert not found.validated
