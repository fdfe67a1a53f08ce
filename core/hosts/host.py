"""The interface of hosts: materials, meshes, a brush, and results.

Maya, Houdini, Blender and plain files have an adapter each. The panel and the batch programs access
scenes only through it, by text and arrays, never by objects of a scene. Calls come from the
application's main thread. A call that fails raises a VerdigrisError with the remedy, and does not
change the scene.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats


WEIGHT_SET = "verdigris_weights"
"""The default name of painted weights in a scene."""

NORMAL_WEIGHT = 1.0
"""The weight of places that nobody painted."""

LARGEST_WEIGHT = 8.0
"""The largest weight that can be painted."""

BRUSH_WEIGHT = 4.0
"""The weight of a new brush."""

BRUSH_WEIGHTS = (0.0, 0.5, NORMAL_WEIGHT, 2.0, BRUSH_WEIGHT, LARGEST_WEIGHT)
"""Weights that applications offer for their own brush."""

BASE_COLOR, ROUGHNESS, METALNESS, NORMAL_MAP = "base_color", "roughness", "metalness", "normal"
"""Flattened textures: colours in sRGB, numbers, numbers, OpenGL normals."""

EMISSION, OPACITY = "emission", "opacity"
"""Flattened textures of materials with emission or opacity: colours in sRGB, numbers."""

VIEWPORT_SUFFIX = "_verdigris"
"""Suffix of materials that are made from flattened textures, which are not baked."""


def log_beside(file: Path) -> Path:
    """The log of a program that writes its summary or its report to a file."""
    return file.with_suffix(".log")


@dataclass(frozen=True)
class HostMaterial:
    """A material of a scene."""

    key: str
    """Identifies the material as long as the scene is open and its name is the same."""

    name: str
    """The name for people."""

    source: str
    """Where its MaterialX comes from, for people: `LookdevX stack`, `USD stage`, `file`."""

    problem: str = field(default="", compare=False)
    """Why it cannot be baked, if the list of materials shows that without reading it: the shader of
    a renderer that nobody translates. `document` raises the same."""


@dataclass(frozen=True)
class HostDocument:
    """A material as MaterialX text."""

    name: str
    """The document's name in messages."""

    text: str
    """The MaterialX text."""

    material: str
    """The material's name in the document."""

    search: tuple[Path, ...] = ()
    """Folders for relative file names."""

    notes: tuple[str, ...] = ()
    """What was repaired or left out."""

    confined: bool = False
    """Whether files outside of the search folders are refused."""

    live: tuple[str, ...] = ()
    """Inputs that the scene keeps open in a bake, as texts of `bake --live`."""

    convertible: tuple[str, ...] = ()
    """Textures of the scene that were left out, and that the application can convert to files."""


@dataclass(frozen=True)
class HostMesh:
    """Triangles by corner, as in `core.geometry.mesh.Mesh`, with painted weights."""

    name: str
    position: Floats
    """(T, 3, 3), in the scene's space with y up. In metres, like heights of the scene's materials,
    but for meshes of USD stages, which keep the stage's unit."""

    normal: Floats
    """(T, 3, 3)"""

    uv: Floats
    """(T, 3, 2)"""

    weights: Floats | None = None
    """(T, 3): weights of corners; 1 is normal. None if nothing was painted."""

    notes: tuple[str, ...] = ()
    """What was left out, such as faces of other materials."""


@dataclass(frozen=True)
class BakedResult:
    """A result of a bake, to attach to its material."""

    bundle: Path
    """The bundle's folder, or the result's file."""

    textures: Mapping[str, Path] = field(default_factory=dict)
    """Flattened textures by kind, for viewports; empty if there are none."""


@dataclass(frozen=True)
class ShaderTexture:
    """A texture that feeds an input of a surface shader: low + (high - low) x texel."""

    file: Path
    is_colour: bool
    """In sRGB."""
    is_direction: bool
    """A normal in tangent space."""
    low: float = 0.0
    high: float = 1.0


@dataclass(frozen=True)
class ShaderLook:
    """A surface shader of MaterialX with textures and numbers, by the names of its inputs."""

    category: str
    values: Mapping[str, float | bool | tuple[float, ...]] = field(default_factory=dict)
    """The values of all inputs without a texture. Colours are linear."""
    textures: Mapping[str, ShaderTexture] = field(default_factory=dict)
    uv_set: str = ""
    """The uv set of the textures, if the mesh has a set of this name."""
    has_bounces: bool = True
    """Whether highlights gain the light of several bounces. Fits of glTF textures do not know
    it."""


# The rim of the octahedral map of mirrored light, where a filter would read the other side.
MIRROR_RIM = 0.01


@dataclass(frozen=True)
class StoredLight:
    """Light in textures of linear bytes, as shaders of docs/LADDER.md read them."""

    files: Mapping[str, Path]
    """The textures by use: `light` or `colour`, then `share` and `mirror`, or `detail` and
    `opacity`."""

    curve: tuple[float, float, float]
    """The numbers a, b and c of the tone curve of `light` or `colour`."""

    mirror_curve: tuple[float, float, float] | None = None

    uv_set: str = ""
    """The uv set of the light, if the mesh has a set of this name."""

    uv_set_of_detail: str = ""
    """The uv set of `detail` and `opacity`, if the mesh has a set of this name."""

    detail_scale: float = 1.0
    """The factor of the square of `detail`."""

    shown: Path | None = None
    """`light` or `colour` in sRGB, clipped, for hosts that manage the colours of files."""

    shown_scale: float = 1.0
    """The light that is stored as 1 in `shown`."""


