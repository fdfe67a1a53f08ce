"""Work that a thread does ahead of its need, beside a bake.

Only what releases Python's lock gains by it: the compiler of slang_compiler.py does. slangpy, which
compiles for a device, does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

_begun: dict[str, Future[bytes]] = {}
_lock = Lock()


@contextmanager
def working_ahead(jobs: Mapping[str, Callable[[], bytes]]) -> Iterator[None]:
    """Does these jobs, one after the other. At the end of the context the rest is left undone."""
    pool = ThreadPoolExecutor(1, "ahead")
    with _lock:
        mine = {key: pool.submit(job) for key, job in jobs.items() if key not in _begun}
        _begun.update(mine)
    try:
        yield
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        with _lock:
            for key in mine:
                _begun.pop(key, None)


def result_ahead(key: str) -> bytes | None:
    """The result of a job of this key, once it is there; None if it has not begun or has failed."""
    with _lock:
        found = _begun.pop(key, None)
    if found is None or found.cancel():
        return None
    return None if found.exception() else found.result()
