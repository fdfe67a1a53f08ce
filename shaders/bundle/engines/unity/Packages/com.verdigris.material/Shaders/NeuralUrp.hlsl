// SPDX-License-Identifier: Apache-2.0
// The passes of the Universal Render Pipeline. Include it behind the decoder of the material.
#ifndef VERDIGRIS_NEURAL_URP
#define VERDIGRIS_NEURAL_URP

struct Attributes
{
    float4 positionOS : POSITION;
    float3 normalOS : NORMAL;
    float2 uv : TEXCOORD0;
    UNITY_VERTEX_INPUT_INSTANCE_ID
};

struct Varyings
{
    float4 positionCS : SV_POSITION;
    float3 positionWS : TEXCOORD0;
    float3 normalWS : TEXCOORD1;
    float2 uv : TEXCOORD2;
    UNITY_VERTEX_INPUT_INSTANCE_ID
    UNITY_VERTEX_OUTPUT_STEREO
};

Varyings NeuralVertex(Attributes input)
{
    Varyings output = (Varyings)0;
    UNITY_SETUP_INSTANCE_ID(input);
    UNITY_TRANSFER_INSTANCE_ID(input, output);
    UNITY_INITIALIZE_VERTEX_OUTPUT_STEREO(output);
    output.positionWS = TransformObjectToWorld(input.positionOS.xyz);
    output.positionCS = TransformWorldToHClip(output.positionWS);
    output.normalWS = TransformObjectToWorldNormal(input.normalOS);
    output.uv = input.uv * _NeuralTiling.xy + _NeuralTiling.zw;
    return output;
}

NeuralMaterial NeuralOfProperties()
{
    NeuralMaterial m;
    m.latents = _NeuralLatents;
    m.latentsSampler = sampler_NeuralLatents;
    m.numbers = _NeuralNumbers;
    m.scale0 = _NeuralScale0;
    m.scale1 = _NeuralScale1;
    m.offset0 = _NeuralOffset0;
    m.offset1 = _NeuralOffset1;
    m.size = _NeuralSize.xy;
    return m;
}

@if relief
// The place that is seen, with what its shadow needs.
struct NeuralSeen
{
    NeuralRelief place;
    float3 normal;
    float2 extent;
    float lod;
};

