"""Displacement of Houdini's materials, as Karma's builder writes it, against heights in closed
form."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe_material
from verdigris.core.material.teacher.heights import heights_at
from verdigris.core.material.teacher.teacher import Teacher

from ..hosts import by_name

MATERIAL = """#usda 1.0
def Scope "materials" {
    def Material "gold" (prepend apiSchemas = ["MaterialXConfigAPI"]) {
        string config:mtlx:version = "1.39"
        token outputs:CONTEXTdisplacement.connect = </materials/gold/lift.outputs:out>
        token outputs:CONTEXTsurface.connect = </materials/gold/surface.outputs:out>
        def Shader "surface" {
            uniform token info:id = "ND_standard_surface_surfaceshader"
            token outputs:out
        }
        def Shader "uv" {
            uniform token info:id = "ND_texcoord_vector2"
            float2 outputs:out
        }
        def Shader "u" {
            uniform token info:id = "ND_extract_vector2"
            float2 inputs:in.connect = </materials/gold/uv.outputs:out>
            int inputs:index = 0
            float outputs:out
        }
        def Shader "height" {
            uniform token info:id = "ND_remap_float"
            float inputs:in.connect = </materials/gold/u.outputs:out>
            float inputs:outlow = -0.5
            float inputs:outhigh = 0.5
            float outputs:out
        }
        def Shader "along" {
            uniform token info:id = "ND_combine3_vector3"
            float inputs:in1 = 7
            float inputs:in3.connect = </materials/gold/height.outputs:out>
            float3 outputs:out
        }
        def Shader "lift" {
            uniform token info:id = "ND_displacement_KIND"
            TYPE inputs:displacement.connect = </materials/gold/SOURCE.outputs:out>
            float inputs:scale = 0.04
            token outputs:out
        }
    }
}
"""
U = (np.arange(4) + 0.5) / 4


@pytest.mark.parametrize("context", ["kma:", "mtlx:", ""])
@pytest.mark.parametrize(
    ("kind", "usd", "source", "fate"),
    [("float", "float", "height", "kept"), ("vector3", "float3", "along", "approximated")],
)
def test_the_displacement_of_a_builder_becomes_heights(
    houdini, host, tmp_path, context, kind, usd, source, fate
):
    text = MATERIAL.replace("CONTEXT", context).replace("KIND", kind).replace("TYPE", usd)
    (tmp_path / "gold.usda").write_text(text.replace("SOURCE", source))
    found = host.document(by_name(host, "gold"))
    document = parse_document(found.text, found.search, found.name)
    material = document.require_material(found.material)
    document.check(material)
    parts = describe_material(document, material, probe=False).parts
    assert [part.fate for part in parts if part.name == "displacement"] == [fate]
    if context:
        return
    heights = heights_at(Teacher(document, material, open_device("software")), 4, 4)
    np.testing.assert_allclose(heights.values.mean(0), 0.04 * (U - 0.5), rtol=1e-4)
