"""Writes the textures of rungs as PNG and KTX 2.0, with the numbers that a loader needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.outputs import write_file
from verdigris.core.bundle.files.ktx2 import RGBA8, RGBA8_SRGB, write_ktx2
from verdigris.core.flatten.flat_model import LARGEST_SLANT
from verdigris.core.hosts.ladder_looks import COLOUR_SHOWN, SHOWN_SCALE
from verdigris.core.ladder.rung import CUTOFF, MASK, Rung
from verdigris.core.ladder.surface_shader.from_pbr import surface_of_pbr
from verdigris.core.ladder.surface_shader.surface_rung import ShaderTextures
from verdigris.core.ladder.surface_shader.surface_shader import (
    DOCUMENT,
    SurfaceShader,
    write_images,
    write_surface,
)
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.blocks import Blocks, ktx_of_blocks
from verdigris.core.ladder.texels.grid import quantise
from verdigris.core.ladder.texels.pbr_model import PbrTextures
from verdigris.core.ladder.unlit.unlit_models import (
    DETAIL_SCALE,
    DetailAndColour,
    OneTexture,
    VertexColours,
    WithReflection,
)
from verdigris.core.pictures.picture_files import srgb_from_linear, write_data
from verdigris.core.settings.rung_names import DETAIL, SURFACE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.mesh.mesh_surface import Atlas

    Floats = NDArray[np.floating]

BASE_COLOUR, ORM, NORMAL, EMISSIVE, COAT = "base_color", "orm", "normal", "emissive", "coat"
ANISOTROPY, SHEEN, OPACITY = "anisotropy", "sheen", "opacity"
# On the first uv set.
_TILED = (BASE_COLOUR, ORM, NORMAL, EMISSIVE, COAT, ANISOTROPY, SHEEN, OPACITY, "detail")
# What a surface shader reads of glTF's textures as they are.
_SHARED = {"base_color": BASE_COLOUR, "normal": NORMAL, "emission_color": EMISSIVE}
# The first two channels hold all of these.
OF_TWO = (NORMAL, COAT)
# What viewers of glTF show, which know no tone curve.
SHOWN = "shown"
FOR_VIEWERS = (SHOWN, COLOUR_SHOWN)
# Light above this is clipped: bytes in sRGB would show steps in the dark.
_LARGEST_SHOWN = 4.0


@dataclass
class Written:
    """The files of a rung, and what its loader must know."""

    files: dict[str, str] = field(default_factory=dict)
    """File names by their use."""
    numbers: dict[str, Any] = field(default_factory=dict)
    shader: SurfaceShader | None = None
    """What scenes show of a rung that is lit. None for UDIM tiles."""
    shader_files: dict[str, str] = field(default_factory=dict)
    """File names by its inputs."""


def write_textures(
    rung: Rung, folder: Path, has_ktx: bool = True, atlas: Atlas | None = None
) -> Written:
    """Writes the textures of a rung into a folder. Row 0 of the images is at the top, v = 1."""
    written = Written()
    stored = rung.stored
    if isinstance(stored, ShaderTextures):
        written.files = write_surface(stored.shader, stored.grid, folder, atlas)
        if atlas is None:
            files = {use: file for use, file in written.files.items() if use != DOCUMENT}
            written.shader, written.shader_files = stored.shader, files
        return written
    images = images_of(rung, written.numbers)
    for use in _TILED if atlas else ():
        if use in images:
            _write_tiles(images[use][0], folder, f"{rung.name}_{use}", atlas, written)
    for use, (image, is_srgb) in images.items():
        name = f"{rung.name}_{use}"
        write_data(folder / f"{name}.png", np.ascontiguousarray(image[::-1], np.float32))
        written.files[use] = f"{name}.png"
        if has_ktx:
            write_file(folder / f"{name}.ktx2", _ktx(image, is_srgb, rung.blocks.get(use)))
            written.files[f"{use}.ktx2"] = f"{name}.ktx2"
    if isinstance(stored, PbrTextures) and atlas is None:
        opacity = None if rung.opacity is None else rung.opacity.grid.values
        written.shader, grid = surface_of_pbr(stored, opacity, rung.name)
        there = {port: written.files[use] for port, use in _SHARED.items() if use in written.files}
        stem = f"{rung.name}_{SURFACE}"
        written.shader_files = write_images(written.shader, grid, folder, stem, there=there)
    return written


def _write_tiles(
    image: Floats, folder: Path, stem: str, atlas: Atlas | None, written: Written
) -> None:
    """Writes each UDIM tile as a file of its own, beside the atlas."""
    assert atlas is not None
    for number, (left, bottom, side) in atlas.parts(len(image)).items():
        tile = image[bottom : bottom + side, left : left + side]
        write_data(folder / f"{stem}.{number}.png", np.ascontiguousarray(tile[::-1], np.float32))
    written.numbers.setdefault("tiles", {})[stem] = f"{stem}.<UDIM>.png"


def images_of(rung: Rung, numbers: dict[str, Any]) -> dict[str, tuple[Floats, bool]]:
    """By use: values (height, width, channels) from 0 to 1, row 0 at v = 0, and whether they are in
    sRGB."""
    opacity, model = rung.opacity, rung.stored
    if opacity is not None:
        numbers["alpha_mode"] = opacity.mode
        if opacity.mode == MASK:
            numbers["alpha_cutoff"] = CUTOFF
    if isinstance(model, PbrTextures):
        return _pbr_images(model, rung, numbers)
    found: dict[str, tuple[Floats, bool]] = {}
    if isinstance(model, OneTexture):
        numbers["curve"] = model.curve.as_json()
        found["light"] = model.texture.image, False
        found[SHOWN] = with_alpha(shown_texture(model), rung), True
    elif isinstance(model, WithReflection):
        numbers["curve"] = model.curve.as_json()
        numbers["mirror_curve"] = model.mirror_curve.as_json()
        found["light"] = model.texture.image, False
        found["share"] = model.share.image, False
        found["mirror"] = model.mirror.image, False
        found[SHOWN] = with_alpha(shown_texture(model), rung), True
    elif isinstance(model, DetailAndColour):
        numbers["curve"] = model.curve.as_json()
        numbers["detail_scale"] = DETAIL_SCALE
        found["detail"] = model.detail.image, False
        found["colour"] = model.colour.image, False
        light = model.curve.to_light(model.colour.image)
        # the colours of detail in sRGB, divided by this number
        numbers[SHOWN_SCALE] = round(float(np.clip(light.max(), 1, _LARGEST_SHOWN)), 4)
        found[COLOUR_SHOWN] = quantise(srgb_from_linear(light / numbers[SHOWN_SCALE])), True
    elif isinstance(model, VertexColours):
        numbers["curve"] = model.curve.as_json()
    if opacity is not None and "light" in found:
        found["light"] = with_alpha(found["light"][0], rung), False
    if opacity is not None and rung.name == DETAIL:
        found[OPACITY] = opacity.grid.image, False
    return found


def with_alpha(image: Floats, rung: Rung) -> Floats:
    """Colours with the rung's opacity as their fourth channel, if it has one."""
    if rung.opacity is None:
        return image
    return np.concatenate([image, rung.opacity.grid.image], -1)


