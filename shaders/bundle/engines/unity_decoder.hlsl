// @SHADER@: the decoder of the neural materials of this architecture, written by Verdigris @VERSION@.
#ifndef VERDIGRIS_@SHADER@
#define VERDIGRIS_@SHADER@
#include "Packages/com.verdigris.material/Shaders/NeuralFrame.hlsl"

@DECODER@
@if thin
@SIDES@
@end
#ifndef VERDIGRIS_URP
// For the custom function node of Shader Graph, in any pipeline: multiply the response by the colour of the light and pi.
// All directions and positions are in world space; View and Light point away from the surface.
void NeuralResponse_float(UnityTexture2DArray Latents, UnityTexture2D Numbers, float4 Scale0, float4 Scale1, float4 Offset0,
    float4 Offset1, float2 UV, float3 Position, float3 Normal, float3 View, float3 Light, float3 Live, out float3 Response)
{
    NeuralMaterial m;
    m.latents = Latents.tex;
    m.latentsSampler = Latents.samplerstate;
    m.numbers = Numbers.tex;
    m.scale0 = Scale0;
    m.scale1 = Scale1;
    m.offset0 = Offset0;
    m.offset1 = Offset1;
    uint width, height, layers;
    Latents.tex.GetDimensions(width, height, layers);
    m.size = float2(width, height);
    float2 uvX = ddx(UV), uvY = ddy(UV);
    NeuralFrame frame = neuralFrame(ddx(Position), ddy(Position), Normal, View, uvX, uvY);
    NeuralPlace place = neuralPrepare(m, UV, neuralLod(m, uvX, uvY), neuralView(frame, View), Live);
    Response = neuralShade(m, place, neuralToTangent(frame, Light));
}
#endif
#endif
