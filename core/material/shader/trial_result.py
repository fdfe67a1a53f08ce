"""The trial of a shader before real work: whether it ends, and which values are not finite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.shader.compile_process import COMPILE_PROCESS

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.material.files.paths import SearchPath

# The largest share of values that are not finite, or below 0. They count as 0.
MOST_WRONG = 0.01


@dataclass(frozen=True)
class ShaderTrial:
    """What a trial of a shader found."""

    evaluations: int = 0
    not_finite: int = 0
    negative: int = 0
    place: str = ""
    """The first place and the directions with such a value, in words."""

    @property
    def fault(self) -> str:
        """What is wrong, in words; empty if all values are finite and not negative."""
        for count, what in ((self.not_finite, "not finite"), (self.negative, "negative")):
            if count:
                share = f"{count:,} of {self.evaluations:,}"
                return f"{share} responses are {what}, first at {self.place}"
        return ""


def try_shader(
    question: Mapping[str, Any], name: str, search: SearchPath, device: Device
) -> ShaderTrial:
    """Evaluates a shader in a process of its own: first one group of threads, which ends within
    seconds or never. Refuses a shader with many values that are not finite. `question` has the
    document's `text`, the path of its `material`, what is `live`, and changed `inputs`."""
    answer = COMPILE_PROCESS.ask(
        {
            **question,
            "ask": "try",
            "name": name,
            "search": [str(folder) for folder in search.folders],
            "confined": search.confined,
            "device": "software" if device.is_software else device.backend,
        },
        name,
    )
    found = ShaderTrial(**answer)
    if max(found.not_finite, found.negative) > MOST_WRONG * found.evaluations:
        raise DocumentError(
            f"{name}: {found.fault}: guard divisions, roots and powers with max(x, 1e-6)"
        )
    return found
