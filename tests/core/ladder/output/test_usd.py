"""The USD file of a ladder, read by USD itself."""

import re
from pathlib import Path

import MaterialX as mx
import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.ladder.fitting.image_fit import VertexColours
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output.usd import write_usd
from verdigris.core.ladder.rungs.detail import DetailRung
from verdigris.core.ladder.rungs.light_document import light_document
from verdigris.core.ladder.rungs.neural import NeuralRung
from verdigris.core.ladder.rungs.pbr import PbrRung
from verdigris.core.ladder.rungs.reflection import ReflectionRung
from verdigris.core.ladder.rungs.rung import Written
from verdigris.core.ladder.rungs.stored_light import UnlitRung
from verdigris.core.ladder.rungs.vertex import VertexRung
from verdigris.core.ladder.surface_shader.surface_shader import (
    Constant,
    SurfaceShader,
    TexturedInput,
)
from verdigris.core.ladder.texels.displacement import Displacement
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.tone_curve import ToneCurve
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.ladder.views.visibility import DeviceSurface
from verdigris.core.material.evaluator import Frames
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.pictures.picture_files import write_data

pytest.importorskip("pxr", reason="USD is not installed: pip install usd-core")
from pxr import Usd, UsdGeom, UsdShade, UsdValidation

ROOT = Path(__file__).resolve().parents[4]
LIT = {each: f"pbr_{each}.png" for each in ("base_color", "orm", "normal", "emissive", "coat")}
DENTS = Displacement(0.25, 0.5, np.zeros((4, 4)))
LAYERED = SurfaceShader(
    "standard_surface",
    "tray",
    (TexturedInput("specular_rotation", "float"), TexturedInput("sheen_color", "color3")),
    (Constant("coat", "float", "0.5"),),
    DENTS,
)
LAYERS = {"specular_rotation": "turn.png", "sheen_color": "pbr_sheen.png"}
UNLIT = {"shown": "unlit_shown.png", "light": "unlit_light.png"}
LIT_NUMBERS = {"emissive_strength": 3.0, "alpha_mode": "MASK", "alpha_cutoff": 0.5}
CURVE = {"a": -0.7, "b": 1.1, "c": 0.1}
REFLECTION = {use: f"reflection_{use}.png" for use in ("shown", "light", "share", "mirror")}
MIRRORED = {"curve": CURVE, "mirror_curve": {"a": -3.2, "b": 3.6, "c": 0.2}}
_NODE = re.compile(r"shaderId '(ND_\w+)' .* not found in sdrRegistry")
LODS = [
    {"rung": "neural", "below_pixels": None, "flip": 0.01},
    {"rung": "unlit", "below_pixels": 64, "flip": 0.1},
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usd")
    detail = {use: f"detail_{use}.png" for use in ("detail", "colour", "colour_shown", "opacity")}
    for name in (
        *LIT.values(),
        *UNLIT.values(),
        *REFLECTION.values(),
        *detail.values(),
        *LAYERS.values(),
        DENTS.file,
        "tray.vdg",
    ):
        (folder / name).write_bytes(b"")
    mesh = load_mesh(ROOT / "examples/tray.obj")
    surface = Surface(mesh, {"st": mesh.uv, "st1": mesh.uv * 0.5}, name="tray")
    scene = Scene(
        None, DeviceSurface(open_device("software"), surface), None, 1.0, "st", "st1", False
    )
    count = surface.vertices[1]
    colours = VertexColours(Grid(count, 1, np.full((count, 3), 0.5, "f4")), ToneCurve(1, 1, 0))

    numbers = {"curve": CURVE, "colour_shown_scale": 2.5, "alpha_mode": "BLEND"}
    # what the files hold is not read
    rungs = [
        (NeuralRung(None), Written()),
        (PbrRung(None, displacement=DENTS), Written(LIT, LIT_NUMBERS, LAYERED, LAYERS)),
        (UnlitRung(None), Written(UNLIT, {"curve": CURVE})),
        (ReflectionRung(None), Written(REFLECTION, MIRRORED)),
        (DetailRung(None), Written(detail, numbers)),
        (VertexRung(colours), Written()),
    ]
    bundles = {rung.name: "" for rung, _ in rungs} | {"neural": "tray.vdg"}
    [name] = write_usd(scene, rungs, folder, "tray", LODS, bundles)
    return Usd.Stage.Open(str(folder / name)), mesh


def surface_of(stage, rung):
    root = stage.GetDefaultPrim()
    root.GetVariantSet("rung").SetVariantSelection(rung)
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/ladder/mesh"))
    material, _ = UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial()
    source, _, _ = material.ComputeSurfaceSource()
    return mesh, material, source


def file_behind(surface, port):
    source = surface.GetInput(port).GetConnectedSources()[0][0].source
    shader = UsdShade.Shader(source.GetPrim())
    reader = UsdShade.Shader(shader.GetInput("st").GetConnectedSources()[0][0].source.GetPrim())
    return shader.GetInput("file").Get().path, reader.GetInput("varname").Get()


def test_the_mesh_has_its_triangles_and_both_uv_sets(written):
    stage, source = written
    mesh, *_ = surface_of(stage, "pbr")
    index = np.array(mesh.GetFaceVertexIndicesAttr().Get())
    place = np.array(mesh.GetPointsAttr().Get())[index].reshape(-1, 3, 3)
    np.testing.assert_array_equal(place, source.position)
    found = UsdGeom.PrimvarsAPI(mesh)
    for name, scale in (("st", 1), ("st1", 0.5)):
        uv = np.array(found.GetPrimvar(name).ComputeFlattened()).reshape(-1, 3, 2)
        np.testing.assert_allclose(uv, source.uv * scale, rtol=1e-6)


def test_each_rung_is_a_variant_with_its_textures(written):
    stage, _ = written
    assert stage.GetDefaultPrim().GetVariantSet("rung").GetVariantNames() == [
        "detail", "neural", "pbr", "reflection", "reflection_mirrored", "unlit", "vertex",
    ]  # fmt: skip
    _, _, surface = surface_of(stage, "pbr")
    for port, use in (("diffuseColor", "base_color"), ("roughness", "orm"), ("normal", "normal")):
        assert file_behind(surface, port) == (f"./{LIT[use]}", "st")
    assert file_behind(surface, "clearcoatRoughness") == ("./pbr_coat.png", "st")
    _, _, surface = surface_of(stage, "unlit")
    assert file_behind(surface, "emissiveColor") == ("./unlit_shown.png", "st1")
    assert surface.GetInput("diffuseColor").Get() == (0, 0, 0)
    _, _, surface = surface_of(stage, "detail")
    assert file_behind(surface, "emissiveColor") == ("./detail_colour_shown.png", "st1")
    assert file_behind(surface, "opacity") == ("./detail_opacity.png", "st")
    mesh, _, surface = surface_of(stage, "vertex")
    reader = UsdShade.Shader(surface.GetInput("emissiveColor").GetConnectedSources()[0][0].source)
    name = reader.GetInput("varname").Get()
    assert UsdGeom.PrimvarsAPI(mesh).GetPrimvar(name).HasValue()


def test_the_neural_rung_names_its_bundle_and_levels_their_size(written):
    stage, _ = written
    mesh, material, surface = surface_of(stage, "neural")
    assert material.GetPrim().GetAttribute("verdigris:bundle").Get().path == "tray.vdg"
    assert file_behind(surface, "diffuseColor")[0] == "./pbr_base_color.png"
    assert surface.GetInput("opacityThreshold").Get() == 0.5
    emission = UsdShade.Shader(surface.GetInput("emissiveColor").GetConnectedSources()[0][0].source)
    assert emission.GetInput("scale").Get() == (3, 3, 3, 1)
    assert not mesh.GetPrim().HasAttribute("verdigris:below_pixels")
    mesh, *_ = surface_of(stage, "unlit")
    assert mesh.GetPrim().GetAttribute("verdigris:below_pixels").Get() == 64


def test_the_validators_of_usd_find_no_fault(written):
    stage, _ = written
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 10
    for rung in stage.GetDefaultPrim().GetVariantSet("rung").GetVariantNames():
        stage.GetDefaultPrim().GetVariantSet("rung").SetVariantSelection(rung)
        found = UsdValidation.ValidationContext(validators).Validate(stage)
        texts = [each.GetMessage() for each in found]
        # the wheel of USD knows no nodes of MaterialX
        unknown = [_NODE.match(text)[1] for text in texts if _NODE.match(text)]
        assert len(unknown) == len(texts)
        assert all(standard_library().getNodeDef(name) for name in unknown)


def picture(path):
    """A picture of random bytes, and its texels, row 0 at v = 0."""
    texels = np.random.default_rng(len(path.stem)).integers(0, 256, (4, 4, 4)) / 255
    write_data(path, np.asarray(texels[::-1], np.float32))
    return texels.reshape(16, 4)


def on_the_plane_of_a_bake(text, folder):
    """The material of a document, whose uv sets are all the same."""
    root = mx.createDocument()
    mx.readFromXmlString(root, text)
    root.setDataLibrary(standard_library())
    assert root.validate() == (True, "")
    plain = re.sub(r'<geompropvalue (name="\w+" type="vector2")>.*?</geompropvalue>',
                   r"<texcoord \1/>", text, flags=re.DOTALL)  # fmt: skip
    (folder / "light.mtlx").write_text(plain)
    return Teacher(load_document(folder / "light.mtlx"), device=open_device("software"))


def to_light(stored, curve):
    return stored / ((curve["c"] * stored + curve["a"]) * stored + curve["b"])


@pytest.mark.parametrize("alpha", ["none", "of light", "a file"])
def test_the_code_that_materialx_makes_of_stored_light_shows_its_formula(tmp_path, alpha):
    uses = ("light",) if alpha == "of light" else ("colour", "detail", "opacity")
    texels = {use: picture(tmp_path / f"{use}.png") for use in uses}
    files = {use: f"{use}.png" for use in texels if alpha == "a file" or use != "opacity"}
    numbers = {"curve": CURVE} | ({} if alpha == "none" else {"alpha_mode": "BLEND"})
    text = light_document(files, numbers, ("st", "st1"))
    material = on_the_plane_of_a_bake(text, tmp_path)
    at = (np.arange(4) + 0.5) / 4
    uv = np.stack(np.meshgrid(at, at), -1).reshape(16, 2).astype(np.float32)
    found = material.unlit(uv, np.tile(np.array([0, 0, 1], np.float32), (16, 1)))
    stored = texels[uses[0]][:, :3]
    expected = to_light(stored, CURVE)
    opacity = texels["light"][:, 3] if alpha == "of light" else np.ones(16)
    if alpha != "of light":
        expected *= 4 * texels["detail"][:, :1] ** 2
        opacity = texels["opacity"][:, 0] if alpha == "a file" else opacity
    np.testing.assert_allclose(found[:, :3], expected * opacity[:, None], rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(found[:, 3], opacity, atol=2e-3)


def test_stored_light_is_a_network_of_materialx_on_both_uv_sets(written):
    stage, _ = written
    _, material, _ = surface_of(stage, "detail")
    source, _, _ = material.ComputeSurfaceSource("mtlx")
    assert source.GetShaderId() == "ND_surface_unlit"
    found = {}
    for prim in Usd.PrimRange(material.GetPrim()):
        shader = UsdShade.Shader(prim)
        if "image" in (shader.GetShaderId() or ""):
            uv = shader.GetInput("texcoord").GetConnectedSources()[0][0].source
            name = UsdShade.Shader(uv.GetPrim()).GetInput("geomprop").Get()
            found[shader.GetInput("file").Get().path] = name, shader.GetShaderId()
    assert found == {
        "./detail_colour.png": ("st1", "ND_image_vector3"),
        "./detail_detail.png": ("st", "ND_image_float"),
        "./detail_opacity.png": ("st", "ND_image_float"),
    }


def test_gltf_textures_have_a_network_of_materialx_with_all_layers(written):
    stage, _ = written
    for variant in ("neural", "pbr"):
        _, material, _ = surface_of(stage, variant)
        source, _, _ = material.ComputeSurfaceSource("mtlx")
        assert source.GetShaderId() == "ND_standard_surface_surfaceshader"
    assert source.GetInput("coat").Get() == 0.5

    def image(port):
        node = source.GetInput(port).GetConnectedSources()[0][0].source
        return UsdShade.Shader(node.GetPrim()).GetInput("file").Get().path

    assert image("specular_rotation") == "./turn.png" and image("sheen_color") == "./pbr_sheen.png"


def test_lit_rungs_displace_the_mesh(written):
    stage, _ = written
    for variant in ("neural", "pbr"):
        _, material, surface = surface_of(stage, variant)
        assert material.ComputeDisplacementSource()[0].GetPath() == surface.GetPath()
        assert file_behind(surface, "displacement") == (f"./{DENTS.file}", "st")
        image = UsdShade.Shader(surface.GetInput("displacement").GetConnectedSources()[0][0].source)
        height = 0.75 * image.GetInput("scale").Get()[0] + image.GetInput("bias").Get()[0]
        assert height == DENTS.scale * (0.75 - DENTS.midlevel)
        moves, _, _ = material.ComputeDisplacementSource("mtlx")
        assert moves.GetShaderId() == "ND_displacement_float"
        assert moves.GetInput("scale").Get() == DENTS.scale
    assert not surface_of(stage, "unlit")[1].ComputeDisplacementSource()[0]


def test_mirrored_light_is_read_where_the_shader_of_the_manual_reads_it(tmp_path):
    texels = {use: picture(tmp_path / f"{use}.png") for use in ("light", "share", "mirror")}
    text = light_document({use: f"{use}.png" for use in texels}, MIRRORED, ("st", "st1"), True)
    material = on_the_plane_of_a_bake(text, tmp_path)
    rng = np.random.default_rng(5)
    axes = np.linalg.qr(rng.normal(size=(400, 3, 3)))[0].astype(np.float32)
    eye = rng.normal(size=(400, 3)).astype(np.float32)
    eye[:, 2] = np.abs(eye[:, 2]) + 0.1
    eye /= np.linalg.norm(eye, axis=1, keepdims=True)
    at = (np.arange(4) + 0.5) / 4
    uv = np.tile(np.stack(np.meshgrid(at, at), -1).reshape(16, 2), (25, 1)).astype(np.float32)
    frames = Frames(np.zeros((400, 3), np.float32), *axes.transpose(1, 0, 2))
    found = material.unlit(uv, eye, frames)[:, :3]
    r = np.einsum("ni,nij->jn", eye * (-1, -1, 1), axes)
    # the four corners of the map are below
    x, y, z = r / np.abs(r).sum(0)
    u = np.where(y >= 0, x, np.sign(x) * (1 - np.abs(z)))
    v = np.where(y >= 0, z, np.sign(z) * (1 - np.abs(x)))
    place = np.clip(0.5 + 0.5 * np.stack([u, v], -1), 0.01, 0.99) * 4 - 0.5
    low = np.floor(place).astype(int)
    part = (place - low)[:, None]
    mirror = texels["mirror"].reshape(4, 4, 4)[..., :3]

    def row(down):
        near, far = (mirror[(low[:, 1] + down) % 4, (low[:, 0] + right) % 4] for right in (0, 1))
        return near + (far - near) * part[..., 0]

    stored = row(0) + (row(1) - row(0)) * part[..., 1]
    light, share = (np.tile(texels[use][:, :3], (25, 1)) for use in ("light", "share"))
    expected = to_light(light, CURVE) + share * to_light(stored, MIRRORED["mirror_curve"])
    np.testing.assert_allclose(found, expected, rtol=5e-3, atol=5e-3)
