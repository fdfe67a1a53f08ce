// The forward pass on rows: see test_unity.py.
struct Query
{
    float4 place;
    float4 wi;
    float4 wo;
    float4 live;
};
[[vk::binding(0)]] cbuffer Count { uint queryCount; };
[[vk::binding(1)]] StructuredBuffer<Query> queries;
[[vk::binding(2)]] RWStructuredBuffer<float4> answers;
[[vk::binding(3)]] StructuredBuffer<float4> numbers;
// all levels, each layer after layer: software devices fetch with one level for four threads
[[vk::binding(4)]] StructuredBuffer<float4> texels;
static const int3 kSize = int3(@WIDTH@, @HEIGHT@, @LAYERS@);
static float2 uvX, uvY;
static float3 positionX, positionY;
float2 derivativeX(float2 at) { return uvX; }
float2 derivativeY(float2 at) { return uvY; }
float3 derivativeX(float3 at) { return positionX; }
float3 derivativeY(float3 at) { return positionY; }
float4 fetchNumber(int3 at) { return numbers[at.x + 64 * at.y]; }
#define constantTexture(name, samplerName, uv) float4(0.5, 0.5, 1.0, 1.0)
#define constantGrad(name, samplerName, uv, dx, dy) constantTexture(name, samplerName, uv)
#define constantLod(name, samplerName, uv, lod) constant##name()
float4 constant_NeuralEmission() { return float4(0.5, 0.25, 0.125, 1.0); }
float4 constant_NeuralOpacity() { return float4(0.75, 0.75, 0.75, 0.75); }
float4 bilinear(float2 uv, int layer, int level)
{
    int2 size = kSize.xy;
    int start = 0;
    for (int finer = 0; finer < level; finer++)
    {
        start += kSize.z * size.x * size.y;
        size = max(size / 2, int2(1, 1));
    }
    float x = frac(uv.x) * float(size.x) - 0.5, y = frac(uv.y) * float(size.y) - 0.5;
    int left = int(floor(x)), low = int(floor(y));
    float4 sum = float4(0.0, 0.0, 0.0, 0.0);
    for (int corner = 0; corner < 4; corner++)
    {
        int column = left + (corner & 1), row = low + (corner >> 1);
        float weight = (1.0 - abs(x - float(column))) * (1.0 - abs(y - float(row)));
        column += column < 0 ? size.x : column >= size.x ? -size.x : 0;
        row += row < 0 ? size.y : row >= size.y ? -size.y : 0;
        sum += weight * texels[start + (layer * size.y + row) * size.x + column];
    }
    return sum;
}
float4 exactLod(float3 at, float level)
{
    int finer = int(level);
    int last = @LEVELS@ - 1;
    return lerp(bilinear(at.xy, int(at.z), finer), bilinear(at.xy, int(at.z), min(finer + 1, last)), level - float(finer));
}
@PROGRAM@
static const float3 kX = float3(0.36, -0.8, 0.48), kY = float3(0.48, 0.6, 0.64), kZ = float3(-0.8, 0.0, 0.6);

float3 turned(float3 v)
{
    return v.x * kX + v.y * kY + v.z * kZ;
}

[numthreads(64, 1, 1)]
void main(uint3 id : SV_DispatchThreadID)
{
    if (id.x >= queryCount)
        return;
    Query query = queries[id.x];
    float side = query.wo.w;
    float footprint = query.place.w * exp2(query.place.z);
    uvX = float2(footprint, 0.0);
    uvY = float2(0.0, 0.25 * footprint);
    positionX = turned(float3(0.1, 0.0, 0.0));
    positionY = turned(float3(0.0, 0.025 * side, 0.0));
    _NeuralSize = float4(kSize.x, kSize.y, 0.0, 0.0);
    _NeuralScale0 = @SCALE0@;
    _NeuralScale1 = @SCALE1@;
    _NeuralOffset0 = @OFFSET0@;
    _NeuralOffset1 = @OFFSET1@;
    _NeuralLive = query.live;
#ifdef HAS_RELIEF
    _NeuralRange = float4(0.1, 0.0, 128.0, 64.0);
#endif
    unityLights = float4(0.0, 0.0, 1.0, 0.5);
    Varyings input = (Varyings)0;
    input.positionWS = float3(1.0, 2.0, -3.0);
    input.normalWS = turned(float3(0.0, 0.0, 2.0));
    input.uv = query.place.xy;
    unityEye = float4(input.positionWS + turned(float3(query.wo.x, side * query.wo.y, query.wo.z)), 0.0);
    unityToLight = turned(float3(query.wi.x, side * query.wi.y, query.wi.z));
    answers[id.x] = NeuralFragment(input);
}
