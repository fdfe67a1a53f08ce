"""Light from behind in glTF: leaves, walls and solids, each by its extensions."""

import pytest

from verdigris.core.ladder.rungs.passing_light import PassingLight
from verdigris.core.ladder.rungs.rung import Written
from verdigris.core.ladder.texels.pbr_model import BASE_COLOUR, NORMAL_MAP, ORM
from verdigris.core.material.teacher.teacher import Teacher

from ...material.surfaces import shader
from .test_pbr_in_scenes import pbr_rung

FILES = {BASE_COLOUR: "base.png", ORM: "orm.png", NORMAL_MAP: "normal.png"}
TINT = (0.8, 0.6, 0.4)
COLOUR = ("color3", "0.8, 0.6, 0.4")
GLASS = {
    "base": ("float", "0"), "transmission": ("float", "1"), "transmission_color": COLOUR,
    "specular_roughness": ("float", "0.3"), "specular_IOR": ("float", "1.4"),
}  # fmt: skip
LEAF = {
    "base": ("float", "0"), "specular": ("float", "0"), "subsurface": ("float", "1"),
    "subsurface_color": COLOUR, "thin_walled": ("boolean", "true"),
}  # fmt: skip


def shading_of(inputs):
    rung = pbr_rung(layers=())
    rung.passing = PassingLight.of(Teacher(shader("standard_surface", inputs)), 3.0)
    rung.opacity = None
    return rung.gltf_shading(Written(dict(FILES)), lambda file, number: {"index": file})


def test_a_solid_of_glass_has_transmission_index_and_volume():
    shading = shading_of(GLASS)
    assert shading["extensions"] == {
        "KHR_materials_transmission": {"transmissionFactor": 1.0},
        "KHR_materials_ior": {"ior": 1.4},
        "KHR_materials_volume": {"thicknessFactor": 3.0},
    }
    base = shading["pbrMetallicRoughness"]
    assert base["metallicFactor"] == 0 and "baseColorTexture" not in base
    assert base["baseColorFactor"][:3] == pytest.approx(TINT, abs=0.06)


def test_a_wall_of_glass_has_no_volume():
    extensions = shading_of({**GLASS, "thin_walled": ("boolean", "true")})["extensions"]
    assert extensions == {"KHR_materials_transmission": {"transmissionFactor": 1.0}}


def test_a_leaf_transmits_diffuse_light_and_keeps_its_texture():
    shading = shading_of(LEAF)
    given = shading["extensions"]["KHR_materials_diffuse_transmission"]
    factor, colour = given["diffuseTransmissionFactor"], given["diffuseTransmissionColorFactor"]
    assert [factor * part for part in colour] == pytest.approx(TINT, rel=0.01)
    assert shading["pbrMetallicRoughness"]["baseColorTexture"] == {"index": "base.png"}


def test_an_opaque_material_has_no_extension():
    assert "extensions" not in shading_of({"base": ("float", "1")})
