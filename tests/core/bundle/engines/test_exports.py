"""What every export to an engine refuses, and what the files of all have in common."""

import json
import re
from dataclasses import replace

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.engines.container import make_container
from verdigris.core.bundle.engines.export_engine import ENGINES, TEMPLATES, export_engine, templates
from verdigris.core.bundle.files.ktx2 import RGBA16F
from verdigris.core.bundle.proxies.proxy_texture import Proxies
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.material.domain import Tiles
from verdigris.core.network.parameters import TransmittedSide

from ...geometry.reliefs import bumpy_heights
from ...in_process import run_command
from ..bundles import lively_parameters, make_bundle, random_curves
from .engine_bundles import SPECS, make_exported, open_container


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return make_exported(tmp_path_factory.mktemp("any"), SPECS["small"])[0]


def test_exports_of_a_leaf_have_both_sides_and_others_say_that_they_have_one(tmp_path):
    parameters = lively_parameters(SPECS["small"])
    parameters.transmitted = TransmittedSide(parameters.decoder, 1.0, parameters.head)
    texels = [np.full((5, 1, 1, 4), 99, np.uint8)]
    proxies = Proxies(texels, 8, random_curves())
    # without a transmitted albedo, as older bundles
    leaf = make_bundle(tmp_path / "leaf.vdg", parameters, proxies=proxies)
    for target in ENGINES:
        code, _, errors = run_command(["export", leaf.folder, "-t", target])
        assert (code, errors) == (0, "")
        names = {path.name for path in (tmp_path / f"leaf_{target}").rglob("*")}
        assert names & {"transmitted.bin", "T_leaf_transmitted.png", "leaf.verdigris"}
    code, _, errors = run_command(["export", leaf.folder, "-t", "rtxns-json"])
    assert code == 0 and "what is written for rtxns-json has reflected light only" in errors


def test_bundles_without_what_engines_need_are_refused_with_the_remedy(bundle, tmp_path):
    plain = make_bundle(tmp_path / "plain.vdg", lively_parameters())
    for target in ("godot", "unity", "unreal"):
        with pytest.raises(BundleError, match=r"has no proxies, .*: bake it again"):
            export_engine(plain, target, tmp_path / "a")
    halves = make_bundle(tmp_path / "halves.vdg", lively_parameters(), RGBA16F)
    with pytest.raises(BundleError, match="latent_format=bc7 or rgba8"):
        export_engine(halves, "unreal", tmp_path / "a")
    tiles = Tiles(first=(1, 0), side=2)
    tiled = replace(bundle, manifest=replace(bundle.manifest, tiles=tiles))
    with pytest.raises(BundleError, match="has UDIM tiles, which Unreal Engine cannot show"):
        export_engine(tiled, "unreal", tmp_path / "a")
    facts, _ = open_container(make_container(tiled, None)[0])
    # tile 1002 is the left half: u = 1.5 is its middle
    assert [1.5 * facts["tiling"][0] + facts["tiling"][2], *facts["tiling"][1::2]] == [0.25, 0.5, 0]


def test_containers_of_equal_bundles_are_equal(bundle):
    assert make_container(bundle, None)[0] == make_container(bundle, None)[0]


@pytest.mark.parametrize("target", list(ENGINES))
def test_no_word_of_a_template_is_left(target, bundle, tmp_path):
    written = export_engine(bundle, target, tmp_path / "a")
    assert len(written) > len(templates(target)) and all(path.is_file() for path in written)
    for path in written:
        if path.suffix not in (".png", ".verdigris", ".ktx2", ".bin"):
            assert not re.search(r"@[A-Z][A-Z0-9_]+@", path.read_text()), path
        assert "@" not in path.name
    assert (TEMPLATES / target).is_dir()


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("godot", "bumps_height"),
        ("unity", "Assets/bumps_height"),
        ("unreal", "Plugins/Verdigris/Resources/bumps/bumps_height"),
    ],
)
def test_the_height_map_is_written_for_engines_that_tessellate(target, place, tmp_path):
    bundle, exported = make_exported(tmp_path, SPECS["small"])
    heights, proxies = make_height_map(bumpy_heights()), bundle.proxies()
    raised = make_bundle(tmp_path / "bumps.vdg", exported, proxies=proxies, relief=heights)
    code, _, errors = run_command(["export", raised.folder, "-t", target, "-o", tmp_path / "a"])
    assert (code, errors) == (0, "")
    facts = json.loads((tmp_path / "a" / f"{place}.json").read_text())
    image = oiio.ImageBuf(str(tmp_path / "a" / f"{place}.png"))
    assert (image.spec().nchannels, str(image.spec().format)) == (1, "uint16")
    # the first row of a picture is at v = 1
    values = image.get_pixels(oiio.FLOAT)[::-1, :, 0]
    world = facts["scale"] * (values - facts["midlevel"])
    np.testing.assert_allclose(world, bumpy_heights(), atol=1e-5)
