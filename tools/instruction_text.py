"""Everything the table says of an instruction that is no matrix instruction, as data and text."""

from __future__ import annotations

from typing import Any

from tilec.isa import ExecutionScope
from tilec.isa.instructions import Instruction, operand_type

from .form_list import record


def _operand(one: Instruction, name: str) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": name,
        "type": operand_type(name),
        "written": name in one.results,
    }
    space = dict(one.addresses).get(name)
    if space is not None:
        data["state_space"] = space
    if data["type"] == "number":
        if isinstance(one.legal, range):
            data["legal"] = [one.legal[0], one.legal[-1], one.legal.step]
        else:
            data["values"] = list(one.legal)
    return data


def details(one: Instruction) -> dict[str, Any]:
    """Everything, ready for JSON."""
    optional = [one.optional] if one.optional else []
    facts: dict[str, Any] = {
        "state_spaces": list(one.spaces),
        "order": one.order,
        "visible": one.visible,
        "completion": one.completion,
    }
    facts |= one.facts
    return {
        **record(one),
        "section": one.section,
        "scope": str(one.scope),
        "asynchronous": one.asynchronous,
        **{name: fact for name, fact in facts.items() if fact},
        "operands": [_operand(one, name) for name in (*one.names, *optional)],
        "optional": optional,
        "instruction": _text(one),
    }


def _text(one: Instruction) -> str:
    text = one.text({name: name for name in one.names})
    return text.replace(";", f"{{, {one.optional}}};") if one.optional else text


def _line(operand: dict[str, Any]) -> str:
    what = operand["type"]
    if "state_space" in operand:
        what += f" in {operand['state_space']}"
    if "legal" in operand:
        first, last, step = operand["legal"]
        what += f" from {first} to {last}" + f" in steps of {step}" * (step > 1)
    if "values" in operand:
        what += f", one of {', '.join(map(str, operand['values']))}"
    return f"  {operand['name']:8}{what}, {'written' if operand['written'] else 'read'}"


def text(one: Instruction) -> str:
    """Everything, as lines."""
    data = details(one)
    where = ", ".join(f"{name} from PTX {version}" for name, version in data["targets"].items())
    facts = [("family", data["family"]), ("section", f"PTX ISA {data['section']}")]
    facts += [("targets", where)]
    if one.scope is not ExecutionScope.THREAD:
        facts.append(("executed by", data["scope"]))
    if one.spaces:
        facts.append(("spaces", ", ".join(one.spaces)))
    if one.order:
        facts.append(("order", " at ".join(filter(None, (one.order, one.visible)))))
    if one.completion:
        facts.append(("completes", f"later, by {one.completion}"))
    facts += [(name.replace("_", " "), str(fact)) for name, fact in one.facts.items()]
    lines = [one.ptx, *(f"  {key:15} {value}" for key, value in facts)]
    if data["operands"]:
        lines += ["operands", *(_line(operand) for operand in data["operands"])]
    return "\n".join([*lines, "PTX", f"  {data['instruction']}"]) + "\n"