@dataclass(frozen=True)
class RungLook:
    """A rung of a ladder as a scene shows it: a surface shader, light in textures, or light of
    vertices."""

    name: str
    """The name of what is made from it in the scene."""

    title: str

    below_pixels: int | None = None
    """The height on the screen below which the rung suffices. None for the first rung, and for a
    rung that suffices nowhere."""

    light: StoredLight | None = None

    vertices: Path | None = None
    """Arrays of `numpy.savez`: `position` (V, 3) in the scene's space with y up, and `colour`
    (V, 4), linear light and opacity."""

    has_alpha: bool = False
    """Whether the alpha of `light`, or `opacity`, makes holes."""

    shader: ShaderLook | None = None
    """The surface shader, which not every host has."""

    @property
    def is_material(self) -> bool:
        """Whether the material itself shows it, as with the neural rung."""
        return self.light is None and self.vertices is None and self.shader is None


@dataclass(frozen=True)
class LadderLook:
    """A ladder, to attach to the meshes of a material."""

    name: str
    rungs: tuple[RungLook, ...]
    """The rungs, the most expensive first."""

    stage: Path | None = None
    """The mesh with all rungs as variants, in USD."""

    result: BakedResult | None = None
    """What is also noted at the material, in the same undo step."""


@runtime_checkable
class ShowsRungs(Protocol):
    """A host that shows the rungs of a ladder in its scene."""

    def attach_rungs(self, material: HostMaterial, ladder: LadderLook) -> str:
        """Makes levels of detail from the meshes of a material, as one undo step. They replace
        levels that were made before. Returns what was made, as a sentence."""


@runtime_checkable
class StopsPainting(Protocol):
    """A host that displays painted weights until the caller ends the painting."""

    def stop_painting(self) -> None:
        """Ends the brush and displays the materials again."""


@runtime_checkable
class MakesTextures(Protocol):
    """A host that can bake nodes of a material to images: those that have no equal in MaterialX."""

    def make_textures(self, material: HostMaterial) -> str:
        """Bakes the `convertible` nodes of its document to images and connects these in their
        place, as one undo step. Returns what was made, as a sentence."""


@runtime_checkable
class Host(Protocol):
    """An application with an open scene."""

    @property
    def name(self) -> str:
        """The name and version of the application."""

    @property
    def can_paint(self) -> bool:
        """Whether it has a brush of its own."""

    @property
    def manual(self) -> Path:
        """The manual page for artists."""

    @property
    def export_steps(self) -> tuple[str, ...]:
        """How an artist writes a material into a MaterialX file by hand, a sentence for each step.
        Empty if the scene is such a file."""

    def start_selftest(self, report: Path) -> None:
        """Starts a test of all calls of this adapter in another instance; it writes its report to
        the file, and its output to a log beside it."""

    def scene_file(self) -> Path | None:
        """The file of the scene; None for a scene that was never saved."""

    def scene_warnings(self) -> tuple[str, ...]:
        """Why parts of the scene are missing, such as an unloaded reference, with the remedy."""

    def open_scene(self, path: Path) -> None:
        """Opens another scene."""

    def save_scene(self) -> None:
        """Saves the scene, with attached results."""

    def materials(self) -> tuple[HostMaterial, ...]:
        """All materials, also those that cannot be baked, with their `problem`."""

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        """The materials that are selected, or assigned to selected objects."""

    def identity(self, material: HostMaterial) -> str:
        """A key that differs from those of all other materials, also in other scenes. It stays the
        same when the scene is saved under another name and, if the application can tell, when the
        material is renamed."""

    def document(self, material: HostMaterial) -> HostDocument:
        """A material as MaterialX."""

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        """The meshes of a material, selected ones first."""

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        """A mesh. With a material, only the faces to which it is assigned."""

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        """The names of attributes of a mesh that can be painted weights."""

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        """Creates a weight set of ones if there is none, and starts the brush on it."""

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        """Attaches a result to its material, as one undo step."""

    def attached(self, material: HostMaterial) -> Path | None:
        """The result that is attached to a material."""


@dataclass(frozen=True)
class Application:
    """An application whose scenes its own interpreter bakes."""

    name: str
    interpreter: str
    """Its Python interpreter, which runs the launchers."""
    suffixes: tuple[str, ...]
    """The suffixes of its scene files."""
    plugin: str
    """The folder of its plug-in."""
    module: str
    """A Python module that only its interpreter has."""


APPLICATIONS = (
    Application("Maya", "mayapy", (".ma", ".mb"), "maya", "maya"),
    Application("Houdini", "hython", (".hip", ".hiplc", ".hipnc"), "houdini", "hou"),
)


def find_application(scene: Path) -> Application | None:
    """The application of a scene file, by its suffix."""
    suffix = scene.suffix.lower()
    return next((each for each in APPLICATIONS if suffix in each.suffixes), None)
