"""`tile-run --debug`: commands, as gdb and pdb have them, at the stops of a launch."""

from __future__ import annotations

import cmd
import sys
from typing import TextIO

import numpy as np
from tilec.isa import TilecError
from tilec.sim import Debugger, Stop
from tilec.sim.stepping.breakpoints import number_of

from . import debug_text as text

PROMPT = "(tile-run) "


class DebugSession(cmd.Cmd):
    """Reads commands at every stop, until one lets the launch go on.

    The end of what is read quits. Lines that begin with # are comments.

    Args:
        commands: where they are read.
        told: where answers go.
    """

    def __init__(self, commands: TextIO | None = None, told: TextIO | None = None) -> None:
        super().__init__(stdin=commands or sys.stdin, stdout=told or sys.stdout)
        self.use_rawinput = commands is None and sys.stdin.isatty()
        self.prompt = PROMPT if self.use_rawinput else ""
        self.debugger = Debugger(self.stopped)
        self._stop: Stop | None = None
        self._shown = ""

    @property
    def stop(self) -> Stop:
        """Where the launch is stopped."""
        assert self._stop is not None
        return self._stop

    def stopped(self, stop: Stop) -> None:
        """Show a stop, and do what is said."""
        self._stop = stop
        self._where()
        self.cmdloop()

    def _say(self, *lines: str) -> None:
        for line in lines:
            self.stdout.write(f"{line}\n")
        self.stdout.flush()

    def _where(self) -> None:
        stop = self.stop
        if stop.reason != "step":
            self._say(stop.reason)
        if self._shown != stop.who:
            self._shown = stop.who
            self._say(f"[{stop.who}]")
        origin = f"{stop.origin}: " if stop.origin else ""
        lines = dict(stop.listing(0))
        self._say(f"{origin}{stop.line}\t{lines[stop.line].strip()}")

    # How commands are read

    def onecmd(self, line: str) -> bool:
        """Do a command; whether the launch goes on. A mistake is told in one line."""
        if line.lstrip().startswith("#"):
            return False
        try:
            return bool(super().onecmd(line))
        except TilecError as error:
            self._say(f"error: {error}")
            return False

    def parseline(self, line: str) -> tuple[str | None, str | None, str]:
        """A command by its whole name."""
        name, rest, whole = super().parseline(line)
        return (text.ALIASES.get(name, name) if name else name), rest, whole

    def emptyline(self) -> bool:
        """Repeat the last command, at a prompt."""
        return bool(self.lastcmd and self.use_rawinput and self.onecmd(self.lastcmd))

    def default(self, line: str) -> None:
        """No such command."""
        raise TilecError(text.unknown(line.split(maxsplit=1)[0]))

    def completenames(self, given: str, *ignored: object) -> list[str]:
        """Commands that begin so."""
        del ignored
        return [name for name in text.HELP if name.startswith(given)]

    # Going on

    def do_continue(self, given: str) -> bool:
        """Go on to the next breakpoint or finding."""
        text.nothing(given)
        self.stop.go_on()
        return True

    def do_step(self, given: str) -> bool:
        """Go on to another line."""
        text.nothing(given)
        self.stop.step_line()
        return True

    def do_next(self, given: str) -> bool:
        """Go on to another line, and pass over calls."""
        text.nothing(given)
        self.stop.next_line()
        return True

    def do_stepi(self, given: str) -> bool:
        """Go on to the thread's next instruction."""
        text.nothing(given)
        self.stop.step()
        return True

    def do_finish(self, given: str) -> bool:
        """Go on until the thread has left the function."""
        text.nothing(given)
        self.stop.finish()
        return True

    def do_quit(self, given: str) -> None:
        """End the launch."""
        text.nothing(given)
        self.stop.quit()

    def do_EOF(self, given: str) -> None:  # noqa: N802 (as cmd names it)
        """The end of the commands."""
        del given
        self.stop.quit()

    # Breakpoints

    def do_break(self, given: str) -> None:
        """Set a breakpoint, or list those that are set."""
        if given:
            made = self.debugger.add(given)
            self._say(f"breakpoint {text.described(made, self.stop)}")
            return
        there = self.debugger.breakpoints.values()
        self._say(*(text.described(one, self.stop) for one in there))

    def do_delete(self, given: str) -> None:
        """Delete a breakpoint."""
        self.debugger.remove(number_of(given))

    # Where

    def do_where(self, given: str) -> None:
        """Show the calls that the thread is in."""
        text.nothing(given)
        self._say(*self.stop.frames())

    def do_list(self, given: str) -> None:
        """Show the PTX around a line."""
        line = number_of(given) if given else None
        here = self.stop.line
        for number, written in self.stop.listing(line=line):
            self._say(f"{'=>' if number == here else '  '} {number:5} {written}".rstrip())

    def do_threads(self, given: str) -> None:
        """Show where the threads in flight stand."""
        text.nothing(given)
        self._say(*self.stop.standing())

    def do_waits(self, given: str) -> None:
        """Show who waits for what."""
        text.nothing(given)
        self._say(*(self.stop.waits() or ["nobody waits"]))

    def do_thread(self, given: str) -> None:
        """Look at another thread."""
        thread, cta = text.thread_of(given)
        self.stop.focus(cta, thread)
        self._shown = self.stop.who
        self._say(f"[{self.stop.who}]")

    # Values

    def do_print(self, given: str) -> None:
        """Show a register."""
        name, type_, all_ = text.print_of(given)
        values = text.decoded(self.stop.register(name), type_ or self.stop.type_of(name))
        lanes = range(len(values)) if all_ else [self.stop.thread.lane]
        self._say(*(text.value(name, values[lane], lane if all_ else None) for lane in lanes))

    def do_fragment(self, given: str) -> None:
        """Show an operand of a matrix instruction."""
        words = given.split()
        if len(words) > 2:
            raise TilecError("fragment takes an operand and a line")
        line = number_of(words[1]) if len(words) == 2 else None
        if not words:
            self._say(*(f"{name}: {what}" for name, what in self.stop.operands().items()))
            return
        self._matrix(self.stop.fragment(words[0], line))

    def do_shared(self, given: str) -> None:
        """Show a matrix in shared memory."""
        address, shape, type_, swizzle = text.shared_of(given)
        self._matrix(self.stop.shared(address, shape, type_, swizzle))

    def do_memory(self, given: str) -> None:
        """Show numbers in global memory."""
        address, count, type_ = text.memory_of(given)
        self._matrix(self.stop.memory(address, count, type_)[None])

    def _matrix(self, values: text.Matrix) -> None:
        for number, one in enumerate(values.reshape(-1, *values.shape[-2:])):
            if values.ndim > 2:
                self._say(f"matrix {number}:")
            self._say(*text.rows(np.asarray(one)))

    def do_help(self, arg: str) -> None:
        """Show what commands do."""
        name = text.ALIASES.get(arg, arg)
        if arg and name not in text.HELP:
            raise TilecError(text.unknown(arg))
        self._say(*([text.HELP[name]] if arg else text.HELP.values()))
