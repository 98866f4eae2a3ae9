"""The PTX reader."""

from .module import Function, Instruction, Module
from .parser import read, read_text

__all__ = ["Function", "Instruction", "Module", "read", "read_text"]
