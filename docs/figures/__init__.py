"""What `make_figures.py` writes: of each page the tables, and the sentences that have figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import compiler, sass, simulator
from .items import Sentence, Table

PAGES: dict[str, Callable[[], Iterator[Table | Sentence]]] = {
    "docs/blackwell.md": sass.blackwell,
    "docs/compiler.md": compiler.compiler,
    "docs/from_triton.md": compiler.from_triton,
    "docs/hopper.md": sass.hopper,
    "docs/kernels.md": compiler.kernels,
    "docs/simulator.md": simulator.simulator,
    "docs/tuning.md": compiler.tuning,
    "docs/validating.md": compiler.validating,
}
"""What each page has, by its path."""
