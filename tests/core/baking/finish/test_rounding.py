"""Rounding of latents at the end of a bake, and its cost."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl
from verdigris.core.baking.finish import store
from verdigris.core.baking.measure.measure import draw_held_out, texel_footprint
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.half_floats import order_units, round_gptq
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.latents.block_lines import compressed_copy
from verdigris.core.network.latents.quantise import fit_ranges, quantised_copy
from verdigris.core.progress import Finished, Step
from verdigris.core.settings.bake_settings import BakeSettings

from ..bakes import phases_of, stop_at, warnings_of

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


def watch(teacher, folder, settings, until=lambda event: False):
    """Events of a bake, and its run."""
    runs = []
    events = stop_at(until, [teacher], folder, settings, BakeControl(watch=runs.append))
    return events, runs[0]


def stored_of(run):
    return run.learner.stored_parameters(run.learner.filled_parameters())


@pytest.mark.parametrize("latent_format", ["bc7", "rgba8"])
def test_the_bundle_holds_latents_as_the_last_phase_has_them_with_their_errors(
    latent_format, cloud, tmp_path
):
    events, run = watch(cloud, tmp_path, replace(SETTINGS, latent_format=latent_format))
    bundle = open_bundle(tmp_path / "out.vdg")
    stored, trained = bundle.parameters(), run.learner.trainer.parameters()
    squares = run.learner.trainer.latent_squares()
    (found,) = run.learner.trainer.latent_ranges()
    latents = bundle.latents()
    np.testing.assert_array_equal(latents.scale, found.scale)
    np.testing.assert_array_equal(latents.offset, found.offset)
    expected = (
        compressed_copy(trained, [found], squares)
        if latent_format == "bc7"
        else quantised_copy(trained, [found])
    )
    np.testing.assert_array_equal(stored.latents, expected.latents)
    np.testing.assert_array_equal(stored.latents, stored_of(run).latents)
    # the same numbers, but units of a layer are sorted
    np.testing.assert_array_equal(np.sort(stored.decoder), np.sort(stored_of(run).decoder))
    rounded = replace(trained, decoder=round_gptq(trained))
    np.testing.assert_array_equal(stored.decoder, order_units(rounded).decoder)
    assert (stored.latents != trained.latents).any()
    # texels of so coarse a cloud do not suit blocks
    assert len(warnings_of(events)) == (latent_format == "bc7")

    facts = bundle.manifest.errors["quantisation"]
    assert facts["format"] == latent_format
    held_out = draw_held_out(cloud, len(run.held_out[0].uv), footprint=texel_footprint(16))
    np.testing.assert_array_equal(held_out.response, run.held_out[0].response)
    found = run.measure(stored_of(run)).samples[0].log_mae
    assert facts["log_mae_after"] == pytest.approx(found, rel=1e-6)
    # half of training was still to come
    assert latent_format == "bc7" or facts["log_mae_after"] < facts["log_mae_before"]


def test_a_bake_that_is_stopped_before_the_last_phase_is_rounded_and_warns_of_the_cost(
    cloud, tmp_path, monkeypatch
):
    monkeypatch.setitem(store._REPORTED_FACTOR, "bc7", 1.001)

    def is_near_the_end(event):
        return isinstance(event, Step) and event.step > 300

    settings = replace(SETTINGS, iterations=2000, quantise_share=0.05)
    events, run = watch(cloud, tmp_path, settings, is_near_the_end)
    assert "rounding" not in phases_of(events)
    assert run.learner.trainer.latent_ranges() is None
    facts = open_bundle(tmp_path / "out.vdg").manifest.errors["quantisation"]
    assert facts["log_mae_after"] > 1.001 * facts["log_mae_before"]
    # other warnings depend on when the bake was stopped
    (warning,) = (text for text in warnings_of(events) if "storing latents" in text)
    assert warning.startswith("cloud: storing latents as bc7 raised the log error by ")
    assert "use latent_format=rgba8" in warning
    trainer = run.learner.trainer
    ranges = fit_ranges(trainer.parameters())
    expected = compressed_copy(trainer.parameters(), ranges, trainer.latent_squares()).latents
    np.testing.assert_array_equal(stored_of(run).latents, expected)


def test_latents_of_half_floats_and_are_not_rounded(cloud, tmp_path):
    events, run = watch(cloud, tmp_path, replace(SETTINGS, iterations=40, latent_format="half"))
    assert "rounding" not in phases_of(events)
    bundle = open_bundle(tmp_path / "out.vdg")
    halves = run.learner.trainer.parameters().latents.astype(np.float16)
    np.testing.assert_array_equal(bundle.parameters().latents, halves.astype(np.float32))
    assert "quantisation" not in bundle.manifest.errors
    assert isinstance(events[-1], Finished)
