// @TITLE@
// For Maya's plug-in dx11Shader. Keep the images beside this file.

float4x4 gWorld : World < string UIWidget = "None"; >;
float4x4 gWorldInverseTranspose : WorldInverseTranspose < string UIWidget = "None"; >;
float4x4 gWorldViewProjection : WorldViewProjection < string UIWidget = "None"; >;
float4x4 gViewInverse : ViewInverse < string UIWidget = "None"; >;
@PARAMETERS@
@TEXTURES@
struct VertexIn
{
    float3 inPosition : POSITION;
    float3 inNormal : NORMAL;
    float2 inUv : TEXCOORD0;
    float3 inTangent : TANGENT;
    float3 inBinormal : BINORMAL;
};

struct Passed
{
    float4 projected : SV_Position;
    float3 position : TEXCOORD0;
    float3 normal : TEXCOORD1;
    float3 tangent : TEXCOORD2;
    float3 binormal : TEXCOORD3;
    float2 uv : TEXCOORD4;
};

Passed vertexStage(VertexIn vertex)
{
    Passed passed;
    passed.position = mul(float4(vertex.inPosition, 1.0), gWorld).xyz;
    passed.normal = mul(float4(vertex.inNormal, 0.0), gWorldInverseTranspose).xyz;
    passed.tangent = mul(float4(vertex.inTangent, 0.0), gWorld).xyz;
    passed.binormal = mul(float4(vertex.inBinormal, 0.0), gWorld).xyz;
    passed.uv = vertex.inUv;
    passed.projected = mul(float4(vertex.inPosition, 1.0), gWorldViewProjection);
    return passed;
}

@CODE@
float4 pixelStage(Passed passed) : SV_Target
{
    float2 uv = passed.uv;
@if relief
@else
    float2 stored = effectIsFlipped() ? float2(uv.x, 1.0 - uv.y) : uv;
@end
    float3 color = effectColor(
        passed.position, gViewInverse[3].xyz, passed.normal, passed.tangent, passed.binormal, uv,
        effectLod(ddx(uv), ddy(uv)));
@if relief
    float2 stored = effectIsFlipped() ? float2(uv.x, 1.0 - uv.y) : uv;
@end
    float opacity = 1.0;
@MAPS@
    if (!isDisplayedLater)
        color = effectDisplayed(color);
    return float4(color * opacity, opacity);
}

technique11 Main
<
    bool overridesDrawState = false;
    int isTransparent = @TRANSPARENT_NUMBER@;
>
{
    pass p0
    <
        string drawContext = "colorPass";
    >
    {
        SetVertexShader(CompileShader(vs_5_0, vertexStage()));
        SetHullShader(NULL);
        SetDomainShader(NULL);
        SetGeometryShader(NULL);
        SetPixelShader(CompileShader(ps_5_0, pixelStage()));
    }
}
