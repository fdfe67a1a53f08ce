"""A new rung is one module and one line of the registry; all else follows."""

import json
from dataclasses import dataclass

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.baking.fit_ladder import fit_ladder
from verdigris.core.baking.ladder_request import LadderRequest
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError
from verdigris.core.hosts.ladder_looks import read_look
from verdigris.core.ladder.rungs.registry import RUNGS, find_rung, require_rungs
from verdigris.core.ladder.rungs.rung import SHOWN, Rung
from verdigris.core.ladder.texels.grid import quantise
from verdigris.core.ladder.texels.images import RungImage
from verdigris.core.ladder.texels.tone_curve import CLAMP
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.pictures.picture_files import srgb_from_linear

from ...material.documents import with_surface

CLAY = with_surface('<input name="base_color" type="color3" value="0.5,0.2,0.1"/>', "")
FEW = {
    "views": 6, "view_size": 32, "samples": 8, "responses": 1000, "steps": 10, "held_out": 2,
    "held_out_size": 32, "held_out_samples": 8,
}  # fmt: skip


@dataclass
class PlainRung(Rung):
    """One colour everywhere: the mean light."""

    name = "plain"
    title = "One colour"
    stores = "one colour"
    cost = "1 texture read"
    snippet = "vec3 light = texture(lightMap, uv1).rgb;\n"

    colour: np.ndarray

    @classmethod
    def fit(cls, fits):
        colour = quantise(fits.records.light.mean(0))
        return cls(
            colour, size=4, byte_size=48, draw=lambda seen, _: np.tile(colour, (seen.count, 1))
        )

    def images(self):
        light = np.broadcast_to(self.colour, (4, 4, 3))
        shown = quantise(srgb_from_linear(light))
        return {
            "light": RungImage(light),
            SHOWN: RungImage(shown, is_srgb=True, is_for_viewers=True),
        }

    def numbers(self):
        return {**super().numbers(), "curve": CLAMP.as_json()}


@pytest.fixture(scope="module")
def made(ball, tmp_path_factory):
    """A ladder of it and another one, with blocks."""
    RUNGS.append(PlainRung)
    try:
        folder = tmp_path_factory.mktemp("plain")
        request = LadderRequest(folder, ("plain", "vertex"), 16, {**FEW, "texture_format": "bc7"})
        clay = parse_document(CLAY)
        report = fit_ladder(
            clay, clay.require_material(), ball, find_environment("studio"),
            open_device("software"), request,
        )  # fmt: skip
    finally:
        RUNGS.remove(PlainRung)
    return folder, report


def test_it_is_measured_and_listed_with_its_files(made):
    folder, report = made
    assert [each["name"] for each in report["rungs"]] == ["vertex", "plain"]
    entry = report["rungs"][1]
    assert (entry["title"], entry["cost"]) == (PlainRung.title, PlainRung.cost)
    assert entry["curve"] == CLAMP.as_json()
    # a block of 16 bytes holds 4 x 4 texels
    assert (entry["size"], entry["bytes"]) == (4, 16)
    assert 0 < entry["flip"] < 1 and len(entry["flip_by_view"]) == FEW["held_out"]
    uses = {"light", "light.ktx2", "shown", "shown.ktx2"}
    assert set(entry["files"]) == uses
    assert all((folder / file).is_file() for file in (*entry["files"].values(), entry["picture"]))


def test_it_is_drawn_as_its_file_holds_it(made):
    folder, _ = made
    texels = oiio.ImageBuf(str(folder / "plain_light.png")).get_pixels("float")
    assert np.ptp(texels, (0, 1)).max() == 0 and texels.shape == (4, 4, 3)
    # the mean light of a reddish material
    red, green, blue = texels[0, 0]
    assert red > green > blue > 0


def test_gltf_and_usd_show_it(made):
    folder, _ = made
    document = json.loads((folder / "material.gltf").read_text())
    [material] = document["materials"]
    assert material["name"] == "plain" and "KHR_materials_unlit" in material["extensions"]
    assert document["images"] == [{"uri": "plain_shown.png"}]
    usd = pytest.importorskip("pxr.Usd", reason="USD is not installed: pip install usd-core")
    from pxr import UsdShade

    stage = usd.Stage.Open(str(folder / "material.usdc"))
    variants = stage.GetDefaultPrim().GetVariantSet("rung")
    assert variants.GetVariantNames() == ["plain", "vertex"]
    variants.SetVariantSelection("plain")
    surface = UsdShade.Shader.Get(stage, "/ladder/materials/plain/surface")
    texture = UsdShade.Shader(surface.GetInput("emissiveColor").GetConnectedSources()[0][0].source)
    assert texture.GetInput("file").Get().path == "./plain_shown.png"


def test_the_page_shows_it(made):
    folder, _ = made
    page = (folder / "ladder.html").read_text()
    assert "<section id='plain'><h2>One colour</h2>" in page and PlainRung.snippet in page


def test_a_host_loads_it(made):
    folder, _ = made
    look = read_look(folder / "ladder.json").rungs[1]
    assert (look.name, look.title, look.is_material) == ("plain", "One colour", False)
    assert look.light.files == {"light": folder / "plain_light.png"}
    assert look.light.curve == (CLAMP.a, CLAMP.b, CLAMP.c)


def test_a_rung_is_known_while_it_is_registered():
    assert find_rung("plain") is None
    with pytest.raises(SettingsError, match="rungs: 'plain' is not known"):
        require_rungs(["plain"])
