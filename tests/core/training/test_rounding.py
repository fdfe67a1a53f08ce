"""A bake rounds its latents, shows what it stores, and says what that costs."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.measure import draw_held_out, texel_footprint
from verdigris.core.baking.state import rounding
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.precision.gptq_rounding import round_gptq
from verdigris.core.bundle.precision.half_errors import order_units
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.quantise import fit_ranges, quantised_copy
from verdigris.core.progress.events import Finished, Phase, Step, Warning
from verdigris.core.settings.bake_settings import BakeSettings

SETTINGS = BakeSettings(
    network="2x16", resolution=16, iterations=200, batch=512, quantise_share=0.5
)
# Colours that vary, so that latents do.
TEXT = """<materialx version="1.39">
<texcoord name="uv" type="vector2"/>
<noise2d name="noise" type="color3"><input name="texcoord" type="vector2" nodename="uv"/></noise2d>
<oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" nodename="noise"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="cloud" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""


@pytest.fixture(scope="module")
def cloud():
    return Teacher(parse_document(TEXT, name="cloud"), device=open_device("software"))


def watch(teacher, folder, settings, until=None):
    """Events of a bake, and its run."""
    control, runs = BakeControl(), []
    control.watch = runs.append
    events = []
    for event in bake([teacher], settings, BakeOptions("out", folder, "numpy"), control):
        events.append(event)
        if until and until(event):
            control.stop()
    return events, runs[0]


def test_the_bundle_holds_what_was_measured_on_the_grid_of_the_phase_and_says_how_it_was(
    cloud, tmp_path
):
    events, run = watch(cloud, tmp_path, SETTINGS)
    bundle = open_bundle(tmp_path / "out.vdg")
    stored, trained = bundle.parameters(), run.trainer.parameters()
    (found,) = run.trainer.latent_ranges()
    latents = bundle.latents()
    np.testing.assert_array_equal(latents.scale, found.scale)
    np.testing.assert_array_equal(latents.offset, found.offset)
    np.testing.assert_array_equal(stored.latents, quantised_copy(trained, [found]).latents)
    np.testing.assert_array_equal(stored.latents, run.stored_parameters().latents)
    # the same numbers, of which units of a layer have changed places
    np.testing.assert_array_equal(np.sort(stored.decoder), np.sort(run.stored_parameters().decoder))
    rounded = replace(trained, decoder=round_gptq(trained))
    np.testing.assert_array_equal(stored.decoder, order_units(rounded).decoder)
    assert (stored.latents != trained.latents).any()
    assert not any(isinstance(event, Warning) for event in events)

    facts = bundle.manifest.errors["quantisation"]
    assert facts["bits"] == 8
    held_out = draw_held_out(cloud, len(run.held_out[0].uv), footprint=texel_footprint(16))
    np.testing.assert_array_equal(held_out.response, run.held_out[0].response)
    found = run.measure(run.stored_parameters()).samples[0].log_mae
    assert facts["log_mae_after"] == pytest.approx(found, rel=1e-6)
    # half of training was still to come
    assert facts["log_mae_after"] < facts["log_mae_before"]


def test_a_bake_ended_before_the_phase_is_rounded_all_the_same_and_the_cost_told(
    cloud, tmp_path, monkeypatch
):
    monkeypatch.setattr(rounding, "_WORTH_TELLING", 1.001)

    def is_near_the_end(event):
        return isinstance(event, Step) and event.step > 300

    settings = replace(SETTINGS, iterations=2000, latent_bits=4, quantise_share=0.05)
    events, run = watch(cloud, tmp_path, settings, is_near_the_end)
    assert "rounding" not in [event.name for event in events if isinstance(event, Phase)]
    assert run.trainer.latent_ranges() is None
    facts = open_bundle(tmp_path / "out.vdg").manifest.errors["quantisation"]
    assert facts["log_mae_after"] > 1.001 * facts["log_mae_before"]
    told = [event.text for event in events if isinstance(event, Warning)]
    # how long it has trained is the machine's to say, and so is what else there is to tell
    (warning,) = (text for text in told if "latent channel" in text)
    assert warning.startswith("cloud: 4 bits a latent channel cost ")
    assert "use --set latent_bits=0" in warning
    # a byte holds each of the 16 codes
    stored = open_bundle(tmp_path / "out.vdg").latents().levels[0]
    assert set(np.unique(stored)) <= set(range(0, 256, 17))
    ranges = fit_ranges(run.trainer.parameters())
    expected = quantised_copy(run.trainer.parameters(), ranges, 4).latents
    np.testing.assert_array_equal(run.stored_parameters().latents, expected)


def test_without_bits_latents_are_half_floats_and_no_phase_rounds_them(cloud, tmp_path):
    events, run = watch(cloud, tmp_path, replace(SETTINGS, iterations=40, latent_bits=0))
    assert "rounding" not in [event.name for event in events if isinstance(event, Phase)]
    bundle = open_bundle(tmp_path / "out.vdg")
    halves = run.trainer.parameters().latents.astype(np.float16)
    np.testing.assert_array_equal(bundle.parameters().latents, halves.astype(np.float32))
    assert "quantisation" not in bundle.manifest.errors
    assert isinstance(events[-1], Finished)
