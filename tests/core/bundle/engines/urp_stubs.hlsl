// What the shader for URP uses of Unity's shader library: docs.unity3d.com/6000.0/Documentation/Manual, "Shader methods in
// URP" (transformations, camera, lighting, shadows), "Shader keywords and macros in URP", "Write a rendering loop that
// iterates over additional lights"; Texture.hlsl and Macros.hlsl of com.unity.render-pipelines.core for the macros.
#define PI 3.14159265358979323846
#define half float
#define half3 float3
#define half4 float4
#define UNITY_VERTEX_INPUT_INSTANCE_ID
#define UNITY_VERTEX_OUTPUT_STEREO
#define UNITY_SETUP_INSTANCE_ID(input)
#define UNITY_TRANSFER_INSTANCE_ID(input, output)
#define UNITY_INITIALIZE_VERTEX_OUTPUT_STEREO(output)
#define UNITY_SETUP_STEREO_EYE_INDEX_POST_VERTEX(input)
#define UNITY_LOOP [loop]
#define TEXTURE2D(name) Texture2D name
#define TEXTURE2D_ARRAY(name) Texture2DArray name
#define SAMPLER(name) SamplerState name
#define SAMPLE_TEXTURE2D(name, samplerName, uv) name.Sample(samplerName, uv)
#define SAMPLE_TEXTURE2D_GRAD(name, samplerName, uv, dpdx, dpdy) name.SampleGrad(samplerName, uv, dpdx, dpdy)
#define SAMPLE_TEXTURE2D_LOD(name, samplerName, uv, lod) name.SampleLevel(samplerName, uv, lod)
#define CBUFFER_START(name) cbuffer name {
#define CBUFFER_END };
#define MAX_VISIBLE_LIGHTS 256
#define URP_FP_DIRECTIONAL_LIGHTS_COUNT uint(unityLights.x)
#if defined(_FORWARD_PLUS) || defined(_CLUSTER_LIGHT_LOOP)
#define LIGHT_LOOP_BEGIN(count) { uint lightIndex; for (lightIndex = uint(inputData.normalizedScreenSpaceUV.x); lightIndex < 4; lightIndex++) {
#define LIGHT_LOOP_END } }
#else
#define LIGHT_LOOP_BEGIN(count) for (uint lightIndex = 0u; lightIndex < count; ++lightIndex) {
#define LIGHT_LOOP_END }
#endif

struct Light
{
    half3 direction;
    half3 color;
    float distanceAttenuation;
    half shadowAttenuation;
};

struct InputData
{
    float3 positionWS;
    float4 positionCS;
    float3 normalWS;
    half3 viewDirectionWS;
    float4 shadowCoord;
    half3 bakedGI;
    float2 normalizedScreenSpaceUV;
};

struct UnityTexture2D
{
    Texture2D tex;
    SamplerState samplerstate;
};

struct UnityTexture2DArray
{
    Texture2DArray tex;
    SamplerState samplerstate;
};

cbuffer Unity
{
    float4x4 unityMatrix;
    float4 unityLights;
    float4 unityEye;
};

float3 TransformObjectToWorld(float3 positionOS) { return mul(unityMatrix, float4(positionOS, 1.0)).xyz; }
float3 TransformObjectToWorldNormal(float3 normalOS) { return mul((float3x3)unityMatrix, normalOS); }
float4 TransformWorldToHClip(float3 positionWS) { return mul(unityMatrix, float4(positionWS, 1.0)); }
float4 TransformObjectToHClip(float3 positionOS) { return TransformWorldToHClip(TransformObjectToWorld(positionOS)); }
float4 TransformWorldToShadowCoord(float3 positionWS) { return float4(positionWS, 1.0); }
float3 ApplyShadowBias(float3 positionWS, float3 normalWS, float3 lightDirection) { return positionWS + normalWS + lightDirection; }
float4 ApplyShadowClamping(float4 positionCS) { return positionCS; }
float2 GetNormalizedScreenSpaceUV(float4 positionCS) { return positionCS.xy; }
float3 GetWorldSpaceNormalizeViewDir(float3 positionWS) { return normalize(unityEye.xyz - positionWS); }
uint GetAdditionalLightsCount() { return uint(unityLights.y); }

Light unityLight(float3 direction, float3 color)
{
    Light light = (Light)0;
    light.direction = direction;
    light.color = color;
    light.distanceAttenuation = unityLights.z;
    light.shadowAttenuation = unityLights.w;
    return light;
}

static float3 unityToLight = float3(0.0, 0.0, 1.0);
Light GetMainLight(float4 shadowCoord) { return unityLight(unityToLight, float3(1.0, 0.5, 0.25)); }
Light GetAdditionalLight(uint i, float3 positionWS, half4 shadowMask) { return unityLight(unityToLight, float3(0.0, 0.0, 1.0)); }
half3 GlossyEnvironmentReflection(half3 reflectVector, half perceptualRoughness, half occlusion) { return unityLights.x * perceptualRoughness; }
