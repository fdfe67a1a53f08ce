"""Settings as a script gives them."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.draw_settings import DrawSettings


def test_numbers_of_numpy_are_those_of_python():
    given = BakeSettings(
        resolution=np.int64(64),
        iterations=np.uint16(30),
        decoder_rate=np.float32(0.5),
        carries_moments=np.True_,
        draw=DrawSettings(pairs=np.int32(2), mirror_share=np.float64(0.25)),
    )
    draw = DrawSettings(pairs=2, mirror_share=0.25)
    wanted = BakeSettings(
        resolution=64, iterations=30, decoder_rate=0.5, carries_moments=True, draw=draw
    )
    assert given.text() == wanted.text()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"iterations": 10.5}, "iterations is 10.5: use a whole number"),
        ({"iterations": 1_000_000_001}, "iterations is 1000000001: use at most 1,000,000,000"),
        ({"iterations": 10**400}, "iterations is beyond all bounds: use at most 1,000,000,000"),
        ({"resolution": 64.0}, "resolution is 64.0: use a whole number"),
        ({"resolution": "64"}, "resolution is '64': use a whole number"),
        ({"decoder_rate": "fast"}, "decoder_rate is 'fast': use a number"),
        ({"carries_moments": "yes"}, "carries_moments is 'yes': use true or false"),
        ({"carries_moments": 1}, "carries_moments is 1: use true or false"),
        ({"latent_outliers": 0.5}, "latent_outliers is 0.5: use 0 to less than 0.5"),
        ({"seed": None}, "seed is None: use a whole number"),
        ({"seed": 1 << 53}, "seed has 54 bits: use 0 to 9007199254740991"),
        ({"decoder_rate": 10**400}, "decoder_rate is too large for a float: use a smaller value"),
        ({"mend_at": [10**400]}, "mend_at is .*: use numbers between 0 and 1"),
        ({"draw_errors_at": [1]}, "draw_errors_at is .1.: use numbers between 0 and 1"),
        ({"horizon_at": 1.5}, "horizon_at is 1.5: use 0 to 1"),
        ({"horizon_at": float("nan")}, "horizon_at is nan: use 0 to 1"),
        ({"loss": "l2"}, "loss is 'l2': use one of cbrt_bounded, cbrt_log, "),
        ({"uniform_loss": "l2"}, "uniform_loss is 'l2': use one of cbrt_bounded, cbrt_log, "),
        ({"encoded_latent_rate": -1.0}, "encoded_latent_rate is -1.0: use 0 to 1"),
        ({"encoded_latent_rate": float("nan")}, "encoded_latent_rate is nan: use 0 to 1"),
    ],
)
def test_what_is_no_number_is_refused_by_name(changes, message):
    with pytest.raises(SettingsError, match=message):
        replace(BakeSettings(), **changes)
