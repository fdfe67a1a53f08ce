"""Runs the Slang compiler in this process, without a device: to HLSL, GLSL or SPIR-V.

slangpy itself compiles only for a device that it has opened. Its wheel contains the whole compiler,
whose C interface takes the arguments of `slangc`.

A thread can do such work ahead of its need, beside a bake. Only work that releases Python's lock
gains by that: this compiler does, slangpy's own does not.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from verdigris.core.base.adapters import import_slangpy
from verdigris.core.base.errors import VerdigrisError

_NAMES = {
    "linux": "libslang-compiler.so*",
    "darwin": "libslang-compiler*.dylib",
    "win32": "slang-compiler*.dll",
}
_lock = Lock()
_begun: dict[str, Future[bytes]] = {}
_ahead_lock = Lock()


def compile_entry_point(arguments: Sequence[str | Path]) -> bytes:
    """The output of `slangc` with these arguments for its one entry point."""
    compiler = _compiler()
    # the compiler's session is for one thread at a time; Python's lock is free meanwhile
    with _lock:
        return _compile(compiler, arguments)


def _compile(compiler: _Compiler, arguments: Sequence[str | Path]) -> bytes:
    request = ctypes.c_void_p(compiler.library.spCreateCompileRequest(compiler.session))
    try:
        # -o connects the entry point with the target; no file is written
        texts = [str(argument).encode() for argument in (*arguments, "-o", "output")]
        table = (ctypes.c_char_p * len(texts))(*texts)
        failed = compiler.library.spProcessCommandLineArguments(request, table, len(texts)) < 0
        failed = failed or compiler.library.spCompile(request) < 0
        if failed:
            log = compiler.library.spGetDiagnosticOutput(request) or b""
            raise VerdigrisError(
                f"the Slang compiler failed: {log.decode(errors='replace').strip()}"
            )
        size = ctypes.c_size_t()
        code = compiler.library.spGetEntryPointCode(request, 0, ctypes.byref(size))
        return ctypes.string_at(code, size.value)
    finally:
        compiler.library.spDestroyCompileRequest(request)


def compiler_version() -> str:
    """Version of the compiler."""
    tag: bytes = _compiler().library.spGetBuildTagString()
    return tag.decode()


class _Compiler:
    def __init__(self, path: Path) -> None:
        self.library: Any = ctypes.CDLL(str(path))
        for name, result in (
            ("spCreateSession", ctypes.c_void_p),
            ("spCreateCompileRequest", ctypes.c_void_p),
            ("spGetEntryPointCode", ctypes.c_void_p),
            ("spGetDiagnosticOutput", ctypes.c_char_p),
            ("spGetBuildTagString", ctypes.c_char_p),
        ):
            getattr(self.library, name).restype = result

    @cached_property
    def session(self) -> ctypes.c_void_p:
        """Opened by the first compilation: it takes .3 s, and a version needs none."""
        return ctypes.c_void_p(self.library.spCreateSession(None))


@lru_cache(maxsize=1)
def _compiler() -> _Compiler:
    folder = Path(str(import_slangpy().__file__)).parent
    pattern = _NAMES.get(sys.platform, "libslang-compiler*")
    found = sorted(folder.glob(pattern))
    if not found:
        raise VerdigrisError(
            f"{folder}: {pattern} is missing: install the slangpy version of pyproject.toml"
        )
    return _Compiler(found[0])


@contextmanager
def working_ahead(jobs: Mapping[str, Callable[[], bytes]]) -> Iterator[None]:
    """Does these jobs in a thread, one after the other. At the end of the context, jobs that have
    not begun are dropped."""
    pool = ThreadPoolExecutor(1, "ahead")
    with _ahead_lock:
        mine = {key: pool.submit(job) for key, job in jobs.items() if key not in _begun}
        _begun.update(mine)
    try:
        yield
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        with _ahead_lock:
            for key in mine:
                _begun.pop(key, None)


def result_ahead(key: str) -> bytes | None:
    """The result of the job with this key, once it is ready; None if it has not begun or failed."""
    with _ahead_lock:
        found = _begun.pop(key, None)
    if found is None or found.cancel():
        return None
    return None if found.exception() else found.result()
