"""Rungs as Cycles renders them, beside the formulas of docs/LADDER.md in numpy."""

import bpy
import MaterialX as mx
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from verdigris.core.hosts.host import LadderLook, RungLook, ShaderLook, ShaderTexture, StoredLight
from verdigris.core.hosts.ladder_looks import look_of
from verdigris.core.ladder.surface_shader.from_pbr import surface_of_pbr
from verdigris.core.ladder.surface_shader.surface_shader import (
    SurfaceShader,
    TexturedInput,
    describe_shader,
    write_images,
)
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.pbr_model import PbrTextures

SIDE = 24
CURVE, MIRROR_CURVE = (-0.7, 1.1, 0.1), (-3.2, 3.6, 0.2)


def picture(path, alpha=None):
    """A picture of random bytes, and its texels, row 0 at v = 0."""
    image = bpy.data.images.new(path.stem, 8, 8, alpha=alpha is not None)
    image.colorspace_settings.name, image.alpha_mode = "Non-Color", "CHANNEL_PACKED"
    texels = np.random.default_rng(len(path.stem)).integers(0, 256, (8, 8, 4)).astype("f4") / 255
    texels[..., 3] = 1 if alpha is None else alpha
    image.pixels.foreach_set(texels.ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)
    return texels


def read(texels, uv):
    """Bilinear, repeated."""
    at = uv * texels.shape[1::-1] - 0.5
    low = np.floor(at).astype(int)
    part = (at - low)[..., None]
    rows, columns = texels.shape[:2]

    def one(x, y):
        return texels[(low[..., 1] + y) % rows, (low[..., 0] + x) % columns]

    lower = one(0, 0) * (1 - part[..., 0, :]) + one(1, 0) * part[..., 0, :]
    upper = one(0, 1) * (1 - part[..., 0, :]) + one(1, 1) * part[..., 0, :]
    return lower * (1 - part[..., 1, :]) + upper * part[..., 1, :]


def to_light(stored, abc):
    return stored / ((abc[2] * stored + abc[0]) * stored + abc[1])


def octahedral(r):
    r = r / np.abs(r).sum(-1, keepdims=True)
    x, y, z = np.moveaxis(r, -1, 0)
    u = np.where(y >= 0, x, np.where(x >= 0, 1, -1) * (1 - np.abs(z)))
    v = np.where(y >= 0, z, np.where(z >= 0, 1, -1) * (1 - np.abs(x)))
    return np.clip(0.5 + 0.5 * np.stack([u, v], -1), 0.01, 0.99)


@pytest.fixture
def studio(harness):
    """Renders the plane's copy of a rung, which fills the picture, from a place."""
    scene, plane = bpy.context.scene, bpy.data.objects["plane"]
    plane.data.uv_layers.new(name="st1")
    turned = plane.data.uv_layers["st1"].uv
    for each in turned:
        each.vector = Vector((1, 1)) - each.vector * 0.5
    plane.matrix_world = Matrix.LocRotScale((0.1, 0, 0.2), Euler((1.9, 0.3, 0.2)), (2, 3, 1))
    bpy.context.view_layer.update()
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.cycles.pixel_filter_type, scene.cycles.filter_width = "GAUSSIAN", 0.01
    scene.render.film_transparent, scene.cycles.use_denoising = True, False
    scene.render.resolution_x = scene.render.resolution_y = SIDE
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.collection.objects.link(camera)
    scene.camera, camera.data.angle = camera, 0.5

    def attach(rung):
        harness.host.attach_rungs(harness.first, LadderLook("copper", (rung,)))
        [level] = bpy.data.collections["copper levels"].children
        level.hide_render, plane.hide_render = False, True
        return level.objects[0]

    def render(item, place, path):
        """The picture, row 0 below, with the position on the plane and the mirrored direction of
        each pixel."""
        turn = item.matrix_world.to_quaternion()
        camera.location = item.matrix_world.translation + turn @ Vector(place)
        aim = item.matrix_world.translation - camera.location
        camera.rotation_euler = aim.to_track_quat("-Z", "Y").to_euler()
        bpy.context.view_layer.update()
        scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(str(path))
        image.colorspace_settings.name = "Non-Color"
        found = np.array(image.pixels, np.float32).reshape(SIDE, SIDE, 4)
        bpy.data.images.remove(image)
        step = np.tan(0.25) * (2 * (np.arange(SIDE) + 0.5) / SIDE - 1)
        ray = np.stack([*np.meshgrid(step, step), np.full((SIDE, SIDE), -1.0)], -1)
        ray = ray @ np.array(camera.matrix_world.to_3x3()).T
        ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
        matrix = np.array(item.matrix_world)
        normal = np.cross(matrix[:3, 0], matrix[:3, 1])
        normal /= np.linalg.norm(normal)
        eye = np.array(camera.matrix_world.translation)
        far = ((matrix[:3, 3] - eye) @ normal) / (ray @ normal)
        hit = eye + far[..., None] * ray - matrix[:3, 3]
        own = (hit @ np.linalg.inv(matrix[:3, :3]).T)[..., :2]
        return found, own / 2 + 0.5, ray - 2 * (ray @ normal)[..., None] * normal

    return attach, render


