"""Parts of measurements that depend on the teacher alone: computed once, in any thread."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial

T = TypeVar("T")

_lock = RLock()
_found: WeakKeyDictionary[DeviceMaterial, dict[Hashable, Any]] = WeakKeyDictionary()


def once(teacher: DeviceMaterial, key: Hashable, compute: Callable[[], T]) -> T:
    """The result of the first call with this key, kept as long as the teacher. A thread that needs
    what another one computes waits for it."""
    with _lock:
        found = _found.setdefault(teacher, {})
        if key not in found:
            found[key] = compute()
        return cast(T, found[key])
