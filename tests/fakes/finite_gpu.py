"""A graphics card with so much memory, as far as allocating buffers goes: strict, and it counts."""

import weakref
from types import SimpleNamespace


class FiniteGpu:
    """What core/baking/measure/memory.py needs of slangpy.Device, and nothing else."""

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
        weakref.finalize(buffer, self._let_go, size)
        return buffer

    def _let_go(self, size):
        self._to_free += size

    def wait_for_idle(self):
        """Until then, what was let go of is still taken."""
        self.used -= self._to_free
        self._to_free = 0


class SimpleBuffer:
    """Has nothing that a trial may touch."""

    __slots__ = ("__weakref__",)
