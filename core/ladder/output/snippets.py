"""What an engine computes for each rung, as GLSL for the page."""

from __future__ import annotations

from verdigris.core.settings.rung_names import (
    DETAIL,
    NEURAL,
    PBR,
    REFLECTION,
    SURFACE,
    UNLIT,
    VERTEX,
)

# The numbers of `curve` are a, b and c.
_TO_LIGHT = """vec3 toLight(vec3 stored, vec3 abc)
{
    return stored / ((abc.z * stored + abc.x) * stored + abc.y);
}
"""
_MIRROR = """// r is reflect(-toEye, normal) in the mesh's space, y up, with the seen side's normal
// v of the result grows upwards
vec2 octahedral(vec3 r)
{
    r /= abs(r.x) + abs(r.y) + abs(r.z);
    vec2 folded = (1.0 - abs(r.zx)) * vec2(r.x >= 0.0 ? 1.0 : -1.0, r.z >= 0.0 ? 1.0 : -1.0);
    return clamp(0.5 + 0.5 * (r.y >= 0.0 ? r.xz : folded), 0.01, 0.99);
}
"""
SNIPPETS = {
    SURFACE: """# surface.mtlx is the whole material, for renderers that read MaterialX; in Python:
document = MaterialX.createDocument()
MaterialX.readFromXmlFile(document, "surface.mtlx")
""",
    PBR: """// glTF's own shading: load NAME.gltf, or bind the textures
vec4 base = texture(baseColor, uv0); // sRGB
vec3 orm = texture(ormMap, uv0).rgb; // occlusion, roughness, metalness
vec3 normal = 2.0 * texture(normalMap, uv0).xyz - 1.0;
""",
    UNLIT: f"""{_TO_LIGHT}
vec3 light = toLight(texture(lightMap, uv1).rgb, curve);
""",
    REFLECTION: f"""{_TO_LIGHT}
{_MIRROR}
vec3 light = toLight(texture(lightMap, uv1).rgb, curve);
light += texture(shareMap, uv1).rgb * toLight(texture(mirrorMap, octahedral(r)).rgb, mirrorCurve);
""",
    DETAIL: f"""{_TO_LIGHT}
float d = texture(detailMap, uv0).r;
vec3 light = 4.0 * d * d * toLight(texture(colourMap, uv1).rgb, curve);
""",
    VERTEX: f"""{_TO_LIGHT}
// the attribute _STORED of the mesh, interpolated
vec3 light = toLight(vertexStored.rgb, curve);
""",
    NEURAL: """// the bundle's folder `runtime` has this shader, in Slang and other languages
float3 reflected = evaluate(material, uv, lod, wi, wo); // response times cosine, for one light
""",
}
