"""One bake of a scene as data, for the process that runs it on this machine or another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verdigris.core.baking.state.checkpoint import state_path
from verdigris.core.batch.scene.entry import Source
from verdigris.core.bundle.files.manifest import SUFFIX


@dataclass(frozen=True)
class Member:
    """A material of the bake."""

    name: str
    """The name of its bundle."""
    source: Source
    """Its document."""
    material: str
    """Its name in the document."""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """The section `asked` of its manifest."""
    live: tuple[str, ...] = ()
    """Inputs that stay open, as `verdigris bake --live` takes them."""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "source": self.source.as_json(),
            "material": self.material,
            "asked": dict(self.asked),
            "live": list(self.live),
        }


@dataclass(frozen=True)
class Task:
    """A bake of one material, or of several that share a decoder."""

    name: str
    """The name of its checkpoint."""
    folder: Path
    """The folder of bundles and checkpoint."""
    members: tuple[Member, ...]
    """The materials."""
    settings: Mapping[str, Mapping[str, Any]]
    """A recipe for each trainer: the device decides which one is used."""
    importance: Path | None = None
    """An image of weights of places."""
    time_limit: float | None = None
    """Seconds for the training."""
    target_error: float | None = None
    """The log MAE at which training stops."""
    device: str = ""
    """As for `verdigris bake`; empty for the default."""
    checkpoint_seconds: float = 5.0
    """Seconds between two checkpoints."""
    target: str = ""
    """What training shall reach, as for `verdigris bake`."""
    preset: str = ""
    """The preset of the settings, for the manifest; empty for that of the device."""

    @property
    def bundles(self) -> tuple[Path, ...]:
        return tuple(self.folder / f"{member.name}{SUFFIX}" for member in self.members)

    @property
    def lock_names(self) -> set[str]:
        """The names of all locks of the bake."""
        members = (member.name for member in self.members)
        return {self.name, *members, *(path.name for path in self.bundles)}

    @property
    def checkpoint(self) -> Path:
        return state_path(self.folder, self.name)

    def on(self, device: str) -> Task:
        return replace(self, device=device)

    def absolute(self) -> Task:
        """The task with absolute paths."""
        return replace(
            self,
            folder=self.folder.absolute(),
            members=tuple(
                replace(member, source=member.source.absolute()) for member in self.members
            ),
            importance=self.importance.absolute() if self.importance else None,
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "folder": str(self.folder),
            "members": [member.as_json() for member in self.members],
            "settings": {kind: dict(values) for kind, values in self.settings.items()},
            "importance": str(self.importance) if self.importance else None,
            "time_limit": self.time_limit,
            "target_error": self.target_error,
            "device": self.device,
            "checkpoint_seconds": self.checkpoint_seconds,
            "target": self.target,
            "preset": self.preset,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Task:
        members = tuple(
            Member(
                each["name"],
                Source.from_json(each["source"]),
                each["material"],
                each["asked"],
                tuple(each.get("live", ())),
            )
            for each in values["members"]
        )
        importance = values["importance"]
        return cls(
            values["name"],
            Path(values["folder"]),
            members,
            values["settings"],
            Path(importance) if importance else None,
            values["time_limit"],
            values["target_error"],
            values["device"],
            values["checkpoint_seconds"],
            values.get("target", ""),
            values.get("preset", ""),
        )
