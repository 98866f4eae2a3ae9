"""Every fragment of the table is told in every format; none is made up where the ISA has none."""

import pytest
from tilec.isa import Family, warp_forms
from tilec.layout import LayoutError, fragment_of
from tilec.tools import tile_layout

FORMATS = ("text", "json", "csv", "md", "svg", "html")


def _operands() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(mnemonic, operand) of each different fragment, and of those that have no layout."""
    laid_out, open_ones = {}, {}
    for form in warp_forms().values():
        for operand in (*form.results, *form.operands):
            where = form.ptx, operand.name
            try:
                layout = fragment_of(form, operand.name)
            except LayoutError:
                open_ones.setdefault((form.family, operand.name), where)
            else:
                laid_out.setdefault((layout, operand.type.name, operand.name), where)
    return list(laid_out.values()), list(open_ones.values())


LAID_OUT, OPEN = _operands()


def test_only_wmma_has_no_layouts():
    families = {warp_forms()[ptx].family for ptx, _ in OPEN}
    assert families == {Family.WMMA_LOAD, Family.WMMA_STORE, Family.WMMA_MMA}


@pytest.mark.parametrize("style", FORMATS)
def test_every_fragment(style, capsys):
    for ptx, operand in LAID_OUT:
        assert tile_layout.main([ptx, "--operand", operand, "--format", style]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        assert len(printed.out) > 300, (ptx, operand)


@pytest.mark.parametrize("style", FORMATS)
def test_what_the_isa_leaves_open(style, capsys):
    for ptx, operand in OPEN:
        status = tile_layout.main([ptx, "--operand", operand, "--format", style])
        printed = capsys.readouterr()
        if style in ("text", "json"):
            assert status == 0
            assert "ISA does not define" in printed.out or '"lanes": null' in printed.out
        else:
            assert status == 1
            assert "ISA does not define" in printed.err
