"""A smooth texture is trained at a rate of its own, in both of its stages, for steps of its own."""

from dataclasses import replace

import pytest

from verdigris.core.baking.measure.fitted import with_places
from verdigris.core.baking.state.stages import stages_of
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.presets import require_settings

from .bakes import TINY, run

SETTINGS = BakeSettings(decoder_rate=0.02, smooth_rate=0.005)
# Waves of brightness across the unit square.
WAVES = """<materialx version="1.39"><texcoord name="uv" type="vector2"/>
<extract name="u" type="float"><input name="in" type="vector2" nodename="uv"/></extract>
<multiply name="turn" type="float"><input name="in1" type="float" nodename="u"/>
<input name="in2" type="float" value="{bands}"/></multiply>
<sin name="wave" type="float"><input name="in" type="float" nodename="turn"/></sin>
<standard_surface name="s" type="surfaceshader">
<input name="base" type="float" nodename="wave"/></standard_surface>
<surfacematerial name="m" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""


def rates(settings):
    return [stage.settings.training().schedule.decoder_rate for stage in stages_of(settings)]


def placed(places, **changes):
    return replace(SETTINGS, draw=DrawSettings(finest_places=places), **changes)


@pytest.mark.parametrize(
    ("settings", "rate"),
    [
        (placed(1), 0.005),
        (placed(2), 0.005),
        (placed(4), 0.02),
        (SETTINGS, 0.02),
        (placed(1, smooth_rate=0.0), 0.02),
        (placed(1, uniform_instead_of=512), 0.02),
        (placed(2, most_places=2), 0.02),
    ],
    ids=[
        *("smooth", "nearly", "detailed", "not looked at", "no rate", "the same everywhere"),
        "no more were to be had",
    ],
)
def test_the_rate_goes_by_the_places_of_a_texel(settings, rate):
    assert settings.peak_rate == rate
    assert rates(replace(settings, encode_from=0)) == [rate]


def test_the_small_texture_has_it_too():
    settings = placed(2, encode_from=512, small_resolution=128)
    assert rates(settings) == [0.005, 0.005]
    assert stages_of(settings)[0].settings.draw.finest_places == settings.most_places


@pytest.mark.parametrize(
    ("settings", "rate"),
    [
        (placed(2, smooth_latent_rate=0.001), 0.001),
        (placed(4, smooth_latent_rate=0.001), 0.003),
        (placed(2), 0.003),
        (placed(2, smooth_latent_rate=0.001).changed({"encoded_latent_rate": 0.004}), 0.004),
        (placed(4, smooth_latent_rate=0.001).changed({"draw": {"finest_places": 2}}), 0.003),
    ],
    ids=["smooth", "detailed", "no rate", "a rate asked for", "places asked for"],
)
def test_its_encoded_latents_have_one_too(settings, rate):
    stages = stages_of(replace(settings, encode_from=512, small_resolution=128))
    rates = [stage.settings.training().schedule.latent_rate for stage in stages]
    assert rates == [0.01, rate]


@pytest.mark.parametrize(
    ("settings", "hands_on"),
    [
        (placed(2, smooth_moments=True), True),
        (placed(4, smooth_moments=True), False),
        (placed(4, carries_moments=True), True),
        (placed(2), False),
        (placed(2, smooth_moments=True).changed({"carries_moments": False}), False),
        (placed(4, smooth_moments=True).changed({"draw": {"finest_places": 2}}), False),
    ],
    ids=["smooth", "detailed", "any", "no", "asked for", "places asked for"],
)
def test_its_moments_are_handed_on(settings, hands_on):
    assert settings.hands_on_moments == hands_on


def test_a_rate_that_is_asked_for_is_for_any_material():
    assert require_settings("standard", "tensor").smooth_rate > 0
    assert placed(1).changed({"decoder_rate": 0.01}).peak_rate == 0.01
    assert SETTINGS.changed({"draw": {"finest_places": 1}}).peak_rate == 0.02
    assert placed(1).changed({"decoder_rate": 0.01, "smooth_rate": 0.004}).peak_rate == 0.004


@pytest.mark.parametrize(
    ("places", "changes", "steps", "samples"),
    [
        (1, {}, 250, 96),
        (2, {}, 250, 96),
        (4, {}, 1_000, 64),
        (2, {"iterations": 1_200}, 1_200, 96),
        (2, {"iterations": 1_200, "smooth_share": 0.5}, 600, 96),
        (2, {"smooth_share": 1e-9}, 1, 96),
        (2, {"batch": 80}, 250, 80),
        (2, {"batch": 80, "smooth_batch": 100}, 250, 100),
        (2, {"smooth_batch": 0}, 250, 64),
    ],
    ids=[
        *("smooth", "nearly", "detailed", "steps asked for", "a part of these", "hardly any"),
        *("samples asked for", "both asked for", "as many as others"),
    ],
)
def test_its_steps_are_a_part_of_those_of_others_with_samples_of_their_own(
    places, changes, steps, samples
):
    shortened = replace(SETTINGS, iterations=1_000, batch=64, smooth_share=0.25, smooth_batch=96)
    found = shortened.changed(changes).with_places(places, is_crowded=False)
    assert (found.iterations, found.batch) == (steps, samples)


@pytest.mark.parametrize("wrong", [0, -0.5, 1.5, float("nan")])
def test_a_part_of_the_steps_is_a_part(wrong):
    with pytest.raises(SettingsError, match="smooth_share is "):
        BakeSettings(smooth_share=wrong)


def test_its_samples_have_to_fit_into_memory(clay, tmp_path):
    told = rf"batch {1 << 40} needs .* GB.*: the largest that fits is \d+"
    with pytest.raises(SettingsError, match=told):
        run([clay], tmp_path, replace(TINY, smooth_batch=1 << 40))
    assert list(tmp_path.iterdir()) == []


def test_its_samples_go_into_pairs():
    with pytest.raises(SettingsError, match="smooth_batch is 33: use a multiple of 2"):
        BakeSettings(smooth_batch=33, draw=DrawSettings(pairs=2))


@pytest.mark.parametrize(("bands", "rate", "steps"), [(2, 0.005, 8_000), (900, 0.02, 20_000)])
def test_it_is_found_of_the_material_itself(bands, rate, steps):
    teacher = Teacher(parse_document(WAVES.format(bands=bands)), device=open_device("software"))
    found = with_places([teacher], replace(SETTINGS, resolution=512, smooth_share=0.4))
    assert (found.peak_rate, found.iterations) == (rate, steps)
    # what a scene compares with what it asked for stays as it was
    assert (found.decoder_rate, found.smooth_rate) == (0.02, 0.005)
