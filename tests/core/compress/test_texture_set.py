"""Which channels of which images make a set, and their mip levels."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.errors import TextureError
from verdigris.core.compress.compressed_set import level_sizes
from verdigris.core.compress.texture_set import find_textures, load_set, resized
from verdigris.core.material.load.mtlx_document import load_document

from .images import DOCUMENT, waves, write


def numbers(path):
    """As the file has them, row 0 at v = 0."""
    return oiio.ImageBuf(str(path)).get_pixels(oiio.FLOAT)[::-1]


def test_images_become_channels_that_say_what_they_are_for(document, folder):
    found = load_set(document, find_textures(document, document.require_material()))
    by_name = {each.name: each for each in found.textures}
    assert {name: each.reaches for name, each in by_name.items()} == {
        "color": ("base_color",),
        "masks": ("specular_roughness",),
        "height_map": ("base_metalness",),
        "direction": ("base_metalness",),
    }
    assert by_name["color"].is_srgb
    assert not by_name["masks"].is_srgb
    assert len(by_name["height_map"].channels) == 1
    constant = by_name["masks"].channels[2]
    assert (constant.output, constant.offset) == (None, pytest.approx(0.25, abs=1 / 255))
    assert found.levels[0].shape == (32, 32, 9)
    height = by_name["height_map"].channels[0]
    stored = found.levels[0][..., height.output]
    assert (stored.min(), stored.max()) == (0, 1)
    np.testing.assert_allclose(
        height.offset + height.scale * stored, numbers(folder / "height.exr")[..., 0], atol=1e-5
    )
    np.testing.assert_allclose(
        found.levels[0][..., by_name["color"].outputs], numbers(folder / "color.png"), atol=1e-6
    )


def test_means_of_colours_are_means_of_light(document, folder):
    found = load_set(document, find_textures(document, document.require_material(), ["color"]))
    assert [each.shape[:2] for each in found.levels] == [(32 >> i, 32 >> i) for i in range(6)]
    stored = numbers(folder / "color.png")
    linear = np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)
    mean = linear.mean((0, 1))
    # the transfer function of IEC 61966-2-1
    wanted = np.where(mean <= 0.0031308, 12.92 * mean, 1.055 * mean ** (1 / 2.4) - 0.055)
    np.testing.assert_allclose(found.levels[-1][0, 0], wanted, atol=1e-4)


def test_resizing_keeps_means_and_constants():
    texels = np.random.default_rng(1).random((24, 16, 2)).astype("f4")
    for size in ((12, 16), (7, 5), (31, 40)):
        found = resized(texels, *size)
        assert found.shape == (*size, 2)
        np.testing.assert_allclose(found.mean((0, 1)), texels.mean((0, 1)), atol=0.03)
        np.testing.assert_allclose(resized(0 * texels + 0.3, *size), 0.3, rtol=1e-5)
    means = texels.reshape(12, 2, 8, 2, 2).mean((1, 3))
    np.testing.assert_allclose(resized(texels, 12, 8), means, rtol=1e-5)
    assert level_sizes(12, 5) == [(12, 5), (6, 2), (3, 1), (1, 1)]


def test_what_cannot_be_compressed_is_refused(document, tmp_path):
    material = document.require_material()
    with pytest.raises(TextureError, match="named 'rust': it has color, masks, height_map"):
        find_textures(document, material, ["rust"])
    (tmp_path / "wall.mtlx").write_text(DOCUMENT)
    with pytest.raises(TextureError, match=r"color\.png"):
        other = load_document(tmp_path / "wall.mtlx")
        find_textures(other, other.require_material())
    for name in ("color", "masks", "direction"):
        write(tmp_path / f"{name}.png", np.full((4, 4, 3), 0.5))
    write(tmp_path / "height.exr", np.full((4, 4, 1), 3.0), "float")
    other = load_document(tmp_path / "wall.mtlx")
    with pytest.raises(TextureError, match="the same everywhere"):
        load_set(other, find_textures(other, other.require_material()))
    many = "".join(
        f'<image name="i{each}" type="color4"><input name="file" type="filename" '
        f'value="i{each}.png" colorspace="srgb_texture" /></image>'
        for each in range(5)
    )
    ports = "".join(
        f'<input name="{name}" type="color3" nodename="i{each}" channels="rgb" />'
        for each, name in enumerate(
            ("base_color", "specular_color", "coat_color", "fuzz_color", "emission_color")
        )
    )
    for each in range(5):
        write(tmp_path / f"i{each}.png", waves(4, 4, 4, each))
    (tmp_path / "many.mtlx").write_text(
        f'<?xml version="1.0"?><materialx version="1.39">{many}'
        f'<open_pbr_surface name="s" type="surfaceshader">{ports}</open_pbr_surface></materialx>'
    )
    other = load_document(tmp_path / "many.mtlx")
    found = find_textures(other, other.require_material())
    with pytest.raises(TextureError, match=r"20 channels that vary, .* 16: choose some with --tex"):
        load_set(other, found)
