"""Whether a kernel, its extents and its arguments fit a launch, and an architecture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tilec.isa import DEFAULT_TARGET, TARGETS, nearest, target
from tilec.isa.launch import GRID_LIMIT, Extents, check_cluster, extents
from tilec.isa.limits import CLUSTERS_SINCE
from tilec.isa.wording import counted

from .errors import LaunchError
from .placement import Placement
from .ptx import Module
from .ptx.module import Function
from .wave import Geometry


def kernel_of(module: Module, name: str) -> Function:
    """The kernel of a name.

    Raises:
        LaunchError: if there is none, naming the nearest.
    """
    function = module.functions.get(name)
    if function is not None and function.entry and function.body is not None:
        return function
    kernels = [f.name for f in module.functions.values() if f.entry]
    hint = f"; it has {', '.join(nearest(name, kernels))}" if kernels else ""
    raise LaunchError(f"{module.source.name} has no kernel '{name}'{hint}")


def architecture(module: Module) -> str:
    """The architecture to simulate for a text: its `.target`, or `DEFAULT_TARGET` if unknown."""
    return module.target if module.target in TARGETS else DEFAULT_TARGET


def cluster_of(function: Function, given: int | Sequence[int] | None) -> tuple[Extents, bool]:
    """CTAs of a cluster, and whether anybody says how many."""
    required = function.directives.get("reqnctapercluster", ())
    wanted = extents((*required, 1, 1, 1)[:3], "cluster")
    if given is None:
        return wanted, bool(required) or "explicitcluster" in function.directives
    found = extents(given, "cluster")
    if required and found != wanted:
        raise LaunchError(f"kernel '{function.name}' requires clusters of {wanted}")
    return found, True


def within(cta: Sequence[int], geometry: Geometry) -> Extents:
    """The place of a CTA in the grid, x first."""
    x, y, z = (*cta, 0, 0, 0)[:3] if len(cta) <= 3 else (-1, -1, -1)
    if not all(0 <= at < of for at, of in zip((x, y, z), geometry.grid, strict=True)):
        raise LaunchError(f"the timeline of CTA {tuple(cta)}; the grid has {geometry.grid}")
    return x, y, z


def check_clusters(geometry: Geometry, arch: str) -> None:
    """Refuse clusters that an architecture has not, or that do not divide the grid."""
    if not geometry.explicit:
        return
    if geometry.cluster_ctas > 1 and target(arch).number < CLUSTERS_SINCE:
        raise LaunchError(
            f"a cluster of {geometry.cluster}; {arch} has no clusters; sm_90 and later have them"
        )
    check_cluster(geometry.grid, geometry.cluster)


def check_cooperative(function: Function, geometry: Geometry, resident: int) -> None:
    """Refuse a grid whose barrier not all CTAs can come to, as the driver does."""
    if resident < geometry.ctas:
        raise LaunchError(
            f"kernel '{function.name}' has a barrier of the whole grid, "
            f"{counted(geometry.ctas, 'CTA')}, of which at most {resident} are resident at once"
        )


def check_kernel(function: Function, arch: str) -> None:
    """Refuse a kernel that an architecture has no launch for.

    Raises:
        LaunchError: saying what it requires, and what there is.
    """
    cluster, explicit = cluster_of(function, None)
    check_clusters(Geometry(cluster, (1, 1, 1), cluster, explicit), arch)
    required = (*function.directives.get("reqntid", ()), 1, 1, 1)[:3]
    _check_threads(int(np.prod(required)), arch)


def check_shared(placement: Placement, dynamic: int, arch: str) -> None:
    """Refuse a kernel whose CTA has more shared memory than an architecture.

    Raises:
        LaunchError: saying how much it has, and how much there is.
    """
    most = target(arch).shared_per_cta
    if dynamic >= 0 and placement.shared_bytes <= most:
        return
    alone = placement.shared_bytes - dynamic
    bytes_, of_them = placement.shared_bytes, f", {dynamic} of them dynamic"
    if alone > most:
        bytes_, of_them = alone, ""
    raise LaunchError(
        f"kernel '{placement.kernel.name}' uses {counted(bytes_, 'byte')} of shared "
        f"memory{of_them}; {arch} has {most} per CTA"
    )


def _check_threads(threads: int, arch: str) -> None:
    limit = target(arch).threads_per_cta
    if threads > limit:
        raise LaunchError(f"a CTA of {counted(threads, 'thread')}; at most {limit} are legal")


def check_extents(function: Function, geometry: Geometry, arch: str) -> None:
    """Refuse a grid, or threads of a CTA, that kernel or architecture do not have."""
    if any(given > most for given, most in zip(geometry.grid, GRID_LIMIT, strict=True)):
        raise LaunchError(f"a grid of {geometry.grid}; at most {GRID_LIMIT} is legal")
    _check_threads(geometry.threads, arch)
    required = function.directives.get("reqntid", ())
    wanted = (*required, 1, 1, 1)[:3]
    if required and wanted != geometry.block:
        raise LaunchError(f"kernel '{function.name}' requires blocks of {wanted}")
    most = function.directives.get("maxntid", ())
    if most and geometry.threads > int(np.prod(most)):
        raise LaunchError(
            f"kernel '{function.name}' takes at most {counted(int(np.prod(most)), 'thread')} per "
            f"CTA"
        )
