"""MaterialX 1.39.5 as it is, without any repair of this project."""

from functools import lru_cache
from pathlib import Path

import MaterialX as mx
from MaterialX import PyMaterialXGenShader as Gen
from MaterialX import PyMaterialXGenSlang as GenSlang

LIBRARIES = Path(mx.__file__).parent / "libraries"


@lru_cache(maxsize=1)
def library():
    """MaterialX's own library: kept, since its elements do not outlive it."""
    untouched = mx.createDocument()
    folders = mx.getDefaultDataLibraryFolders()
    mx.loadLibraries(folders, mx.getDefaultDataSearchPath(), untouched)
    return untouched


def raw(made):
    """What MaterialX itself writes for the only material of a document, without any repair."""
    untouched = library()
    made.root.setDataLibrary(untouched)
    generator = GenSlang.SlangShaderGenerator.create()
    context = Gen.GenContext(generator)
    context.registerSourceCodeSearchPath(mx.getDefaultDataSearchPath())
    colours = Gen.DefaultColorManagementSystem.create(generator.getTarget())
    colours.loadLibrary(untouched)
    generator.setColorManagementSystem(colours)
    options = context.getOptions()
    options.targetColorSpaceOverride = "lin_rec709"
    options.shaderInterfaceType = Gen.ShaderInterfaceType.SHADER_INTERFACE_REDUCED
    none = Gen.HwSpecularEnvironmentMethod.SPECULAR_ENVIRONMENT_NONE
    options.hwSpecularEnvironmentMethod = none
    options.hwMaxActiveLightSources = 1
    options.hwTransparency = True
    light = untouched.getNodeDef("ND_directional_light")
    Gen.HwShaderGenerator.bindLightShader(light, 1, context)
    material = made.require_material()
    shader_code = generator.generate("material", material.element, context)
    return shader_code.getSourceCode("pixel")


def source(path):
    return (LIBRARIES / path).read_text()
