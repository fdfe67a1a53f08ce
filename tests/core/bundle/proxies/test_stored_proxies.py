"""Proxies in bundles and scene packs: written, read, verified, damaged, and missing."""

import json
import re
import shutil

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.manifest import VERSION
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.read import digest, open_bundle
from verdigris.core.bundle.proxies.make_proxies import check_albedo
from verdigris.core.bundle.proxies.proxy_texture import Proxies, decode_srgb, encode_srgb
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.scene_pack import open_scene
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.bundle.verify.verify import verify

from ...in_process import run_command
from ..bundles import SMALL, edit, lively_parameters, make_bundle, random_curves


def random_proxies(seed=0):
    """Of latents of 8 x 4 texels."""
    random = np.random.default_rng(seed)
    sizes = [(2, 4), (1, 2), (1, 1)]
    levels = [random.integers(0, 256, (5, *size, 4), np.uint8) for size in sizes]
    return Proxies(levels, 2, random_curves(random))


@pytest.fixture(scope="module")
def lit(tmp_path_factory):
    """A bundle with random proxies, so a large bound on their albedo."""
    folder = tmp_path_factory.mktemp("lit")
    return make_bundle(folder / "lit.vdg", proxies=random_proxies(), bounds=Bounds(albedo=1e6))


@pytest.fixture
def copy(lit, tmp_path):
    return shutil.copytree(lit.folder, tmp_path / "a.vdg")


def test_proxies_are_read_back_as_written(lit):
    found = lit.proxies()
    assert found.texels_a_proxy == 2
    np.testing.assert_array_equal(found.curves.table, random_proxies().curves.table)
    for wrote, read in zip(random_proxies().levels, found.levels, strict=True):
        np.testing.assert_array_equal(wrote, read)
    document = json.loads((lit.folder / "manifest.json").read_text())
    assert document["version"] == VERSION
    facts = document["proxies"]
    assert (facts["width"], facts["height"], facts["layers"]) == (4, 2, 5)
    assert facts["format"] == "R8G8B8A8_SRGB"
    assert document["cost"]["proxies_bytes"] == facts["bytes"]


def test_srgb_bytes_are_the_standards():
    # values of IEC 61966-2-1
    np.testing.assert_allclose(
        decode_srgb(np.array([10, 128, 188])), [0.003035, 0.21586, 0.50289], rtol=1e-4
    )
    every = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(encode_srgb(decode_srgb(every)), every)


WRONG = [
    ("width", 8, "proxies.levels is 3: it must be 4"),
    ("height", 4, "proxies.width is 4: width and height must be those of the latents divided by"),
    ("layers", 4, "proxies.layers is 4: it must be"),
    ("format", "R8G8B8A8_UNORM", "proxies.format is 'R8G8B8A8_UNORM': this reads R8G8B8A8_SRGB"),
    ("cosines", [1, 0.5, 0.2, 0.1], "proxies.cosines is [1, 0.5, 0.2, 0.1]: this reads"),
    ("curves", [[[1] * 4] * 31] * 3, "it must be finite numbers [3][32][4]"),
    ("file", "latents.ktx2", "names the same file"),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_a_wrong_field_of_proxies_is_refused(name, value, message, copy):
    edit(copy, lambda document: document["proxies"].update({name: value}))
    with pytest.raises(BundleError, match=re.escape(message)):
        open_bundle(copy)


def test_a_damaged_or_missing_file_is_refused(copy):
    path = copy / "proxies.ktx2"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"x")
    with pytest.raises(BundleError, match=r"proxies.ktx2: sha256 is"):
        open_bundle(copy).proxies()
    with pytest.raises(BundleError, match=r"proxies.ktx2: sha256 is"):
        open_bundle(copy).check_files()
    path.write_bytes(data[:-1])
    with pytest.raises(BundleError, match=r"proxies.ktx2: bytes are"):
        open_bundle(copy)
    path.unlink()
    with pytest.raises(BundleError, match=r"proxies.ktx2: there is no such file"):
        open_bundle(copy)


def test_a_texture_without_the_srgb_curve_is_refused(copy):
    path = copy / "proxies.ktx2"
    data = bytearray(path.read_bytes())
    # the transfer function in the data format descriptor, after header, three levels and 14 bytes
    at = 80 + 3 * 24 + 14
    assert data[at] == 2
    data[at] = 1
    path.write_bytes(data)
    facts = {"sha256": digest(bytes(data))}
    edit(copy, lambda document: document["proxies"].update(facts))
    with pytest.raises(BundleError, match="the data format descriptor"):
        open_bundle(copy).proxies()


def test_verify_compares_textures_with_the_reference(lit, copy):
    rows = {row.what: row for row in verify(lit).rows}
    for name in ("albedo", "diffuse", "normal", "roughness"):
        assert rows[f"{name} against the reference"].holds
    path = copy / "reference.json"
    document = json.loads(path.read_text())
    document["roughness"][7] += 0.01
    path.write_text(json.dumps(document))
    data = path.read_bytes()
    facts = {"bytes": len(data), "sha256": digest(data)}
    edit(copy, lambda document: document["reference"].update(facts))
    failed = [row.what for row in verify(open_bundle(copy)).rows if not row.holds]
    assert failed == ["roughness against the reference"]


