"""Materials are classified, and each kind has its settings in a recipe."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.measure.measure import classify, is_constant
from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import Finished, Started
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import Kind, Recipe, require_recipe

from ..bakes import TINY, plain_teacher, run

RESOLUTION = 64
RECIPE = require_recipe("standard", "numpy")
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
    """Black, except for a value in some texels of a grid."""

    live = ()

    def __init__(self, spots, size=RESOLUTION, value=0.5):
        self._spots, self._size, self._value = set(spots), size, value

    def response(self, uv, wi, wo, live=None):
        cells = np.floor(uv * self._size).astype(int)
        hit = np.array([(x, y) in self._spots for x, y in cells.tolist()])
        return np.where(hit[:, None], np.float32(self._value), np.float32(0)).repeat(3, 1)

    def unlit(self, uv, wo):
        return np.tile(np.float32([0, 0, 0, 1]), (len(uv), 1))


class Waves:
    """A response of 1 + amplitude sin(2 pi cycles u): detail below texels where cycles are many."""

    live = ()

    def __init__(self, amplitude, cycles):
        self._amplitude, self._cycles = amplitude, cycles
        self.calls = 0

    def response(self, uv, wi, wo, live=None):
        self.calls += 1
        wave = 1 + self._amplitude * np.sin(2 * np.pi * self._cycles * uv[:, :1].astype(float))
        return wave.astype(np.float32).repeat(3, 1)

    def unlit(self, uv, wo):
        return np.tile(np.float32([0, 0, 0, 1]), (len(uv), 1))


# Phases of two places of a texel differ by much more than a cycle: the mean log difference is about
# .4 times the amplitude by 1 + 1.
FINE = 100_003


def test_a_single_colour_is_constant():
    assert is_constant(plain_teacher(), RESOLUTION)


@pytest.mark.parametrize("what", VARYING)
def test_a_property_that_varies_is_not_constant(what):
    text = SHADER.format(nodes=STRIPE + HOLES, inputs=VARYING[what])
    teacher = Teacher(parse_document(text), device=open_device("software"))
    assert not is_constant(teacher, RESOLUTION)


@pytest.mark.parametrize("size", [64, 512], ids=["few texels", "many"])
@pytest.mark.parametrize("spot", [(0, 0), (17, 40), (63, 63)])
def test_a_single_texel_that_differs_is_found(spot, size):
    assert not is_constant(Spotted({spot}, size), size)


def test_a_value_that_is_not_a_number_is_not_constant():
    assert not is_constant(Spotted({(5, 5)}, value=np.nan), RESOLUTION)


def test_a_difference_that_nobody_sees_is_constant():
    assert is_constant(Spotted({(5, 5)}, value=5e-5), RESOLUTION)
    assert not is_constant(Spotted({(5, 5)}, value=2e-4), RESOLUTION)


@pytest.mark.parametrize(
    ("teacher", "kind"),
    [
        (Waves(0, 1), Kind.CONSTANT),
        (Waves(0.9, 1), Kind.DETAILED),
        (Waves(0.02, 1), Kind.SMOOTH),
        (Waves(0.01, FINE), Kind.DETAILED),
        (Waves(0.3, FINE), Kind.DENSE),
    ],
    ids=["constant", "a slope", "a gentle slope", "fine and faint", "fine"],
)
def test_the_kind_follows_the_detail_inside_texels(teacher, kind):
    assert classify([teacher], RECIPE) is kind


def test_several_materials_take_the_most_demanding_kind_and_dense_only_if_all_are():
    constant, smooth, dense = Waves(0, 1), Waves(0.02, 1), Waves(0.3, FINE)
    assert classify([constant, constant], RECIPE) is Kind.CONSTANT
    assert classify([constant, smooth], RECIPE) is Kind.SMOOTH
    assert classify([smooth, dense], RECIPE) is Kind.DETAILED
    assert classify([dense, dense], RECIPE) is Kind.DENSE


def test_settings_for_any_kind_are_taken_without_a_measurement():
    teacher = Waves(0, 1)
    assert classify([teacher], Recipe.of(BakeSettings())) is Kind.DETAILED
    assert teacher.calls == 0


def test_the_bundle_of_a_constant_material_is_small_and_verifies(tmp_path):
    teacher = plain_teacher()
    detailed = replace(TINY, resolution=256)
    recipe = Recipe({**Recipe.of(detailed).by_kind, Kind.CONSTANT: TINY})
    events = run([teacher], tmp_path, recipe)
    (started,) = (event for event in events if isinstance(event, Started))
    (finished,) = (event for event in events if isinstance(event, Finished))
    bundle = open_bundle(tmp_path / "out.vdg")
    assert started.resolution == bundle.layout.width == 16
    assert finished.hints[0].startswith("the material is constant")
    source = bundle.manifest.source
    assert (source["kind"], source["settings"]["resolution"]) == ("constant", 16)
    assert (tmp_path / "out.vdg" / "latents.ktx2").stat().st_size < 4000
    assert verify(bundle, teacher=teacher).holds
