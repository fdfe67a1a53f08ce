// The length of dP/du and of dP/dv in world units.
float2 neuralExtent(float3 positionX, float3 positionY, float2 uvX, float2 uvY)
{
    float area = max(abs(uvX.x * uvY.y - uvX.y * uvY.x), 1e-20);
    return float2(length(positionX * uvY.y - positionY * uvX.y), length(positionY * uvX.x - positionX * uvY.x)) / area;
}

// The direction in which a viewer sees things behind a clear surface, and the share of their light, in parts of its mean.
// Two interfaces refract it: each place of a solid is taken for one of a sphere, on which the angles at both are equal.
float4 neuralBehind(float3 view, float3 normal, float index)
{
    float cosine = dot(normal, view);
    float inner = sqrt(max(1.0 - (1.0 - cosine * cosine) / (index * index), 0.0));
    float3 inside = (cosine / index - inner) * normal - view / index;
    // Schlick's Fresnel: of the first interface in parts of its mean, and of a solid's second one
    float open = 1.0 - pow(1.0 - cosine, 5.0);
    float mirror = (index - 1.0) / (index + 1.0);
    float share = 1.05 * open * (index == 1.0 ? 1.0 : open * (1.0 - mirror * mirror));
    return float4(normalize(view - 2.0 * dot(inside, view) * inside), share);
}
