"""The size of the latent texture: the search alone, smaller textures, and bakes that choose."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import bake
from verdigris.core.baking.measure.bundle_size import bundle_bytes
from verdigris.core.baking.phases import choose_size
from verdigris.core.baking.phases.choose_size import as_visible
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.baking.state.sizes import (
    Size,
    search_size,
    shrunk,
    shrunk_state,
    with_fewer_latents,
)
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.reference import exported_response, make_reference
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import CheckpointError, initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec, block_bytes
from verdigris.core.progress import Finished, SizeChosen, Step
from verdigris.core.settings.bake_settings import SizeSettings

from ...bundle.bundles import lively_parameters
from ..bakes import TINY, assert_same, baked, chalk_teacher, cut_off, of_kind, run, stop_at

# Eight dark stripes along v, all the same.
STRIPES = """<materialx version="1.39"><texcoord name="uv" type="vector2"/>
<separate2 name="part" type="multioutput">
<input name="in" type="vector2" nodename="uv"/></separate2>
<multiply name="turns" type="float"><input name="in1" type="float" nodename="part" output="outx"/>
<input name="in2" type="float" value="50.26548"/></multiply>
<sin name="wave" type="float"><input name="in" type="float" nodename="turns"/></sin>
<multiply name="soft" type="float"><input name="in1" type="float" nodename="wave"/>
<input name="in2" type="float" value="0.4"/></multiply>
<add name="grey" type="float"><input name="in1" type="float" nodename="soft"/>
<input name="in2" type="float" value="0.5"/></add>
<convert name="colour" type="color3"><input name="in" type="float" nodename="grey"/></convert>
<oren_nayar_diffuse_bsdf name="b" type="BSDF">
<input name="color" type="color3" nodename="colour"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="b"/></surface>
<surfacematerial name="stripes" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
SETTINGS = replace(TINY, resolution=32, iterations=150, batch=256, size=SizeSettings(tolerance=0.5))


@pytest.fixture(scope="module")
def stripes():
    return Teacher(parse_document(STRIPES, name="stripes"), device=open_device("software"))


@pytest.fixture(scope="module")
def chosen(stripes, tmp_path_factory):
    """A bake that chooses: its folder, and its events."""
    folder = tmp_path_factory.mktemp("chosen")
    return folder, run([stripes], folder, SETTINGS)


def search(error, fits=lambda size: True, tolerance=0.1, gives_way=False):
    """The choice for errors that are a function of the size, and the sizes that were tried."""
    sizes, tried = search_size(Size(64, 64), (8, 4), fits, tolerance, gives_way), []
    try:
        size = next(sizes)
        while True:
            tried.append(size)
            size = sizes.send(error(size))
    except StopIteration as end:
        return end.value, tried


def test_the_search_finds_the_smallest_size_within_the_target():
    # detail along u only, down to 32 texels
    choice, tried = search(lambda size: (0.001 + 0.1 * max(0, 1 / size[0] - 1 / 32),))
    assert choice.size == Size(32, 4) and choice.target == pytest.approx(0.00105)
    assert len(tried) == len(set(tried)) and Size(16, 16) in tried
    # all of it is needed: three sizes were tried beside the largest
    choice, tried = search(lambda size: (0.1 / size[0] + 0.1 / size[1],))
    assert choice.size == Size(64, 64) and set(tried) == {
        Size(*each) for each in ((64, 64), (32, 32), (32, 64), (64, 32))
    }
    # no eye sees any of it
    choice, _ = search(lambda size: (1e-5 / min(size),))
    assert choice.size == Size(4, 4)


def test_the_search_heeds_the_material_that_needs_most():
    flat, wide = (lambda size: 0.001), (lambda size: 0.001 + 0.1 / size[1])
    choice, _ = search(lambda size: (flat(size), wide(size)))
    assert choice.size == Size(4, 64) and choice.target == pytest.approx(1.05 * wide(Size(64, 64)))


