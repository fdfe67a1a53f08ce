"""What the importer uses of Unreal's Python API, by "Unreal Python API" 5.6 (dev.epicgames.com, the
page of each class). Names, properties, inputs and outputs that pages do not have are refused."""

from pathlib import Path
from typing import ClassVar

assets = {}
COLOR, SCALAR, NONE = ("", "RGB", "R", "G", "B", "A"), ("",), ()


class Name(str):
    pass


class _Enum:
    def __init__(self, owner, name):
        self.owner, self.name = owner, name

    def __repr__(self):
        return f"{self.owner}.{self.name}"


def _enum(owner, *names):
    return type(owner, (), {name: _Enum(owner, name) for name in names})


TextureCompressionSettings = _enum(
    "TextureCompressionSettings",
    *("TC_DEFAULT", "TC_NORMALMAP", "TC_MASKS", "TC_VECTOR_DISPLACEMENTMAP"),
)
TextureMipGenSettings = _enum("TextureMipGenSettings", "TMGS_NO_MIPMAPS")
TextureFilter = _enum("TextureFilter", "TF_NEAREST")
BlendMode = _enum("BlendMode", "BLEND_OPAQUE", "BLEND_MASKED", "BLEND_TRANSLUCENT")
CustomMaterialOutputType = _enum("CustomMaterialOutputType", "CMOT_FLOAT3")
WorldPositionIncludedOffsets = _enum("WorldPositionIncludedOffsets", "WPT_CAMERA_RELATIVE")
MaterialSamplerType = _enum(
    "MaterialSamplerType",
    *("SAMPLERTYPE_COLOR", "SAMPLERTYPE_LINEAR_COLOR", "SAMPLERTYPE_MASKS", "SAMPLERTYPE_NORMAL"),
)
MaterialProperty = _enum(
    "MaterialProperty",
    *("MP_BASE_COLOR", "MP_METALLIC", "MP_ROUGHNESS", "MP_NORMAL", "MP_EMISSIVE_COLOR"),
    *("MP_OPACITY_MASK", "MP_OPACITY", "MP_SUBSURFACE_COLOR"),
)
MaterialShadingModel = _enum("MaterialShadingModel", "MSM_TWO_SIDED_FOLIAGE")
TranslucencyLightingMode = _enum("TranslucencyLightingMode", "TLM_SURFACE_PER_PIXEL_LIGHTING")
MaterialSceneAttributeInputMode = _enum("MaterialSceneAttributeInputMode", "OFFSET_FRACTION")


class LinearColor:
    def __init__(self, r=0.0, g=0.0, b=0.0, a=0.0):
        self.values = tuple(map(float, (r, g, b, a)))


class _Object:
    properties: ClassVar = {}

    def __init__(self):
        self.values = {}

    def set_editor_property(self, name, value):
        kind = self.properties[name]
        if isinstance(kind, str):
            assert isinstance(value, _Enum) and value.owner == kind, (name, value)
        elif isinstance(kind, list):
            assert all(isinstance(each, kind[0]) for each in value), (name, value)
        else:
            assert isinstance(value, kind), (name, value)
        self.values[name] = value

    def get_name(self):
        return type(self).__name__


class Texture2D(_Object):
    properties: ClassVar = {
        "srgb": bool,
        "never_stream": bool,
        "compression_settings": "TextureCompressionSettings",
        "mip_gen_settings": "TextureMipGenSettings",
        "filter": "TextureFilter",
    }


class Material(_Object):
    properties: ClassVar = {
        "blend_mode": "BlendMode",
        "two_sided": bool,
        "shading_model": "MaterialShadingModel",
        "translucency_lighting_mode": "TranslucencyLightingMode",
    }

    def __init__(self):
        super().__init__()
        self.nodes, self.outputs, self.is_compiled = [], {}, False


class MaterialInstanceConstant(_Object):
    parent = None


class MaterialFactoryNew(_Object):
    makes = Material


class MaterialInstanceConstantFactoryNew(_Object):
    makes = MaterialInstanceConstant


class AssetImportTask(_Object):
    properties: ClassVar = {
        "filename": str,
        "destination_path": str,
        "automated": bool,
        "replace_existing": bool,
    }


class CustomInput(_Object):
    properties: ClassVar = {"input_name": str}


class _Expression(_Object):
    inputs, outputs = (), SCALAR

    def __init__(self):
        super().__init__()
        self.connected = {}

    def input_names(self):
        return self.inputs


