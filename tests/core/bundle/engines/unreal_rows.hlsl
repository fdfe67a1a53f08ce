// neuralLight() on rows: see test_unreal.py.
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
[[vk::binding(3)]] StructuredBuffer<float4> atlas;
[[vk::binding(4)]] StructuredBuffer<float4> numbers;
float4 fetchAtlas(int3 at) { return atlas[at.x + @ATLAS_WIDTH@ * at.y]; }
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
    float3 light = neuralLight(float2(query.place.x, 1.0 - query.place.y), float2(footprint, 0.0),
        float2(0.0, -0.25 * footprint), turned(float3(0.1, 0.0, 0.0)), turned(float3(0.0, 0.025 * side, 0.0)),
        turned(float3(0.0, 0.0, 2.0)), turned(float3(query.wo.x, side * query.wo.y, query.wo.z)),
        2.0 * turned(float3(query.wi.x, side * query.wi.y, query.wi.z)), float3(1.0, 0.5, 0.25), query.live.xyz);
    answers[id.x] = float4(light, 0.0);
}
