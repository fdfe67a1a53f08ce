// SPDX-License-Identifier: Apache-2.0
// The decoder of Verdigris for one architecture: docs/FORMAT.md describes each step. The file that includes it has
//   vec4 neuralNumber(int i)                            the decoder's numbers, four at a time
//   vec4 neuralLatent(vec2 uv, float level, int layer)  the latents, filtered, times scale plus offset
//   vec2 neuralSize()                                   width and height of the latents

@if thin
// One side of a thin wall.
struct NeuralSide
{
    int base; // of its decoder's numbers
@else
struct NeuralPlace
{
@end
    vec3 wo;
    vec3 tangent[@FRAMES@];
    vec3 bitangent[@FRAMES@];
    vec3 normal[@FRAMES@];
    vec2 stretch[@FRAMES@];
    vec3 seen[@FRAMES@];
    vec4 view[@WIDTH@];
};

vec3 neuralNormalize(vec3 v)
{
    return v / max(length(v), @LENGTH_EPSILON@);
}

float neuralLog(float cosine)
{
    return @LOGARITHM_SHARE@ * log(max(cosine, 0.0) + @COSINE_OFFSET@);
}

vec4 neuralActivate(vec4 x)
{
    @ACTIVATION@
}

// A block of 4 x 4 numbers, by columns, times a vector.
vec4 neuralTimes(int at, vec4 x)
{
    return x.x * neuralNumber(at) + x.y * neuralNumber(at + 1) + x.z * neuralNumber(at + 2)
        + x.w * neuralNumber(at + 3);
}

// log2 of the pixel's width in texels, from the derivatives of uv.
float neuralLod(vec2 dx, vec2 dy)
{
    vec2 x = dx * neuralSize();
    vec2 y = dy * neuralSize();
    return 0.5 * log2(max(max(dot(x, x), dot(y, y)), 0.000000000001));
}

// What does not depend on the light. live: values of the live inputs, from 0 to 1.
@if thin
NeuralSide neuralPrepareSide(int base, vec2 uv, float lod, vec3 wo, vec3 live)
{
    NeuralSide s;
    s.base = base;
@else
NeuralPlace neuralPrepare(vec2 uv, float lod, vec3 wo, vec3 live)
{
    NeuralPlace s;
@end
    s.wo = wo;
    vec2 size = neuralSize();
    float levels = floor(log2(max(size.x, size.y)) + 0.001);
    float level = clamp(max(0.5 * lod, lod - 1.0), 0.0, levels);
    vec4 x[@PLACE@];
    for (int i = 0; i < @LAYERS@; i++)
        x[i] = neuralLatent(uv, level, i);
    for (int k = 0; k < @FRAMES@; k++)
    {
        vec4 r0 = @FRAMES_LIVE_0@;
        vec4 r1 = @FRAMES_LIVE_1@;
        for (int i = 0; i < @LAYERS@; i++)
        {
            r0 += neuralTimes(@BASE@@AT_FRAMES@ + @FRAME_STEP@ * k + 4 * i, x[i]);
            r1 += neuralTimes(@BASE@@AT_FRAMES@ + @FRAME_STEP@ * k + @HALF_STEP@ + 4 * i, x[i]);
        }
        vec3 normal = neuralNormalize(vec3(r0.x, r0.y, r0.z + 1.0));
        vec3 along = vec3(r0.w + 1.0, r1.x, r1.y);
        vec3 tangent = neuralNormalize(along - normal * dot(normal, along));
        vec3 bitangent = cross(normal, tangent);
        vec2 stretch = vec2(tanh(clamp(r1.z / @STRETCH_LIMIT@, -10.0, 10.0)), tanh(clamp(r1.w / @STRETCH_LIMIT@, -10.0, 10.0)));
        s.normal[k] = normal;
        s.tangent[k] = tangent;
        s.bitangent[k] = bitangent;
        s.stretch[k] = exp(@STRETCH_LIMIT@ * stretch);
        s.seen[k] = vec3(dot(tangent, wo), dot(bitangent, wo), dot(normal, wo));
    }
    // two cosines of the view for each frame
    for (int k = 0; k < @VIEWS@; k++)
    {
        vec3 first = s.seen[2 * k];
        vec3 second = s.seen[min(2 * k + 1, @FRAMES@ - 1)];
        vec2 last = 2 * k + 1 < @FRAMES@ ? vec2(second.z, neuralLog(second.z)) : vec2(0.0, 0.0);
        x[@LAYERS@ + k] = vec4(first.z, neuralLog(first.z), last.x, last.y);
    }
    for (int row = 0; row < @WIDTH@; row++)
    {
        vec4 sum = neuralNumber(@BASE@@AT_BIAS0@ + row)@VIEW_LIVE@;
        for (int i = 0; i < @PLACE@; i++)
            sum += neuralTimes(@BASE@@AT_VIEW@ + @VIEW_STEP@ * row + 4 * i, x[i]);
        s.view[row] = sum;
    }
    return s;
}

// BSDF times cosine for light from wi. Both directions are unit vectors in the tangent frame.
@if thin
vec3 neuralShadeSide(NeuralSide s, vec3 wi)
{
    int base = s.base;
@else
vec3 neuralShade(NeuralPlace s, vec3 wi)
{
@end
    if (wi.z <= 0.0 || s.wo.z <= 0.0)
        return vec3(0.0, 0.0, 0.0);
    vec4 light[@LIGHT@];
    for (int k = 0; k < @FRAMES@; k++)
    {
        vec3 a = vec3(dot(s.tangent[k], wi), dot(s.bitangent[k], wi), dot(s.normal[k], wi));
        vec3 h = neuralNormalize(a + s.seen[k]);
        float cosine = dot(h, a);
        float shear = (cosine + a.z) / max(1.0 + h.z, @HALF_Z_MINIMUM@);
        vec3 g = neuralNormalize(vec3(h.x * s.stretch[k].x, h.y * s.stretch[k].y, h.z));
        light[2 * k] = vec4(g.x, g.y, g.z, a.x - h.x * shear);
        light[2 * k + 1] = vec4(a.y - h.y * shear, cosine, a.z, neuralLog(a.z));
    }
@NETWORK@
    return @OUTPUT@;
}
