"""The command that asks every ptxas of every form says what is so, and finds what is not."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tilec.isa import PtxVersion, Since, form, target

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "certify_forms.py"


@pytest.fixture(scope="module")
def certify(assemblers):
    """The script; skipped without a ptxas."""
    assert assemblers
    spec = importlib.util.spec_from_file_location("certify_forms", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["certify_forms"] = module
    spec.loader.exec_module(module)
    return module


def test_a_sample(certify, capsys, tmp_path):
    out = tmp_path / "table.md"
    assert certify.main(["--target", "sm_100f", "--every", "40", "-o", str(out)]) == 0
    rows = re.findall(r"^\| \d+\.\d+ \| sm_100f \| \S+ \| (\d+) \| (\d+) \|", out.read_text(), re.M)
    assert rows
    assert all(int(asked) >= int(agree) > 0.99 * int(asked) for asked, agree in rows)


@pytest.mark.slow
def test_what_is_wrong_in_the_table_is_found(certify):
    """A form said to be of an older target, and one said to be younger."""
    right = form("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
    early = replace(right, since=(Since.of("sm_75", "7.0"),))
    late = replace(right, since=(Since.of("sm_80", "9.0"),))
    for name, wrong, where in (("sm_75", early, "less"), ("sm_80", late, "more")):
        for _, _, version, answer in certify.answers([wrong], [target(name)]):
            expected = (wrong.ptx,) if where == "less" or version < PtxVersion(9, 0) else ()
            if version >= PtxVersion(7, 0):
                assert getattr(answer, where) == expected
    found = list(certify.answers([late], [target("sm_80")]))
    assert "unknown" in certify.document(found, 1)
