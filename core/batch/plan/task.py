"""One bake of a scene, as it is handed to the process that does it: on this machine or another."""

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
    """Of its bundle."""
    source: Source
    """Its document."""
    material: str
    """Its name there."""
    asked: Mapping[str, Any] = field(default_factory=dict)
    """What the bundle says of how it was asked for."""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "source": self.source.as_json(),
            "material": self.material,
            "asked": dict(self.asked),
        }


@dataclass(frozen=True)
class Task:
    """A bake: one material, or several that share a decoder."""

    name: str
    """Of its checkpoint."""
    folder: Path
    """Where bundles and checkpoint go."""
    members: tuple[Member, ...]
    """What is baked."""
    settings: Mapping[str, Mapping[str, Any]]
    """By trainer: which one it will be is known once the device is open."""
    importance: Path | None = None
    """An image of how much each place matters."""
    time_limit: float | None = None
    """Seconds that the training is fitted into."""
    target_error: float | None = None
    """Stop at this log-space error."""
    device: str = ""
    """As of `verdigris bake`; empty for the machine's own choice."""
    checkpoint_seconds: float = 5.0
    """How often the state is written."""

    @property
    def bundles(self) -> tuple[Path, ...]:
        return tuple(self.folder / f"{member.name}{SUFFIX}" for member in self.members)

    @property
    def lock_names(self) -> set[str]:
        """What the bake holds locks of, from its beginning and while it writes bundles."""
        members = (member.name for member in self.members)
        return {self.name, *members, *(path.name for path in self.bundles)}

    @property
    def checkpoint(self) -> Path:
        return state_path(self.folder, self.name)

    def on(self, device: str) -> Task:
        return replace(self, device=device)

    def absolute(self) -> Task:
        """The task with whole paths."""
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
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Task:
        members = tuple(
            Member(each["name"], Source.from_json(each["source"]), each["material"], each["asked"])
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
        )
