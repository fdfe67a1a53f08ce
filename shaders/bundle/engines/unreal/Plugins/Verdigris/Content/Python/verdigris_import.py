# SPDX-License-Identifier: Apache-2.0
"""Makes a material and an instance of what `verdigris export --target unreal` writes.

    import verdigris_import
    verdigris_import.import_material("copper_tray")

It needs the plug-ins Verdigris and Python Editor Script. docs/engines/UNREAL.md of Verdigris says
how the result is lit, and what its limits are.
"""

import json
from pathlib import Path

import unreal

# Resources/copper_tray, beside Content/Python
RESOURCES = Path(__file__).resolve().parents[2] / "Resources"
VERSION = 1


def import_material(name, folder="/Game/Verdigris"):
    """Imports a material of the plug-in's Resources. Returns its instance MI_NAME."""
    source = RESOURCES / name
    if not (source / "material.json").is_file():
        known = ", ".join(sorted(each.name for each in RESOURCES.iterdir() if each.is_dir()))
        raise RuntimeError(f"{source}: has no material.json: name one of {known or 'the exports'}")
    facts = json.loads((source / "material.json").read_text(encoding="utf-8"))
    if facts["version"] != VERSION:
        raise RuntimeError(
            f"{source}: has version {facts['version']}, and this script reads {VERSION}: "
            "export the material again, with its plug-in"
        )
    textures = _import_textures(source, facts, f"{folder}/{name}")
    material = _new_asset(
        f"M_{name}", f"{folder}/{name}", unreal.Material, unreal.MaterialFactoryNew()
    )
    _build(material, facts, textures)
    unreal.MaterialEditingLibrary.recompile_material(material)
    instance = _new_asset(
        f"MI_{name}",
        f"{folder}/{name}",
        unreal.MaterialInstanceConstant,
        unreal.MaterialInstanceConstantFactoryNew(),
    )
    unreal.MaterialEditingLibrary.set_material_instance_parent(instance, material)
    for asset in (*textures.values(), material, instance):
        unreal.EditorAssetLibrary.save_loaded_asset(asset)
    return instance


def _import_textures(source, facts, folder):
    """The textures by kind. Assets have the names of their files."""
    tasks = {}
    for kind, entry in facts["textures"].items():
        task = unreal.AssetImportTask()
        task.set_editor_property("filename", str(source / entry["file"]))
        task.set_editor_property("destination_path", folder)
        task.set_editor_property("automated", True)
        task.set_editor_property("replace_existing", True)
        tasks[kind] = task
    unreal.AssetToolsHelpers.get_asset_tools().import_asset_tasks(list(tasks.values()))
    textures = {}
    for kind, entry in facts["textures"].items():
        path = f"{folder}/{Path(entry['file']).stem}"
        texture = unreal.EditorAssetLibrary.load_asset(path)
        if texture is None:
            raise RuntimeError(
                f"{path}: was not imported from {source / entry['file']}: see the log"
            )
        _set_up_texture(texture, entry["use"])
        textures[kind] = texture
    return textures


def _set_up_texture(texture, use):
    settings = unreal.TextureCompressionSettings
    texture.set_editor_property("srgb", use == "color")
    texture.set_editor_property(
        "compression_settings",
        {
            # bytes as they are
            "numbers": settings.TC_VECTOR_DISPLACEMENTMAP,
            "normal": settings.TC_NORMALMAP,
            "mask": settings.TC_MASKS,
            "color": settings.TC_DEFAULT,
        }[use],
    )
    if use == "numbers":
        texture.set_editor_property(
            "mip_gen_settings", unreal.TextureMipGenSettings.TMGS_NO_MIPMAPS
        )
        texture.set_editor_property("never_stream", True)
        texture.set_editor_property("filter", unreal.TextureFilter.TF_NEAREST)


def _new_asset(name, folder, kind, factory):
    """A new asset, or the one that an earlier import made, emptied."""
    path = f"{folder}/{name}"
    if unreal.EditorAssetLibrary.does_asset_exist(path):
        asset = unreal.EditorAssetLibrary.load_asset(path)
        if isinstance(asset, unreal.Material):
            unreal.MaterialEditingLibrary.delete_all_material_expressions(asset)
        return asset
    return unreal.AssetToolsHelpers.get_asset_tools().create_asset(name, folder, kind, factory)


