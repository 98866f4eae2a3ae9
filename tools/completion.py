"""Scripts by which a shell completes a command's flags and their values."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from enum import StrEnum

from tilec.isa import TARGETS


class Shell(StrEnum):
    """A shell that completes arguments."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class ShowCompletion(argparse.Action):
    """Prints the script for a shell, and ends, as `--version` does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Print it."""
        del namespace, option_string
        print(completion(parser, Shell(str(values))), end="")
        parser.exit()


def completion(parser: argparse.ArgumentParser, shell: Shell) -> str:
    """The script that has a shell complete a command.

    Args:
        parser: the command's arguments.
        shell: whose script it is.
    """
    if shell is Shell.FISH:
        return "".join(f"{line}\n" for line in _fish(parser))
    first = "autoload -U +X bashcompinit && bashcompinit\n" if shell is Shell.ZSH else ""
    return first + _bash(parser)


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """A command's parser, and those of its subcommands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()


def _subcommands(parser: argparse.ArgumentParser) -> list[str]:
    found = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return [name for action in found for name in action.choices]


def _actions(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """What each flag does, those of subcommands among them."""
    found: dict[str, argparse.Action] = {}
    for one in _parsers(parser):
        for flag, action in one._option_string_actions.items():
            found.setdefault(flag, action)
    return found


def _values(action: argparse.Action) -> list[str]:
    """The values that a flag may have, as far as there is a list of them."""
    if action.choices:
        return [str(choice) for choice in action.choices]
    return list(TARGETS) if action.dest in ("target", "arch") else []


def _bash(parser: argparse.ArgumentParser) -> str:
    actions = _actions(parser)
    cases = "".join(
        f"    {flag}) words={shlex.quote(' '.join(values))} ;;\n"
        for flag, action in actions.items()
        if (values := _values(action))
    )
    words = " ".join((*_subcommands(parser), *actions))
    name = f"_{parser.prog.replace('-', '_')}"
    return f"""\
{name}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  case "$before" in
{cases}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  COMPREPLY=($(compgen -W {shlex.quote(words)} -- "$word"))
  [[ "$word" == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F {name} {parser.prog}
"""


def _fish(parser: argparse.ArgumentParser) -> Iterator[str]:
    for name in _subcommands(parser):
        yield f"complete -c {parser.prog} -n __fish_use_subcommand -a {name}"
    for flag, action in _actions(parser).items():
        kind = "-l" if flag.startswith("--") else "-s" if len(flag) == 2 else "-o"
        line = f"complete -c {parser.prog} {kind} {flag.lstrip('-')}"
        if values := _values(action):
            line += f" -xa {shlex.quote(' '.join(values))}"
        elif action.nargs != 0:
            line += " -r"
        help_ = (action.help or "").partition(";")[0]
        yield line + (f" -d {shlex.quote(help_)}" if action.help != argparse.SUPPRESS else "")
