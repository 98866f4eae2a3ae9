"""Everything the table says of one form, as data and as text."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tilec.dialects.tile.families import TILE_OPS
from tilec.isa import LANES, ExecutionScope, Form, Operand, assembly
from tilec.isa.llvm import call
from tilec.isa.sass import executions
from tilec.isa.spellings import spellings
from tilec.layout import any_fragment_of

from .form_list import record


def _layout(form: Form, operand: Operand) -> str | None:
    if not operand.threads:
        return None
    return "not defined by the ISA" if operand.opaque else str(any_fragment_of(form, operand.name))


def _operand(form: Form, operand: Operand, *, written: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": operand.name,
        "written": written,
        "type": str(operand.type),
        "rows": operand.rows,
        "cols": operand.cols,
        "registers": operand.registers,
        "register": operand.register.ptx,
        "elements": operand.per_register,
        "layout": _layout(form, operand),
    }
    if operand.container > operand.type.bits:
        data["bits"] = [operand.shift, operand.shift + operand.type.bits - 1, operand.container]
    if operand.threads != LANES:
        data["storage"] = str(operand.storage)
    if operand.major is not None:
        data["major"] = str(operand.major)
    return data


def _text(form: Form) -> str:
    """The instruction with named registers, as it stands in a kernel."""
    places = {
        operand.name: [f"%{operand.name}{n}" for n in range(operand.registers)]
        for operand in form.all_operands
    }
    names = {selector.name: [selector.name] for selector in form.selectors}
    return assembly(form, {**places, **names, "address": ["address"]}, "shared")


def details(form: Form) -> dict[str, Any]:
    """Everything, ready for JSON."""
    data = record(form)
    data["section"] = form.section
    if form.scope is not ExecutionScope.WARP:
        data["scope"] = str(form.scope)
    if form.asynchronous:
        data["asynchronous"] = True
    data |= form.facts
    if form.spaces:
        data["state_spaces"] = list(form.spaces)
    data["operands"] = [
        *(_operand(form, operand, written=True) for operand in form.results),
        *(_operand(form, operand, written=False) for operand in form.operands),
    ]
    data["selectors"] = {selector.name: list(selector.legal) for selector in form.selectors}
    data["instruction"] = _text(form)
    data["llvm"] = call(form).intrinsic or "inline assembly"
    if form.family in TILE_OPS:
        data["tile"] = f'{TILE_OPS[form.family]} {{form = "{form.ptx}"}}'
    data["execution"] = [asdict(execution) for execution in executions(form)]
    data["spellings"] = list(spellings(form))
    return data


def _ranges(executions_: list[dict[str, Any]]) -> list[str]:
    lines = []
    for number, one in enumerate(executions_):
        later = executions_[number + 1 :]
        end = f" to below sm_{later[0]['since']}" if later else " on"
        what = f"{one['count']} {one['opcode']}" if one["count"] else "scalar arithmetic"
        lines.append(f"from sm_{one['since']}{end}: {what}{', emulated' * one['emulated']}")
    return lines


def _operand_lines(operand: dict[str, Any]) -> list[str]:
    major = f" .{operand['major']}" if "major" in operand else ""
    head = f"{operand['name']:4}{operand['rows']}×{operand['cols']} {operand['type']}{major}"
    line = f"{head}, {_registers(operand)}"
    if "bits" in operand:
        low, high, container = operand["bits"]
        line += f", in bits {low}-{high} of {container}"
    lines = [f"{line}, {'written' if operand['written'] else 'read'}"]
    return [*lines, f"    {operand['layout']}"] if operand["layout"] else lines


def _registers(operand: dict[str, Any]) -> str:
    """What a thread has of an operand, and who has it but a warp."""
    count, each = operand["registers"], operand["elements"]
    registers = f"{count} register{'s' * (count > 1)} .{operand['register']}"
    if not each:
        return f"in {operand['storage']} as {registers} specifies"
    registers += f", {each} element{'s' * (each > 1)} each"
    return f"{registers}, in {operand['storage']}" if "storage" in operand else registers


def text(form: Form) -> str:
    """Everything, as lines."""
    data = details(form)
    where = ", ".join(f"{name} from PTX {version}" for name, version in data["targets"].items())
    facts = [("family", data["family"]), ("section", f"PTX ISA {data['section']}")]
    facts += [("targets", where)]
    if "scope" in data:
        facts.append(("executed by", data["scope"]))
    if form.asynchronous:
        facts.append(("completes", "asynchronously: its completion must be waited for"))
    facts += [(name.replace("_", " "), fact) for name, fact in form.facts.items()]
    if "state_spaces" in data:
        facts.append(("spaces", ", ".join(("generic", *data["state_spaces"]))))
    for name, legal in data["selectors"].items():
        facts.append((name, ", ".join(map(str, legal))))
    facts.append(("LLVM", data["llvm"]))
    if "tile" in data:
        facts.append(("tile op", data["tile"]))
    facts += [("executed", line) for line in _ranges(data["execution"])]
    if form.preferred:
        preferred = form.preferred.partition(".sync")[0]
        facts.append(("note", f"slow on newer targets; prefer {preferred}"))
    lines = [data["ptx"], *(f"  {key:15} {value}" for key, value in facts), "operands"]
    for operand in data["operands"]:
        lines += [f"  {line}" for line in _operand_lines(operand)]
    lines += ["PTX", f"  {data['instruction']}"]
    if data["spellings"]:
        lines += ["also spelled", *(f"  {spelling}" for spelling in data["spellings"])]
    return "\n".join(lines) + "\n"
