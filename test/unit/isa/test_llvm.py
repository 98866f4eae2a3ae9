"""Every form goes from LLVM IR to PTX, by its intrinsic and by inline assembly.

At every target and version of its clauses that LLVM 22 knows, with every state space and with and
without a stride, the printed instruction is the form's own mnemonic. LLVM ends the process where it
cannot select an instruction, so it works in one of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from tilec.isa import PtxVersion, WmmaMemory, form, target, warp_forms
from tilec.isa.llvm import call

pytest.importorskip("llvmlite")

NEWEST = PtxVersion(9, 0)
CHILD = """
import json, sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
triple = llvm.Target.from_triple("nvptx64-nvidia-cuda")
answers = {}
for name, (cpu, feature, text) in json.load(sys.stdin).items():
    module = llvm.parse_assembly(text)
    module.verify()
    print(name, file=sys.stderr)
    machine = triple.create_target_machine(cpu=cpu, features=feature)
    answers[name] = machine.emit_assembly(module)
json.dump(answers, sys.stdout)
"""


def function(name, how):
    """A function whose parameters are the call's arguments and whose result is its result."""
    parameters, arguments = [], []
    for number, value in enumerate(how.arguments):
        arguments.append(f"{value.type} {0 if value.constant else f'%a{number}'}")
        if not value.constant:
            parameters.append(f"{value.type} %a{number}")
    callee = f"@{how.intrinsic}"
    if how.intrinsic is None:
        callee = f'asm sideeffect "{how.assembly}", "{how.constraints}"'
    returned = how.result_type
    line = f"call {returned} {callee}({', '.join(arguments)}) #0"
    body = f"{line}\nret void" if returned == "void" else f"%r = {line}\nret {returned} %r"
    return f"define {returned} @{name}({', '.join(parameters)}) {{\n{body}\n}}\n"


def compiled(jobs):
    """PTX of each module, by name."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def operands_of(body, mnemonic):
    """What stands after the mnemonic, in order: parameters of the function, or constants."""
    parameters = dict(re.findall(r"ld\.param\.\w+\s+(%\w+), \[f\d+_param_(\d+)\]", body))
    (line,) = re.findall(rf"\s{re.escape(mnemonic)}\s(.*?);", body, re.S)
    return [parameters.get(word, word) for word in re.findall(r"%\w+|\b\d+\b", line)]


def expected_operands(how):
    """The same from the order that inline assembly writes, results left as they come."""
    values = [*how.results, *how.arguments]
    numbers = iter(range(len(values)))
    names = ["result"] * len(how.results)
    names += ["0" if value.constant else str(next(numbers)) for value in how.arguments]
    _, _, operands = how.assembly.partition(" ")
    return [names[int(n)] for n in re.findall(r"\$(\d+)", operands)]


def places(found):
    """State space and stride of every way to address a form."""
    if isinstance(found, WmmaMemory):
        return [(space, stride) for space in ("", "global", "shared") for stride in (False, True)]
    return [("", False), ("shared", False)] if found.spaces else [("", False)]


@pytest.mark.parametrize("road", ["intrinsic", "assembly"])
def test_every_form_arrives(road):
    cases, texts, declarations = {}, {}, {}
    for found in warp_forms().values():
        for name, version in found.targets.items():
            if version > NEWEST:
                continue
            where = f"{name} {version.llvm_feature}"
            for space, stride in places(found):
                how = call(found, space=space, stride=stride, target=target(name))
                if road == "assembly":
                    how = how._replace(intrinsic=None)
                elif how.intrinsic is None:
                    continue
                label = f"f{len(cases)}"
                cases[label] = (where, found.mnemonic(space), how)
                texts.setdefault(where, []).append(function(label, how))
                if how.intrinsic:
                    declarations.setdefault(where, set()).add(how.declaration)
    jobs = {
        where: (
            *where.split(),
            'target triple = "nvptx64-nvidia-cuda"\n'
            + "\n".join(sorted(declarations.get(where, ())))
            + "\nattributes #0 = { convergent }\n"
            + "".join(parts),
        )
        for where, parts in texts.items()
    }
    printed = compiled(jobs)
    bodies = {}
    for where, ptx in printed.items():
        assert ".extern .func" not in ptx, where
        for label, body in re.findall(r"\.visible \.func[^\n]*? (f\d+)\((.*?\n\})", ptx, re.S):
            bodies[where, label] = body
    for label, (where, mnemonic, how) in cases.items():
        found = operands_of(bodies[where, label], mnemonic)
        wanted = expected_operands(how)
        for one, other in zip(found, wanted, strict=True):
            assert one == other or (other == "result" and one.startswith("%")), mnemonic
    assert len(cases) > 600


def test_only_few_forms_need_inline_assembly():
    without = {ptx for ptx, found in warp_forms().items() if found.intrinsic is None}
    reasons = {
        r"movmatrix\..*": 1,
        r"mma\.sync\.aligned\..*f64\.f64\.f64\.f64\.r[nzmp]": 16,
        r"mma.*mxf4nvf4.block_scale.scale_vec::4X.*ue8m0": 2,
        r"mma\.sp::ordered_metadata\.sync\.aligned\.m16n8k64\.row\.col\.f16\..*": 4,
        r"ldmatrix.*\.s8\.s4": 3,
    }
    for pattern, count in reasons.items():
        matched = {ptx for ptx in without if re.fullmatch(pattern, ptx)}
        assert len(matched) == count, pattern
        without -= matched
    assert not without


def test_the_target_decides_where_llvm_asks_for_more():
    xor = form("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc")
    assert call(xor, target=target("sm_75")).intrinsic is None
    assert call(xor, target=target("sm_80")).intrinsic == xor.intrinsic
