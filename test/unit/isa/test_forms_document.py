"""docs/forms.md is what its script writes now, and read back it is the table."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product
from pathlib import Path

from tilec.isa import TARGETS, form, forms

DOCS = Path(__file__).parents[3] / "docs"


def test_up_to_date():
    command = [sys.executable, str(DOCS / "make_forms.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_matrix_says_what_the_table_says():
    seen = set()
    heads = []
    text = (DOCS / "forms.md").read_text(encoding="utf-8")
    matrix = text.split("## Forms by target")[1].split("## Native")[0]
    for line in matrix.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| form"):
            heads = [head.removeprefix("sm_").split() for head in cells[1:]]
            assert sorted(f"sm_{n}" for head in heads for n in head) == sorted(TARGETS)
        elif line.startswith("| `"):
            parts = re.split(r"\{([^{}]*)\}", cells[0].strip("`"))
            choices = [part.split(",") if n % 2 else [part] for n, part in enumerate(parts)]
            for choice in product(*choices):
                found = form("".join(choice))
                assert found.ptx not in seen
                seen.add(found.ptx)
                for head, cell in zip(heads, cells[1:], strict=True):
                    for number in head:
                        target = TARGETS[f"sm_{number}"]
                        first = found.min_ptx(target)
                        written = None if cell == "–" else tuple(map(int, cell.split(".")))
                        assert (first is None) == (written is None)
                        assert written is None or first == max(written, target.min_ptx)
    assert seen == set(forms())


def test_the_counts():
    text = (DOCS / "forms.md").read_text(encoding="utf-8").split("## Which target")[0]
    counts = dict(re.findall(r"\| `?([\w.]+)`? \| (\d+) \|", text))
    assert int(counts.pop("all")) == len(forms()) == sum(map(int, counts.values()))
    for family, count in counts.items():
        assert sum(found.family == family for found in forms().values()) == int(count)
