"""The language of `assembly_format`, on a dialect of another package.

The bindings read the annotations of classes, so they must be objects here.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.assembly import AssemblyFormat, AssemblyFormatError, format_of, to_custom
from tilec.ir.assembly.convert import converted
from tilec.ir.assembly.signature import Signature
from tilec.ir.mlir import ext, ir
from tilec.report.diagnostics import Source
from tilec.report.printing import to_text


class Other(ext.Dialect, name="other"):
    """What another package has."""


class LoopOp(Other.Operation, name="loop"):
    assembly_format = "$count (`to` $limit^)? $body attr-dict"
    inferred_types = MappingProxyType({"count": "index", "limit": "index"})

    count: ext.Operand[Any]
    limit: ext.Operand[Any] | None
    body: ext.Region


class YieldOp(Other.Operation, name="yield", traits=[ir.IsTerminatorTrait]):
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    values: Sequence[ext.Operand[Any]]


class CallOp(Other.Operation, name="call"):
    UNITS = frozenset({"tail"})
    assembly_format = (
        "(`tail` $tail^)? $sym_name `(` $inputs `)` attr-dict-with-keyword "
        "`:` one-type($inputs) `->` type($outputs)"
    )

    inputs: Sequence[ext.Operand[Any]]
    sym_name: ir.StringAttr
    outputs: Sequence[ext.Result[Any]]


class ScaleOp(Other.Operation, name="scale"):
    assembly_format = (
        "$value `by` $factor (`at` list($places)^)? attr-dict `:` type($value) (`->` type($out)^)?"
    )
    inferred_types = MappingProxyType({"out": "$value"})

    value: ext.Operand[Any]
    factor: Any
    out: ext.Result[Any]


@pytest.fixture
def context() -> ir.Context:
    made = new_context()
    with made:
        Other.load()
    return made


PROGRAM = """\
module {
  func.func @f(%arg0: index, %arg1: i32, %arg2: f16) {
    other.loop %arg0 to %arg0 {
    ^bb0(%arg3: i32):
      %1:2 = other.call tail @"a b"(%arg1, %arg3) attributes {other.note = "}"} : i32 -> i64, i64
      other.loop %arg0 {
        %2 = other.scale %arg2 by 5.000000e-01 at [1, 2] : f16
        %3 = other.scale %arg1 by 2 {other.x = [1]} : i32 -> i64
        other.yield %1#0, %1#1 : i64, i64
      }
      other.yield
    } {other.last}
    %0 = other.call @g(%arg1) : i32 -> f16
    return
  }
}
"""


def test_what_a_declaration_says_is_read_and_written(context: ir.Context) -> None:
    module = parse(Source("-", PROGRAM), context)
    generic = module.operation.get_asm()
    assert to_text(module) == to_custom(generic) == PROGRAM
    assert generic.count('"other.') == 8
    assert str(parse(Source("-", generic), context)) == generic
    assert 'sym_name = "a b", tail}' in generic
    inner = module.body.operations[0].regions[0].blocks[0].operations[0]
    assert inner.location.start_line == 3
    assert inner.regions[0].blocks[0].operations[1].location.start_line == 6


def test_written_programs_are_converted(context: ir.Context) -> None:
    generic = """\
func.func @f(%a: i32, // of "other.scale"(%a)
             %b: f16) {
  // "other.scale"(%b) {factor = 1} : (f16) -> f16
  %0 = "other.scale"(%a)
      {factor = 2, places = array<i64: 1>} : (i32) -> (i32)
  return
}
"""
    made = converted(generic)
    assert "  %0 = other.scale %a by 2 at [1] : i32\n" in made
    assert made.splitlines()[:3] == generic.splitlines()[:3]
    assert str(parse(Source("-", made), context)) == str(parse(Source("-", generic), context))


BAD = {
    "$value `by` $factor `:` type($value)": "it needs attr-dict",
    "$value attr-dict `:` type($valu)": "is not a directive",
    "`by` $factor attr-dict `:` type($value)": "$value does not appear in it",
    "$value attr-dict": "it needs type($value), or an entry in inferred_types",
    "$value $out attr-dict `:` type($value)": "is a result",
    "$value (`by` $factor)? attr-dict `:` type($value)": "needs an anchor",
    "$value ($factor^)? attr-dict `:` type($value)": "begins with a literal",
    "$value (`by` $factor^ attr-dict `:` type($value)": "is not closed",
    "$value by attr-dict `:` type($value)": "unknown directive 'by'",
    "$value ] attr-dict": "unexpected ']'",
}


@pytest.mark.parametrize("text", BAD)
def test_a_format_that_cannot_be_is_named(text: str) -> None:
    signature = Signature.of(ScaleOp)
    with pytest.raises(AssemblyFormatError) as caught:
        AssemblyFormat(signature, text)
    assert str(caught.value).startswith("assembly_format of 'other.scale': ")
    assert BAD[text] in str(caught.value)


def test_an_op_that_the_format_cannot_say_stays_generic(context: ir.Context) -> None:
    text = """\
func.func @f(%a: i32, %b: f16) {
  %0 = "other.call"() {sym_name = "g"} : () -> i32
  %1 = "other.scale"(%a) {factor = 2 : i8} : (i32) -> i32
  %2 = "other.scale"(%a) {factor = 2, places = [1]} : (i32) -> i32
  return
}
"""
    shown = to_text(parse(Source("-", text), context))
    assert shown.count('"other.') == 3
    assert str(parse(Source("-", shown), context)) == str(parse(Source("-", text), context))


def test_formats_are_read_once() -> None:
    assert format_of(ScaleOp) is format_of(ScaleOp)
    assert format_of(Other.Operation) is None
