// Light of the scene on the neural material. HLSL gets the same text with its own names of types and
// functions, so a vector is built from as many numbers as it has.

const float kEffectPi = 3.14159265;

// The kinds of lights, as glslShader and dx11Shader number them.
const int kEffectSpot = 2;
const int kEffectDirectional = 4;
const int kEffectAmbient = 5;

const int kEffectLights = @LIGHT_COUNT@;
// fixed draws of the sampler, for the light of an even sky
@if both
const int kEffectDraws = 8;
@else
const int kEffectDraws = 4;
@end

struct EffectLight
{
    bool isOn;
    int kind;
    vec3 position;
    vec3 direction;
    vec3 color;
    float intensity;
    // angles from the axis to the cone and to the end of its penumbra, in radians
    float cone;
    float falloff;
    // the power of the distance; 0: none
    float decay;
};

struct EffectFrame
{
    vec3 tangent;
    vec3 bitangent;
    vec3 normal;
};

vec3 effectToLocal(EffectFrame frame, vec3 v)
{
    return vec3(dot(frame.tangent, v), dot(frame.bitangent, v), dot(frame.normal, v));
}

// Orthonormal, on the side of the viewer. Meshes without uv sets have no tangents.
EffectFrame effectFrame(vec3 normal, vec3 tangent, vec3 binormal, vec3 view)
{
    EffectFrame frame;
    frame.normal = normal / max(length(normal), 1e-6);
    if (dot(frame.normal, view) < 0.0)
        frame.normal = -frame.normal;
    vec3 along = tangent - frame.normal * dot(frame.normal, tangent);
    if (dot(along, along) < 1e-12)
    {
        vec3 axis = vec3(1.0, 0.0, 0.0);
        if (abs(frame.normal.x) > 0.9)
            axis = vec3(0.0, 1.0, 0.0);
        along = axis - frame.normal * dot(frame.normal, axis);
    }
    frame.tangent = normalize(along);
    frame.bitangent = cross(frame.normal, frame.tangent);
    if (dot(frame.bitangent, binormal) < 0.0)
        frame.bitangent = -frame.bitangent;
    return frame;
}

// A light with intensity 1 shows white paper that faces it as 1: its irradiance is pi.
vec3 effectIrradiance(EffectLight light, vec3 position, vec3 towards, float far)
{
    if (!light.isOn || light.kind < kEffectSpot || light.kind == kEffectAmbient)
        return vec3(0.0, 0.0, 0.0);
    float strength = kEffectPi * light.intensity;
    if (light.kind != kEffectDirectional && light.decay > 0.0)
        strength *= pow(far, -light.decay);
    if (light.kind == kEffectSpot)
    {
        float outer = cos(max(light.falloff, light.cone + 1e-3));
        float axis = dot(-towards, normalize(light.direction));
        strength *= smoothstep(outer, cos(light.cone), axis);
    }
    return strength * light.color;
}

@LIGHTS@

// log2 of the pixel's width in texels.
float effectLod(vec2 dx, vec2 dy)
{
    vec2 size = vec2(float(kAtlasWidth), float(kAtlasHeight));
    return 0.5 * log2(max(max(dot(dx * size, dx * size), dot(dy * size, dy * size)), 1e-12));
}

vec3 effectDisplayed(vec3 linear_color)
{
    vec3 color = max(linear_color, vec3(0.0, 0.0, 0.0));
    vec3 low = 12.92 * color;
    vec3 high = 1.055 * pow(max(color, vec3(1e-6, 1e-6, 1e-6)), vec3(0.41666667, 0.41666667, 0.41666667)) - 0.055;
    return vec3(
        color.x < 0.0031308 ? low.x : high.x,
        color.y < 0.0031308 ? low.y : high.y,
        color.z < 0.0031308 ? low.z : high.z);
}

