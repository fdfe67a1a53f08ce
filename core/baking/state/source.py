"""What a bake learns from, as one number."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    from numpy.typing import NDArray


def source_digest(teachers: Sequence[Teacher], importance: NDArray[Any] | None) -> str:
    """Tells whether two bakes learn from the same thing."""
    digest = hashlib.sha256()
    for teacher in teachers:
        digest.update(teacher.generated.digest.encode())
        digest.update(teacher.texture_digest().encode())
    if importance is not None:
        digest.update(str(importance.shape).encode())
        digest.update(np.ascontiguousarray(importance, np.float32).tobytes())
    return digest.hexdigest()
