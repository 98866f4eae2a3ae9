"""Draws what was measured on GPUs, as PNG and SVG.

    python benchmarks/plot_results.py [RESULTS.json ...] [--out docs/pictures]

Takes the raw results of `run_device.py`, by default those that are committed,
`benchmarks/results/device-*.json`; for each GPU one picture of GEMMs over square sizes and one of
attention over queries, a panel for each element type. Needs matplotlib: `pip install '.[plots]'`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

Lines = dict[str, dict[int, float]]
"""TFLOP/s by size, by who reached it."""

COLORS = {"tilec": "#0b6e4f", "cuBLAS": "#555555", "cuDNN": "#555555", "Triton": "#c05621"}


def lines(rows: Sequence[Mapping[str, Any]], section: str) -> dict[str, Lines]:
    """What a panel shows, by element type: of tilec the best configuration of every size.

    Args:
        rows: of the results.
        section: `gemm`, of which squares are taken, or `attention`.
    """
    panels: dict[str, Lines] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row.get("section") != section or not row.get("right"):
            continue
        if section == "gemm" and len(set(row["shape"])) > 1:
            continue
        size = row["shape"][1]
        reached = {name: peer["tflops"] for name, peer in row["peers"].items()}
        for name, rate in {"tilec": row["tflops"], **reached}.items():
            line = panels[row["dtype"]][name]
            line[size] = max(rate, line.get(size, 0.0))
    return {dtype: dict(found) for dtype, found in panels.items()}


def draw(panels: Mapping[str, Lines], title: str, along: str, out: Path) -> None:
    """One picture, `out` with `.png` and `.svg`."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "tilec"  # the same picture from the same numbers
    from matplotlib import pyplot

    across = min(3, len(panels))
    down = -(-len(panels) // across)
    figure, axes = pyplot.subplots(
        down, across, figsize=(4.2 * across, 3.2 * down), squeeze=False, layout="constrained"
    )
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (dtype, found) in zip(axes.flat, panels.items(), strict=False):
        for name, line in found.items():
            sizes = sorted(line)
            color = COLORS.get(name)
            axis.plot(sizes, [line[s] for s in sizes], marker="o", label=name, color=color)
        axis.set_title(dtype)
        axis.set_xscale("log", base=2)
        axis.set_xlabel(along)
        axis.set_ylabel("TFLOP/s")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
        axis.legend()
    figure.suptitle(title)
    figure.savefig(out.with_suffix(".png"), dpi=150, metadata={"Software": None})
    figure.savefig(out.with_suffix(".svg"), metadata={"Date": None})
    pyplot.close(figure)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("results", nargs="*", type=Path, metavar="RESULTS.json")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "pictures")
    given = parser.parse_args()
    files = given.results or sorted((HERE / "results").glob("device-*.json"))
    if not files:
        print("no results of a GPU yet: run_device.py makes them, benchmarks/README.md says how")
        return 0
    try:
        documents = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    except (OSError, json.JSONDecodeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    by_gpu: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for document in documents:
        by_gpu[document["gpu"]] += document["rows"]
    given.out.mkdir(parents=True, exist_ok=True)
    for gpu, rows in by_gpu.items():
        for section, along in (("gemm", "M = N = K"), ("attention", "queries")):
            panels = lines(rows, section)
            if panels:
                name = given.out / f"{section}-{gpu.lower().replace(' ', '-')}"
                draw(panels, f"{section} on {gpu}", along, name)
                print(f"{name}.png, {name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
