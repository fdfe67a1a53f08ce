// SPDX-License-Identifier: Apache-2.0
// A material of Verdigris, and the tangent frame of its bake. docs/engines/UNITY.md describes the use.
#ifndef VERDIGRIS_NEURAL_FRAME
#define VERDIGRIS_NEURAL_FRAME

struct NeuralMaterial
{
    Texture2DArray latents;
    SamplerState latentsSampler;
    Texture2D numbers;
    float4 scale0;
    float4 scale1;
    float4 offset0;
    float4 offset1;
    float2 size; // of the latents
};

@FRAME@
float4 neuralNumber(NeuralMaterial m, int i)
{
    return m.numbers.Load(int3(i & 63, i >> 6, 0));
}

float4 neuralLatent(NeuralMaterial m, float2 uv, float level, int layer)
{
    float4 texel = m.latents.SampleLevel(m.latentsSampler, float3(uv, layer), level);
    return layer == 0 ? m.offset0 + m.scale0 * texel : m.offset1 + m.scale1 * texel;
}

float2 neuralSize(NeuralMaterial m)
{
    return m.size;
}

#endif