def _pbr_images(
    textures: PbrTextures, rung: Rung, numbers: dict[str, Any]
) -> dict[str, tuple[Floats, bool]]:
    image = textures.grid.image
    slant = 2 * image[..., pbr_model.NORMAL] - 1
    up = np.sqrt(1 - np.minimum((slant**2).sum(-1), LARGEST_SLANT**2))
    normal = np.concatenate([image[..., pbr_model.NORMAL], 0.5 + 0.5 * up[..., None]], -1)
    white = np.ones_like(image[..., :1])
    open_part = white if textures.occlusion is None else textures.occlusion.image
    lit = image[..., [pbr_model.ROUGHNESS, pbr_model.METALNESS]]
    found = {
        BASE_COLOUR: (with_alpha(image[..., pbr_model.BASE], rung), True),
        ORM: (np.concatenate([open_part, lit], -1), False),
        NORMAL: (normal, False),
    }
    if "coat" in textures.layers:
        coat = image[..., [pbr_model.COAT, pbr_model.COAT_ROUGHNESS]]
        found[COAT] = np.concatenate([coat, 0 * white], -1), False
    if "anisotropy" in textures.layers:
        found[ANISOTROPY] = anisotropy_texture(image[..., pbr_model.STRETCH]), False
    if "sheen" in textures.layers:
        sheen = [image[..., pbr_model.SHEEN], image[..., pbr_model.SHEEN_ROUGHNESS, None]]
        found[SHEEN] = np.concatenate(sheen, -1), True
    if textures.emission is not None:
        found[EMISSIVE] = textures.emission.image, True
        numbers["emissive_strength"] = textures.strength
    return found


def anisotropy_texture(stored: Floats) -> Floats:
    """KHR_materials_anisotropy: the direction in two channels, and the strength."""
    stretch = 2 * stored - 1
    angle = 0.5 * np.arctan2(stretch[..., 1], stretch[..., 0])
    strength = np.sqrt(np.sqrt((stretch**2).sum(-1)))
    direction = 0.5 + 0.5 * np.stack([np.cos(angle), np.sin(angle)], -1)
    return np.concatenate([direction, strength[..., None]], -1)


def shown_texture(model: OneTexture | WithReflection) -> Floats:
    """The light of a texture as sRGB, clipped at 1, for viewers that know no tone curve."""
    return quantise(srgb_from_linear(model.curve.to_light(model.texture.image)))


def rgba_bytes(image: Floats) -> NDArray[np.uint8]:
    """Four channels of bytes; one channel is a grey."""
    height, width, channels = image.shape
    texels = np.full((height, width, 4), 255, np.uint8)
    texels[..., :channels] = np.rint(image * 255).astype(np.uint8)
    if channels == 1:
        texels[..., 1:3] = texels[..., :1]
    return texels


def _ktx(image: Floats, is_srgb: bool, blocks: Blocks | None) -> bytes:
    if blocks is not None:
        smaller = [level / np.float32(255) for level in _mip_levels(image)[1:]]
        return ktx_of_blocks(blocks, smaller, _writer())
    return write_ktx2(RGBA8_SRGB if is_srgb else RGBA8, _mip_levels(image), _writer())


def _mip_levels(image: Floats) -> list[NDArray[np.uint8]]:
    levels = [rgba_bytes(image)]
    while max(levels[-1].shape[:2]) > 1:
        levels.append(_halved(levels[-1]))
    return levels


def _writer() -> str:
    from verdigris.core.bundle.files.write import version

    return f"Verdigris {version()}"


def _halved(texels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    rows, columns = max(1, len(texels) // 2), max(1, texels.shape[1] // 2)
    even = texels[: max(1, rows * 2), : max(1, columns * 2)]
    high, wide = even.shape[0] // rows, even.shape[1] // columns
    blocks = even[: rows * high, : columns * wide].reshape(rows, high, columns, wide, 4)
    return np.asarray(blocks.astype(np.float32).mean((1, 3)) + 0.5, np.uint8)
