"""What an application offers Verdigris: materials, meshes, a brush, and a place for the result.

Maya, Houdini and plain files each have an adapter of this form; the panel and the batch programs
know no other way into a scene. What goes through it is text and arrays, never objects of a scene.
A host is used from the application's main thread. What cannot be done is a VerdigrisError that says
what to do, and leaves the scene as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WEIGHT_SET = "verdigris_weights"
"""What painted weights are called in a scene, unless the artist chooses another name."""

NORMAL_WEIGHT = 1.0
"""The weight of what nobody painted."""


BASE_COLOR, ROUGHNESS, METALNESS, NORMAL_MAP = "base_color", "roughness", "metalness", "normal"
"""What flattened textures hold: colours in sRGB, numbers, numbers, directions as in OpenGL."""

EMISSION, OPACITY = "emission", "opacity"
"""What they also hold of materials that glow or have holes: colours in sRGB, numbers."""

VIEWPORT_SUFFIX = "_verdigris"
"""Ends the names of materials that are made of flattened textures; they are not baked."""


@dataclass(frozen=True)
class HostMaterial:
    """A material of a scene."""

    key: str
    """Says which it is, as long as the scene is open and the material keeps its name."""

    name: str
    """What the artist knows it by."""

    source: str
    """Where its MaterialX comes from, in words: `LookdevX stack`, `USD stage`, `file`."""


@dataclass(frozen=True)
class HostDocument:
    """A material as MaterialX text."""

    name: str
    """What messages call the document."""

    text: str
    """The document."""

    material: str
    """The material's name in the document."""

    search: tuple[Path, ...] = ()
    """Folders that its files resolve against and may lie in."""

    notes: tuple[str, ...] = ()
    """What was mended or left out on the way."""


@dataclass(frozen=True)
class HostMesh:
    """Triangles by corner, as `core.pictures.mesh.Mesh` has them, with what was painted."""

    name: str
    position: Floats
    """(T, 3, 3), in the scene's space, turned so that y is up."""

    normal: Floats
    """(T, 3, 3)"""

    uv: Floats
    """(T, 3, 2)"""

    weights: Floats | None = None
    """(T, 3): how much each corner matters; 1 is normal. None where nothing was painted."""

    notes: tuple[str, ...] = ()
    """What was left out, such as faces that have another material."""


@dataclass(frozen=True)
class BakedResult:
    """What a bake made, to be tied to its material."""

    bundle: Path
    """The bundle's folder, or the result's file."""

    textures: Mapping[str, Path] = field(default_factory=dict)
    """Flattened textures by what they hold, for a viewport; none unless they were asked for."""


@runtime_checkable
class Host(Protocol):
    """An application with a scene open."""

    @property
    def name(self) -> str:
        """What the application is called, with its version."""

    @property
    def can_paint(self) -> bool:
        """Whether it has a brush of its own."""

    @property
    def manual(self) -> Path:
        """The page that tells an artist how it works here."""

    def start_selftest(self, report: Path) -> None:
        """Walks through every call of this adapter in an application of its own; the report will be
        in the file."""

    def scene_file(self) -> Path | None:
        """Where the scene is saved; None for one that never was."""

    def scene_warnings(self) -> tuple[str, ...]:
        """What keeps parts of the scene from being seen, such as a reference that is not loaded,
        and what to do about it."""

    def open_scene(self, path: Path) -> None:
        """Opens another scene."""

    def save_scene(self) -> None:
        """Writes the scene to its file, with the results that were noted in it."""

    def materials(self) -> tuple[HostMaterial, ...]:
        """Every material that has MaterialX, or can be had as MaterialX."""

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        """Those that are selected, or are on what is selected."""

    def identity(self, material: HostMaterial) -> str:
        """What tells a material from all others, those of its key in another scene, too. It stays
        the same when the scene is saved under another name and, where the application knows as
        much, when the material is called otherwise."""

    def document(self, material: HostMaterial) -> HostDocument:
        """A material as MaterialX."""

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        """The meshes that have a material, or part of one; what is selected comes first."""

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        """A mesh, or of one with several materials the faces of this one."""

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        """The names of what could be painted weights of a mesh."""

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        """Makes a weight set of ones where there is none yet, and starts the brush on it."""

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        """Notes a result at its material, in one step of undo."""

    def attached(self, material: HostMaterial) -> Path | None:
        """The result that is noted at a material."""
