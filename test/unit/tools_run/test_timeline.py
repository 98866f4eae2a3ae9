"""`tile-run --timeline` and `--explore`: files, and mistakes that leave none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tilec.tools import tile_run

ROOT = Path(__file__).resolve().parents[3]
GEMM = str(ROOT / "examples" / "gemm.mlir")
ARGUMENTS = [
    *("--device", "sim", "--grid", "1,2", "--arg", "randn:256x64:f16"),
    *("--arg", "randn:64x128:f16", "--arg", "zeros:256x128:f32"),
]  # fmt: skip
PTX = """\
.version 8.0
.target sm_80
.address_size 64
.entry k() { ret; }
"""


def run(*arguments: object) -> int:
    try:
        return tile_run.main([*map(str, arguments)])
    except SystemExit as end:  # argparse's
        return int(end.code or 0)


def test_a_page_and_the_explorer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, explored = tmp_path / "t.html", tmp_path / "e.html"
    assert run(GEMM, *ARGUMENTS, "--timeline", page, "--explore", explored) == 0
    assert "CTA (0, 0, 0) of kernel gemm" in page.read_text()
    assert "data-line" not in page.read_text().split("</style>")[-1]
    drawn = explored.read_text()
    timeline = drawn[drawn.index('<details id="timeline">') : drawn.index('<div id="controls">')]
    lines = Path(GEMM).read_text().splitlines()
    products = {
        int(part.split('"')[1]) - 1
        for part in timeline.split('<rect class="tensor"')[1:]
        for part in [part[: part.index(">")].split("data-line=")[1]]
    }
    assert products
    assert any("tile.dot" in lines[n] or "tile.mma" in lines[n] for n in products)


def test_json_of_another_cta(tmp_path: Path) -> None:
    written = tmp_path / "t.json"
    assert run(GEMM, *ARGUMENTS, "--timeline", written, "--cta", "0,1") == 0
    assert json.loads(written.read_text())["cta"] == [0, 1, 0]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--timeline", "t.txt"], "'t.txt' is not FILE.html or FILE.json"),
        (["--timeline", "t.html", "--cta", "x"], "'x' is not X, X,Y or X,Y,Z of whole numbers"),
        (
            ["--timeline", "t.html", "--cta", "1"],
            "the timeline of CTA (1,); the grid has (1, 2, 1)",
        ),
        (["--timeline", "t.html", "--explore", "t.html"], "is the name of two outputs"),
        (["--timeline", "t.html", "--device", "cuda"], "--timeline is only for the simulator"),
    ],
)
def test_mistakes(
    flags: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(GEMM, *ARGUMENTS, *flags) != 0
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_ptx_has_no_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "k.ptx").write_text(PTX)
    page = tmp_path / "e.html"
    assert run(tmp_path / "k.ptx", "--block", "32", "--explore", page) == 1
    assert "--explore shows a tile program's passes" in capsys.readouterr().err
    assert not page.exists()
    assert run(tmp_path / "k.ptx", "--block", "32", "--timeline", tmp_path / "t.html") == 0