class _Graph:
    """Adds nodes to a material."""

    def __init__(self, material):
        self.material = material
        self.row = 0

    def node(self, kind, **properties):
        self.row += 150
        node = unreal.MaterialEditingLibrary.create_material_expression(
            self.material, kind, -1200, self.row
        )
        for name, value in properties.items():
            node.set_editor_property(name, value)
        return node

    def connect(self, source, target, name, output=""):
        if not unreal.MaterialEditingLibrary.connect_material_expressions(
            source, output, target, name
        ):
            raise RuntimeError(f"{target.get_name()}: its input {name} takes no connection")

    def give(self, source, target, output=""):
        if not unreal.MaterialEditingLibrary.connect_material_property(source, output, target):
            raise RuntimeError(f"{self.material.get_name()}: {target} takes no connection")

    def product(self, first, second):
        node = self.node(unreal.MaterialExpressionMultiply)
        self.connect(first, node, "A")
        self.connect(second, node, "B")
        return node


def _build(material, facts, textures):
    graph = _Graph(material)
    tiling = graph.node(
        unreal.MaterialExpressionScalarParameter, parameter_name="Tiling", default_value=1.0
    )
    uv = graph.product(graph.node(unreal.MaterialExpressionTextureCoordinate), tiling)

    def sample(kind, sampler):
        node = graph.node(
            unreal.MaterialExpressionTextureSample, texture=textures[kind], sampler_type=sampler
        )
        graph.connect(uv, node, "UVs")
        return node

    samplers = unreal.MaterialSamplerType
    base = sample("base", samplers.SAMPLERTYPE_COLOR)
    roughness = sample("roughness", samplers.SAMPLERTYPE_MASKS)
    normal = sample("normal", samplers.SAMPLERTYPE_NORMAL)
    # all light of surroundings is reflected with the base colour
    metal = graph.node(unreal.MaterialExpressionConstant, r=1.0)
    graph.give(base, unreal.MaterialProperty.MP_BASE_COLOR, "RGB")
    graph.give(roughness, unreal.MaterialProperty.MP_ROUGHNESS, "R")
    graph.give(normal, unreal.MaterialProperty.MP_NORMAL, "RGB")
    graph.give(metal, unreal.MaterialProperty.MP_METALLIC)
    light = _neural_light(graph, facts, textures, uv)
    if "emission" in textures:
        emission = sample("emission", samplers.SAMPLERTYPE_COLOR)
        scale = graph.node(
            unreal.MaterialExpressionScalarParameter,
            parameter_name="Emission",
            default_value=facts["emission_scale"],
        )
        total = graph.node(unreal.MaterialExpressionAdd)
        scaled = graph.node(unreal.MaterialExpressionMultiply)
        graph.connect(emission, scaled, "A", "RGB")
        graph.connect(scale, scaled, "B")
        graph.connect(light, total, "A")
        graph.connect(scaled, total, "B")
        light = total
    is_clear = facts.get("passing", {}).get("kind") == "clear"
    if "passing" in facts:
        material.set_editor_property("two_sided", facts["passing"]["thin"])
        light = _passing(
            graph, facts["passing"], sample("transmitted", samplers.SAMPLERTYPE_COLOR), light
        )
    graph.give(light, unreal.MaterialProperty.MP_EMISSIVE_COLOR)
    if "opacity" in textures:
        opacity = sample("opacity", samplers.SAMPLERTYPE_MASKS)
        target = unreal.MaterialProperty.MP_OPACITY
        if not is_clear:
            material.set_editor_property("blend_mode", unreal.BlendMode.BLEND_MASKED)
            target = unreal.MaterialProperty.MP_OPACITY_MASK
        graph.give(opacity, target, "R")


