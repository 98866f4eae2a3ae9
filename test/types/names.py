"""What checkers know of names that are imported when they are first used: each, and no others.

Checked by `.ci/typecheck`, not run.
"""

from typing import assert_type

from tilec import isa, layout


def names(form: isa.Form) -> None:
    assert_type(isa.form(form.ptx), isa.Form)
    assert_type(form.all_operands[0], isa.Operand)
    _ = isa.frags  # type: ignore[attr-defined]


def layouts(matrix: layout.SharedMatrix) -> None:
    assert_type(layout.find_boxes(matrix), layout.Boxes)
    _ = layout.frags  # type: ignore[attr-defined]