def _expression(name, properties, inputs=(), outputs=SCALAR):
    members = {"properties": properties, "inputs": inputs, "outputs": outputs}
    return type(f"MaterialExpression{name}", (_Expression,), members)


_parameter = {"parameter_name": str}
_sampled = {"texture": Texture2D, "sampler_type": "MaterialSamplerType"}
MaterialExpressionMultiply = _expression("Multiply", {}, ("A", "B"))
MaterialExpressionAdd = _expression("Add", {}, ("A", "B"))
MaterialExpressionConstant = _expression("Constant", {"r": float})
MaterialExpressionTextureCoordinate = _expression("TextureCoordinate", {})
MaterialExpressionTextureSample = _expression("TextureSample", _sampled, ("UVs",), COLOR)
MaterialExpressionTextureObjectParameter = _expression(
    "TextureObjectParameter", {**_parameter, **_sampled}
)
MaterialExpressionScalarParameter = _expression(
    "ScalarParameter", {**_parameter, "default_value": float}
)
MaterialExpressionVectorParameter = _expression(
    "VectorParameter", {**_parameter, "default_value": LinearColor}, (), COLOR
)
MaterialExpressionWorldPosition = _expression(
    "WorldPosition", {"world_position_shader_offset": "WorldPositionIncludedOffsets"}
)
MaterialExpressionVertexNormalWS = _expression("VertexNormalWS", {})
_masked = dict.fromkeys("rgba", bool)
MaterialExpressionComponentMask = _expression("ComponentMask", _masked, ("",))
MaterialExpressionSceneColor = _expression(
    "SceneColor", {"input_mode": "MaterialSceneAttributeInputMode"}, ("OffsetFraction",)
)
MaterialExpressionCameraVectorWS = _expression("CameraVectorWS", {})


class MaterialExpressionCustom(_Expression):
    properties: ClassVar = {
        "code": str,
        "description": str,
        "include_file_paths": [str],
        "inputs": [CustomInput],
        "output_type": "CustomMaterialOutputType",
    }

    def input_names(self):
        return [each.values["input_name"] for each in self.values["inputs"]]


class AssetTools:
    def import_asset_tasks(self, import_tasks):
        for task in import_tasks:
            path = Path(task.values["filename"])
            assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and task.values["automated"]
            assets.setdefault(f"{task.values['destination_path']}/{path.stem}", Texture2D())

    def create_asset(self, asset_name, package_path, asset_class, factory):
        assert f"{package_path}/{asset_name}" not in assets and factory.makes is asset_class
        return assets.setdefault(f"{package_path}/{asset_name}", asset_class())


class AssetToolsHelpers:
    @classmethod
    def get_asset_tools(cls):
        return AssetTools()


class EditorAssetLibrary:
    saved: ClassVar = []

    @classmethod
    def does_asset_exist(cls, asset_path):
        return asset_path in assets

    @classmethod
    def load_asset(cls, asset_path):
        return assets.get(asset_path)

    @classmethod
    def save_loaded_asset(cls, asset_to_save, only_if_is_dirty=True):
        cls.saved.append(asset_to_save)
        return True


class MaterialEditingLibrary:
    @classmethod
    def create_material_expression(cls, material, expression_class, node_pos_x=0, node_pos_y=0):
        assert issubclass(expression_class, _Expression)
        material.nodes.append(expression_class())
        return material.nodes[-1]

    @classmethod
    def connect_material_expressions(
        cls, from_expression, from_output_name, to_expression, to_input_name
    ):
        if from_output_name not in from_expression.outputs:
            return False
        if to_input_name not in to_expression.input_names():
            return False
        to_expression.connected[to_input_name] = from_expression, from_output_name
        return True

    @classmethod
    def connect_material_property(cls, from_expression, from_output_name, property_):
        (material,) = [
            each
            for each in assets.values()
            if isinstance(each, Material) and from_expression in each.nodes
        ]
        assert property_.owner == "MaterialProperty"
        if from_output_name not in from_expression.outputs:
            return False
        material.outputs[property_.name] = from_expression, from_output_name
        return True

    @classmethod
    def recompile_material(cls, material):
        material.is_compiled = True

    @classmethod
    def delete_all_material_expressions(cls, material):
        material.nodes, material.outputs = [], {}

    @classmethod
    def set_material_instance_parent(cls, instance, new_parent):
        instance.parent = new_parent
