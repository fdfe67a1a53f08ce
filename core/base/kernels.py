"""Kernels: Slang modules, and the programs that a session compiles from them.

Generated modules are also files of the cache folder, so that the compiler keeps its work on them: a
module that is given as text is parsed and checked anew in each process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.files import make_folders, remove_file, replace_file
from verdigris.core.base.process.profile import span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import slangpy

_SUFFIX = ".slang"
# Limit of all compiled modules together: about 1,600 materials.
MOST_COMPILED_BYTES = 512 << 20


class KeptSources:
    """Generated modules in a folder that the compiler searches. It keeps compiled modules in
    subfolders of `compiled`, two levels deep."""

    def __init__(self, folder: Path, compiled: Path) -> None:
        self.folder = folder
        self.compiled = compiled
        # without the folder nothing is kept
        with suppress(OSError):
            make_folders(folder)

    def keep(self, name: str, text: str) -> bool:
        """Writes a module where the compiler finds it by its name. False if that fails."""
        path = self.folder / (name + _SUFFIX)
        data = text.encode()
        try:
            if not (path.is_file() and path.read_bytes() == data):
                replace_file(path, data)
                self._limit()
            # the time of its last use
            os.utime(path)
        except OSError:
            return False
        return True

    def _limit(self) -> None:
        """Removes the modules that were not used for longest, until the rest is small enough. The
        newer half always stays: other processes may be about to read it."""
        sizes = {each: each.stat().st_size for each in self.compiled.glob("*/*/*.slang-module")}
        total = sum(sizes.values())
        used = sorted(self.folder.glob("*" + _SUFFIX), key=lambda each: each.stat().st_mtime)
        for source in used[: len(used) // 2]:
            if total <= MOST_COMPILED_BYTES:
                return
            for each in [each for each in sizes if each.stem == source.stem]:
                total -= sizes.pop(each)
                remove_file(each)
            remove_file(source)


@dataclass(frozen=True)
class Source:
    """A Slang module: a file below `shaders/`, or generated text under a name."""

    name: str
    text: str | None = None
    linked: tuple[str, ...] = ()
    """Other files, whose exports replace what it declares as extern."""


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
        keeps modules that are given as text; their names must be unique to the text."""
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
            linked = [Source(name) for source in sources for name in source.linked]
            modules = [self.load(source) for source in (*sources, *linked)]
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
        """The kernel, or that of the other session if its pipeline cannot be created."""
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
    """The kernels for this key. The cache keeps those for the last few keys."""
    found = kept.pop(key, None) or opened()
    kept[key] = found
    if len(kept) > most:
        # least recently used
        del kept[next(iter(kept))]
    return found