def test_the_search_stays_within_the_bytes_and_tries_only_what_fits():
    def fits(size):
        return size[0] * size[1] <= 32 * 16

    def error(size):
        return (1.0 / size[1] + 0.3 / size[0],)

    choice, tried = search(error, fits=fits, tolerance=0.0)
    assert choice.size == Size(16, 32)
    assert set(tried) == {Size(*each) for each in ((8, 64), (16, 32), (32, 16), (64, 8))}
    choice, tried = search(lambda size: (1.0 / size[1],), fits=fits)
    assert choice.size == Size(4, 64) and all(map(fits, tried))
    # nothing to choose
    choice, tried = search(lambda size: (1.0,), tolerance=0.0)
    assert (choice.size, tried) == (Size(64, 64), [])


@pytest.mark.parametrize(("excess", "size"), [(0.1, Size(64, 32)), (0.2, Size(64, 64))])
def test_a_limit_that_nobody_has_set_gives_way_to_errors_that_an_eye_sees(excess, size):
    def error(size):
        return (0.01 * (1 + excess * (64 / size[1] - 1) + 2 * (64 / size[0] - 1)),)

    def fits(size):
        return size[0] * size[1] <= 64 * 32

    choice, _ = search(error, fits=fits, gives_way=True)
    assert choice.size == size
    assert search(error, fits=fits)[0].size == Size(64, 32)


def half_of_the_bytes(size):
    return size.width * size.height * size.channels <= 64 * 32 * 8


@pytest.mark.parametrize(
    ("of_texels", "of_channels", "size"),
    [(3, 1, Size(64, 64, 4)), (1, 3, Size(64, 32)), (0, 1, Size(64, 32))],
)
def test_texels_or_channels_are_given_up_for_bytes_whichever_is_worth_less(
    of_texels, of_channels, size
):
    def error(each):
        lost = 64 * 64 / (each.width * each.height) - 1
        return (0.01 * (1 + of_texels * lost + of_channels * (each.channels == 4)),)

    choice, tried = search(error, fits=half_of_the_bytes, tolerance=0.0)
    assert choice.size == size
    # as many texels with fewer channels only where they do not fit with all
    assert {Size(64, 32), Size(32, 64), Size(64, 64, 4)} == set(tried)


def test_a_choice_says_when_the_bundle_is_larger_than_the_images_that_it_replaces():
    tried = tuple(
        {"width": 512, "height": 512, "channels": each, "bytes": 10**5 * each, "log_mae": 1 / each}
        for each in (8, 4)
    )
    choice = SizeChosen(512, 512, 707_000, 0.001, images_bytes=524_000, tried=tried)
    assert choice.text == (
        "texture of 512 x 512 texels, 707 KB (log error 0.1250), at most 0.0010 is the target, "
        "and more than the 524 KB of the images, block-compressed, because fewer would be "
        "visible (a limit of bytes prevents that); 512 x 512 texels of 4 latents: 0.2500"
    )
    assert "images" not in replace(choice, images_bytes=0).text


def test_fewer_latents_give_the_responses_of_all_that_vary_in_as_many_ways():
    whole = lively_parameters().astype(np.float64)
    whole.head = None
    four, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((8, 4)))
    whole.latents[:] = whole.latents @ four @ four.T
    squares = 1e-8 * np.random.default_rng(6).random(whole.latents.shape)
    rows = make_reference(whole)
    few, few_squares = with_fewer_latents(whole, squares, 4)
    assert few.latents.shape[1] == few_squares.shape[1] == few.spec.latent_channels == 4
    # whatever the size of gradients
    size = (whole.latents**2).sum(1).mean()
    assert 0.5 * size < (few.latents**2).sum(1).mean() < 2 * size
    found = exported_response(few.astype(np.float64), rows)
    np.testing.assert_allclose(found, rows.exported, rtol=1e-4, atol=1e-6)
    # gradients by the new channels are sums of those before: independent ones add their squares
    gradients = np.random.default_rng(7).standard_normal((4096, 8)) * [9, 3, 2, 1, 1, 1, 0.5, 0.1]
    flat = replace(whole, latents=np.resize(whole.latents, whole.latents.shape))
    means = np.tile((gradients**2).mean(0), (len(whole.latents), 1))
    few, few_squares = with_fewer_latents(flat, means, 4)
    back = np.linalg.lstsq(few.latents, flat.latents, rcond=None)[0]
    np.testing.assert_allclose(
        ((gradients @ back.T) ** 2).mean(0), few_squares[0], rtol=0.2, atol=1e-6
    )


