"""The PTX version that a module needs for what it names: as the table has it, and as ptxas does."""

from __future__ import annotations

import pytest
from tilec.isa import target
from tilec.isa.features import first_version
from tilec.isa.instructions import instructions


@pytest.mark.parametrize("name", ["sm_80", "sm_90", "sm_90a", "sm_100a"])
def test_what_the_table_has(name: str) -> None:
    """In assembly, with operands and in braces."""
    where = target(name)
    for mnemonic, one in instructions().items():
        needed = one.min_ptx(where)
        if needed is not None:
            found = first_version(f"{{ .reg .pred %p; @%p {mnemonic} [%r1], %r2; }}", where)
            assert found == max(needed, where.min_ptx), mnemonic


@pytest.mark.parametrize(
    ("intrinsic", "version"),
    [
        ("mapa.shared.cluster", "7.8"),
        ("elect.sync", "8.0"),
        ("cp.async.bulk.tensor.g2s.tile.2d", "8.0"),
        ("cp.async.bulk.tensor.g2s.cta.tile.2d", "8.6"),
        ("cp.async.bulk.global.to.shared.cta", "8.6"),
        ("fence.proxy.tensormap_generic.release.gpu", "8.3"),
        ("mbarrier.arrive.relaxed.scope.cta.space.cta", "8.6"),
        ("mbarrier.arrive.scope.cluster.space.cluster", "7.8"),
    ],
)
def test_intrinsics(intrinsic: str, version: str) -> None:
    """PTX ISA, "PTX ISA Notes" of what they stand for."""
    assert str(first_version(f"llvm.nvvm.{intrinsic}", target("sm_90"))) == version


def test_replaced_fields_are_of_an_architecture() -> None:
    found = first_version("llvm.nvvm.tensormap.replace.rank.p1", target("sm_90a"))
    assert str(found) == "8.3"
