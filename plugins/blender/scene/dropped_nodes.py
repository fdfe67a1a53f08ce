# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes that the MaterialX export of Blender 5.0 leaves out.

In their place it uses the value of the socket that they feed, or a constant. The tests measure the
list: a later Blender may know more nodes.
"""

DROPPED = frozenset(
    {
        "ShaderNodeAmbientOcclusion",
        "ShaderNodeAttribute",
        "ShaderNodeBevel",
        "ShaderNodeCameraData",
        "ShaderNodeDisplacement",
        "ShaderNodeFresnel",
        "ShaderNodeHairInfo",
        "ShaderNodeLayerWeight",
        "ShaderNodeLightPath",
        "ShaderNodeMixRGB",
        "ShaderNodeParticleInfo",
        "ShaderNodePointInfo",
        "ShaderNodeRadialTiling",
        "ShaderNodeShaderToRGB",
        "ShaderNodeSqueeze",
        "ShaderNodeTexBrick",
        "ShaderNodeTexEnvironment",
        "ShaderNodeTexGabor",
        "ShaderNodeTexIES",
        "ShaderNodeTexMagic",
        "ShaderNodeTexSky",
        "ShaderNodeTexVoronoi",
        "ShaderNodeUVAlongStroke",
        "ShaderNodeValToRGB",
        "ShaderNodeVectorDisplacement",
        "ShaderNodeVertexColor",
        "ShaderNodeVolumeInfo",
        "ShaderNodeWavelength",
        "ShaderNodeWireframe",
    }
)
