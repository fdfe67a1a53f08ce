"""An environment that is no real map: different in every direction and width."""

import numpy as np

SLANG = """
struct Smooth : INeuralEnvironment
{
    float3 radiance(float3 direction, float solidAngle)
    {
        return (float3(1.5, 2.0, 1.2) + direction) / (1.0 + solidAngle);
    }
    float3 irradiance(float3 normal) { return 3.0 + normal; }
}
"""


class Smooth:
    """That of the shader."""

    def radiance(self, directions, solid_angle):
        return (np.array([[1.5], [2.0], [1.2]]) + directions) / (1 + solid_angle)

    def irradiance(self, normals):
        return 3 + normals
