"""The validator names the pass that finds columns of tensor memory, wherever that does it wrong."""

from __future__ import annotations

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.passes.base import PassError
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source
from tilec.validation.validator import Validator

from ..compiler.tensor_programs import Product
from .bench import mutation

PASS = "tile-allocate-tensor-memory"
TYPES = "f32", "bf16", "bf16"
TEXT = (
    Product("cta_group::1.kind::f16", "f32.bf16.bf16", TYPES, 128, 16, 32, 16, "64B", False, True)
    .text()
    .replace("gpu.module @m {", 'gpu.module @m [#nvvm.target<chip = "sm_100a">] {')
)
MUTANTS = (
    ("_in_order", "first + other.columns", "first - other.columns"),
    ("_rewrite", "_meet()", "pass"),
)
FURTHER = (
    ("_rewrite", "_meet(pair=pair)", "pass"),
    ("_rewrite", "group > 1", "group >= 1"),
    ("_rewrite", "_of_pair(emit_effect(Tcgen05AllocOp, [slot], columns=i64(columns)), pair)",
     "pass"),
    ("_rewrite", "_of_pair(emit_effect(Tcgen05DeallocOp, [slot], columns=i64(columns)), pair)",
     "pass"),
    ("_aligned", "-(-column // ALIGNMENT) * ALIGNMENT", "-(-column // ALIGNMENT) // ALIGNMENT"),
)  # fmt: skip


def validate() -> Validator:
    found = Validator(shrinks=False)
    module = parse(Source("-", TEXT), new_context())
    run_pipeline(module, [PASS], instrumentation=Instrumentation(watchers=(found.around,)))
    return found


def is_named(function: str, old: str, new: str) -> bool:
    whole = f"tilec.passes.allocate_tensor_memory:{function}"
    (place,) = [at for at, *change in mutation.mutants(whole) if change == [old, new]]
    with (
        mutation.applied(mutation.Mutant(0, whole, place, old, new)),
        pytest.raises(PassError, match=f"pass '{PASS}' changed the meaning of 'k'"),
    ):
        validate()
    return True


def test_nothing_is_named_where_nothing_is_wrong() -> None:
    found = validate()
    assert found.validated == [PASS]
    assert not found.left


@pytest.mark.parametrize(("function", "old", "new"), MUTANTS)
def test_what_is_wrong(function: str, old: str, new: str) -> None:
    assert is_named(function, old, new)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "old", "new"), FURTHER)
def test_what_else_is_wrong(function: str, old: str, new: str) -> None:
    assert is_named(function, old, new)
