"""The page's data: its programs are those of an ordinary compilation, each line tied to its source.

The page is read back as JSON; what should be tied is looked up in the source by what stands there.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import zlib
from html import escape
from itertools import pairwise
from pathlib import Path

import pytest
import tilec
from tilec.backend import cubin
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.report.diagnostics import Source
from tilec.report.explorer.lines import sass
from tilec.tools.tilec import main

EXAMPLES = Path(__file__).parents[3] / "examples"
GEMM = EXAMPLES / "gemm.mlir"
has_tools = bool(cubin.tools("ptxas") and cubin.tools("nvdisasm"))


def data(page: str) -> dict[str, dict]:
    found = re.search(r'<script type="text/plain" id="data">(.*?)</script>', page)
    assert found
    read = json.loads(zlib.decompress(base64.b64decode(found[1])))
    steps = read["steps"]
    for step in steps:
        step["text"] = [read["lines"][number] for number in step["text"]]
    return {step["name"]: step for step in steps}


def tied(step: dict, pattern: str) -> set[int]:
    """Source lines of the lines that match."""
    pairs = zip(step["text"], step["from"], strict=True)
    return {number for text, of in pairs if re.search(pattern, text) for number in of}


def numbers(source: str, pattern: str) -> set[int]:
    return {n for n, line in enumerate(source.splitlines(), 1) if re.search(pattern, line)}


@pytest.fixture(scope="module")
def gemm() -> tilec.Compiled:
    return tilec.compile(GEMM)


@pytest.fixture(scope="module")
def page(gemm) -> str:
    return gemm.explore()


def test_every_stage_is_what_a_compilation_gives(gemm, page):
    steps = data(page)
    assert steps["source"]["text"] == GEMM.read_text().splitlines()
    assert steps["tile-to-fragments"]["text"] == gemm.tile.splitlines()
    assert steps["reconcile-unrealized-casts"]["text"] == gemm.nvvm.splitlines()
    instructions = [line for line in steps["PTX"]["text"] if line.strip()]
    assert instructions == [line for line in gemm.ptx.splitlines() if line.strip()]
    body = [line for line in steps["LLVM IR"]["text"] if line.startswith("  ")]
    assert body == [line for line in gemm.llvm.splitlines() if line.startswith("  ")]
    if has_tools:
        assert steps["SASS"]["text"] == [line.text for line in sass(gemm.sass, "")]


def test_passes_stand_in_their_order_with_what_they_changed(page):
    steps = data(page)
    names = list(steps)
    assert names[:2] == ["source", "parse"]
    assert names[-3:] == ["LLVM IR", "PTX", "SASS"]
    assert names.index("tile-to-fragments") < names.index("tile-fragments-to-nvvm")
    assert steps["tile-check-target"]["changes"] == []
    for before, after in pairwise(names):
        found = steps[after].get("changes")
        if found is None:
            assert after in ("parse", "LLVM IR", "PTX", "SASS")
            continue
        made, at = [], 0
        for i, j, k, m in found:
            made += steps[before]["text"][at:i] + steps[after]["text"][k:m]
            at = j
        made += steps[before]["text"][at:]
        bare = [re.sub(r"%[\w#:]+|\^bb\d+", "%", line) for line in made]
        assert bare == [re.sub(r"%[\w#:]+|\^bb\d+", "%", line) for line in steps[after]["text"]]


def test_lines_are_tied_to_their_source(page):
    steps, source = data(page), GEMM.read_text()
    dots = numbers(source, r"tile\.dot ")
    copies = numbers(source, r"tile\.async_copy ")
    for name, mma, copy in (
        ("parse", r"tile\.dot ", r"tile\.async_copy "),
        ("tile-to-fragments", r"tile\.mma ", r"tile\.async_copy "),
        ("reconcile-unrealized-casts", r"llvm\.call .*mma", r"nvvm\.cp\.async\.shared"),
        ("LLVM IR", r"call .*mma\.m16n8k16", r"call .*cp\.async\.c[ag]"),
        ("PTX", r"\tmma\.sync", r"\tcp\.async\.c[ag]"),
        *([("SASS", r"\bHMMA\b", r"\bLDGSTS\b")] if has_tools else []),
    ):
        assert tied(steps[name], mma) == dots, name
        assert tied(steps[name], copy) == copies, name
    # an operation's further lines belong to its first
    first = min(dots)
    assert [of for of in steps["source"]["from"] if of == [first]] == [[first]] * 2
    assert steps["source"]["from"][0] == []


def test_it_is_the_same_every_time_and_loads_nothing(gemm, page):
    assert gemm.explore() == page
    head, _, rest = page.partition('<script type="text/plain" id="data">')
    shell = head + rest.partition("</script>")[2]
    assert "{{" not in shell
    assert not re.search(r"(src|href|url|import)\s*[=(]", shell)
    assert "://" not in shell


def test_resources_and_other_stages(gemm, page):
    if cubin.tools("ptxas"):
        used = gemm.resources["gemm"]
        assert f"<td>{used.registers}</td>" in page
    assert "<td>96 KiB</td>" in page  # three stages of 128×64 and 64×128 f16
    assert "<td>256 × 1 × 1</td>" in page


def test_remarks_stand_beside_it(emulated, page):
    compiled = tilec.compile(emulated)
    shown = compiled.explore()
    for name, op in (("tile-check-target", "mma"), ("tile-fragments-to-nvvm", "store")):
        remark = next(r for r in compiled.remarks if r.decided_by == name and op in r.message)
        (line,) = numbers(emulated, rf'"tile\.{op}"')
        group = shown.partition(f"<summary>{name} (")[2].partition("</details>")[0]
        assert f'<button data-pass="{name}">' in group
        kind = f'<span class="kind">{remark.kind} in k:</span>'
        assert f'<li><button data-line="{line}">line {line}</button> {kind} ' in group
        assert escape(remark.message) in group
    assert f"<summary>remarks ({len(compiled.remarks)})" in shown


def test_without_the_assembler(monkeypatch):
    monkeypatch.setattr(cubin, "tools", lambda name: ())
    page = tilec.compile(EXAMPLES / "mma.mlir").explore()
    assert "ptxas is not installed" in data(page)["SASS"]["missing"]
    assert "not assembled" in page
    assert "<th>registers</th>" not in page


def test_a_program_built_in_python():
    path = EXAMPLES / "mma.py"
    spec = importlib.util.spec_from_file_location("mma_example", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    steps = data(tilec.compile(example.mma()).explore())
    source = path.read_text()
    assert steps["source"]["text"] == source.splitlines()
    for name, pattern in (("tile-to-fragments", r"tile\.mma "), ("PTX", r"\tmma\.sync")):
        assert tied(steps[name], pattern) == numbers(source, r"tile\.mma\(")
    if has_tools:
        assert tied(steps["SASS"], r"\bHMMA\b") == numbers(source, r"tile\.mma\(")


def test_a_program_without_a_file():
    module = parse(Source("-", (EXAMPLES / "mma.mlir").read_text()), new_context())
    steps = data(tilec.compile(module).explore())
    shown = "\n".join(steps["source"]["text"])
    assert "= tile.mma " in shown
    assert tied(steps["PTX"], r"\tmma\.sync") == numbers(shown, r"= tile\.mma ")


def test_markup_in_a_program_stays_text():
    source = (EXAMPLES / "mma.mlir").read_text() + "\n// </script><b>&amp; <!-- {{title}}\n"
    page = tilec.compile(source, name="<i>&.mlir").explore()
    assert data(page)["source"]["text"][-1] == "// </script><b>&amp; <!-- {{title}}"
    assert "<title>&lt;i&gt;&amp;.mlir" in page
    assert "</script><b>" not in page


def test_notebooks(gemm):
    shown = gemm._repr_html_()
    assert "<td>gemm</td>" in shown
    assert ".visible .entry gemm(" in shown
    assert "%r&lt;" in shown


def test_the_command(tmp_path, capsys):
    out = tmp_path / "mma.html"
    assert main([str(EXAMPLES / "mma.mlir"), "--emit", "html", "-o", str(out)]) == 0
    assert capsys.readouterr().err == ""
    assert "source" in data(out.read_text())
    assert [p.name for p in tmp_path.iterdir()] == ["mma.html"]
    temps = tmp_path / "temps"
    arguments = ["--emit", "html", "-o", str(out), "--save-temps", str(temps)]
    assert main([str(EXAMPLES / "mma.mlir"), *arguments]) == 0
    assert sorted(p.suffix for p in temps.iterdir()) == [".ll", ".mlir", ".mlir", ".ptx"]


def test_a_remark_is_said_once(emulated, tmp_path, capsys):
    path = tmp_path / "emulated.mlir"
    path.write_text(emulated)
    temps = ["--save-temps", str(tmp_path / "temps")]
    assert main([str(path), "--emit", "html", "-o", str(tmp_path / "a.html"), *temps]) == 0
    assert capsys.readouterr().err.count("remark: ") == 1


def test_mistakes_leave_no_page(tmp_path, capsys):
    bad = tmp_path / "bad.mlir"
    bad.write_text("gpu.module @m { gpu.func @f() kernel { gpu.retrun } }")
    out = tmp_path / "bad.html"
    assert main([str(bad), "--emit", "html", "-o", str(out)]) == 1
    assert "bad.mlir:1:" in capsys.readouterr().err
    assert not out.exists()
    missing = str(tmp_path / "no" / "such.html")
    assert main([str(EXAMPLES / "mma.mlir"), "--emit", "html", "-o", missing]) == 1
    assert "No such file or directory" in capsys.readouterr().err