def test_errors_that_samples_do_not_show_are_those_of_the_picture():
    # as a log MAE of .0003, a PSNR of 55 dB is at the border; an error ten times as large has 20 dB
    # less
    assert as_visible(55) == pytest.approx(0.0003)
    assert as_visible(35) == pytest.approx(0.003)
    # the smaller size has a log MAE that no eye sees, and 46.5 dB for 60
    choice, _ = search(
        lambda size: (max(3.3e-4, as_visible(60 if size == Size(64, 64) else 46.5)),)
    )
    assert choice.size == Size(64, 64)


def test_a_smaller_texture_holds_means_of_the_finest_texels_and_the_trained_coarse_levels():
    layout = LatentLayout(16, 16, 5, 2)
    large = initialise(NetworkSpec(), layout, 1)
    small = shrunk(large, 4, 8)
    assert small.layout == LatentLayout(4, 8, 4, 2)
    means = large.level(0).reshape(2, 8, 2, 4, 4, -1).mean((2, 4))
    np.testing.assert_allclose(small.level(0), means, atol=1e-6)
    # one level is lost; u has half of the texels beside
    for level, shape in ((1, (4, 2)), (2, (2, 1)), (3, (1, 1))):
        trained = large.level(level + 1)
        rows, columns = trained.shape[1] // shape[0], trained.shape[2] // shape[1]
        parts = trained.reshape(2, shape[0], rows, shape[1], columns, -1)
        np.testing.assert_allclose(small.level(level), parts.mean((2, 4)), atol=1e-6)
    state = {"step": np.array(7), "latents_v": large.latents**2, "decoder_m": large.decoder}
    found = shrunk_state(large, state, 8, 8)
    assert found["step"] == 7 and found["decoder_m"] is large.decoder
    squares = replace(large, latents=large.latents**2)
    np.testing.assert_allclose(found["latents_v"], shrunk(squares, 8, 8).latents)
    # the same size is the same texture
    assert_same(shrunk(large, 16, 16), large)


def test_a_bake_chooses_the_texels_that_the_material_needs(chosen, stripes):
    folder, events = chosen
    layout = open_bundle(folder / "out.vdg").layout
    # four texels a stripe, and the fewest along it
    assert layout.width == 32 and layout.height <= 8
    (choice,) = of_kind(events, SizeChosen)
    assert (choice.width, choice.height) == (layout.width, layout.height)
    errors = {(each["width"], each["height"]): each["log_mae"] for each in choice.tried}
    assert errors[32, layout.height] <= choice.target == 1.25 * errors[32, 32]
    assert errors[16, 32] > choice.target
    assert f"32 x {layout.height} texels" in choice.text and "16 x 32 texels: " in choice.text
    source = open_bundle(folder / "out.vdg").manifest.source
    assert (source["size"]["width"], source["size"]["height"]) == (layout.width, layout.height)
    # the error is measured against texels of the requested resolution, with other samples
    (end,) = of_kind(events, Finished)
    assert end.samples[0].log_mae < 2 * choice.target


@pytest.mark.parametrize("after", [0, 100])
def test_a_bake_that_was_cut_off_before_or_after_the_choice_ends_in_the_same_bits(
    stripes, chosen, tmp_path, after
):
    cut_off([stripes], tmp_path, SETTINGS, after=after)
    events = run([stripes], tmp_path, SETTINGS, resume=True)
    assert len(of_kind(events, SizeChosen)) == (after == 0)
    assert_same(baked(tmp_path), baked(chosen[0]))


def test_a_damaged_choice_in_a_checkpoint_is_refused(stripes, tmp_path, monkeypatch):
    monkeypatch.setattr(choose_size.SizeChoice, "facts", lambda self: {"width": "wide"})
    cut_off([stripes], tmp_path, SETTINGS, after=100)
    with pytest.raises(CheckpointError, match="the choice of the size is damaged"):
        run([stripes], tmp_path, SETTINGS, resume=True)


