
// A thin wall: light from above and, by a decoder of its own, light from below that passes. wi has the whole sphere.
struct NeuralPlace
{
    NeuralSide above;
    NeuralSide below;
};

NeuralPlace neuralPrepare(vec2 uv, float lod, vec3 wo, vec3 live)
{
    NeuralPlace s;
    s.above = neuralPrepareSide(0, uv, lod, wo, live);
    s.below = neuralPrepareSide(@BELOW@, uv, lod, wo, live);
    return s;
}

vec3 neuralShade(NeuralPlace s, vec3 wi)
{
    NeuralSide side = s.above;
    if (wi.z < 0.0)
        side = s.below;
    // the second decoder is given the mirrored direction
    return neuralShadeSide(side, vec3(wi.x, wi.y, abs(wi.z)));
}
