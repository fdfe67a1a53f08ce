"""Light from behind in glTF and in the surface shader of its textures: leaves, walls and solids."""

import numpy as np
import pytest

from verdigris.core.ladder.rungs.rung import Written
from verdigris.core.ladder.surface_shader.passing_light import FRONT, TRANSMISSION, PassingLight
from verdigris.core.ladder.texels.pbr_model import (
    BASE_COLOUR,
    METALNESS,
    NORMAL_MAP,
    ORM,
    PbrMaterial,
    decode,
)
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.probe import mean_transmitted
from verdigris.core.material.teacher.teacher import Teacher

from ...material.surfaces import shader
from ..rungs.test_pbr_in_scenes import pbr_rung
from .test_displacement import ALONG_X, scene_of

FILES = {use: f"{use}.png" for use in (BASE_COLOUR, ORM, NORMAL_MAP, FRONT, TRANSMISSION)}
TINT = (0.8, 0.6, 0.4)
COLOUR = ("color3", "0.8, 0.6, 0.4")
THIN = ("boolean", "true")
GLASS = {
    "base": ("float", "0"), "transmission": ("float", "1"), "transmission_color": COLOUR,
    "specular_roughness": ("float", "0.3"), "specular_IOR": ("float", "1.4"),
}  # fmt: skip
LEAF = {
    "base": ("float", "0"), "specular": ("float", "0"), "subsurface": ("float", "1"),
    "subsurface_color": COLOUR, "thin_walled": THIN,
}  # fmt: skip
STAINED = (
    '<standard_surface name="shader" type="surfaceshader">'
    '<input name="{}" type="float" nodename="x"/>'
    '<input name="base_color" type="color3" value="0.3, 0.2, 0.1"/><input name="base" '
    'type="float" value="1"/><input name="thin_walled" type="boolean" value="true"/>'
    '<input name="specular_roughness" type="float" value="0.4"/>'
    '<input name="subsurface_color" type="color3" value="0.8, 0.6, 0.4"/></standard_surface>'
    '<surfacematerial name="m" type="material"><input name="surfaceshader" type="surfaceshader" '
    'nodename="shader"/></surfacematerial>'
)


def dielectric_rung():
    """One with a dark base colour, as a fit finds it for what transmits."""
    rung = pbr_rung(layers=(), is_constant=True)
    rung.textures.grid.values[:, :3] = 0.2
    rung.textures.grid.values[:, METALNESS] = 0
    rung.textures.emission = rung.opacity = None
    return rung


def extensions_of(rung, uses):
    files = {use: FILES[use] for use in uses}
    shading = rung.gltf_shading(Written(files), lambda file, number: {"index": file})
    assert shading["pbrMetallicRoughness"]["baseColorTexture"] == {"index": FILES[FRONT]}
    return shading["extensions"]


@pytest.mark.parametrize(
    ("inputs", "extensions"),
    [
        (
            GLASS,
            {
                "KHR_materials_transmission": {"transmissionFactor"},
                "KHR_materials_ior": {"ior"},
                "KHR_materials_volume": {"thicknessFactor"},
            },
        ),
        ({**GLASS, "thin_walled": THIN}, {"KHR_materials_transmission": {"transmissionFactor"}}),
        (
            LEAF,
            {
                "KHR_materials_diffuse_transmission": {
                    "diffuseTransmissionFactor", "diffuseTransmissionColorFactor",
                }
            },
        ),
    ],
)  # fmt: skip
def test_as_much_light_passes_as_through_the_material(inputs, extensions, tmp_path):
    teacher = Teacher(shader("standard_surface", inputs))
    rung = dielectric_rung()
    textures, light = rung.textures, PassingLight.of(teacher, 3.0)
    rung.passing = passing = light.textures(textures)
    found = extensions_of(rung, (BASE_COLOUR, ORM, NORMAL_MAP, FRONT))
    assert {name: set(each) for name, each in found.items()} == extensions
    assert found.get("KHR_materials_ior", {"ior": 1.4}) == {"ior": 1.4}
    # the front reflects what was fitted: its colour, or with one colour for both its mean
    fitted = decode(textures.grid.values)[:, :3]
    front = ((passing.front + 0.055) / 1.055) ** 2.4 * (1 - passing.part)
    if not light.is_diffuse:
        front, fitted = front.mean(1), fitted.mean(1)
    assert front == pytest.approx(fitted, abs=6e-3)
    expected = mean_transmitted(teacher)
    drawn = PbrMaterial(textures.grid, teacher.device, passing=passing.on_device)
    assert mean_transmitted(drawn) == pytest.approx(expected, rel=0.05)
    written = rung.write_files(tmp_path, has_ktx=False)
    (tmp_path / "pbr.mtlx").write_text(rung.networks(written, ("st", "st1"))["pbr"])
    network = Teacher(load_document(tmp_path / "pbr.mtlx"))
    assert mean_transmitted(network) == pytest.approx(expected, rel=0.05)
    assert network.index_below == light.index
    # those of plug-ins reflect as before
    assert {"transmission", "subsurface"}.isdisjoint(each.name for each in written.shader.constants)


@pytest.mark.parametrize("name", ["transmission", "subsurface"])
def test_textures_follow_what_varies(name):
    nodes = f'<materialx version="1.39">{ALONG_X}{STAINED.format(name)}</materialx>'
    light = PassingLight.on_mesh(scene_of(nodes), 16)
    assert light.is_diffuse == (name == "subsurface")
    share = light.share.image
    along = (np.arange(16) + 0.5) / 16
    # the base colour tints light of `transmission` by white
    tint = share[:, -1].mean(0) / along[-1]
    assert share == pytest.approx(np.tile(along[None, :, None] * tint, (16, 1, 1)), abs=0.01)
    assert not light.is_metal_free
    rung = dielectric_rung()
    rung.passing = light.textures(rung.textures)
    image = rung.images()[TRANSMISSION].pixels
    assert image.shape[-1] == (4 if light.is_diffuse else 1)
    assert np.all(np.diff(image[4, :, -1]) >= 0) and np.ptp(image[..., -1]) > 0.3
    given = extensions_of(rung, FILES)
    (textured,) = [each for key, each in given.items() if key.endswith("transmission")]
    assert {"index": FILES[TRANSMISSION]} in textured.values()


def test_an_opaque_material_has_no_extension():
    assert PassingLight.of(Teacher(shader("standard_surface", {"base": ("float", "1")})), 1) is None
