"""What a bake leaves behind: a bundle that says what it is, and holds."""

import hashlib
import os
import re
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.finish import heads, store
from verdigris.core.baking.finish.fit_sampler import SMALL
from verdigris.core.baking.finish.heads import final_samples
from verdigris.core.baking.finish.sampler_examples import Effort, draw_examples
from verdigris.core.baking.finish.store import encode_in_halves
from verdigris.core.baking.measure import sky
from verdigris.core.baking.measure.measure import draw_held_out, sphere_to_compare, texel_footprint
from verdigris.core.baking.measure.sky import SOFTWARE_PLAN, measure_sky
from verdigris.core.baking.phases import train
from verdigris.core.baking.state.outputs import bundle_paths
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError, VerdigrisError
from verdigris.core.base.lock import locked
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.half_floats import judge
from verdigris.core.bundle.proxies.make_proxies import check_albedo, make_proxies, numpy_respond_at
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.latents.block_lines import encode
from verdigris.core.network.latents.quantise import fit_range
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.metrics import measure_samples
from verdigris.core.settings.bake_settings import BakeSettings

from ...small_endings import FEW_PLACES, FEW_SHADERS
from .test_fit_sampler import density_of

TINY = BakeSettings(network="2x16", resolution=16, iterations=200, batch=512, seed=5)
TEXT = """<materialx version="1.39"><standard_surface name="s" type="surfaceshader">
<input name="base_color" type="color3" value="0.7, 0.3, 0.1"/>
<input name="specular_roughness" type="float" value="0.5"/>
<input name="emission" type="float" value="2"/>
<input name="emission_color" type="color3" value="1, 0.5, 0.25"/>
<input name="opacity" type="color3" value="0.6, 0.6, 0.6"/>
<input name="transmission" type="float" value="0.2"/>
<input name="transmission_dispersion" type="float" value="30"/></standard_surface>
<surfacematerial name="lamp" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "lamp.mtlx"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def lamp(source):
    return Teacher(load_document(source), device=open_device("software"))


@pytest.fixture(autouse=True)
def _small_endings(finished, small_endings):
    """The pictures of the bake that is shared have their size, as they are looked at."""


@pytest.fixture(scope="module")
def finished(lamp, source):
    with pytest.MonkeyPatch.context() as patch:
        # nobody looks at what its spheres say, nor at most shaders
        for module in (heads, train):
            patch.setattr(module, "sphere_to_compare", partial(sphere_to_compare, size=16))
        patch.setattr(runtime_files, "TARGETS", FEW_SHADERS)
        # as in the tests, which measure again
        patch.setattr(sky, "_PLACES_FOR_SHARES", FEW_PLACES)
        *_, event = bake([lamp], TINY, BakeOptions("lamp", source.parent))
    return event


def test_the_manifest_says_what_was_baked_and_with_what(finished, source):
    bundle = open_bundle(Path(finished.result))
    said = bundle.manifest.source
    assert (said["material"], said["seed"], said["step"]) == ("lamp", 5, 200)
    (file,) = said["files"]
    assert file == {"file": "lamp.mtlx", "sha256": hashlib.sha256(source.read_bytes()).hexdigest()}
    assert (said["document"], said["materialx"]) == ("lamp.mtlx", "1.39.5")
    settings = BakeSettings.from_json(said["settings"])
    assert replace(settings, draw=TINY.draw) == TINY
    report = bundle.manifest.report
    assert report["dropped"][0]["name"] == "dispersion"
    assert "transmission" in [each["name"] for each in report["kept"]]
    # no folder of the machine that baked
    assert str(source.parent) not in bundle.manifest.encode().decode()


def test_what_is_measured_are_the_numbers_in_the_files(finished, lamp):
    bundle = open_bundle(Path(finished.result))
    assert bundle.manifest.errors["samples"] == asdict(finished.samples[0])
    held_out = draw_held_out(
        lamp, final_samples(lamp.device), 0, texel_footprint(16), lamp.index_below
    )
    found = evaluate(bundle.spec, bundle.parameters(), held_out.uv, 0, held_out.wi, held_out.wo)
    again = measure_samples(np.asarray(found), held_out.response)
    for name, value in asdict(again).items():
        assert bundle.manifest.errors["samples"][name] == pytest.approx(value, rel=1e-4)
    assert bundle.manifest.errors["sky"] == asdict(finished.skies[0])
    student = BundleMaterial(bundle, lamp.device)
    again = measure_sky(lamp, student, 16, SOFTWARE_PLAN)
    assert asdict(again) == pytest.approx(bundle.manifest.errors["sky"], rel=1e-3)


def test_the_bundle_holds_against_its_source(finished, lamp):
    bundle = open_bundle(Path(finished.result))
    result = verify(bundle, teacher=lamp)
    assert result.holds
    told = [row.what for row in result.rows[4:]]
    below = [what for what in told if what.startswith("transmitted: ")]
    assert len(below) == 8
    assert "transmitted: reference against the graph now" in below
    assert [what for what in told if what not in below] == [
        "reference against the graph",
        "the graph now against then",
        "reference against the graph now",
        "density over the sphere against 1",
        *(
            f"{name} against the reference"
            for name in ("albedo", "diffuse", "normal", "roughness", "emission", "opacity")
        ),
        "albedo against quadrature",
        "emission against the graph now",
        "opacity against the graph now",
    ]


def test_heads_fitted_beside_blocks_draw_as_well(finished, lamp, tmp_path, monkeypatch):
    """As on a graphics card, from the latents before they are blocks."""
    monkeypatch.setattr(heads, "fits_heads_beside", lambda _run: True)
    # as many as the bake that is shared
    monkeypatch.setattr(heads, "effort_on", lambda *_: SMALL)
    *_, event = bake([lamp], TINY, BakeOptions("lamp", tmp_path))
    first, second = (open_bundle(Path(each.result)).parameters() for each in (finished, event))
    assert verify(open_bundle(Path(event.result))).holds
    examples = draw_examples(first, Student(first, lamp.device), Effort(96, 64, 1))
    mass = examples.mass * examples.response
    variances = [
        (mass / np.maximum(density_of(first.spec, each.head, examples), 1e-9)).sum(0)
        for each in (first, second)
    ]
    assert np.median(variances[1] / variances[0]) < 1.05


def test_a_level_that_two_processes_encode_has_the_same_blocks():
    random = np.random.default_rng(3)
    texels, squares = random.standard_normal((2, 128, 16, 8)).astype(np.float32)
    given = texels, fit_range(texels.reshape(-1, 8)), squares**2
    assert np.array_equal(encode_in_halves(*given), encode(*given))


def test_the_albedo_of_the_bundle_is_within_two_percent_of_quadrature(finished):
    bundle = open_bundle(Path(finished.result))
    assert {"albedo", "energy", "reciprocity"} <= set(bundle.manifest.errors)
    assert bundle.proxies() is not None
    # with more samples than such a short bake has
    parameters = bundle.parameters()
    made = make_proxies(parameters, numpy_respond_at(parameters), 60_000)
    assert check_albedo(parameters, made.proxies).median < 0.02


def test_the_bundle_asks_for_what_its_own_numbers_are_judged_to_need(finished):
    bundle = open_bundle(Path(finished.result))
    manifest = bundle.manifest
    assert manifest.arithmetic == judge(
        bundle.exact_parameters(), bundle.reference(), manifest.bounds
    )
    is_there = (bundle.folder / "runtime" / "cooperative.hlsl").is_file()
    assert is_there == (bundle.advised != "portable")


def test_a_bundle_that_half_floats_are_too_coarse_for_has_no_shader_with_them(
    lamp, tmp_path, monkeypatch
):
    """A bound that no half float keeps: as a bake judges a narrow highlight."""
    narrow = partial(Bounds, relative=1e-5)
    monkeypatch.setattr(store, "Bounds", narrow)
    quick = replace(TINY, iterations=20)
    events = list(bake([lamp], quick, BakeOptions("lamp", tmp_path)))
    (told,) = [each.text for each in events if "cooperative" in getattr(each, "text", "")]
    assert told.startswith("lamp: engines decode it in single precision")
    assert "at most 0.0008% is accepted" in told
    bundle = open_bundle(Path(events[-1].result))
    assert bundle.advised == "portable"
    names = {path.name for path in (bundle.folder / "runtime").iterdir()}
    assert "portable.hlsl" in names and not any("cooperative" in name for name in names)


def test_emission_and_opacity_are_beside_the_latents(finished, lamp):
    bundle = open_bundle(Path(finished.result))
    glow, cover = bundle.emission(), bundle.opacity()
    # the same everywhere: a block is enough
    assert [level.shape for level in glow] == [(4, 4, 4), (2, 2, 4), (1, 1, 4)]
    up = np.float32([[0, 0, 1]])
    wanted = lamp.unlit(np.float32([[0.5, 0.5]]), up)[0, :3]
    np.testing.assert_allclose(glow[0][3, 2, :3], wanted, rtol=5e-3)
    np.testing.assert_allclose(cover[2] / 255, 0.6, atol=0.51 / 255)


def test_the_preview_shows_three_squares(finished):
    import OpenImageIO as oiio

    picture = oiio.ImageBuf(str(Path(finished.result) / "preview.png"))
    pixels = np.asarray(picture.get_pixels("float"))
    height, width, _ = pixels.shape
    assert width == 3 * height
    reference, neural, heat = np.split(pixels, 3, axis=1)
    assert 0 < np.abs(reference - neural).mean() < 0.1
    assert np.abs(reference - heat).mean() > 0.1
    # 0.4 of the backdrop is seen through both, in sRGB a good half
    assert (reference > 0.6 * reference[:, :1]).all()
    assert (neural > 0.6 * neural[:, :1]).all()


def with_names(*names):
    return [SimpleNamespace(material=SimpleNamespace(file_name=name)) for name in names]


@pytest.mark.parametrize(
    ("name", "materials", "bundles"),
    [
        ("lamp", ["lamp"], ["lamp"]),
        ("other", ["lamp"], ["other"]),
        # of several, the first material's name is what stands when nobody chose one
        ("clay", ["clay", "pane"], ["clay", "pane"]),
        ("both", ["clay", "pane"], ["both-clay", "both-pane"]),
        ("clay", ["clay", "clay"], ["clay", "clay-2"]),
        ("clay", ["clay", "Clay"], ["clay", "Clay-2"]),
    ],
)
def test_every_material_has_a_folder_of_its_own(name, materials, bundles, tmp_path):
    paths = bundle_paths(BakeOptions(name, tmp_path), with_names(*materials))
    assert paths == tuple(tmp_path / f"{each}.vdg" for each in bundles)


def test_what_is_no_bundle_is_refused_before_any_work(lamp, tmp_path):
    (tmp_path / "lamp.vdg").mkdir()
    (tmp_path / "lamp.vdg" / "notes.txt").write_text("mine")
    with pytest.raises(
        VerdigrisError, match=re.escape("lamp.vdg: already exists and is not a bundle")
    ):
        next(bake([lamp], TINY, BakeOptions("lamp", tmp_path)))


def test_a_bundle_that_may_not_be_looked_into_is_refused_by_name(lamp, tmp_path, monkeypatch):
    (tmp_path / "lamp.vdg").mkdir()
    look = os.stat

    def denied(path, *arguments, **named):
        if Path(path).name == "manifest.json":
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, *arguments, **named)

    monkeypatch.setattr(os, "stat", denied)
    told = re.escape("lamp.vdg: already exists and cannot be read (Permission denied)")
    with pytest.raises(VerdigrisError, match=told):
        next(bake([lamp], TINY, BakeOptions("lamp", tmp_path)))


def test_a_bake_of_several_keeps_every_name_to_itself(lamp, tmp_path):
    with (
        locked(tmp_path, "both-lamp-2"),
        pytest.raises(SettingsError, match="'both-lamp-2' is being baked here by another"),
    ):
        next(bake([lamp, lamp], TINY, BakeOptions("both", tmp_path)))


def test_a_stranger_decodes_a_real_bake(finished):
    from ...bundle.files.independent_decoder import Material

    reference = open_bundle(Path(finished.result)).reference()
    columns = (getattr(reference, name).astype(float) for name in ("uv", "lod", "wi", "wo"))
    found = Material(finished.result).response(*columns)
    np.testing.assert_allclose(found, reference.exported, rtol=1e-3, atol=1e-7)
