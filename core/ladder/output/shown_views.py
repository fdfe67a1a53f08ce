"""Pictures of views for people: over a grey background, and bright enough to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.picture_files import with_shoulder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.ladder import Ladder

    Floats = NDArray[np.float32]

# Behind the mesh, in linear light: dark materials stand out, and bright ones do, too.
_BEHIND = 0.12
# Dark materials are shown brighter, so that this part of their light is bright.
_BRIGHT_PERCENTILE, _BRIGHT, _MOST_BRIGHTER = 90, 0.5, 8.0


class ShownViews:
    """Those views of a ladder of which it keeps pictures, all equally bright."""

    def __init__(self, ladder: Ladder) -> None:
        held_out = ladder.held_out
        count = min((len(each.pictures) for each in ladder.measured.values()), default=0)
        self._covers = held_out.covers[:count, ..., None]
        self.references = list(held_out.pictures[:count])
        lit = np.concatenate(
            [picture[cover[..., 0] > 0.5].max(1)
             for picture, cover in zip(self.references, self._covers, strict=True)]
        )  # fmt: skip
        bright = float(np.percentile(lit, _BRIGHT_PERCENTILE)) if len(lit) else _BRIGHT
        self.brighter = float(np.clip(_BRIGHT / max(bright, 1e-6), 1, _MOST_BRIGHTER))

    def shown(self, pictures: Sequence[Floats]) -> list[Floats]:
        return [
            with_shoulder(picture * self.brighter + (1 - cover) * _BEHIND)
            for picture, cover in zip(pictures, self._covers, strict=False)
        ]

    @property
    def clearest(self) -> int:
        """The number of the view that shows most of the material: large and lit."""
        shown = [np.minimum(each * self.brighter, 1).sum() for each in self.references]
        return int(np.argmax(shown))
