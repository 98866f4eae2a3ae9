"""Write tiles_to_wgmma.md: the road of one program through every pass for sm_90a.

    python docs/make_tiles_to_wgmma.py [--check]
    python docs/make_tiles_to_wgmma.py --pictures

What passes remark on and change is taken from a compilation of examples/hopper/tiles.mlir. With
--pictures the explorer's pages of it are taken as PNG, too, by Debian's package chromium, to
docs/screenshots/; with --check nothing is written.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import tilec
from generated import ROOT, write_or_check
from tilec.report.explorer.diff import changes
from tilec.report.explorer.page import explore
from tilec.report.explorer.steps import Recorded, Step, record

PROGRAM = ROOT / "examples" / "hopper" / "tiles.mlir"
PICTURES = ROOT / "docs" / "screenshots"
SHOWN = ("tile-stage-wgmma", "tile-specialize-warps", "tile-to-fragments")
"""Passes of which the page has the explorer's picture."""
_MOST, _WIDTH = 16, 110
"""Lines of a change that are shown, and characters of each."""
_NUMBERS = re.compile(r"= arith\.constant \S+ : (index|i32|i1)$|^ *gpu\.func |= gpu\.thread_id")
"""Lines that are not shown."""
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")

_INTRODUCTION = """\
# From tiles to wgmma, pass by pass

Written by `docs/make_tiles_to_wgmma.py` from what the passes do; do not edit.

[examples/hopper/tiles.mlir](../examples/hopper/tiles.mlir) is a product of two matrices of f16. It
says what a CTA computes: tiles of 128x256, a loop over K by 64. This is its road to a kernel for
sm_90a that loads by TMA, multiplies by `wgmma` and stores by TMA: each pass that changes the
program, what it remarks on, and of what it leaves the first lines that are new.
[Hopper](hopper.md#from-tiles-to-wgmma) says when each pass
declines. The explorer shows all of it, line by line:

    tilec examples/hopper/tiles.mlir --emit html -o tiles.html

```text
{source}
```
"""


def document() -> str:
    """The page."""
    recorded = record(tilec.compile(PROGRAM))
    source = PROGRAM.read_text(encoding="utf-8")
    body = source[source.index("    %sums = ") : source.index("    gpu.return")]
    text = _INTRODUCTION.format(source=body.rstrip())
    for before, after in _changing(recorded):
        text += _section(recorded, before, after)
    (kernel,) = recorded.compiled.kernels
    return f"""{text}
## PTX

{_products(recorded)} The launch: {kernel.signature}; clusters of {kernel.cluster} CTAs, and
{kernel.ctas_per_sm} CTA an SM. What ptxas makes of it, `python benchmarks/kernel_stats.py
--target sm_90a --kernel gemm_128x256` counts.
"""


def _products(recorded: Recorded) -> str:
    lines = [line.text.strip() for line in recorded.steps[-2].lines]
    counts = {
        word: sum(word in line for line in lines)
        for word in ("wgmma.mma_async", "cp.async.bulk.tensor", "stmatrix", "mbarrier.try_wait")
    }
    counted = ", ".join(f"{count} `{word}`" for word, count in counts.items())
    return f"It has {counted}."


def _changing(recorded: Recorded) -> Iterator[tuple[Step, Step]]:
    """The passes of tilec that change the program, with the step before each."""
    steps = [step for step in recorded.steps if not step.missing]
    for before, after in pairwise(steps):
        if after.by_pass and after.name.startswith("tile-") and _new(before, after):
            yield before, after


def _new(before: Step, after: Step) -> list[str]:
    """The lines of a step that the one before has not."""
    old, new = ([line.text for line in step.lines] for step in (before, after))
    found = (line for _, _, k, m in changes(old, new) for line in new[k:m] if line.strip())
    return [line for line in found if not _NUMBERS.search(line)]


def _section(recorded: Recorded, before: Step, after: Step) -> str:
    name = after.name.partition("{")[0]
    said = [one.message for one in recorded.compiled.remarks if one.decided_by == name]
    text = f"\n## {name}\n\n" + "".join(f"- {message}\n" for message in said)
    lines = _new(before, after)
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    shown = [_cut(line[indent:]) for line in lines[:_MOST]]
    if len(lines) > _MOST:
        shown.append(f"// … and {len(lines) - _MOST} more")
    text += "\n" * bool(said) + "```text\n" + "\n".join(shown) + "\n```\n"
    if name in SHOWN:
        text += f"\n![The explorer before and after {name}](screenshots/{name}.png)\n"
    return text


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 2].rstrip()} …"


def take_pictures() -> int:
    """Take the explorer's pictures; 1 if there is no browser."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        print("error: no chromium: Debian's package chromium has it", file=sys.stderr)
        return 1
    compiled = tilec.compile(PROGRAM)
    names = [step.name.partition("{")[0] for step in record(compiled).steps]
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "tiles.html")
        page.write_text(explore(compiled), encoding="utf-8")
        for name in SHOWN:
            at = names.index(name)
            command = [browser, "--headless", "--no-sandbox", "--hide-scrollbars"]
            command += ["--window-size=1200,640", "--virtual-time-budget=8000"]
            command += [f"--screenshot={PICTURES / f'{name}.png'}"]
            command += [f"{page.as_uri()}#columns=0,{at}d&line=39,40"]
            subprocess.run(command, check=True, capture_output=True, timeout=120)
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--pictures"]:
        sys.exit(take_pictures())
    sys.exit(write_or_check(__file__, __doc__ or "", document))
