// SPDX-License-Identifier: Apache-2.0
// The tangent frame of a bake, from derivatives.
struct NeuralFrame
{
    float3 tangent; // dP/du
    float3 bitangent; // towards growing v
    float3 normal; // on the side of the viewer
};

// The axes of the bake, from derivatives, whatever tangents the mesh has.
NeuralFrame neuralFrame(float3 positionX, float3 positionY, float3 normal, float3 view, float2 uvX, float2 uvY)
{
    NeuralFrame frame;
    float area = uvX.x * uvY.y - uvX.y * uvY.x;
    float3 alongU = (positionX * uvY.y - positionY * uvX.y) * sign(area);
    float3 alongV = (positionY * uvX.x - positionX * uvY.x) * sign(area);
    // the side of the triangle, which does not depend on the winding
    float3 face = cross(positionX, positionY);
    frame.normal = dot(face, normal) * dot(face, view) < 0.0 ? -normalize(normal) : normalize(normal);
    float3 tangent = alongU - frame.normal * dot(frame.normal, alongU);
    frame.tangent = dot(tangent, tangent) > 1e-20 ? normalize(tangent) : normalize(cross(frame.normal, float3(0.4, 0.9, 0.1)));
    float3 bitangent = cross(frame.normal, frame.tangent);
    frame.bitangent = dot(bitangent, alongV) < 0.0 ? -bitangent : bitangent;
    return frame;
}

float3 neuralToTangent(NeuralFrame frame, float3 v)
{
    return float3(dot(frame.tangent, v), dot(frame.bitangent, v), dot(frame.normal, v));
}

// The direction to the viewer. At a silhouette, smooth normals can point away from it.
float3 neuralView(NeuralFrame frame, float3 view)
{
    float3 wo = neuralToTangent(frame, view);
    return normalize(float3(wo.xy, max(wo.z, 1e-3)));
}
