"""Readers of printed programs and the comparison of passes, on texts written by hand."""

from __future__ import annotations

import random

import pytest
from tilec.report.explorer import lines
from tilec.report.explorer.diff import changes


def read(reader, text):
    return [(line.text, line.sources) for line in reader(text, "a.mlir")]


def test_mlir_locations():
    text = """\
#loc1 = loc("a.mlir":2:7)
module {
  f.func @f(%arg0: i32 loc("a.mlir":1:5), %arg1: !t<"x loc(">) {
    %0 = f.x "loc(#loc1)" {a = "}"} : i32 loc(#loc3)
    %1 = "f.if"(%0) ({
      f.y loc(#loc4)
    }) : () -> () loc(#loc5)
    f.z loc(callsite("other.mlir":9:9 at "a.mlir":8:1))
    f.w loc(unknown)
  } loc("a.mlir":1:1)
} loc(#loc)
#loc = loc("a.mlir":0:0)
#loc2 = loc("a.mlir":5:1)
#loc3 = loc(fused<"meta (">[#loc1, #loc2])
#loc4 = loc("name"(#loc2))
#loc5 = loc("a.mlir":4:3 to :9)
"""
    assert read(lines.mlir, text) == [
        ("module {", ()),
        ('  f.func @f(%arg0: i32, %arg1: !t<"x loc(">) {', (1,)),
        ('    %0 = f.x "loc(#loc1)" {a = "}"} : i32', (2, 5)),
        ('    %1 = "f.if"(%0) ({', (4,)),
        ("      f.y", (5,)),
        ("    }) : () -> ()", (4,)),
        ("    f.z", (8,)),
        ("    f.w", ()),
        ("  }", (1,)),
        ("}", ()),
    ]


def test_llvm_debug_locations():
    text = """\
declare !dbg !3 void @g()

define void @f() #0 !dbg !4 {
  %1 = add i32 0, 0, !dbg !6
  call void @g(), !dbg !7
  %2 = add i32 0, 0, !dbg !8
  ret void
}

!llvm.dbg.cu = !{!0}
!0 = distinct !DICompileUnit(language: DW_LANG_C, file: !1)
!1 = !DIFile(filename: "a.mlir", directory: "")
!2 = !DIFile(filename: "a.mlir", directory: "/elsewhere")
!3 = !DISubprogram(name: "g", scope: !1, file: !1, line: 1)
!4 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 7, unit: !0)
!5 = !DILexicalBlockFile(scope: !4, file: !2, discriminator: 0)
!6 = !DILocation(line: 8, column: 1, scope: !4)
!7 = !DILocation(line: 99, column: 1, scope: !5, inlinedAt: !6)
!8 = !DILocation(line: 0, scope: !4)
"""
    assert read(lines.llvm_ir, text) == [
        ("declare void @g()", ()),
        ("", ()),
        ("define void @f() #0 {", (7,)),
        ("  %1 = add i32 0, 0", (8,)),
        ("  call void @g()", (8,)),
        ("  %2 = add i32 0, 0", ()),
        ("  ret void", ()),
        ("}", ()),
    ]


def test_ptx_places():
    text = """\
.version 7.0
.visible .entry f()
{
\t.reg .b32 %r<2>;
$L__func_begin0:
\t.loc\t1 7 0
\tmov.u32 %r1, %tid.x;
$L__tmp0:
\t.loc\t2 3 1
\tadd.u32 %r1, %r1, 1;
\t.loc\t1 8 0, function_name $L__info_string0, inlined_at 1 9 3
$L__BB0_1:
\tbra.uni $L__BB0_1;
$L__func_end0:

}
\t.file\t1 "a.mlir"
\t.file\t2 "b.mlir"
\t.section\t.debug_macinfo\t{\t}
"""
    assert read(lines.ptx, text) == [
        (".version 7.0", ()),
        (".visible .entry f()", ()),
        ("{", ()),
        ("\t.reg .b32 %r<2>;", ()),
        ("\tmov.u32 %r1, %tid.x;", (7,)),
        ("\tadd.u32 %r1, %r1, 1;", ()),
        ("$L__BB0_1:", (8, 9)),
        ("\tbra.uni $L__BB0_1;", (8, 9)),
        ("", ()),
        ("}", ()),
    ]


def test_sass_places():
    text = """\
\t.section\t.text.f,"ax",@progbits
f:
\t//## File "a.mlir", line 7 inlined at "a.mlir", line 9
\t//## File "a.mlir", line 9
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   NOP ;
\t//## File "b.mlir", line 8
        /*0020*/                   EXIT ;
"""
    assert read(lines.sass, text) == [
        ('\t.section\t.text.f,"ax",@progbits', ()),
        ("f:", ()),
        ("  /*0000*/  S2R R0, SR_TID.X ;", (7, 9)),
        ("  /*0010*/  NOP ;", (7, 9)),
        ("  /*0020*/  EXIT ;", ()),
    ]


def test_renumbering_is_no_change():
    before = ["%0 = f.x", "%1 = f.y %0", "^bb1(%2: i32):"]
    after = ["%new = f.new", "%1 = f.x", "%2 = f.y %1", "^bb7(%arg9: i32):"]
    assert changes(before, after) == [(0, 0, 0, 1)]
    assert changes(before, before) == []
    assert changes([], before) == [(0, 0, 0, 3)]


@pytest.mark.parametrize("seed", range(20))
def test_changes_lead_from_one_text_to_the_other(seed):
    choose = random.Random(seed)
    before, after = (choose.choices("abcdef", k=choose.randrange(40)) for _ in range(2))
    made, at = [], 0
    for i, j, k, m in changes(before, after):
        made += before[at:i] + after[k:m]
        assert before[i:j] != after[k:m]
        at = j
    assert made + before[at:] == after