def test_detail_is_four_times_its_square_times_the_light_of_the_other_uv_set(studio, tmp_path):
    attach, render = studio
    files = {use: tmp_path / f"{use}.png" for use in ("colour", "detail", "opacity")}
    texels = {use: picture(path) for use, path in files.items()}
    light = StoredLight(files, CURVE, None, "st1", "UVMap", 4.0)
    item = attach(RungLook("detail", "Detail", light=light, has_alpha=True))
    found, uv, _ = render(item, (0.4, -1.0, 4.0), tmp_path / "detail.exr")
    detail = read(texels["detail"], uv)[..., :1]
    expected = 4 * detail**2 * to_light(read(texels["colour"], 1 - uv * 0.5)[..., :3], CURVE)
    alpha = read(texels["opacity"], uv)[..., :1]
    assert expected.max() > 1.5
    np.testing.assert_allclose(found[..., 3:], alpha, atol=2e-3)
    np.testing.assert_allclose(found[..., :3], expected * alpha, rtol=2e-3, atol=2e-3)


def test_light_keeps_its_colours_where_its_alpha_makes_holes(studio, tmp_path):
    attach, render = studio
    alpha = np.tile(np.array([0, 1], np.float32), 32).reshape(8, 8)
    texels = picture(tmp_path / "light.png", alpha)
    light = StoredLight({"light": tmp_path / "light.png"}, CURVE, None, "st1", "UVMap")
    item = attach(RungLook("unlit", "One texture", light=light, has_alpha=True))
    found, uv, _ = render(item, (0.4, -1.0, 4.0), tmp_path / "light.exr")
    stored = read(texels, 1 - uv * 0.5)
    expected = to_light(stored[..., :3], CURVE) * stored[..., 3:]
    np.testing.assert_allclose(found[..., 3], stored[..., 3], atol=2e-3)
    np.testing.assert_allclose(found[..., :3], expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("place", [(0.4, -1.0, 4.0), (-1.5, 2.0, 2.5)])
def test_a_reflection_is_read_by_the_mirrored_direction_in_the_space_of_the_mesh(
    studio, tmp_path, place
):
    attach, render = studio
    files = {use: tmp_path / f"{use}.png" for use in ("light", "share", "mirror")}
    texels = {use: picture(path) for use, path in files.items()}
    light = StoredLight(files, CURVE, MIRROR_CURVE, "st1", "UVMap")
    item = attach(RungLook("reflection", "Reflection", light=light))
    # mirrored light turns with the mesh, as all that is baked
    turn = Matrix.Rotation(2.0, 4, (1, 0.2, 0.4))
    item.matrix_world = turn @ item.matrix_world
    bpy.context.view_layer.update()
    found, uv, mirrored = render(item, place, tmp_path / "mirror.exr")
    x, y, z = np.moveaxis(mirrored @ np.array(turn.to_3x3()), -1, 0)
    at = octahedral(np.stack([x, z, -y], -1))
    base, share = (read(texels[use], 1 - uv * 0.5)[..., :3] for use in ("light", "share"))
    mirror = to_light(read(texels["mirror"], at)[..., :3], MIRROR_CURVE)
    expected = to_light(base, CURVE) + share * mirror
    assert np.ptp(at, axis=(0, 1)).min() > 0.05
    np.testing.assert_allclose(found[..., :3], expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(("mode", "expected"), [(0, 1.0), (1, "cut"), (2, "as it is")])
def test_the_alpha_of_gltf_is_ignored_cut_or_mixed(studio, tmp_path, mode, expected):
    attach, render = studio
    texels = picture(tmp_path / "alpha.png")
    textures = {"alpha": ShaderTexture(tmp_path / "alpha.png", False, False)}
    values = {"alpha_mode": mode, "alpha_cutoff": 0.5}
    shader = ShaderLook("gltf_pbr", values, textures, "UVMap")
    item = attach(RungLook("surface", "Textures", shader=shader))
    bpy.context.scene.cycles.samples = 400
    found, uv, _ = render(item, (0.4, -1.0, 4.0), tmp_path / "alpha.exr")
    # Blender makes one number of three by Rec. 709's luminance
    alpha = read(texels, uv)[..., :3] @ (0.2126, 0.7152, 0.0722)
    if expected == "cut":
        alpha = np.where(np.abs(alpha - 0.5) < 0.01, found[..., 3], alpha >= 0.5)
    elif expected != "as it is":
        alpha = np.full_like(alpha, expected)
    # it is left to chance whether a path goes on
    np.testing.assert_allclose(found[..., 3], alpha, atol=0.1)
    assert abs(found[..., 3].mean() - alpha.mean()) < 5e-3


# What reflects red light of a sun of strength 1 to an eye at EYE, by the code that MaterialX
# generates (Teacher.response), and how much the mean difference may be.
EYE = (0.45, 0.25)
SUNS = (
    (-0.371, -0.322), (-0.525, -0.268), (-0.261, -0.57),
    (-0.76, -0.135), (0.091, -0.229), (-0.141, 0.307),
)  # fmt: skip
BRUSHED = {
    "base": 1.0, "base_color": (0.9, 0.9, 0.9), "metalness": 1.0, "specular_roughness": 0.5,
    "specular_anisotropy": 0.8, "specular_rotation": 0.125,
}  # fmt: skip
COATED = {
    "base": 0.8, "base_color": (0.5, 0.1, 0.1), "coat": 1.0, "coat_color": (0.6, 0.8, 1.0),
    "coat_roughness": 0.25, "specular": 0.0,
}  # fmt: skip
LACQUERED = {
    "base_color": (0.7, 0.4, 0.2), "specular_roughness": 0.4, "coat_weight": 0.5,
    "coat_roughness": 0.3,
}  # fmt: skip
FUZZY = {"base_color": (0.1, 0.1, 0.2), "fuzz_weight": 1.0, "fuzz_color": (0.8, 0.6, 0.6),
         "specular_weight": 0.0}  # fmt: skip
HALF_METAL = {
    "base_color": (0.7, 0.4, 0.2), "metallic": 0.5, "roughness": 0.4, "specular": 0.6,
    "specular_color": (1.0, 0.7, 0.5),
}  # fmt: skip


@pytest.mark.parametrize(
    ("category", "values", "expected", "bound"),
    [
        ("standard_surface", BRUSHED, (1.5338, 1.2327, 0.8628, 0.5079, 0.0759, 0.0184), 0.08),
        ("standard_surface", COATED, (0.3175, 0.4816, 0.0625, 0.053, 0.073, 0.07), 0.03),
        ("open_pbr_surface", LACQUERED, (0.3303, 0.3781, 0.1508, 0.1276, 0.1772, 0.17), 0.03),
        ("open_pbr_surface", FUZZY, (0.0302, 0.0287, 0.028, 0.0245, 0.0328, 0.0321), 0.01),
        ("gltf_pbr", HALF_METAL, (1.1189, 1.2344, 0.2478, 0.2419, 0.1865, 0.1513), 0.01),
    ],
)
def test_a_surface_shader_reflects_what_the_code_of_materialx_does(
    studio, harness, tmp_path, category, values, expected, bound
):
    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    definitions = library.getMatchingNodeDefs(category)
    definition = next((each for each in definitions if each.getDefaultVersion()), definitions[-1])
    known = {}
    for port in definition.getActiveInputs():
        value = port.getValue()
        if isinstance(value, (float, int, mx.Color3)):
            known[port.getName()] = value.asTuple() if isinstance(value, mx.Color3) else value
    attach, _ = studio
    shader = ShaderLook(category, known | values, {}, "UVMap")
    item = attach(RungLook("surface", "Textures", shader=shader))
    found = lit_by_suns(item, tmp_path)[:, 0]
    difference = np.abs(found - expected).mean() / np.mean(expected)
    assert difference < bound, found


def upright(x, y):
    return Vector((x, y, (1 - x * x - y * y) ** 0.5))


def lit_by_suns(item, folder):
    """What the middle of a flat object reflects to the eye, of each sun."""
    scene, camera = bpy.context.scene, bpy.context.scene.camera
    item.matrix_world = Matrix()
    camera.location, camera.data.angle = upright(*EYE) * 10, 0.001
    camera.rotation_euler = upright(*EYE).to_track_quat("Z", "Y").to_euler()
    scene.render.resolution_x = scene.render.resolution_y = 2
    scene.cycles.samples, scene.render.film_transparent = 16, False
    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy, sun.data.angle = 1.0, 0.0
    scene.collection.objects.link(sun)
    found = []
    for place in SUNS:
        sun.rotation_euler = upright(*place).to_track_quat("Z", "Y").to_euler()
        scene.render.filepath = str(folder / "lit.exr")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        image.colorspace_settings.name = "Non-Color"
        found.append(np.array(image.pixels).reshape(-1, 4)[:, :3].mean(0))
        bpy.data.images.remove(image)
    return np.array(found)


@pytest.mark.parametrize("has_texture", [False, True])
@pytest.mark.parametrize("roughness", [0.3, 0.5, 0.9])
def test_sheen_reflects_as_much_of_a_white_sky_as_that_of_materialx(
    studio, tmp_path, roughness, has_texture
):
    attach, _ = studio
    scene, camera = bpy.context.scene, bpy.context.scene.camera
    values = {"base": 0.0, "specular": 0.0, "sheen": 1.0, "sheen_color": (1.0, 1.0, 1.0)}
    textures = {}
    if has_texture:
        grid = Grid.of(4, 4, np.array([roughness], np.float32))
        image = TexturedInput("sheen_roughness", "float")
        files = write_images(SurfaceShader("any", "any", (image,)), grid, tmp_path, "velvet")
        textures["sheen_roughness"] = ShaderTexture(
            tmp_path / files["sheen_roughness"], False, False
        )
    else:
        values["sheen_roughness"] = roughness
    shader = ShaderLook("standard_surface", values, textures, "UVMap")
    item = attach(RungLook("surface", "Textures", shader=shader))
    item.matrix_world = Matrix()
    scene.world = bpy.data.worlds.new("white")
    if scene.world.node_tree is None:
        # as those of Blender 4
        scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs["Color"].default_value = (1, 1, 1, 1)
    scene.render.resolution_x = scene.render.resolution_y = 2
    scene.cycles.samples, camera.data.angle = 256, 0.001
    found, expected = [], []
    for x in (0.42, 0.71, 0.94):
        camera.location = upright(x, 0) * 10
        camera.rotation_euler = upright(x, 0).to_track_quat("Z", "Y").to_euler()
        scene.render.filepath = str(tmp_path / "white.exr")
        bpy.ops.render.render(write_still=True)
        picture = bpy.data.images.load(scene.render.filepath)
        picture.colorspace_settings.name = "Non-Color"
        found.append(np.array(picture.pixels).reshape(-1, 4)[:, 0].mean())
        bpy.data.images.remove(picture)
        expected.append(albedo_of_sheen(roughness, np.array(upright(x, 0))))
    assert np.abs(np.array(found) - expected).mean() / np.mean(expected) < 0.1, found


def albedo_of_sheen(roughness, eye):
    """The distribution of Estevez and Kulla with the visibility of Neubelt and Pettineo, integrated
    over the hemisphere."""
    steps = (np.arange(200) + 0.5) / 200
    up, turn = np.meshgrid(steps, 2 * np.pi * steps)
    aside = np.sqrt(1 - up**2)
    light = np.stack([aside * np.cos(turn), aside * np.sin(turn), up], -1)
    half = light + eye
    half /= np.linalg.norm(half, axis=-1, keepdims=True)
    sharpness = 1 / roughness**2
    sine = np.sqrt(1 - half[..., 2] ** 2)
    density = (2 + sharpness) * sine**sharpness / (2 * np.pi)
    return 2 * np.pi * (density * up / 4 / (up + eye[2] - up * eye[2])).mean()


@pytest.mark.parametrize("has_textures", [False, True])
@pytest.mark.parametrize(
    ("layers", "texel", "bound"),
    [
        (("anisotropy",), {"METALNESS": 1, "STRETCH": (0.6, 0.75)}, 0.01),
        (("coat",), {"METALNESS": 1, "COAT": 1, "COAT_ROUGHNESS": 0.3}, 0.03),
        (("coat",), {"METALNESS": 0, "COAT": 0.6, "COAT_ROUGHNESS": 0.3}, 0.05),
        (("sheen",), {"METALNESS": 0, "SHEEN": (0.8, 0.6, 0.7), "SHEEN_ROUGHNESS": 0.4}, 0.2),
        (("sheen",), {"METALNESS": 0, "SHEEN": (0.8, 0.6, 0.7), "SHEEN_ROUGHNESS": 0.9}, 0.2),
    ],
)
def test_gltf_textures_reflect_what_the_formulas_of_their_fit_do(
    studio, tmp_path, layers, texel, bound, has_textures
):
    attach, _ = studio
    stored = np.array(pbr_model.START, np.float32)
    texel = {"BASE": (0.3, 0.2, 0.5), "NORMAL": 0.5, "ROUGHNESS": 0.5, **texel}
    for name, value in texel.items():
        stored[getattr(pbr_model, name)] = value
    grid = Grid.of(8, 8, stored)
    if has_textures:
        # all varies beside the middle
        grid.image[0] = 1 - stored
        pbr_model.keep_in_range(grid.values)
    shader, images = surface_of_pbr(PbrTextures(grid, layers), None, "thing")
    files = write_images(shader, images, tmp_path, "pbr")
    assert bool(files) == has_textures
    shown = describe_shader(shader, files)
    entry = {"name": "pbr", "scene_textures": {}, "scene_shader": shown}
    [rung] = look_of({"rungs": [entry], "uv_set_of_materials": "UVMap"}, tmp_path).rungs
    found = lit_by_suns(attach(rung), tmp_path)

    def directions(places):
        return np.array([upright(*each) for each in places]).T

    wi, wo = directions(SUNS), directions([EYE] * len(SUNS))
    decoded = np.repeat(pbr_model.decode(stored[None]).T, len(SUNS), 1)
    expected = pbr_model.evaluate(decoded, wi, wo).T
    assert np.abs(found - expected).mean() / expected.mean() < bound, found / expected
