#version 450
// SPDX-License-Identifier: Apache-2.0
#extension GL_GOOGLE_include_directive : require
#define NEURAL_NO_ENTRY_POINT
#include "portable_constants.glsl"

// A sphere of the material in one light, 256 x 256 pixels.
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) writeonly buffer Pixels { vec4 pixels[]; };

const int kSize = 256;
const float kPi = 3.14159265;

void main()
{
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    vec2 p = (vec2(pixel) + 0.5) / float(kSize) * vec2(2.0, -2.0) + vec2(-1.0, 1.0);
    vec3 seen = vec3(0.012);
    if (dot(p, p) < 0.98)
    {
        // the view is along z; u goes around the axis y, v from the lower to the upper pole
        vec3 n = vec3(p, sqrt(1.0 - dot(p, p)));
        vec3 t = normalize(vec3(n.z, 0.0, -n.x));
        vec3 b = cross(n, t);
        vec2 uv = vec2(atan(n.x, n.z), asin(n.y)) / kPi + 0.5;
        vec3 light = normalize(vec3(-0.38, 0.57, 0.73));
        // a pixel is 2 / kSize wide, and uv changes by 1 / kPi in a length of 1 where the surface faces us
        vec2 texels = vec2(neuralRecords._data[0].width, neuralRecords._data[0].height);
        float lod = log2(max(max(texels.x, texels.y) * 2.0 / (float(kSize) * kPi * max(n.z, 0.05)), 1.0e-6));
        vec3 wo = vec3(t.z, b.z, n.z);
        vec3 wi = vec3(dot(t, light), dot(b, light), dot(n, light));
        seen = 3.0 * neuralEvaluate(0u, uv, lod, 0.0, wi, wo);
    }
    pixels[pixel.y * kSize + pixel.x] = vec4(seen, 1.0);
}
