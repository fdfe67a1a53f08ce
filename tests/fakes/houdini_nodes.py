"""The node types and parameters of Houdini that the plug-in uses, and where each was seen.

The stubs of hou do not know them. SideFX documents a node at
sidefx.com/docs/houdini/nodes/CONTEXT/TYPE.html; public tools and saved networks confirm the names.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NodeKind:
    """The parameters of a node type that the plug-in may set."""

    seen: str
    parms: tuple[str, ...] = ()


NODES = {
    # networks
    "stage": NodeKind("the LOP network of every scene"),
    "shop": NodeKind("the network of shaders of scenes of earlier versions"),
    "editmaterial": NodeKind("lop/editmaterial: VOPs inside, as in a Material Library"),
    "mat": NodeKind("the material network of every scene"),
    "obj": NodeKind("the object network of every scene"),
    "matnet": NodeKind("documented for each context; scripts create it in /obj and in geometry"),
    "subnet": NodeKind("documented for each context; one of LOPs contains output0"),
    "output": NodeKind("lop/output"),
    "lopnet": NodeKind("obj/lopnet; thumbnail tools make one in /obj for a Material Library"),
    "null": NodeKind("documented for each context"),
    # objects and geometry
    "geo": NodeKind("obj/geo; exporters read the path of the material", ("shop_materialpath",)),
    "grid": NodeKind("sop/grid"),
    "material": NodeKind(
        "sop/material; scripts set shop_materialpath1", ("num_materials", "shop_materialpath1")
    ),
    "uvtexture": NodeKind("sop/uvtexture"),
    "attribcreate": NodeKind(
        "sop/attribcreate; tools that prepare attributes for painting set these",
        ("name1", "value1v1"),
    ),
    "attribpaint": NodeKind(
        "sop/attribpaint (20.5). attribtype1 = 1 is Float: two tools that paint densities set it. "
        "The brush reads stroke_*: an asset copies them from this node's own templates, and "
        "scripts name the menu of stroke_attribtype: color, float, integer. Scripts set fgfloat "
        "and bgfloat as foreground and background",
        (
            *("attribname1", "attribtype1", "stroke_attrib", "stroke_attribtype"),
            *("stroke_float", "fgfloat", "bgfloat", "stroke_radius", "stroke_opacity"),
        ),
    ),
    # stages
    "materiallibrary": NodeKind(
        "lop/materiallibrary", ("matpathprefix", "materials", "matnode1", "matpath1", "assign1")
    ),
    "reference::2.0": NodeKind(
        "lop/reference; several asset scripts set both", ("filepath1", "primpath1")
    ),
    "setvariant": NodeKind(
        "lop/setvariant; asset scripts set all four",
        ("num_variants", "primpattern1", "variantset1", "variantname1"),
    ),
    "pythonscript": NodeKind(
        "lop/pythonscript; several builders of digital assets put one into a subnet, with "
        "hou.pwd().parent() as the asset",
        ("python",),
    ),
    # materials
    "mtlxstandard_surface": NodeKind(
        "vop/mtlxstandard_surface; scripts that build materials set these",
        ("base_colorr", "base_colorg", "base_colorb", "specular_roughness"),
    ),
    "mtlxopen_pbr_surface": NodeKind("vop/mtlxopen_pbr_surface"),
    "mtlximage": NodeKind(
        "vop/mtlximage; scripts that build materials set both", ("file", "signature")
    ),
    "mtlxnormalmap": NodeKind("vop/mtlxnormalmap"),
    "usdpreviewsurface": NodeKind("vop/usdpreviewsurface"),
    "kma_hair": NodeKind("vop/kma_hair"),
    "kma_curvature": NodeKind("vop/kma_curvature"),
    "kma_material_properties": NodeKind("vop/kma_material_properties"),
    "turbnoise": NodeKind("vop/turbnoise, a node of VEX"),
    "snippet": NodeKind("vop/snippet: code in VEX"),
    "collect": NodeKind("vop/collect"),
    # builders of other renderers, as tools that write materials for all of them make these
    **{
        name: NodeKind("made in /mat by material converters and libraries of studios")
        for name in (
            *("redshift_vopnet", "vray_vop_material", "pxrmaterialbuilder", "octane_vopnet"),
            *("arnold_materialbuilder", "materialbuilder"),
        )
    },
    "subnetconnector": NodeKind("vop/subnetconnector"),
    "suboutput": NodeKind("vop/suboutput"),
    # not a type: the spare parameters of a subnet that is a builder. Scripts that recreate the
    # Karma builder set shader_rendercontextname to kma, those of the MaterialX builder to mtlx
    "builder": NodeKind(
        "solaris/karma material builder; vop/mtlxmaterial",
        ("shader_rendercontextname", "tabmenumask", "shader_forcechildren"),
    ),
    "principledshader::2.0": NodeKind(
        "vop/principledshader; as exporters and importers set them, and as saved scenes list them",
        (
            *("basecolor_useTexture", "basecolor_texture"),
            *("basecolorr", "basecolorg", "basecolorb"),
            *("rough_useTexture", "rough_texture", "rough"),
            *("metallic_useTexture", "metallic_texture", "metallic"),
            *("baseBumpAndNormal_enable", "baseNormal_texture"),
            *("basecolor_textureColorSpace", "emitcolor_textureColorSpace"),
            *("opaccolor_useTexture", "opaccolor_texture", "opaccolor_textureColorSpace"),
            *("emitcolor_useTexture", "emitcolor_texture"),
            *("emitcolorr", "emitcolorg", "emitcolorb", "emitint"),
        ),
    ),
    # images
    "copnet": NodeKind("documented for each context"),
    "cop2net": NodeKind("documented for each context: COP Network - Old"),
    "rop_image": NodeKind(
        "cop/rop_image; texture exporters make one beside a COP, set these, and destroy it",
        ("coppath", "copoutput", "colorconversion", "execute"),
    ),
    # tasks
    "topnet": NodeKind("obj/topnet; a new one contains localscheduler"),
    "localscheduler": NodeKind(
        "top/localscheduler; two scripts choose Custom Slot Count by the token -1",
        ("maxprocsmenu", "maxprocs"),
    ),
    "pythonprocessor": NodeKind("top/pythonprocessor; scripts set generate", ("generate",)),
    "genericgenerator": NodeKind(
        "top/genericgenerator; scripts set both", ("pdg_command", "itemcount")
    ),
    "waitforall": NodeKind("top/waitforall"),
}
PARMS = {name: kind.parms for name, kind in NODES.items()}

# Parameters of a visualizer of the type vis_color, and values of their menus, as a tool that lists
# them read in a session. Two other tools set attribtype, range and limits by number.
VISUALIZER = {
    "attrib": None,
    "class": ("vertex", "point", "primitive", "detail", "auto"),
    "colortype": ("attribasis", "attribramped", "constant", "random", "attribrandom"),
    "rangespec": ("auto", "min-max", "center-width"),
    "minscalar": None,
    "maxscalar": None,
}

# Sections of a digital asset. OTL_OTLManager.h of the HDK names DescriptiveParmName and
# Tools.shelf; assets that scripts build have the others.
SECTIONS = {"PythonModule", "OnCreated", "OnLoaded", "Tools.shelf", "Help", "DescriptiveParmName"}
