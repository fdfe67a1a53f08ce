"""A fake graphics card of limited memory, which counts allocated buffers."""

import weakref
from types import SimpleNamespace


class FiniteGpu:
    """The part of slangpy.Device that core/baking/measure/memory.py uses."""

    def __init__(self, capacity):
        self.capacity, self.used, self.most, self.largest = capacity, 0, 0, 0
        self._to_free = 0
        self.info = SimpleNamespace(limits=SimpleNamespace(min_wave_size=32))

    def has_feature(self, feature):
        assert feature.name in ("cooperative_matrix", "half"), feature
        return True

    def create_buffer(self, *, size, usage, label):
        assert size > 0 and usage and label
        if self.used + size > self.capacity:
            raise RuntimeError("createBuffer failed with error: -2147467259 (SLANG_FAIL)")
        self.used += size
        self.most, self.largest = max(self.most, self.used), max(self.largest, size)
        buffer = SimpleBuffer()
        weakref.finalize(buffer, self._release, size)
        return buffer

    def _release(self, size):
        self._to_free += size

    def wait_for_idle(self):
        """Frees released buffers."""
        self.used -= self._to_free
        self._to_free = 0


class SimpleBuffer:
    """A buffer without contents."""

    __slots__ = ("__weakref__",)
