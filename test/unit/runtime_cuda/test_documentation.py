"""The page on GPUs: its examples run, those for a GPU on the driver of these tests."""

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[3] / "docs" / "gpu.md"


def test_examples(fake, monkeypatch, capsys):
    monkeypatch.chdir(PAGE.parents[1])
    fences = re.findall(r"^```py(?:thon)?\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(fences) == 3
    scope: dict[str, object] = {}
    for fence in fences:
        exec(fence, scope)
    a, b, c = (np.asarray(scope[name], np.float64) for name in "abc")
    assert np.allclose(c, a @ b, atol=1e-2)
    assert len(fake.reports) == 13
    printed = capsys.readouterr().out
    assert "GPU 0 (Fake H200) sm_90a 13.0 132" in printed
    assert "0.15 ms" in printed
