@if relief
int2 neuralHeightSize()
{
    return int2(_NeuralRange.zw);
}

float4 neuralHeight(int2 place, int level)
{
    return _NeuralHeights.Load(int3(place, level));
}

float2 neuralRange()
{
    return _NeuralRange.xy;
}

@RELIEF@
@end
@BEHIND@
