"""Texts whose structure ends MLIR's parser, or keeps it for minutes, are refused before it.

Each was seen to end the process, or to take more than half a minute, where MLIR was given it.
"""

from __future__ import annotations

import time

import pytest
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.frontend.structure import DEEPEST, LONGEST_NUMBER, MOST_RESULTS, excess
from tilec.passes.base import ProgramError
from tilec.report.diagnostics import Source, place

MANY = 20_000


def attribute(text: str) -> str:
    return f"module attributes {{x.a = {text}}} {{}}"


def nested(opening: str, inside: str, closing: str, times: int) -> str:
    return opening * times + inside + closing * times


def aliases(first: str, other: str, count: int) -> str:
    lines = [f"#a{i + 1} = {other.format(i)}\n" for i in range(count)]
    return f"#a0 = {first}\n{''.join(lines)}{attribute(f'#a{count}')}"


DEEP = {
    "arrays": lambda n: attribute(nested("[", "1", "]", n)),
    "dictionaries": lambda n: attribute(nested("{a = ", "1", "}", n)),
    "types": lambda n: attribute(nested("tuple<", "i32", ">", n)),
    "function types": lambda n: attribute(nested("() -> (", "i32", ")", n)),
    "elements": lambda n: attribute(f"dense<{nested('[', '1', ']', n)}> : tensor<{'1x' * n}i8>"),
    "affine expressions": lambda n: f"#m = affine_map<(d) -> ({nested('(', 'd', ')', n)})>",
    "locations": lambda n: f"module {{}} loc({nested('fused[', 'unknown', ']', n)})",
    "call sites": lambda n: f"module {{}} loc({nested('callsite(unknown at ', 'unknown', ')', n)})",
    "regions": lambda n: nested("module {", "", "}", n),
}
"""Brackets of every kind, inside each other."""

