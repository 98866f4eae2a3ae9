"""The pages made by scripts are what the scripts make now, and say what the code says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize("name", ["commands", "dialect", "figures", "passes", "tiles_to_wgmma"])
def test_up_to_date(name):
    command = [sys.executable, str(DOCS / f"make_{name}.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_op_has_an_example_that_uses_it():
    """Against the sources as text, not the imported classes that the script reads."""
    sources = (DOCS.parent / "dialects" / "tile" / "ops").glob("*.py")
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    names = {f"tile.{name}" for name in re.findall(r'^class \w+\(\w+, name="(\w+)"\)', text, re.M)}
    sections = re.split(r"^### ", (DOCS / "dialect.md").read_text(encoding="utf-8"), flags=re.M)
    found = {section.partition("\n")[0]: section for section in sections if section[:5] == "tile."}
    assert set(found) == names
    for name, section in found.items():
        assert re.search(rf"\b{name} |\b{name}\n", section.partition("```mlir")[2]), name


@pytest.mark.parametrize("tool", ["tilec", "tile-opt", "tile-run", "tile-layout", "tile-isa"])
def test_every_flag_of_the_help_is_listed(tool):
    script = Path(sys.executable).with_name(tool)
    printed = subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
    everywhere = {"-h", "--version", "--completion"}
    flags = set(re.findall(r"^  (--?[a-zA-Z][\w-]*)", printed, re.MULTILINE)) - everywhere
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    section = re.split(rf"^## {tool}$", page, flags=re.MULTILINE)[1].split("\n## ")[0]
    assert flags == set(re.findall(r"^\| `(--?[\w-]+)", section.split("\n### ")[0], re.MULTILINE))


def test_debugging_names_flags_that_exist():
    debugging = (DOCS / "debugging.md").read_text(encoding="utf-8")
    commands = (DOCS / "commands.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+ \| (`-.+`) \| ([\w, -]+) \|$", debugging, re.MULTILINE)
    assert len(rows) > 10
    for flags, tools in rows:
        for tool in tools.split(", "):
            section = re.split(rf"^## {tool}$", commands, flags=re.MULTILINE)[1].split("\n## ")[0]
            for flag in re.findall(r"`([^`]+)`", flags):
                assert re.search(rf"^\| `{flag}[ ,`]", section, re.MULTILINE), f"{tool} {flag}"


def test_debugging_names_every_variable_of_the_environment():
    code = "".join(
        file.read_text(encoding="utf-8")
        for folder in ("compiler", "dialects", "isa", "layout", "passes", "runtime", "sim", "tools")
        for file in (DOCS.parent / folder).rglob("*.py")
    )
    read = set(re.findall(r"environ(?:\.get\(|\[)\"(\w+)\"", code))
    assert {"NO_COLOR"} <= read
    debugging = (DOCS / "debugging.md").read_text(encoding="utf-8")
    assert read <= set(re.findall(r"`([A-Z_]+)` \(environment\)", debugging))