@end
// Lights of Unity leave out the division by pi.
@if relief
float3 NeuralLight(NeuralMaterial m, NeuralPlace place, NeuralFrame frame, NeuralSeen seen, Light light)
{
    float3 towards = neuralToTangent(frame, light.direction);
    float3 wi = neuralReliefTurned(seen.normal, towards);
@if thin
    // light from below passes through the surface, and the relief throws no shadow on it
    if (towards.z >= 0.0)
@end
    light.shadowAttenuation *= neuralReliefShadow(seen.place, towards, seen.extent, seen.lod);
@else
float3 NeuralLight(NeuralMaterial m, NeuralPlace place, NeuralFrame frame, Light light)
{
    float3 wi = neuralToTangent(frame, light.direction);
@end
    return light.color * (light.distanceAttenuation * light.shadowAttenuation) * PI * neuralShade(m, place, wi);
}

half4 NeuralFragment(Varyings input) : SV_Target
{
    UNITY_SETUP_INSTANCE_ID(input);
    UNITY_SETUP_STEREO_EYE_INDEX_POST_VERTEX(input);
    float2 uv = input.uv;
    float2 uvX = ddx(uv), uvY = ddy(uv);
    float3 view = GetWorldSpaceNormalizeViewDir(input.positionWS);
    NeuralMaterial m = NeuralOfProperties();
    NeuralFrame frame = neuralFrame(ddx(input.positionWS), ddy(input.positionWS), input.normalWS, view, uvX, uvY);
    float lod = neuralLod(m, uvX, uvY);
@if relief
    NeuralSeen seen;
    seen.extent = neuralExtent(ddx(input.positionWS), ddy(input.positionWS), uvX, uvY);
    seen.lod = neuralReliefLod(uvX, uvY);
    seen.place = neuralRelief(uv, neuralView(frame, view), seen.extent, seen.lod);
    uv = seen.place.uv;
    seen.normal = neuralReliefNormal(uv, seen.extent, seen.lod);
    float3 wo = neuralReliefTurned(seen.normal, neuralView(frame, view));
    wo = normalize(float3(wo.xy, max(wo.z, 1e-3)));
    NeuralPlace place = neuralPrepare(m, uv, lod, wo, _NeuralLive.xyz);
@else
    NeuralPlace place = neuralPrepare(m, uv, lod, neuralView(frame, view), _NeuralLive.xyz);
@end

    // LIGHT_LOOP_BEGIN needs this name
    InputData inputData = (InputData)0;
    inputData.positionWS = input.positionWS;
    inputData.normalWS = frame.normal;
    inputData.viewDirectionWS = view;
    inputData.normalizedScreenSpaceUV = GetNormalizedScreenSpaceUV(input.positionCS);

    float3 sum = NeuralLight(m, place, frame, @SEEN@GetMainLight(TransformWorldToShadowCoord(input.positionWS)));
#if defined(_ADDITIONAL_LIGHTS) || defined(_FORWARD_PLUS) || defined(_CLUSTER_LIGHT_LOOP)
    const half4 noMask = half4(1, 1, 1, 1);
#if defined(_FORWARD_PLUS) || defined(_CLUSTER_LIGHT_LOOP)
    UNITY_LOOP
    for (uint directional = 0; directional < min(URP_FP_DIRECTIONAL_LIGHTS_COUNT, MAX_VISIBLE_LIGHTS); directional++)
        sum += NeuralLight(m, place, frame, @SEEN@GetAdditionalLight(directional, input.positionWS, noMask));
#endif
    uint pixelLightCount = GetAdditionalLightsCount();
    LIGHT_LOOP_BEGIN(pixelLightCount)
        sum += NeuralLight(m, place, frame, @SEEN@GetAdditionalLight(lightIndex, input.positionWS, noMask));
    LIGHT_LOOP_END
#endif

    // surroundings: the mean colour of all reflected light, blurred by the mean roughness
@if relief
    float4 base = SAMPLE_TEXTURE2D_GRAD(_NeuralBase, sampler_NeuralBase, uv, uvX, uvY);
    float3 bent = SAMPLE_TEXTURE2D_GRAD(_NeuralNormal, sampler_NeuralNormal, uv, uvX, uvY).xyz * 2.0 - 1.0;
    bent = neuralReliefInBase(seen.normal, bent);
@else
    float4 base = SAMPLE_TEXTURE2D(_NeuralBase, sampler_NeuralBase, uv);
    float3 bent = SAMPLE_TEXTURE2D(_NeuralNormal, sampler_NeuralNormal, uv).xyz * 2.0 - 1.0;
@end
    float3 normal = normalize(bent.x * frame.tangent + bent.y * frame.bitangent + max(bent.z, 0.1) * frame.normal);
    sum += base.rgb * GlossyEnvironmentReflection(reflect(-view, normal), base.a, 1.0);
@if leaf
    // what passes is diffuse light from behind
    float3 passing = SAMPLE_TEXTURE2D_GRAD(_NeuralTransmitted, sampler_NeuralTransmitted, uv, uvX, uvY).rgb;
    sum += passing * GlossyEnvironmentReflection(-frame.normal, 1.0, 1.0);
@end
@if clear
    // what passes is seen along a refracted direction
    float4 behind = neuralBehind(view, dot(normal, view) < 0.0 ? frame.normal : normal, _NeuralIndex);
    float3 passing = SAMPLE_TEXTURE2D_GRAD(_NeuralTransmitted, sampler_NeuralTransmitted, uv, uvX, uvY).rgb;
    sum += behind.w * passing * GlossyEnvironmentReflection(behind.xyz, base.a, 1.0);
@end
    sum += SAMPLE_TEXTURE2D_LOD(_NeuralEmission, sampler_NeuralEmission, uv, max(lod, 0.0)).rgb;
    float alpha = SAMPLE_TEXTURE2D_LOD(_NeuralOpacity, sampler_NeuralOpacity, uv, max(lod, 0.0)).r;
    return half4(sum, alpha);
}

float3 _LightDirection;
float3 _LightPosition;

// For ShadowCaster and DepthOnly.
float4 NeuralShadowVertex(Attributes input) : SV_POSITION
{
    UNITY_SETUP_INSTANCE_ID(input);
    float3 positionWS = TransformObjectToWorld(input.positionOS.xyz);
    float3 normalWS = TransformObjectToWorldNormal(input.normalOS);
#if defined(_CASTING_PUNCTUAL_LIGHT_SHADOW)
    float3 direction = normalize(_LightPosition - positionWS);
#else
    float3 direction = _LightDirection;
#endif
    float4 positionCS = TransformWorldToHClip(ApplyShadowBias(positionWS, normalWS, direction));
    return ApplyShadowClamping(positionCS);
}

float4 NeuralDepthVertex(Attributes input) : SV_POSITION
{
    UNITY_SETUP_INSTANCE_ID(input);
    return TransformObjectToHClip(input.positionOS.xyz);
}

half4 NeuralDepthFragment() : SV_Target
{
    return 0;
}

#endif
