"""Command lines as LLVM's tools take them: what is the tool's, what is a pass, what is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.tools.llvm_flags import PassFlag
from tilec.tools.tile_opt import parser

FORMS = ("-{}", "--{}")


def known(*argv: str) -> dict[str, object]:
    return vars(parser().parse_args(argv))


@pytest.mark.parametrize("form", FORMS)
def test_switches_and_values(form: str) -> None:
    flag = form.format
    assert known(flag("verify-each"))["verify_each"] is True
    assert known(flag("verify-each=true"), "x.mlir")["input"] == "x.mlir"
    found = known(flag("verify-each=0"), "x.mlir")
    assert (found["verify_each"], found["denied"]) == (False, frozenset({"verify-each"}))
    for value in ([flag("pass-pipeline=-cse")], [flag("pass-pipeline"), "-cse"], ["-p=-cse"]):
        assert known(*value)["pass_pipeline"] == "-cse"
    assert known(flag("split-input-file"), "x.mlir")["split_input_file"] == "// -----"
    assert known(flag("split-input-file=// CUT"))["split_input_file"] == "// CUT"
    assert known("-o", "-", "x.mlir")["output"] == "-"


names = st.from_regex(r"[a-z][a-z0-9]{1,4}(-[a-z0-9]{1,4}){0,2}", fullmatch=True).filter(
    lambda name: not name.startswith("mlir-") and f"--{name}" not in parser()._option_string_actions
)
passes = st.lists(st.tuples(names, st.text(max_size=12)), max_size=4)


@given(passes, st.sampled_from(FORMS), st.integers(0, 4))
def test_what_is_no_flag_is_a_pass(given_: list[tuple[str, str]], form: str, position: int) -> None:
    """Whatever the options are, spaces and dashes too, and wherever the file stands."""
    words = [form.format(name) + (f"={options}" if options else "") for name, options in given_]
    words.insert(position, "file.mlir")
    found = known(*words)
    assert found["passes"] == [PassFlag(*one) for one in given_]
    assert found["input"] == "file.mlir"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-mlir-print-everything"], "unrecognized argument: -mlir-print-everything"),
        (["-Weird"], "unrecognized argument: -Weird"),
        (["-o"], "argument -o: expected one argument"),
        (["--emit-bytecode-version=new"], "invalid int value: 'new'"),
        (["--verify-diagnostics=some"], "invalid choice: 'some'"),
    ],
)
def test_wrong_usage(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parser().parse_args(argv)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err
