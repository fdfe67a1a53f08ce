// Light of the scene on the neural material. HLSL gets the same text with its own names of types and
// functions, so a vector is built from as many numbers as it has.

const float kEffectPi = 3.14159265;

// The kinds of lights, as glslShader and dx11Shader number them.
const int kEffectSpot = 2;
const int kEffectDirectional = 4;
const int kEffectAmbient = 5;

const int kEffectLights = @LIGHT_COUNT@;
// fixed draws of the sampler, for the light of an even sky
const int kEffectDraws = 4;

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

// Linear. Magenta if the latents are no longer the bytes that were written.
vec3 effectColor(
    vec3 position, vec3 eye, vec3 normal, vec3 tangent, vec3 binormal, vec2 uv, float lod)
{
    if (!effectIsWhole())
        return vec3(1.0, 0.0, 1.0);
    vec3 view = normalize(eye - position);
    EffectFrame frame = effectFrame(normal, tangent, binormal, view);
    NeuralSurface surface = neuralPrepare(uv, lod, effectToLocal(frame, view)@LIVE@);
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
        }
        else
        {
            float along = (float(index - kEffectLights) + 0.5) / float(kEffectDraws);
            float across = along * 2.618034;
            wi = neuralDraw(surface, vec2(along, across - floor(across)));
            weight = sky / (float(kEffectDraws) * max(neuralPdf(surface, wi), 1e-6));
        }
        if (weight.x + weight.y + weight.z > 0.0)
            color += weight * neuralShade(surface, wi);
    }
    return color;
}
