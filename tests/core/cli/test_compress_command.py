"""`verdigris compress` as its user meets it, and its folder in `verify` and `inspect`."""

import json

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.compress import compress as compressing
from verdigris.core.compress.compressor import Effort

from ..in_process import run_command

EXAMPLE = "examples/glazed_tile.mtlx"
SMALL = (compressing, "QUICK", Effort(16, 1, 512, 30))
VISITS = (compressing, "_VISITS", {30: 1})


def compress(*arguments):
    device = ("--size", "32", "--device", "software")
    return run_command(["compress", EXAMPLE, *device, *arguments], SMALL, VISITS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("of") / "it"


@pytest.fixture(scope="module")
def written(folder):
    folder.mkdir()
    path = folder / "tile.vdt"
    limits = ("--target", "60", "--bytes", "1500")
    code, out, err = compress("-o", path, "--picture", folder / "tile.png", *limits)
    assert code == 0, err
    return path, out, err


def test_a_set_is_written_and_described(written):
    path, out, err = written
    assert out.startswith(f"{path}: 3 images with 9 channels, 32 x 32\n")
    assert "with mip levels, as BC7 and BC4 4.2 KB" in out
    assert "color" in out and "normal_texture" in out
    assert "no size within 1500 reaches 60 dB: the best has" in err
    loaded = sum((path / f).stat().st_size for f in ("fine.ktx2", "coarse.ktx2", "weights.bin"))
    # beside the heads of two KTX files
    assert loaded < 1500 + 2 * 600
    picture = oiio.ImageBuf(str(path.with_name("tile.png"))).get_pixels(oiio.FLOAT)
    assert picture.shape == (96, 96, 3)
    # beside each other: the original, what is decoded, and four times their difference
    original, decoded, difference = np.split(picture, 3, 1)
    np.testing.assert_allclose(
        np.clip(4 * np.abs(original - decoded), 0, 1), difference, atol=8 / 255
    )


def test_verify_and_inspect_take_a_set(written):
    path, _, _ = written
    code, out, err = run_command(["verify", path, "--device", "software"])
    assert (code, err) == (0, "")
    assert "all agree" in out
    code, out, err = run_command(["verify", path, "--source", EXAMPLE])
    assert code == 1
    assert "is a compressed set of textures: leave out --source" in err
    code, out, _ = run_command(["inspect", path])
    assert code == 0
    assert "glazed_tile_color.jpg, for base_color" in out
    code, out, _ = run_command(["inspect", path, "--json"])
    assert json.loads(out)["format"] == "verdigris.textures"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--target", "70"), 2, "70.0 is not in the range 10.0 to 60.0"),
        (("--bytes", "big"), 2, "'big' is not a size"),
        (("--bytes", "90"), 1, "90 bytes are too few"),
        (("--texture", "rust"), 1, "named 'rust': it has color, masks, normal_texture"),
        (("--picture", "tile.bmp"), 1, "pictures are written as"),
        (("-o", "nowhere/tile.vdt"), 1, "nowhere"),
        (("-o", "docs"), 1, "is not a compressed set of textures: move it away"),
    ],
)
def test_what_is_wrong_is_reported_before_any_work(arguments, code, message):
    found, out, err = compress(*arguments)
    assert (found, out) == (code, "")
    assert message in err


def test_no_set_lands_in_another(written):
    path, _, _ = written
    found, _, err = compress("-o", path / "inside.vdt")
    assert found == 1
    assert "lies in the bundle" in err
