"""A rung: one form of a material, fitted on a mesh, and its answers to whatever fits, measures,
writes and shows it.

A rung is a subclass of `Rung` in a module of its own, and a line of `registry.py`. It overrides the
answers that differ from the defaults. Nobody asks which rung it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from verdigris.core.ladder.fitting.image_fit import BY_UNIQUE_UV
from verdigris.core.ladder.fitting.maps import CUTOFF, MASK, Coverage, Opacity
from verdigris.core.ladder.surface_shader.surface_shader import SurfaceShader, write_tiles
from verdigris.core.ladder.texels.displacement import DISPLACEMENT, Displacement
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.images import Blocks, RungImage, write_ktx, write_png
from verdigris.core.ladder.texels.tone_curve import CLAMP, ToneCurve

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.fitting.image_fit import Records
    from verdigris.core.ladder.ladder_settings import LadderSettings
    from verdigris.core.ladder.mesh.mesh_surface import Atlas
    from verdigris.core.ladder.views.scene import FitViews, Scene
    from verdigris.core.ladder.views.visibility import Seen
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher

    Draw = Callable[[Seen, int], NDArray[np.float32]]

AddTexture = Callable[[str, int], dict[str, int]]
"""Returns the texture of a glTF file for the name of an image and the number of a uv set."""
SHOWN = "shown"
"""The use of an image for viewers that know no tone curve: clipped light in sRGB, on the uv set of
light."""


@dataclass
class RungFits:
    """The data and settings with which the rungs of a ladder are fitted."""

    views: FitViews
    settings: LadderSettings
    records: Records | None
    """Pixels with their reference light; None if all rungs are lit."""
    find_bundle: Callable[[], Any] | None
    """Bakes or opens the bundle of the rung that is baked."""
    on_progress: Callable[[str, float], None] = lambda *_: None
    fitted: dict[str, Rung] = field(default_factory=dict)
    """The rungs that are fitted already, by name."""

    @property
    def is_software(self) -> bool:
        return self.views.scene.teacher.device.is_software

    def fit(self, kind: type[Rung]) -> Rung:
        """Fits a rung."""
        rung = kind.fit(self)
        self.fitted[kind.name] = rung
        return rung


@dataclass
class Written:
    """The files of a rung, and the numbers that a loader needs."""

    files: dict[str, str] = field(default_factory=dict)
    """File names by their use."""
    numbers: dict[str, Any] = field(default_factory=dict)
    shader: SurfaceShader | None = None
    """The surface shader that scenes show; None for stored light and for UDIM tiles."""
    shader_files: dict[str, str] = field(default_factory=dict)
    """File names by the inputs of the shader."""
    network: SurfaceShader | None = None
    """The shader for renderers that read MaterialX, if it has more than scenes show."""
    network_files: dict[str, str] = field(default_factory=dict)

    @property
    def has_alpha(self) -> bool:
        return "alpha_mode" in self.numbers


@dataclass(frozen=True)
class PreviewTexture:
    """A texture that feeds an input of a UsdPreviewSurface."""

    port: str
    file: str
    channel: str = "rgb"
    kind: str = "Color3f"
    is_srgb: bool = True
    is_on_light_set: bool = False
    scale: float | None = None
    bias: float = 0.0
    is_normal: bool = False
    """Whether values are from -1 to 1."""


@dataclass(frozen=True)
class Preview:
    """A UsdPreviewSurface. Without `lit` textures it is black and emits."""

    lit: tuple[PreviewTexture, ...] = ()
    opacity: PreviewTexture | None = None
    light: PreviewTexture | None = None
    """What it emits."""
    displacement: Displacement | None = None


@dataclass(frozen=True)
class VertexLight:
    """The light of vertices, (V, channels)."""

    stored: FloatArray
    light: FloatArray
    """Linear light, not clipped."""
    alpha: FloatArray | None
    """None if all vertices are opaque."""


@dataclass(frozen=True)
class Timing:
    """What time_rung.slang evaluates for a pixel of a rung."""

    entry: str
    maps: tuple[str, ...]
    """The uses of images, in the order of the shader."""
    kind: int = 0
    """The formula that shades a pixel, as image_model.slang numbers it."""
    curves: tuple[ToneCurve, ToneCurve] = (CLAMP, CLAMP)
    """The tone curves of light and of the map of mirrored light."""
    layers: int = 0
    """A bit for each layer of glTF."""


def _draw_nothing(seen: Seen, _: int) -> NDArray[np.float32]:
    return np.zeros((seen.count, 3), np.float32)


@dataclass(kw_only=True)
class Rung:
    """A fitted rung. Its defaults are those of a rung that stores nothing."""

    name: ClassVar[str]
    """Its name in files, in the command and in the file names of its images."""
    title: ClassVar[str]
    """Its name for people."""
    use: ClassVar[str] = ""
    """The device or the distance that it is made for, in two or three words."""
    stores: ClassVar[str]
    """What it stores, in the help of the command."""
    cost: ClassVar[str]
    """What an engine computes, in a few words."""
    snippet: ClassVar[str]
    """What an engine computes, as GLSL for the page."""
    is_lit: ClassVar[bool] = False
    """Whether an engine evaluates it for each light. Others store light, to which they are
    fitted."""
    is_baked: ClassVar[bool] = False
    """Whether it is a bundle, made by a bake."""
    is_fitted_last: ClassVar[bool] = False
    """Whether its fit may start with another rung, which is fitted before."""
    needs_unique_set: ClassVar[bool] = False
    """Whether each place needs texels of its own."""
    is_on_material_set: ClassVar[bool] = False
    """Whether it has textures on the uv set of the material, where UDIM tiles are an atlas."""
    opacity_place: ClassVar[int | None] = BY_UNIQUE_UV
    """Where it stores opacity: one of the `BY_` numbers. None if it has no map of its own."""
    has_bound: ClassVar[bool] = False
    """Whether the best texture of its size that looks the same from all directions is measured
    beside it."""
    lends_look: ClassVar[bool] = False
    """Whether viewers show it in place of a rung that `borrows_look`."""
    borrows_look: ClassVar[bool] = False
    tiled: ClassVar[tuple[str, ...]] = ()
    """Uses of images on the uv set of the material."""

    size: int = 0
    """Texels a side of its textures."""
    byte_size: int = 0
    seconds: float = 0.0
    draw: Draw = _draw_nothing
    """Exposed light (N, 3) at the pixels of a view, with so many directions of light."""
    opacity: Opacity | None = None
    blocks: dict[str, Blocks] = field(default_factory=dict)
    """Compressed images by their use; empty for textures of plain bytes."""
    notes: list[str] = field(default_factory=list)
    material: DeviceMaterial | None = None
    """What is evaluated for each light; None for stored light."""
    nanoseconds: float | None = None
    """Nanoseconds of one evaluation; None if it is not measured."""
    displacement: Displacement | None = None
    """What moves the mesh below textures of the material. Pictures of the rung do not show it."""

    @classmethod
    def compile(cls, teacher: Teacher) -> None:
        """Compiles the kernels of the fit, or finds them in the cache, before rungs are timed."""

    @classmethod
    def fit(cls, fits: RungFits) -> Rung:
        """Fits a rung to the views."""
        raise NotImplementedError

    @classmethod
    def describe_time(cls, nanoseconds: float) -> str:
        """The time of an evaluation, for people."""
        return f"{nanoseconds:.3f} ns {'for each light' if cls.is_lit else 'a pixel'}"

    def add_opacity(self, coverage: Coverage) -> None:
        """Stores the opacity of the material, and draws with it."""
        if self.opacity_place is None:
            return
        drawn = self.draw
        self.opacity = coverage.opacity(self.opacity_place, self.size)
        self.byte_size += self.opacity.grid.values.size

        def draw(seen: Seen, directions: int) -> NDArray[np.float32]:
            # read here, because blocks replace it
            assert self.opacity is not None
            shown = drawn(seen, directions) * self.opacity.at(seen)[:, None]
            return np.asarray(shown, np.float32)

        self.draw = draw

    def add_displacement(self, found: Displacement) -> None:
        """Moves the mesh below what is lit. Stored light is that of the mesh as it is."""
        if self.is_lit and self.is_on_material_set:
            self.displacement = found

    def add_maps(self, scene: Scene) -> None:
        """Adds maps of the mesh that pictures of the rung do not show."""

    def images(self) -> dict[str, RungImage]:
        """Its images by their use."""
        return {}

    def numbers(self) -> dict[str, Any]:
        """The numbers that a loader needs."""
        found = {} if self.displacement is None else {DISPLACEMENT: self.displacement.facts()}
        if self.opacity is None:
            return found
        cutoff = {"alpha_cutoff": CUTOFF} if self.opacity.mode == MASK else {}
        return {**found, "alpha_mode": self.opacity.mode, **cutoff}

    def with_alpha(self, pixels: FloatArray) -> FloatArray:
        """Colours with the rung's opacity as their fourth channel, if it has one."""
        if self.opacity is None:
            return pixels
        return np.concatenate([pixels, self.opacity.grid.image], -1)

    def compress(self) -> None:
        """Compresses the images to blocks and takes the decoded blocks as texels, so that pictures,
        errors and bytes are those of the files."""
        images = {use: each for use, each in self.images().items() if not each.is_for_viewers}
        if images:
            self.blocks = {use: each.encode() for use, each in images.items()}
            self.replace_texels({use: each.decode() for use, each in self.blocks.items()})
            self.byte_size = sum(each.blocks.size for each in self.blocks.values())

    def replace_texels(self, decoded: Mapping[str, FloatArray]) -> None:
        """Takes images, by their use, as its texels and its opacity."""

    def replace_opacity(self, image: FloatArray | None) -> None:
        """Takes the last channel of an image as its opacity, if it has both."""
        if self.opacity is not None and image is not None:
            before = self.opacity.grid
            alpha = image[..., -1:].reshape(-1, 1).copy()
            # other rungs with the same size share the grid
            self.opacity = replace(self.opacity, grid=Grid(before.width, before.height, alpha))

    def write_files(
        self, folder: Path, has_ktx: bool = True, atlas: Atlas | None = None
    ) -> Written:
        """Writes the images. UDIM tiles of an atlas are also written one by one."""
        images, written = self.images(), Written(numbers=self.numbers())
        if atlas is not None:
            for use in self.tiled:
                if use in images:
                    stem = f"{self.name}_{use}"
                    tiles = write_tiles(folder, stem, images[use].pixels, atlas)
                    written.numbers.setdefault("tiles", {})[stem] = tiles
        for use, image in images.items():
            name = f"{self.name}_{use}"
            write_png(folder / f"{name}.png", image.pixels)
            written.files[use] = f"{name}.png"
            if has_ktx:
                write_ktx(folder / f"{name}.ktx2", image, self.blocks.get(use))
                written.files[f"{use}.ktx2"] = f"{name}.ktx2"
        return written

    def bundle_beside(self, folder: Path) -> str:
        """The path of its bundle from the folder of the ladder; empty without a bundle."""
        return ""

    def with_bundle_in(self, folder: Path, baked: Path | None) -> Rung:
        """The rung when its bundle has moved from the folder `baked` into another one."""
        return self

    def facts(self, folder: Path) -> dict[str, Any]:
        """More entries for the report of a ladder in this folder."""
        return {}

    def vertex_light(self) -> VertexLight | None:
        """The light of vertices, if it stores some."""
        return None

    def write_viewport_textures(self, written: Written, folder: Path) -> dict[str, str]:
        """Writes the textures of the plug-ins' baked looks, which read one number a file. Returns
        file names by the kinds of the plug-ins."""
        return {}

    def gltf_shading(self, written: Written, add: AddTexture) -> dict[str, Any] | None:
        """The part of its glTF material that is the rung's own; None if glTF cannot show it.
        The uv sets for `add` are 0 for the material and 1 for light."""
        if SHOWN not in written.files:
            return None
        return unlit_gltf(add(written.files[SHOWN], 1))

    def preview(self, written: Written) -> Preview:
        """The UsdPreviewSurface that shows it."""
        file = written.files.get(SHOWN)
        if file is None:
            return Preview()
        alpha = PreviewTexture("opacity", file, "a", "Float", is_on_light_set=True)
        light = PreviewTexture("emissiveColor", file, is_on_light_set=True)
        return Preview((), alpha if written.has_alpha else None, light)

    def networks(self, written: Written, uv_sets: tuple[str, str]) -> dict[str, str]:
        """MaterialX documents for renderers that read them on USD stages, by the names of the
        variants that show them. `uv_sets` are those of the material and of light."""
        if written.network is not None:
            return {self.name: written.network.write(written.network_files)}
        if written.shader is None:
            return {}
        return {self.name: written.shader.write(written.shader_files)}

    def timing(self) -> Timing | None:
        """What is timed; None to time the evaluation of its material."""
        return None


def unlit_gltf(texture: dict[str, int] | None) -> dict[str, Any]:
    """The shading of a glTF material that shows a texture or the colours of vertices without
    lighting."""
    shading: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": 1.0}
    if texture is not None:
        shading["baseColorTexture"] = texture
    return {"pbrMetallicRoughness": shading, "extensions": {"KHR_materials_unlit": {}}}
