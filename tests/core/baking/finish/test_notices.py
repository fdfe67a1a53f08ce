"""What a bake says of texels that are coarser than the material."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.finish.notices import hint_of
from verdigris.core.cli.shared.bake_output import live_line
from verdigris.core.pictures.compare.metrics import PictureMetrics, SampleMetrics, SkyMetrics
from verdigris.core.progress import Finished
from verdigris.core.settings.bake_settings import LARGEST_RESOLUTION, BakeSettings
from verdigris.core.settings.presets import Kind


class Stripes:
    """White and black in turns along u: half of the pairs of places in a coarser texel differ."""

    live = ()

    def __init__(self, count, white=1.0):
        self._count, self._white = count, white

    def response(self, uv, wi, wo, live=None):
        is_white = np.floor(uv[:, :1] * self._count) % 2 == 0
        return np.repeat(is_white * np.float32(self._white), 3, axis=1)


def test_texels_that_hold_both_stripes_are_told_of_and_finer_ones_that_part_them():
    told = hint_of(Stripes(64), Kind.DETAILED, BakeSettings(resolution=32))
    share, left = (float(word.rstrip("%")) for word in told.split() if "%" in word)
    # of log(1 + 1) and log(1 + 0), half of the time
    assert share == pytest.approx(50 * np.log(2), abs=0.7)
    assert left == 0
    assert told.endswith("at a resolution of 64")


@pytest.mark.parametrize(
    ("teacher", "resolution"),
    [
        pytest.param(Stripes(64), 64, id="nothing is finer"),
        pytest.param(Stripes(64, white=0.005), 32, id="nobody sees it"),
        pytest.param(Stripes(1 << 14), 32, id="finer texels hold both, too"),
        pytest.param(Stripes(2 * LARGEST_RESOLUTION), LARGEST_RESOLUTION, id="there are none"),
    ],
)
def test_nothing_is_told_where_finer_texels_are_no_better(teacher, resolution):
    assert hint_of(teacher, Kind.DETAILED, BakeSettings(resolution=resolution)) == ""


def test_a_constant_material_needs_no_more_texels():
    hint = hint_of(Stripes(64), Kind.CONSTANT, BakeSettings(resolution=16))
    assert hint.startswith("the material is constant") and "16 x 16 texels" in hint


def test_the_command_prints_a_hint_below_the_errors_of_its_material(capsys):
    samples, picture = SampleMetrics(0.001, 0.01, 0.01, -0.001), PictureMetrics(40.0, 0.01)
    first = Finished(("a.vdg", "b.vdg"), 9, 1.0, "steps", (samples,) * 2, (picture,) * 2)
    live_line([replace(first, hints=("", "paint it"))])
    assert capsys.readouterr().out.splitlines()[-1] == "  paint it"
    live_line([first])
    assert "sphere 40.0 dB" in capsys.readouterr().out.splitlines()[-1]
    # the largest error, of a place with hardly any light, is left to `measure`
    skies = (SkyMetrics(0.011, 0.042, 0.936, -0.0051),) * 2
    live_line([replace(first, skies=skies, hints=("", ""))])
    expected = "  sphere 40.0 dB, visible difference 0.010, light -0.5%"
    assert capsys.readouterr().out.splitlines()[-1] == expected