def test_verify_finds_an_albedo_that_is_not_the_responses(lit, copy):
    error = check_albedo(lit.parameters(), lit.proxies())
    edit(copy, lambda document: document["bounds"].update(albedo=0.9 * error.median))
    failed = [row.what for row in verify(open_bundle(copy)).rows if not row.holds]
    assert failed == ["albedo against quadrature"]


def test_emission_and_opacity_have_reference_rows(tmp_path):
    bundle = make_bundle(
        tmp_path / "a.vdg",
        emission=[np.full((1, 1, 4), 3, np.float16)],
        opacity=[np.full((1, 1, 1), 51, np.uint8)],
    )
    reference = bundle.reference()
    np.testing.assert_array_equal(reference.emission, 3)
    np.testing.assert_allclose(reference.opacity, 0.2, atol=1e-6)
    rows = {row.what for row in verify(bundle).rows if row.holds}
    assert {"emission against the reference", "opacity against the reference"} <= rows


def test_a_bundle_of_version_4_1_has_no_proxies_and_says_so(bundle, tmp_path):
    folder = shutil.copytree(bundle.folder, tmp_path / "older.vdg")
    edit(folder, lambda document: document.update(version="4.1"))
    older = open_bundle(folder)
    assert older.proxies() is None and older.reference().albedo is None
    assert verify(older).holds
    code, out, _ = run_command(["inspect", str(folder)])
    assert code == 0 and "proxies   none: bake the material again" in out


def with_powers(document, powers, weights):
    del document["proxies"]["curves"]
    document["proxies"].update(powers=powers, weights=weights)


def test_the_powers_of_an_older_bundle_are_read_and_packed(lit, copy, tmp_path):
    powers, weights = (0, 2, 5, 10), np.random.default_rng(1).uniform(-1, 1, (4, 4)).round(6)
    edit(copy, lambda document: with_powers(document, [*powers], weights.tolist()))
    older = open_bundle(copy)
    cosine = np.array([0.8, 0.01])
    values = older.proxies().at(np.array([[0.3, 0.6], [0.1, 0.2]]), np.array([0.0, 5.0]))
    # as docs/WRITING.md has it
    m = np.maximum(cosine, 0.03)
    brackets = np.einsum("pk,nkc->npc", weights, values.albedos)
    wanted = sum((1 - m)[:, None] ** power * brackets[:, i] for i, power in enumerate(powers))
    np.testing.assert_allclose(values.albedo(cosine), np.clip(wanted, 0, 1), rtol=1e-12)
    packed = pack([older], tmp_path / "scene.vdg").folder / "manifest.json"
    facts = json.loads(packed.read_text())["materials"][0]["proxies"]
    assert (facts["powers"], facts["weights"]) == ([*powers], weights.tolist())


def test_powers_without_a_meaning_are_refused(copy):
    edit(copy, lambda document: with_powers(document, [0, 1, 2, -4], np.eye(4).tolist()))
    with pytest.raises(BundleError, match=r"powers is \[0, 1, 2, -4\]: they must be from 0 to 64"):
        open_bundle(copy)


def test_inspect_lists_proxies(lit):
    _, out, _ = run_command(["inspect", str(lit.folder)])
    assert "proxies   4 x 2, 3 levels" in out


def test_a_scene_pack_carries_proxies(lit, bundle, tmp_path):
    scene = pack([lit, bundle], tmp_path / "scene.vdg")
    data = (scene.folder / "lit.proxies.ktx2").read_bytes()
    assert data == (lit.folder / "proxies.ktx2").read_bytes()
    opened = open_scene(scene.folder)
    assert [bool(each.proxies) for each in opened.materials] == [True, False]
    proxies = opened.textures(opened.materials[0])[0]
    np.testing.assert_array_equal(proxies.levels[0], random_proxies().levels[0])
    rows = {row.what for row in verify_scene(opened).rows if row.holds}
    assert {"lit: albedo against the reference", "lit: albedo against quadrature"} <= rows
    (scene.folder / "lit.proxies.ktx2").write_bytes(b"x" + data[1:])
    with pytest.raises(BundleError, match=r"lit.proxies.ktx2: sha256"):
        verify_scene(open_scene(scene.folder))


def test_proxies_of_other_latents_are_not_written(tmp_path):
    curves = random_proxies().curves
    proxies = Proxies([np.zeros((5, 1, 1, 4), np.uint8)], 8, curves)
    tall = lively_parameters()
    assert (SMALL.width, SMALL.height) == (8, 4)
    assert make_bundle(tmp_path / "a.vdg", tall, proxies=proxies).proxies().texels_a_proxy == 8
    wrong = Proxies([np.zeros((5, 4, 4, 4), np.uint8)], 2, curves)
    with pytest.raises((BundleError, ValueError)):
        make_bundle(tmp_path / "b.vdg", tall, proxies=wrong)
    assert not (tmp_path / "b.vdg").exists()
