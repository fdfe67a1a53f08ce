"""One bake of a scene as data, for a process on this machine or another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.state.checkpoint import state_path
from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import Fields
from verdigris.core.batch.scene.entry import Source
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.material.live_inputs.live_input import WantedInput, parse_all_wanted


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
    live: tuple[WantedInput, ...] = ()
    """Inputs that stay open."""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "source": self.source.as_json(),
            "material": self.material,
            "asked": dict(self.asked),
            "live": list(map(str, self.live)),
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
    request: BakeRequest = field(default_factory=BakeRequest)
    """How to bake them."""
    device: str = ""
    """As for `verdigris bake`; empty for the default."""

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
            request=self.request.absolute(),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "folder": str(self.folder),
            "members": [member.as_json() for member in self.members],
            "request": self.request.as_json(),
            "device": self.device,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Task:
        members = tuple(
            Member(
                each["name"],
                Source.from_json(each["source"]),
                each["material"],
                each["asked"],
                parse_all_wanted(each.get("live", ())),
            )
            for each in values["members"]
        )
        request = Fields(values["name"], "request", values["request"], SceneError)
        return cls(
            values["name"],
            Path(values["folder"]),
            members,
            BakeRequest.from_json(request),
            values["device"],
        )