def test_a_limit_of_bytes_holds_also_for_a_bake_that_is_stopped_before_the_choice(
    stripes, tmp_path
):
    most = bundle_bytes(SETTINGS, 16, 32)
    settings = replace(SETTINGS, size=SizeSettings(most_bytes=most))
    for name, count in (("whole", 0), ("stopped", 1)):
        if count:
            stop_at(lambda event: isinstance(event, Step), [stripes], tmp_path, settings, name=name)
        else:
            run([stripes], tmp_path, settings, name=name)
        bundle = open_bundle(tmp_path / f"{name}.vdg")
        layout, channels = bundle.layout, bundle.spec.latent_channels
        assert layout.width * layout.height * channels == 16 * 32 * 8
        # without training, fewer channels would be worse
        assert channels == 8 or not count
        assert bundle_bytes(settings, layout.width, layout.height, channels) <= most
    with pytest.raises(SettingsError, match=r"most_bytes is 3: the smallest bundle .* takes \d+"):
        run([stripes], tmp_path, replace(SETTINGS, size=SizeSettings(most_bytes=3)))


def test_bytes_count_whole_blocks_of_all_levels():
    # 8 x 4, 4 x 2, 2 x 1, 1 x 1: two blocks, and one for each level beyond
    assert block_bytes(8, 4, 8) == 5 * 16
    assert block_bytes(8, 4, 64) == 5 * 16 * 8


def test_a_bake_with_a_limit_can_choose_four_latents_and_goes_on_from_a_checkpoint(
    stripes, tmp_path, monkeypatch
):
    def error(run, student, number):
        # as if texels were all that counts
        return 1 / (student._layout.width * student._layout.height)

    monkeypatch.setattr(choose_size, "visible_error", error)
    settings = replace(SETTINGS, size=SizeSettings(most_bytes=bundle_bytes(SETTINGS, 32, 16)))
    events = run([stripes], tmp_path, settings, name="whole")
    (choice,) = of_kind(events, SizeChosen)
    assert (choice.width, choice.height, choice.channels) == (32, 32, 4)
    cut_off([stripes], tmp_path, settings, after=100)
    run([stripes], tmp_path, settings, resume=True)
    bundle = open_bundle(tmp_path / "whole.vdg")
    assert bundle.spec.latent_channels == 4 and bundle.layout == LatentLayout(32, 32, 6)
    assert_same(baked(tmp_path), baked(tmp_path, "whole"))
    assert bundle.manifest.source["size"]["channels"] == 4
    assert "32 x 32 texels of 4 latents" in choice.text
    (end,) = of_kind(events, Finished)
    assert end.samples[0].log_mae < 0.1


def test_two_stages_starts_importance_and_an_early_end_go_with_a_choice(stripes, tmp_path):
    settings = replace(
        SETTINGS, iterations=160, encode_from=32, small_resolution=16, starts=2, start_share=0.1
    )
    importance = np.ones((8, 8), np.float32)
    importance[:2] = 0
    events = run(
        [stripes, chalk_teacher()],
        tmp_path,
        settings,
        importance=importance,
        target_error=0.5,
        names=("stripes", "chalk"),
    )
    (end,), (choice,) = of_kind(events, Finished), of_kind(events, SizeChosen)
    # the target is reached at once: the size is chosen before the last phase all the same
    assert end.stopped_by == "target error"
    assert choice.height < choice.width <= 32
    for name in ("stripes", "chalk"):
        layout = open_bundle(tmp_path / f"{name}.vdg").layout
        assert (layout.width, layout.height) == (choice.width, choice.height)


@pytest.mark.gpu
def test_pictures_can_be_drawn_while_sizes_are_tried_on_a_graphics_card(tmp_path):
    device = open_device("auto")
    if device.is_software:
        pytest.skip("needs a graphics card")
    stripes = Teacher(parse_document(STRIPES, name="stripes"), device=device)
    runs = []
    settings = replace(SETTINGS, resolution=8, iterations=60)
    options = BakeOptions(name="out", folder=tmp_path, trainer="tensor")
    points = {name: np.full((1, width), 0.5, "f4") for name, width in (("uv", 2), ("wi", 3))}
    chose = False
    for event in bake([stripes], settings, options, BakeControl(watch=runs.append)):
        if isinstance(event, Step):
            student = runs[0].learner.live_student()
            light = student.response(points["uv"], points["wi"], points["wi"])
            assert np.isfinite(light).all()
        chose = chose or isinstance(event, SizeChosen)
    assert chose
