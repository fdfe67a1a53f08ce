"""Settings as a script or a file gives them."""

from dataclasses import fields, replace

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import BakeSettings, as_read, unequal
from verdigris.core.settings.draw_settings import DrawSettings


def test_there_are_at_most_twenty_settings():
    assert len(fields(BakeSettings)) <= 20


def test_numbers_of_numpy_become_those_of_python():
    given = BakeSettings(
        resolution=np.int64(64),
        iterations=np.uint16(30),
        decoder_rate=np.float32(0.5),
        draw=DrawSettings(pairs=np.int32(2), mirror_share=np.float64(0.25)),
    )
    draw = DrawSettings(pairs=2, mirror_share=0.25)
    wanted = BakeSettings(resolution=64, iterations=30, decoder_rate=0.5, draw=draw)
    assert as_read(given) == as_read(wanted)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iterations": 0}, "iterations is 0: use at least 1"),
        ({"iterations": 10.5}, "iterations is 10.5: use a whole number"),
        ({"iterations": 1_000_000_001}, "iterations is 1000000001: use at most 1,000,000,000"),
        ({"iterations": 10**400}, "iterations is beyond all bounds: use at most 1,000,000,000"),
        ({"resolution": 300}, "resolution is 300: use a power of two"),
        ({"resolution": 64.0}, "resolution is 64.0: use a whole number"),
        ({"resolution": "64"}, "resolution is '64': use a whole number"),
        ({"network": "9x9"}, "network is '9x9': use one of"),
        ({"decoder_rate": "fast"}, "decoder_rate is 'fast': use a number"),
        ({"decoder_rate": 10**400}, "decoder_rate is too large for a float: use a smaller value"),
        ({"latent_outliers": 0.5}, "latent_outliers is 0.5: use 0 to less than 0.5"),
        ({"latent_format": "bc5"}, "latent_format is 'bc5': use one of bc7, rgba8, half"),
        ({"seed": None}, "seed is None: use a whole number"),
        ({"seed": -1}, "seed is -1: use 0 or more"),
        ({"seed": 1 << 53}, "seed has 54 bits: use 0 to 9007199254740991"),
        ({"loss": "l2"}, "loss is 'l2': use one of cbrt_bounded, cbrt_log, "),
        ({"encoded_latent_rate": -1.0}, "encoded_latent_rate is -1.0: use 0 to 1"),
        ({"encoded_latent_rate": float("nan")}, "encoded_latent_rate is nan: use 0 to 1"),
        ({"starts": 0}, "starts is 0: use at least 1"),
        ({"starts": 65}, "starts is 65: use 1 to 64"),
        ({"start_share": 0.7}, "start_share is 0.7: use more than 0, at most 0.5"),
        ({"quantise_share": 0}, "quantise_share is 0.0: use more than 0"),
        ({"small_resolution": 48}, "small_resolution is 48: use a power of two"),
        ({"small_resolution": 2}, "small_resolution is 2: use a power of two"),
        ({"small_share": 1.0}, "small_share is 1.0: use more than 0, less than 1"),
        ({"encode_from": 16}, "encode_from is 16: use 0, or more than small_resolution, 256"),
        ({"batch": 33, "draw": DrawSettings(pairs=2)}, "batch is 33: use a multiple of 2"),
    ],
)
def test_an_invalid_value_is_refused_by_name(changes, message):
    with pytest.raises(SettingsError, match=message):
        replace(BakeSettings(), **changes)


def test_an_unknown_activation_is_refused_by_the_network():
    with pytest.raises(SettingsError, match="'square'"):
        BakeSettings(activation="square").spec  # noqa: B018


def test_json_gives_the_same_settings_again():
    table = ((0.25, 0.5),) * 8
    settings = BakeSettings(seed=3, draw=DrawSettings(pairs=2, direction_table=table))
    assert BakeSettings.from_json(as_read(settings)) == settings


def test_settings_of_another_version_are_refused_by_name():
    values = {**BakeSettings().to_json(), "mend_at": [0.5]}
    with pytest.raises(SettingsError, match="settings mend_at are not known: use activation, "):
        BakeSettings.from_json(values)
    values = {**BakeSettings().to_json(), "draw": {"zeal": 1}}
    with pytest.raises(SettingsError, match="settings of draw zeal are not known"):
        BakeSettings.from_json(values)


def test_differences_are_named_with_those_of_draw():
    before, now = BakeSettings(), BakeSettings(seed=3, draw=DrawSettings(pairs=2))
    found = unequal(before.to_json(), now.to_json())
    assert found == [("seed", 3, 0), ("draw.pairs", 2, 1)]


def test_fields_of_draw_change_one_by_one():
    settings = BakeSettings(draw=DrawSettings(pairs=2))
    changed = settings.changed({"draw": {"coarse_share": 0.5}, "seed": 1})
    assert changed == replace(settings, seed=1, draw=replace(settings.draw, coarse_share=0.5))
    for changes, message in (
        ({"zeal": 1}, "settings zeal are not known"),
        ({"draw": {"zeal": 1}}, "settings of draw zeal are not known"),
        ({"draw": 3}, "draw is 3: use a table"),
    ):
        with pytest.raises(SettingsError, match=message):
            settings.changed(changes)


@pytest.mark.parametrize(
    ("settings", "share"),
    [
        (BakeSettings(starts=1), 0.0),
        (BakeSettings(starts=4, start_share=0.1), 0.3),
        (
            BakeSettings(
                starts=4, start_share=0.1, encode_from=512, small_share=0.2, small_resolution=128
            ),
            0.06,
        ),
    ],
    ids=["one start", "four starts", "four starts of a small texture"],
)
def test_steps_of_other_starts_are_counted_as_discarded(settings, share):
    assert settings.discarded_share == pytest.approx(share)


def test_latents_are_rounded_in_the_last_steps_unless_they_are_half_floats():
    phase = BakeSettings(iterations=1000, quantise_share=0.2).training().quantisation
    assert (phase.first_step, phase.steps) == (800, 200)
    assert phase.lines.last_step <= 800
    assert BakeSettings(latent_format="rgba8").training().quantisation.lines is None
    assert BakeSettings(iterations=1).training().quantisation.first_step == 0
    assert BakeSettings(latent_format="half").training().quantisation is None
