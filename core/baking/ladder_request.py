"""What the command and the panel request of a ladder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.outputs import check_no_bundle
from verdigris.core.ladder.rungs.neural import NeuralRung
from verdigris.core.ladder.rungs.registry import require_rungs
from verdigris.core.settings.bake_settings import BC7_FORMAT

if TYPE_CHECKING:
    from verdigris.core.ladder.rungs.rung import Rung


@dataclass(frozen=True)
class LadderRequest:
    """What a ladder is made of, and where it goes."""

    folder: Path
    rungs: tuple[str, ...]
    """Names, once each, from the dearest to the cheapest."""
    size: int = 256
    """Texels a side of textures."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of LadderSettings."""
    uv_set: str | None = None
    """The uv set of textures of the material; None is the mesh's first."""
    preset: str = ""
    """The preset with which the neural rung is baked; empty for the device's own."""
    bundle: Path | None = None
    """The bundle of the neural rung; None to bake one."""
    has_ktx: bool = True
    """Whether KTX 2.0 files are written, too."""

    @property
    def kinds(self) -> list[type[Rung]]:
        return require_rungs(self.rungs)

    @property
    def has_baked(self) -> bool:
        """Whether one of the rungs is a bundle."""
        return any(kind.is_baked for kind in self.kinds)

    def __post_init__(self) -> None:
        names = tuple(kind.name for kind in require_rungs(self.rungs))
        object.__setattr__(self, "rungs", names)
        check_no_bundle(self.folder)
        if self.bundle is not None and not self.has_baked:
            raise SettingsError(
                f"the bundle {self.bundle} is given for the rung {NeuralRung.name!r}, but the "
                f"rungs are {', '.join(names)}: name it among them"
            )
        if self.changes.get("texture_format") == BC7_FORMAT and not self.has_ktx:
            raise SettingsError(
                "texture_format is 'bc7' without KTX 2.0 files, which hold the blocks: "
                "write them, too"
            )
