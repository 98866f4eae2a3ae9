"""A list of forms and other instructions as text, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from tilec.isa import Form
from tilec.isa.instructions import Instruction

FORMATS = ("text", "json", "csv", "md")


def record(form: Form | Instruction) -> dict[str, object]:
    """One entry of the JSON: mnemonic, family, lowest PTX version, PTX version by target.

    Where the mnemonic leaves open where A lies, `a` says it, and `key` is the form's key.
    """
    targets = form.targets
    name, kind = _name(form)
    return {
        "ptx": name,
        **({"a": kind, "key": form.ptx} if kind else {}),
        "family": str(form.family),
        "min_ptx": str(min(targets.values())),
        "targets": {name: str(version) for name, version in targets.items()},
    }


def _name(form: Form | Instruction) -> tuple[str, str]:
    """The mnemonic, and where A lies if that leaves it open."""
    if isinstance(form, Instruction) or form.a_kind is None:
        return form.ptx, ""
    return form.mnemonic(), form.a_kind


def _row(form: Form | Instruction) -> tuple[str, str, str, str]:
    targets = form.targets
    where = " ".join(f"{name}:{version}" for name, version in targets.items())
    return form.ptx, str(form.family), str(min(targets.values())), where


_HEAD = ("ptx", "family", "min_ptx", "targets")
_CSV_HEAD = ("ptx", "a", "family", "min_ptx", "targets")


def render(forms: Sequence[Form | Instruction], format_: str) -> str:
    """The list in one of `FORMATS`, ending in a newline."""
    rows = [_row(form) for form in forms]
    if format_ == "json":
        return json.dumps([record(form) for form in forms], indent=1) + "\n"
    if format_ == "csv":
        out = io.StringIO()
        full = ((*_name(form), *row[1:]) for form, row in zip(forms, rows, strict=True))
        csv.writer(out, lineterminator="\n").writerows([_CSV_HEAD, *full])
        return out.getvalue()
    if format_ == "md":
        lines = [_HEAD, ("---",) * 4, *((f"`{row[0]}`", *row[1:]) for row in rows)]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    return "".join(
        "  ".join((*(word.ljust(width) for word, width in zip(row, widths, strict=False)), row[3]))
        + "\n"
        for row in rows
    )
