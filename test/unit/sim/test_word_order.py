"""Qualifiers of matrix instructions in any order, as ptxas takes them."""

from __future__ import annotations

import shutil
import subprocess
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from tilec.isa import warp_forms
from tilec.sim import check, launch

PRODUCT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{{
  .reg .f64 %a, %b, %c<3>, %d<3>;
  .reg .b64 %p<3>;
  ld.param.u64 %p1, [x];
  ld.param.u64 %p2, [y];
  wmma.load.a.sync.aligned.row.m8n8k4.f64 {{%a}}, [%p1];
  wmma.load.b.sync.aligned.m8n8k4.f64.col {{%b}}, [%p1];
  mov.f64 %c1, 0d3ff0000000000000;
  mov.f64 %c2, 0d3ff0000000000000;
  {product} {{%d1, %d2}}, {{%a}}, {{%b}}, {{%c1, %c2}};
  wmma.store.d.sync.aligned.row.m8n8k4.f64 [%p2], {{%d1, %d2}};
  ret;
}}
"""
OTHERS = ["sync", "aligned", "m8n8k4", "rn"]


@pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
@pytest.mark.parametrize("at", [0, 2, 4])
def test_orders_that_ptxas_takes(order: tuple[int, ...], at: int, tmp_path: Path) -> None:
    words = [OTHERS[i] for i in order]
    words[at:at] = ["row", "col", "f64", "f64", "f64", "f64"]
    text = PRODUCT.format(product=".".join(("wmma.mma", *words)))
    ptxas = shutil.which("ptxas")
    if ptxas is not None:
        source = tmp_path / "k.ptx"
        source.write_text(text)
        command = [ptxas, "-arch=sm_80", source, "-o", tmp_path / "k.cubin"]
        subprocess.run(command, check=True, capture_output=True)
    x = np.random.default_rng(0).integers(-9, 9, (8, 4)).astype(np.float64)
    y = np.zeros((8, 8))
    launch(text, "k", 1, 32, [x, y]).require_ok()
    np.testing.assert_array_equal(y, x @ x.T + 1)


def test_layouts_and_types_keep_their_order() -> None:
    for wrong in ("row.row.f64.f64.f64.f64", "col.row.f32.f64.f64.f64"):
        text = PRODUCT.format(product=f"wmma.mma.rn.{wrong}.sync.aligned.m8n8k4.satfinite")
        (error,) = check(text)
        assert "unknown instruction form" in str(error)


def test_words_alone_tell_forms_apart() -> None:
    """Sorted but for layouts and types, no two forms have the words of one mnemonic."""
    kept = ("row", "col")

    def key(mnemonic: str) -> tuple[object, ...]:
        words = mnemonic.split(".")
        ordered = [w for w in words if w in kept or (w[0] in "fsubet" and w[-1].isdigit())]
        return (*ordered, *sorted(w for w in words if w not in ordered))

    forms = warp_forms()
    assert len({key(name) for name in forms}) == len(forms)
