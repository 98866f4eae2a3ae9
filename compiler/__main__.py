"""`python -m tilec`: the command `tilec`."""

from .tools.tilec import command

command()