def _passing(graph, facts, transmitted, light):
    """What passes through the surface: of a leaf by the engine's shading model, of glass from the
    screen, as emissive."""
    material = graph.material
    if facts["kind"] == "leaf":
        model = unreal.MaterialShadingModel.MSM_TWO_SIDED_FOLIAGE
        material.set_editor_property("shading_model", model)
        graph.give(transmitted, unreal.MaterialProperty.MP_SUBSURFACE_COLOR, "RGB")
        return light
    material.set_editor_property("blend_mode", unreal.BlendMode.BLEND_TRANSLUCENT)
    lighting = unreal.TranslucencyLightingMode.TLM_SURFACE_PER_PIXEL_LIGHTING
    material.set_editor_property("translucency_lighting_mode", lighting)
    whole = graph.node(unreal.MaterialExpressionConstant, r=1.0)
    graph.give(whole, unreal.MaterialProperty.MP_OPACITY)
    seen = _custom(
        graph,
        "What is seen through",
        facts,
        {
            **_geometry(graph),
            "Depth": graph.node(
                unreal.MaterialExpressionScalarParameter,
                parameter_name="Depth",
                default_value=100.0,
            ),
        },
    )
    offset = graph.node(unreal.MaterialExpressionComponentMask, r=True, g=True, b=False, a=False)
    graph.connect(seen, offset, "")
    share = graph.node(unreal.MaterialExpressionComponentMask, r=False, g=False, b=True, a=False)
    graph.connect(seen, share, "")
    behind = graph.node(
        unreal.MaterialExpressionSceneColor,
        input_mode=unreal.MaterialSceneAttributeInputMode.OFFSET_FRACTION,
    )
    graph.connect(offset, behind, "OffsetFraction")
    tinted = graph.node(unreal.MaterialExpressionMultiply)
    graph.connect(transmitted, tinted, "A", "RGB")
    graph.connect(behind, tinted, "B")
    passed = graph.product(tinted, share)
    total = graph.node(unreal.MaterialExpressionAdd)
    graph.connect(light, total, "A")
    graph.connect(passed, total, "B")
    return total


def _geometry(graph):
    return {
        "Position": graph.node(
            unreal.MaterialExpressionWorldPosition,
            world_position_shader_offset=unreal.WorldPositionIncludedOffsets.WPT_CAMERA_RELATIVE,
        ),
        "Normal": graph.node(unreal.MaterialExpressionVertexNormalWS),
        "View": graph.node(unreal.MaterialExpressionCameraVectorWS),
    }


def _neural_light(graph, facts, textures, uv):
    """The custom node: the response to the light of two parameters, as emissive."""

    def vector(name, values):
        return graph.node(
            unreal.MaterialExpressionVectorParameter,
            parameter_name=name,
            default_value=unreal.LinearColor(*values),
        )

    live = [*(each["default"] for each in facts["live"]), 0.0, 0.0, 0.0][:3]

    def image(kind):
        return graph.node(
            unreal.MaterialExpressionTextureObjectParameter,
            parameter_name=kind.capitalize(),
            texture=textures[kind],
            sampler_type=unreal.MaterialSamplerType.SAMPLERTYPE_LINEAR_COLOR,
        )

    inputs = {
        "Latents": image("latents"),
        **({"Heights": image("heights")} if "heights" in textures else {}),
        "UV": uv,
        **_geometry(graph),
        "ToLight": vector("Direction to the light", (0.5, -0.3, 0.8, 0.0)),
        "LightColor": vector("Light", (3.0, 3.0, 3.0, 0.0)),
        "Live": vector(facts["live_label"], (*live, 0.0)),
    }
    return _custom(graph, facts["name"], facts, inputs)


def _custom(graph, description, facts, inputs):
    node = graph.node(
        unreal.MaterialExpressionCustom,
        description=description,
        code=facts["code"],
        include_file_paths=[facts["include"]],
        output_type=unreal.CustomMaterialOutputType.CMOT_FLOAT3,
    )
    made = []
    for name in inputs:
        each = unreal.CustomInput()
        each.set_editor_property("input_name", name)
        made.append(each)
    node.set_editor_property("inputs", made)
    for name, source in inputs.items():
        graph.connect(source, node, name)
    return node
