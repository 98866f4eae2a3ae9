"""The section of the PTX ISA 9.1 of each instruction, beside what its contents say."""

from __future__ import annotations

from tilec.isa.instructions import instructions

CONTENTS = {
    "9.7.9.8": ("ld.",),
    "9.7.9.11": ("st.",),
    "9.7.9.12": ("st.async",),
    "9.7.9.15": ("prefetch",),
    "9.7.9.18": ("createpolicy",),
    "9.7.9.23": ("mapa",),
    "9.7.9.24": ("getctarank",),
    "9.7.9.25.4": ("cp.async.bulk", "cp.reduce.async.bulk"),
    "9.7.9.27.1": (
        "cp.async.bulk.tensor",
        "cp.reduce.async.bulk.tensor",
        "cp.async.bulk.prefetch.tensor",
    ),
    "9.7.9.27.2": ("cp.async.bulk.commit_group", "cp.async.bulk.wait_group"),
    "9.7.9.28": ("tensormap.replace",),
    "9.7.13.3": ("barrier.cluster",),
    "9.7.13.4": ("fence",),
    "9.7.13.6": ("red.",),
    "9.7.13.7": ("red.async",),
    "9.7.13.13": ("griddepcontrol",),
    "9.7.13.14": ("elect.sync",),
    "9.7.13.15": ("mbarrier", "cp.async.mbarrier.arrive"),
    "9.7.13.16": ("tensormap.cp_fenceproxy",),
    "9.7.13.17": ("clusterlaunchcontrol.try_cancel",),
    "9.7.13.18": ("clusterlaunchcontrol.query_cancel",),
    "9.7.15.7.1": ("wgmma.fence",),
    "9.7.15.7.2": ("wgmma.commit_group",),
    "9.7.15.7.3": ("wgmma.wait_group",),
    "9.7.16.7": ("tcgen05.alloc", "tcgen05.dealloc", "tcgen05.relinquish_alloc_permit"),
    "9.7.16.8": ("tcgen05.wait",),
    "9.7.16.9": ("tcgen05.cp", "tcgen05.shift"),
    "9.7.16.10": ("tcgen05.mma",),
    "9.7.16.11": ("tcgen05.fence",),
    "9.7.16.12": ("tcgen05.commit",),
    "9.7.19.5": ("setmaxnreg",),
}


def test_each_stands_in_the_section_that_names_it_best() -> None:
    for name, one in instructions().items():
        fitting = {
            opcode: section
            for section, opcodes in CONTENTS.items()
            for opcode in opcodes
            if name.startswith(opcode)
        }
        assert fitting[max(fitting, key=len)] == one.section, name
