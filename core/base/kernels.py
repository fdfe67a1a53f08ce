"""Kernels: Slang modules, and what a session compiles of them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.process.profile import span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import slangpy

    from verdigris.core.base.kept_sources import KeptSources


@dataclass(frozen=True)
class Source:
    """A Slang module: a file below `shaders/`, or generated text under a name."""

    name: str
    text: str | None = None


def constants_module(name: str, values: Mapping[str, int | float]) -> Source:
    """A module of numeric constants."""
    lines = [f"module {name};"]
    for each, value in values.items():
        kind = "int" if isinstance(value, int) else "float"
        lines.append(f"public static const {kind} {each} = {value!r};")
    return Source(name, "\n".join(lines) + "\n")


class Kernels:
    """The kernels of one Slang session. A material has its own session, so that its compiled code
    is released with it."""

    def __init__(
        self,
        gpu: slangpy.Device,
        session: slangpy.SlangSession,
        instead: Callable[[], Kernels] | None = None,
        files: KeptSources | None = None,
    ) -> None:
        """`instead` opens a session for kernels that do not run when compiled in this one. `files`
        keeps modules that are given as text, under names that no other text has."""
        self._gpu = gpu
        self._session = session
        self._instead = instead
        self._files = files
        self._modules: dict[Source, slangpy.SlangModule] = {}
        self._kernels: dict[tuple[tuple[Source, ...], str], slangpy.ComputeKernel] = {}

    def get(self, sources: Sequence[Source], entry: str) -> slangpy.ComputeKernel:
        """The compute kernel `entry` of the first source, linked with the others and cached."""
        key = (tuple(sources), entry)
        if key not in self._kernels:
            modules = [self.load(source) for source in sources]
            with span(f"compile {entry}"):
                program = self._session.link_program(modules, [modules[0].entry_point(entry)])
                kernel = self._gpu.create_compute_kernel(program)
                self._kernels[key] = self._checked(kernel, sources, entry)
        return self._kernels[key]

    def has(self, sources: Sequence[Source], entry: str) -> bool:
        """Whether this kernel is compiled."""
        return (tuple(sources), entry) in self._kernels

    def _checked(
        self, kernel: slangpy.ComputeKernel, sources: Sequence[Source], entry: str
    ) -> slangpy.ComputeKernel:
        """The kernel, or the one of the other session where its pipeline cannot be created."""
        with suppress(RuntimeError):
            if kernel.pipeline is not None:
                return kernel
        if self._instead is None:
            # the first dispatch reports it
            return kernel
        kernels = self._instead()
        for source in self._modules:
            kernels.load(source)
        return kernels.get(sources, entry)

    def load(self, source: Source) -> slangpy.SlangModule:
        """A module of this session, which later modules can import by its name."""
        if source not in self._modules:
            name, text = source.name, source.text
            is_file = text is None or (self._files is not None and self._files.keep(name, text))
            with span(f"load module {name}"):
                self._modules[source] = (
                    self._session.load_module(name)
                    if text is None or is_file
                    else self._session.load_module_from_source(name, text)
                )
        return self._modules[source]


def find_or_open(
    kept: dict[Any, Kernels], key: Any, most: int, opened: Callable[[], Kernels]
) -> Kernels:
    """The kernels of this key; the cache keeps those of the last few keys."""
    found = kept.pop(key, None) or opened()
    kept[key] = found
    if len(kept) > most:
        # least recently used
        del kept[next(iter(kept))]
    return found
