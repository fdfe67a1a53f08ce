"""Block-compressed textures of rungs: BC7 for colours and data, BC5 for two channels, BC4 for one.

A rung's stored values become those that its blocks hold, before it is measured: pictures, errors
and bytes are of what is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.rung import Opacity, Rung
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.blocks import decode_image, encode_image
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.pbr_model import PbrMaterial, PbrTextures
from verdigris.core.ladder.textures.texture_files import (
    ANISOTROPY,
    BASE_COLOUR,
    COAT,
    EMISSIVE,
    FOR_VIEWERS,
    NORMAL,
    OF_TWO,
    OPACITY,
    ORM,
    SHEEN,
    images_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]

# The grids of unlit models, by the use of their images.
_GRIDS = {
    "light": "texture", "share": "share", "mirror": "mirror", "detail": "detail",
    "colour": "colour",
}  # fmt: skip


def compress_rung(rung: Rung) -> None:
    """Replaces a rung's textures by what blocks hold of them; `blocks` has these."""
    images = {use: each for use, each in images_of(rung, {}).items() if use not in FOR_VIEWERS}
    if not images:
        return
    blocks = {
        use: encode_image(image, is_srgb, use in OF_TWO) for use, (image, is_srgb) in images.items()
    }
    decoded = {use: decode_image(each) for use, each in blocks.items()}
    if isinstance(rung.stored, PbrTextures):
        _replace_pbr(rung.stored, decoded)
        assert isinstance(rung.material, PbrMaterial)
        rung.material.show(rung.stored.grid, rung.stored.linear_emission)
    else:
        for use, name in _GRIDS.items():
            if use in decoded:
                _replace(getattr(rung.stored, name), decoded[use])
    opacity = rung.opacity
    if opacity is not None:
        alpha = next(
            each[..., -1:]
            for use, each in decoded.items()
            if use in (BASE_COLOUR, "light", OPACITY)
        )
        # other rungs of one size share the grid
        grid = Grid(opacity.grid.width, opacity.grid.height, alpha.reshape(-1, 1).copy())
        rung.opacity = Opacity(grid, opacity.mode)
    rung.blocks = blocks
    rung.byte_size = sum(each.blocks.size for each in blocks.values())


def _replace(grid: Grid, image: Floats) -> None:
    grid.values[:] = image[..., : grid.channels].reshape(grid.values.shape)


def _replace_pbr(textures: PbrTextures, decoded: Mapping[str, Floats]) -> None:
    image = textures.grid.image
    image[..., pbr_model.BASE] = decoded[BASE_COLOUR][..., :3]
    image[..., pbr_model.ROUGHNESS] = decoded[ORM][..., 1]
    image[..., pbr_model.METALNESS] = decoded[ORM][..., 2]
    image[..., pbr_model.NORMAL] = decoded[NORMAL]
    if textures.occlusion is not None:
        _replace(textures.occlusion, decoded[ORM])
    if COAT in decoded:
        image[..., [pbr_model.COAT, pbr_model.COAT_ROUGHNESS]] = decoded[COAT]
    if ANISOTROPY in decoded:
        image[..., pbr_model.STRETCH] = _stretch_of(decoded[ANISOTROPY])
    if SHEEN in decoded:
        image[..., pbr_model.SHEEN] = decoded[SHEEN][..., :3]
        image[..., pbr_model.SHEEN_ROUGHNESS] = decoded[SHEEN][..., 3]
    pbr_model.keep_in_range(textures.grid.values)
    if textures.emission is not None:
        _replace(textures.emission, decoded[EMISSIVE])


def _stretch_of(texture: Floats) -> Floats:
    """What a texture of KHR_materials_anisotropy stands for, as it is stored."""
    x, y = np.moveaxis(2 * texture[..., :2] - 1, -1, 0)
    angle, strength = np.arctan2(y, x), texture[..., 2] ** 2
    turn = np.stack([np.cos(2 * angle), np.sin(2 * angle)], -1)
    return np.asarray(0.5 + 0.5 * strength[..., None] * turn)
