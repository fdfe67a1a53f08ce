"""Materials that are the same everywhere are told from others, and take few texels."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.measure.fitted import with_texels
from verdigris.core.baking.measure.same_everywhere import is_same_everywhere
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress.events import Finished, Started
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import require_settings

from .bakes import TINY, cut_off_and_resumed, plain_teacher, run

RESOLUTION = 64
SHADER = """<materialx version="1.39">{nodes}<standard_surface name="s" type="surfaceshader">
<input name="base_color" type="color3" value="0.7, 0.3, 0.1"/>{inputs}</standard_surface>
<surfacematerial name="m" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
# 1 where u is beyond 60/64, and 0 before: a column of texels in sixteen
STRIPE = """<texcoord name="uv" type="vector2"/><extract name="u" type="float">
<input name="in" type="vector2" nodename="uv"/></extract><ifgreater name="stripe" type="float">
<input name="value1" type="float" nodename="u"/><input name="value2" type="float" value="0.9375"/>
<input name="in1" type="float" value="1"/><input name="in2" type="float" value="0"/></ifgreater>"""
VARYING = {
    "roughness": '<input name="specular_roughness" type="float" nodename="stripe"/>',
    "glow": '<input name="emission" type="float" nodename="stripe"/>',
    "holes": '<input name="opacity" type="color3" nodename="holes"/>',
}
HOLES = """<combine3 name="holes" type="color3"><input name="in1" type="float" nodename="stripe"/>
<input name="in2" type="float" nodename="stripe"/><input name="in3" type="float" nodename="stripe"/>
</combine3>"""


class Spotted:
    """Black, but for what is answered in some texels of a grid."""

    def __init__(self, spots, size=RESOLUTION, answer=0.5):
        self._spots, self._size, self._answer = set(spots), size, answer

    def response(self, uv, wi, wo):
        cells = np.floor(uv * self._size).astype(int)
        hit = np.array([(x, y) in self._spots for x, y in cells.tolist()])
        return np.where(hit[:, None], np.float32(self._answer), np.float32(0)).repeat(3, 1)

    def unlit(self, uv, wo):
        return np.tile(np.float32([0, 0, 0, 1]), (len(uv), 1))


def test_what_is_one_colour_is_the_same_everywhere():
    assert is_same_everywhere(plain_teacher(), RESOLUTION)


@pytest.mark.parametrize("what", VARYING)
def test_what_differs_in_one_property_is_not(what):
    text = SHADER.format(nodes=STRIPE + HOLES, inputs=VARYING[what])
    teacher = Teacher(parse_document(text), device=open_device("software"))
    assert not is_same_everywhere(teacher, RESOLUTION)


@pytest.mark.parametrize("size", [64, 512], ids=["few texels", "many"])
@pytest.mark.parametrize("spot", [(0, 0), (17, 40), (63, 63)])
def test_a_single_texel_that_differs_is_found_whichever_it_is(spot, size):
    assert not is_same_everywhere(Spotted({spot}, size), size)


def test_what_is_no_number_is_like_nothing():
    assert not is_same_everywhere(Spotted({(5, 5)}, answer=np.nan), RESOLUTION)


def test_a_difference_that_nobody_sees_is_none():
    assert is_same_everywhere(Spotted({(5, 5)}, answer=5e-5), RESOLUTION)
    assert not is_same_everywhere(Spotted({(5, 5)}, answer=2e-4), RESOLUTION)


def test_such_a_material_takes_few_texels_and_a_third_of_the_steps():
    settings = require_settings("standard", "numpy")
    found = with_texels([Spotted(())], settings)
    assert (found.resolution, found.uniform_instead_of) == (16, 256)
    assert found.layout().texel_count == 16 * 16 * 4 // 3
    assert (settings.iterations, found.iterations) == (20_000, 6_667)
    # a fiftieth of the tenth that trains the small texture of others
    assert found.candidate_steps == 13
    assert with_texels([Spotted(())], found) == found


def test_steps_that_are_asked_for_are_taken_whatever_the_material():
    settings = require_settings("standard", "numpy")
    for asked, steps in (
        ({"iterations": 900}, 900),
        ({"iterations": 900, "uniform_share": 0.5}, 450),
        ({"iterations": 1, "uniform_share": 0.01}, 1),
        ({"seed": 4}, 6_667),
    ):
        assert with_texels([Spotted(())], settings.changed(asked)).iterations == steps


@pytest.mark.parametrize(
    ("teachers", "changes"),
    [
        ([Spotted(()), Spotted({(3, 9)})], {}),
        ([Spotted(())], {"uniform_resolution": 0}),
        ([Spotted(())], {"resolution": 16}),
        ([Spotted(())], {"resolution": 8}),
    ],
    ids=["one of two differs", "not wanted", "as few already", "fewer"],
)
def test_others_keep_their_texels(teachers, changes):
    settings = replace(BakeSettings(resolution=RESOLUTION), **changes)
    assert with_texels(teachers, settings) == settings


@pytest.mark.parametrize("wrong", [3, 48, 1 << 14, -16])
def test_a_size_that_no_texture_has_is_refused(wrong):
    with pytest.raises(SettingsError, match=f"uniform_resolution is {wrong}: use a power of two"):
        BakeSettings(uniform_resolution=wrong)


@pytest.mark.parametrize("wrong", [0, -0.1, 1.5, float("nan")])
def test_a_share_of_the_steps_that_is_none_is_refused(wrong):
    with pytest.raises(SettingsError, match="uniform_share is "):
        BakeSettings(uniform_share=wrong)


def test_its_bundle_is_small_and_says_so_and_holds(tmp_path):
    teacher = plain_teacher()
    events = run([teacher], tmp_path, replace(TINY, resolution=256, iterations=400))
    (started,) = (event for event in events if isinstance(event, Started))
    (finished,) = (event for event in events if isinstance(event, Finished))
    bundle = open_bundle(tmp_path / "out.vdg")
    assert started.resolution == bundle.layout.width == 16
    assert finished.hints[0].startswith("the material is the same everywhere: 16 x 16 texels")
    settings = bundle.manifest.source["settings"]
    assert (settings["resolution"], settings["uniform_instead_of"]) == (16, 256)
    assert (tmp_path / "out.vdg" / "latents.ktx2").stat().st_size < 4000
    assert verify(bundle, teacher=teacher).holds


def test_a_bake_of_it_that_was_cut_off_goes_on_as_it_was_asked_for(tmp_path):
    settings = replace(TINY, resolution=64)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run([plain_teacher()], whole, settings)
    found = cut_off_and_resumed(plain_teacher(), parts, settings, after=0.5)
    np.testing.assert_array_equal(
        found.latents, open_bundle(whole / "out.vdg").parameters().latents
    )
