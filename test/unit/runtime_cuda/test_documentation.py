"""The page on GPUs: its examples run, those for a GPU on the driver of these tests."""

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).resolve().parents[3] / "docs" / "gpu.md"


def test_examples(fake, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(PAGE.parents[1])
    fences = re.findall(r"^```py(?:thon)?\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(fences) == 4
    scope: dict[str, object] = {}
    for number, fence in enumerate(fences):  # kernels have a source that can be read
        path = tmp_path / f"fence_{number}.py"
        path.write_text(fence)
        exec(compile(fence, str(path), "exec"), scope)
    a, b, c = (np.asarray(scope[name], np.float64) for name in "abc")
    assert np.allclose(c, a @ b, atol=1e-2)
    assert len(fake.reports) == 16
    printed = capsys.readouterr().out
    assert "GPU 0 (Fake H200) sm_90a 13.0 132" in printed
    assert "0.15 ms" in printed
    assert "8.0 after three" in printed
