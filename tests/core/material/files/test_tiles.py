"""Images of tiles, such as UDIM: each tile in its square, and refusals."""

import numpy as np
import pytest

from verdigris.core.base.errors import TextureError

from ..images import COUNT, bilinear, look
from ..surfaces import write_image


def tiled_image_case(folder, names):
    """Tiles at (0, 0), (1, 0) of another size, and (1, 1); (0, 1) has no file."""
    random = np.random.default_rng(12)
    tiles = {cell: random.random((8, 8, 3)).astype(np.float32) for cell in ((0, 0), (1, 1))}
    tiles[1, 0] = np.full((4, 4, 3), [0.3, 0.6, 0.9], np.float32)
    for cell, texels in tiles.items():
        write_image(folder / names[cell], texels)
    return tiles


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("t.<UDIM>.exr", {(0, 0): "t.1001.exr", (1, 0): "t.1002.exr", (1, 1): "t.1012.exr"}),
        ("t_<UVTILE>.exr", {(0, 0): "t_u1_v1.exr", (1, 0): "t_u2_v1.exr", (1, 1): "t_u2_v2.exr"}),
    ],
)
def test_each_tile_lies_in_its_square_and_elsewhere_is_the_default(tmp_path, pattern, names):
    tiles = tiled_image_case(tmp_path, names)
    uv = np.random.default_rng(13).uniform(-0.5, 2.5, (COUNT, 2)).astype(np.float32)
    default = [0.1, 0.9, 0.3]
    got = look(
        tmp_path,
        uv,
        pattern.replace("<", "&lt;").replace(">", "&gt;"),
        default=("color3", "0.1,0.9,0.3"),
    )
    cells = np.floor(uv).astype(int)
    expected = np.tile(np.float64(default), (COUNT, 1))
    for cell, texels in tiles.items():
        inside = (cells == cell).all(1)
        expected[inside] = bilinear(texels, uv[inside] - cell, "clamp")
    np.testing.assert_allclose(got, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "texels"), [(np.float32, [0.3, 4.0, 900.0]), (np.uint16, [1.0, 0.2718, 0.001])]
)
def test_a_tile_of_another_depth_keeps_its_values(tmp_path, kind, texels):
    whole = 65535 if kind is np.uint16 else 1
    write_image(tmp_path / "t.1001.tif", np.full((8, 8, 3), 51, np.uint8))
    write_image(tmp_path / "t.1002.tif", np.full((4, 4, 3), np.multiply(texels, whole), kind))
    got = look(tmp_path, [[0.5, 0.5], [1.5, 0.5]], "t.&lt;UDIM&gt;.tif")
    np.testing.assert_allclose(got, [[0.2] * 3, texels], rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["<UDIM>/t.png", "<UDIM>\\t.png", "<UDIM>/t.<UDIM>.<UDIM>.png"])
def test_a_token_that_is_not_in_the_files_name_once_is_refused(tmp_path, name):
    escaped = name.replace("<", "&lt;").replace(">", "&gt;")
    with pytest.raises(TextureError, match=r"texels.*<UDIM> must occur once, in the file name"):
        look(tmp_path, [[0.5, 0.5]], escaped)


def test_the_far_edge_of_a_tiled_image_belongs_to_it(tmp_path):
    write_image(tmp_path / "t.1001.png", np.full((4, 4, 3), 255, np.uint8))
    got = look(tmp_path, [[1.0, 1.0], [0.0, 1.0], [1.0, 0.5]], "t.&lt;UDIM&gt;.png")
    np.testing.assert_allclose(got, 1.0)
