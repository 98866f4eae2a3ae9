"""Fragments by shape, operand and type: found where one is meant, else told what would be legal."""

from __future__ import annotations

import pytest
from tilec.isa import Mma, TilecError, UnknownNameError, form, warp_forms
from tilec.layout import LayoutError, find_form, fragment


def test_every_product_is_found_by_shape_and_type():
    for one in (f for f in warp_forms().values() if isinstance(f, Mma)):
        for operand in "abcd":
            found = find_form(
                str(one.shape),
                operand,
                one.operand(operand).type.name,
                sparse=one.sparsity is not None,
                major=one.operand(operand).major,
            )
            assert fragment(found, operand) == fragment(one, operand)
            assert fragment(one.ptx, operand) == fragment(one, operand)


def test_the_type_may_be_left_out_where_all_agree():
    assert fragment("m16n8k256", "a") == fragment("m16n8k256", "a", "b1")
    assert fragment("m16n8k16", "c") == fragment("m16n8k16", "c", "f32")


def test_metadata_and_scales_go_by_what_they_are_of():
    assert fragment("m16n8k32", "e", "f16") == fragment("m16n8k32", "e", "bf16", sparse=True)
    assert fragment("m16n8k32", "e", "f16") != fragment("m16n8k32", "e", "s8")
    assert fragment("m16n8k32", "sfa", "e4m3") == fragment("m16n8k32", "sfa", "ue8m0")
    assert find_form("m16n8k64", "sfb", "ue4m3").scaling.chunks == 4


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("m16n8k17", "a", "f16"), {}, "unknown shape 'm16n8k17'; nearest legal: m16n8k16"),
        (("m16n8k4", "a", "f16"), {"sparse": True}, "unknown sparse shape.*m16n8k4 is dense only"),
        (("m16n8k16", "q", "f16"), {}, "unknown operand 'q'; legal: d, a, b, c"),
        (("m16n8k16", "a", "f17"), {}, "unknown type 'f17'; legal: f16, bf16, e4m3"),
        (("m16n8k16", "a", "s4"), {}, r"unknown type 's4'.*operand a of m16n8k16"),
        (("m16n8k16", "a"), {}, "more than one layout; give its type: f16, bf16"),
        (("m8n8k4", "a", "f16"), {}, "more than one layout; give its major: row or col"),
        (("m8n8k4", "a", "f16"), {"major": "up"}, "unknown major 'up'; legal: row, col"),
        (("m16n8k16", "a", "f16"), {"major": "row"}, "does not take a major"),
        (("m16n8k64", "sfa", "ue8m0"), {}, "give a full form: .*2X.*, .*4X"),
        (("mma.sync", "a"), {}, "unknown instruction form 'mma.sync'; nearest legal: "),
    ],
)
def test_what_is_meant_is_asked_for(arguments, options, message):
    with pytest.raises(TilecError, match=message) as raised:
        fragment(*arguments, **options)
    assert isinstance(raised.value, UnknownNameError | LayoutError)


def test_a_full_mnemonic_is_not_contradicted():
    dense = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
    with pytest.raises(UnknownNameError, match="unknown type 'f32'; legal: f16"):
        fragment(dense, "a", "f32")
    with pytest.raises(LayoutError, match="is not sparse"):
        fragment(dense, "a", sparse=True)
    with pytest.raises(LayoutError, match="has no operand 'e'; it has d, a, b, c"):
        fragment(dense, "e")
    volta = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"
    with pytest.raises(LayoutError, match="is row-major"):
        fragment(volta, "a", major="col")
    assert fragment(volta, "a", major="row") == fragment(form(volta), "a")