@if both
// The share of light from below that enters at the other side. Each place of a solid is taken for one of a sphere, on
// which the angles at both interfaces are equal. What is reflected inside is taken to go on straight.
float effectEntering(vec3 wi)
{
    float cosine = -wi.z;
    float outer2 = 1.0 - kEffectIndex * kEffectIndex * (1.0 - cosine * cosine);
    if (wi.z >= 0.0 || kEffectIndex == 1.0 || outer2 <= 0.0)
        return 1.0;
    float outer = sqrt(outer2);
    float across = (kEffectIndex * cosine - outer) / (kEffectIndex * cosine + outer);
    float along = (cosine - kEffectIndex * outer) / (cosine + kEffectIndex * outer);
    return 1.0 - 0.5 * (across * across + along * along);
}

@end
// Linear. Magenta if the latents are no longer the bytes that were written.
vec3 effectColor(
@if relief
    vec3 position, vec3 eye, vec3 normal, vec3 tangent, vec3 binormal, inout vec2 uv, float lod)
{
    vec2 uv_x = dFdx(uv);
    vec2 uv_y = dFdy(uv);
    vec3 position_x = dFdx(position);
    vec3 position_y = dFdy(position);
@else
    vec3 position, vec3 eye, vec3 normal, vec3 tangent, vec3 binormal, vec2 uv, float lod)
{
@end
    if (!effectIsWhole())
        return vec3(1.0, 0.0, 1.0);
    vec3 view = normalize(eye - position);
    EffectFrame frame = effectFrame(normal, tangent, binormal, view);
@if relief
    // the place that is seen, in the frame of its slope; uv becomes its own
    vec2 extent = vec2(length(position_x * uv_y.y - position_y * uv_x.y), length(position_y * uv_x.x - position_x * uv_y.x));
    extent = extent / max(abs(uv_x.x * uv_y.y - uv_x.y * uv_y.x), 1e-20);
    float level = neuralReliefLod(uv_x, uv_y);
    vec3 wo = effectToLocal(frame, view);
    wo = normalize(vec3(wo.x, wo.y, max(wo.z, 1e-3)));
    NeuralRelief seen = neuralRelief(uv, wo, extent, level);
    vec3 slope = neuralReliefNormal(seen.uv, extent, level);
    wo = neuralReliefTurned(slope, wo);
    wo = normalize(vec3(wo.x, wo.y, max(wo.z, 1e-3)));
    uv = seen.uv;
    @SURFACE@ surface = neuralPrepare(uv, lod, wo@LIVE@);
@else
    @SURFACE@ surface = neuralPrepare(uv, lod, effectToLocal(frame, view)@LIVE@);
@end
    vec3 sky = ambientColor;
    vec3 color = vec3(0.0, 0.0, 0.0);
    // the lights, then the sky: one call of the decoder, which compilers inline
    for (int index = 0; index < kEffectLights + kEffectDraws; index++)
    {
        vec3 wi;
        vec3 weight;
        if (index < kEffectLights)
        {
            EffectLight light = effectLight(index);
            vec3 way = light.position - position;
            float far = max(length(way), 1e-6);
            vec3 towards = way / far;
            if (light.kind == kEffectDirectional)
                towards = -normalize(light.direction);
            if (light.isOn && light.kind == kEffectAmbient)
                sky += light.intensity * light.color;
            weight = effectIrradiance(light, position, towards, far);
            wi = effectToLocal(frame, towards);
@if both
            // what a solid refracts of one light is a caustic, which is not shown
            if (wi.z < 0.0 && kEffectIndex != 1.0)
                weight = vec3(0.0, 0.0, 0.0);
@end
@if relief
@if both
            // light from below passes through the surface, and the relief throws no shadow on it
            if (wi.z >= 0.0)
@end
                weight *= neuralReliefShadow(seen, wi, extent, level);
            wi = neuralReliefTurned(slope, wi);
@end
        }
        else
        {
            float along = (float(index - kEffectLights) + 0.5) / float(kEffectDraws);
            float across = along * 2.618034;
            wi = neuralDraw(surface, vec2(along, across - floor(across)));
            weight = sky / (float(kEffectDraws) * max(neuralPdf(surface, wi), 1e-6));
@if both
            weight *= effectEntering(wi);
@end
        }
        if (weight.x + weight.y + weight.z > 0.0)
            color += weight * neuralShade(surface, wi);
    }
    return color;
}
