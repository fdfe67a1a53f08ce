"""Inputs that a material of USD publishes, such as promoted parameters of Houdini, stay offers."""

import numpy as np
import pytest

pytest.importorskip("pxr")

from verdigris.core.material.live_inputs.find_inputs import published_inputs
from verdigris.core.material.live_inputs.live_input import parse_wanted
from verdigris.core.material.live_inputs.open_inputs import reach_of_published
from verdigris.core.material.teacher.teacher import Teacher

from .stages import DATA, SAME, converted


@pytest.fixture
def nested():
    from pxr import Usd

    # a stage of its own: the test changes it
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().subLayerPaths.append(str(DATA / "solaris.usda"))
    return stage


def port_of(stage, name):
    return stage.GetPrimAtPath("/materials/nested").GetAttribute(f"inputs:{name}")


def test_inputs_of_the_material_are_offered_with_their_names_and_values(nested):
    port_of(nested, "shine").SetDisplayName("Shine of the Lacquer")
    port_of(nested, "shine").Set(0.35)
    _, loaded = converted(nested, "/materials/nested")
    offered = published_inputs(loaded, loaded.require_material("nested"))
    assert [*offered][:2] == ["shine", "tint"]
    shine, tint = offered["shine"], offered["tint"]
    assert (shine.kind, shine.value, shine.label) == (
        "float",
        pytest.approx((0.35,)),
        "Shine of the Lacquer",
    )
    assert tint.value == pytest.approx(((0.555 / 1.055) ** 2.4, 0.0508761, 0.0143499), rel=1e-4)
    assert tint.kind == "color3" and not shine.is_of_surface
    # once, and not again as the input of the surface that reads it
    assert "specular_roughness" not in offered
    reach = {each.name: each.inputs for each in reach_of_published(loaded, loaded.materials[0])}
    assert reach["shine"] == ("specular_roughness",)
    assert reach["tint"] == ("base_color",)


def test_a_live_input_of_the_material_is_the_stage_with_that_value(nested, samples):
    _, loaded = converted(nested, "/materials/nested")
    chosen = loaded.require_material("nested")
    wanted = [parse_wanted("shine=0.1..0.9"), parse_wanted("tint=0,0,0..1,0.5,0.25")]
    living = Teacher(loaded, chosen, live=wanted)
    shares = np.tile(np.float32([0.75, 0.5]), (len(samples[0]), 1))
    found = living.response(*samples, live=shares)
    before = Teacher(loaded, chosen).response(*samples)
    port_of(nested, "shine").Set(0.7)
    # its colour space is that of sRGB, and live values are linear
    port_of(nested, "tint").Set(tuple(1.055 * at ** (1 / 2.4) - 0.055 for at in (0.5, 0.25, 0.125)))
    _, changed = converted(nested, "/materials/nested")
    expected = Teacher(changed, changed.require_material("nested")).response(*samples)
    assert np.abs(found - expected).max() < SAME
    assert np.abs(before - expected).max() > 0.01


def test_the_default_of_a_colour_in_srgb_is_the_look_of_the_document(nested, samples):
    _, loaded = converted(nested, "/materials/nested")
    chosen = loaded.require_material("nested")
    # from black through the colour of the document
    value = published_inputs(loaded, chosen)["tint"].value
    high = ",".join(str(2 * each) for each in value)
    living = Teacher(loaded, chosen, live=[parse_wanted(f"tint=0,0,0..{high}")])
    assert living.live == pytest.approx((0.5,))
    still = Teacher(loaded, chosen).response(*samples)
    assert np.abs(living.response(*samples) - still).max() < SAME