TOO_MUCH = {
    **{name: (make(MANY), "brackets nest more than 256 deep") for name, make in DEEP.items()},
    "open brackets alone": (attribute("(" * MANY), "brackets nest more than 256 deep"),
    "mixed brackets": (attribute("[{a = " * MANY), "brackets nest more than 256 deep"),
    "signs": (f"#m = affine_map<(d) -> ({'- ' * MANY}d)>", "more than 256 signs in a row"),
    "signs apart": (
        f"#m = affine_map<(d) -> ({nested('- ', '// - (', chr(10), 9)}{'-  ' * MANY}",
        "signs in a row",
    ),
    "result": ('"a.b"(%v#2147483648) : (i32) -> ()', "no operation has a result #2147483648"),
    "long result": (f'"a.b"(%v#{"9" * MANY}) : (i32) -> ()', "no operation has a result #999"),
    "integer": (attribute("9" * MANY), "a number or shape of more than 1000 characters"),
    "hexadecimal": (attribute("0x" + "9" * MANY), "a number or shape of more than 1000"),
    "float": (attribute("1." + "9" * MANY), "a number or shape of more than 1000"),
    "negative": (attribute("-" + "9" * MANY), "a number or shape of more than 1000"),
    "shape": (attribute(f"tensor<{'1x' * MANY}f32>"), "a number or shape of more than 1000"),
    "dynamic shape": (attribute(f"tensor<?{'x1' * MANY}f32>"), "a number or shape of more"),
    "affine map": (
        f"#m = affine_map<(d) -> (d {'floordiv 3 mod 7 ' * MANY})>",
        "an affine map or set of more than 65536 characters",
    ),
    "aliases of aliases": (aliases("1", "[#a{0}]", 500), "aliases nest more than 256"),
    "aliases that double": (aliases("1", "[#a{0}, #a{0}]", 40), "an alias expands to more than"),
    "aliases on one line": (
        aliases("1", "[#a{0}, #a{0}]", 40).replace("\n", " "),
        "an alias expands to more than",
    ),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_too_much_is_an_error_at_its_place(name: str) -> None:
    text, message = TOO_MUCH[name]
    with pytest.raises(ProgramError, match=message) as caught:
        parse(Source("program", text), new_context())
    assert place(caught.value.diagnostics[0].location)


APART = {
    "signs": f"#m = affine_map<(d) -> ({'-~' * MANY}d)>",
    "aliases": aliases("1", "~[#a{0},~#a{0}]", 40),
    "iterators": "linalg.generic {iterator_types =~[1]} ins() outs() {}",
}
"""Texts whose tokens something stands between that MLIR passes over, as it does over blanks."""


@pytest.mark.parametrize("name", APART)
def test_nuls_are_blanks_as_they_are_to_mlir(name: str) -> None:
    said = []
    for blank in (" ", "\0", "\0 \0"):
        with pytest.raises(ProgramError) as caught:
            parse(Source("program", APART[name].replace("~", blank)), new_context())
        said.append(caught.value.diagnostics[0].message)
    assert len(set(said)) == 1


def test_ops_stand_behind_nuls() -> None:
    with pytest.raises(ProgramError, match=r"custom op 'tile.load' expected SSA") as caught:
        parse(Source("program", "\0tile.load"), new_context())
    at = place(caught.value.diagnostics[0].location)
    assert at is not None
    assert (at.line, at.column) == (1, 11)


def test_strings_keep_their_nuls() -> None:
    text = '// a \0\nmodule\0attributes {x.a = "b\0\\\\\0c", x.d = "//\0"} {\0}'
    module = parse(Source("program", text), new_context())
    assert module.operation.attributes["x.a"].value == "b\0\\\0c"
    assert module.operation.attributes["x.d"].value == "//\0"
    with pytest.raises(ProgramError, match="unknown escape in string literal"):
        parse(Source("program", attribute('"\\\0"')), new_context())


def test_place_is_that_of_the_first_bracket_too_many() -> None:
    found = excess("module {}\n" + attribute("[" * 300))
    assert found is not None
    before = ("module {}\n" + attribute("[" * 300))[: found.at]
    assert before.count("[") + 1 == DEEPEST  # within the braces of the dictionary


@pytest.mark.parametrize("name", DEEP)
def test_what_is_just_allowed_parses(name: str) -> None:
    """The bound keeps away from nobody what MLIR can do."""
    kept = DEEP[name](120)
    assert excess(kept) is None
    parse(Source("program", kept), new_context())


@pytest.mark.parametrize("name", TOO_MUCH)
@pytest.mark.parametrize("where", ["// {}", '"{}"'])
def test_comments_and_strings_may_hold_anything(name: str, where: str) -> None:
    held = TOO_MUCH[name][0].replace("\n", " ").replace('"', "'")
    text = where.format(held)
    program = f"module {{}} {text}" if where[0] == "/" else attribute(text)
    assert excess(program) is None
    parse(Source("program", program), new_context())


@pytest.mark.parametrize("text", ["\ud800", "// \udcff", 'module attributes {a.b = "\udfff"} {}'])
def test_half_a_character_is_none(text: str) -> None:
    with pytest.raises(ProgramError, match=r"U\+D[8CF][0F][0F] is a lone surrogate") as caught:
        parse(Source("program", text), new_context())
    assert place(caught.value.diagnostics[0].location)


def test_the_largest_numbers_are_no_excess() -> None:
    assert excess(f"%v#{MOST_RESULTS - 1}") is None
    assert excess(f"%v#{MOST_RESULTS}") is not None
    assert excess(attribute("9" * LONGEST_NUMBER)) is None
    assert excess(attribute("9" * (LONGEST_NUMBER + 1))) is not None


@pytest.mark.parametrize("quote", ['"', '" [', '"a" "'])
def test_quotes_that_nothing_closes_move_no_place(quote: str) -> None:
    found = excess(f"{quote}\n" * 3 + "[" * (DEEPEST + 1))
    assert found is not None
    assert found.at == len(f"{quote}\n") * 3 + DEEPEST


def test_names_may_be_long() -> None:
    name = "a1" * MANY
    assert excess(f'"a.b"(%{name}, %{"9" * MANY}) : (!{name}, @{name}) -> ()') is None


def test_brackets_that_do_not_pair_hide_nothing() -> None:
    """The quick bound may err on one side alone."""
    assert excess(attribute("[>= " * 300)) is not None
    assert excess(attribute("[-> " * 300)) is not None
    assert excess(attribute("[] >= " * 3000)) is None
    assert excess("// <\n" * 3000 + "module {}") is None


@pytest.mark.parametrize("items", ["1", "[[]]", "#linalg.iterator_type<parallel>", '"parallel", 1'])
@pytest.mark.parametrize("op", ["linalg.generic", "vector.contract"])
def test_iterators_that_are_no_words_are_refused(op: str, items: str) -> None:
    text = f"{op} {{indexing_maps = [], iterator_types = [{items}]}}"
    found = excess(text)
    assert found is not None
    assert "iterator_types" in found.message
    assert text[found.at] == "["
    assert excess(f"// {text}") is None


@pytest.mark.parametrize("items", ["", '"parallel"', '"parallel" , "reduction"'])
def test_iterators_that_are_words_are_not(items: str) -> None:
    assert excess(f"linalg.generic {{iterator_types = [{items}]}}") is None
    generic = '"linalg.generic"() <{iterator_types = [#linalg.iterator_type<parallel>]}> : () -> ()'
    assert excess(generic) is None


NAMES = {
    "symbol": 'gpu.module @"{}" {{}}',
    "op": '"a.{}"() : () -> ()',
    "attribute": 'module attributes {{"a.{}" = 1}} {{}}',
    "unit attribute": 'module attributes {{"a.{}"}} {{}}',
    "one of several": 'module attributes {{a.b = "\\FF", a.c, "a.{}" // (\n, a.d}} {{}}',
    "property": '"builtin.module"() <{{"{}"}}> ({{}}) : () -> ()',
    "file": 'module {{}} loc("{}":1:2)',
    "file of a call": 'module {{}} loc(callsite("a"("{}":1:2) at unknown))',
    "place": 'module {{}} loc("{}"("f":1:2))',
}


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("bytes_", ["\\FF", "\\c0\\80", "\\ED\\A0\\80", "\\E4\\B8", "\\\\\\80"])
def test_names_that_are_no_text_are_refused(kind: str, bytes_: str) -> None:
    """MLIR takes them, and its bindings end the process where Python asks for one."""
    with pytest.raises(ProgramError, match="a name that is not UTF-8") as caught:
        parse(Source("program", NAMES[kind].format(bytes_)), new_context())
    assert place(caught.value.diagnostics[0].location)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("text", ["\\C3\\A9", "\\E4\\BD\\A0", "é\\09", "\\\\FF"])
def test_names_of_all_characters_are_not(kind: str, text: str) -> None:
    assert excess(NAMES[kind].format(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        'llvm.mlir.global constant @a("\\FF\\80")',
        'module attributes {a.b = "\\FF", a.c = ["\\FF", "\\80"]} {}',
        '// @"\\FF"\nmodule {}',
        'module attributes {a.b = ["x", "\\FF", "\\80"], a.c = loc(fused["\\FF", "\\FE"])} {}',
        "module attributes {a.b = affine_set<(d) : (d >= 0)>} {}",
        'module attributes {a.b = #gpu.object<#nvvm.target, "\\FF">, a.c} {}',
        'func.func @f(%c: i1) { cf.assert %c, "\\FF"\n return }',
        'func.func @f() { llvm.inline_asm "\\FF", "\\FE" : () -> ()\n return }',
    ],
)
def test_strings_and_comments_may_hold_any_bytes(text: str) -> None:
    parse(Source("program", text), new_context())


def test_strings_of_an_attribute_are_not_names() -> None:
    assert excess('module attributes {a.b = #x.y<(a) -> "\\FF", "\\FE", 1>} {}') is None


FRAGMENTS = (
    "-", "- ", "//-\n", "// -----// -- //\n", "-//", '"', '"\\', "<", ">", "(", "]", "->", "9",
    "1x", "#a = ", "!a = ", "#a=[#a]\n", "#a = //", "#99999", "%a#99999",
    '%a#99999 "\\', "linalg.a {", "linalg.a {}", 'vector.b {iterator_types = ["a",',
    "affine_map<", "affine_map<>", "=", ",", '@"', "\n", '"\\FF",', "{",
)  # fmt: skip
"""What a quick look at a text goes by."""


@pytest.mark.parametrize("first", FRAGMENTS)
def test_a_look_at_a_text_takes_time_as_it_is_long(first: str) -> None:
    """However often fragments come one after the other; some took hours of a text like these."""
    for second in FRAGMENTS:
        text = (first + second) * (20_000 // len(first + second))
        start = time.process_time()
        excess(text)
        assert time.process_time() - start < 1, second


def test_lines_of_dashes_in_comments_are_read_at_once() -> None:
    """As `--mlir-print-ir-after-all` prints them."""
    banner = "// -----// IR Dump After CanonicalizerPass: canonicalize{{.*}} //----- //\n"
    program = f"{banner * 40}// {'-' * 300}\nmodule {{}}"
    assert excess(program) is None
    parse(Source("program", program), new_context())
