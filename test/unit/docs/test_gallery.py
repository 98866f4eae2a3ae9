"""The gallery has every example, and says of one what its PTX and its launch have."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "examples" / "kernels"


def test_every_example_is_in_the_gallery():
    named = re.findall(r"^```\{gallery\} (\w+)$", (ROOT / "docs" / "gallery.md").read_text(), re.M)
    assert sorted(named) == sorted(script.stem for script in KERNELS.glob("*.py"))


def test_what_it_says_of_an_example(monkeypatch):
    pytest.importorskip("sphinx", reason="no Sphinx: pip install 'tilec[docs]'")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    gallery = importlib.import_module("gallery_directive")
    (launch,) = gallery.launches(KERNELS / "scaled_gemm.py").values()
    counts, picture, remarks = gallery.described(launch)
    (form,) = re.findall(r"\b(mma\.sync\S*);?", launch.compiled.ptx)[:1]
    assert re.search(rf"\| `{re.escape(form)}` \| [\d,]+ \|", counts)
    assert f"{{tile-layout}} {form} --operand a" in picture
    assert "tile-select-mma: " in remarks
