// Lobes that several shaders include. No factor for the cosine of the light.
#pragma once

static const float kPi = 3.14159265;

float square(float x) { return x * x; }

// (1 - u)^5 of Schlick's Fresnel term
float schlick(float u)
{
    const float m = saturate(1.0 - u);
    return m * m * m * m * m;
}

// GGX (Trowbridge-Reitz), isotropic
float ggxNormals(float nh, float alpha)
{
    const float d = nh * nh * (alpha * alpha - 1.0) + 1.0;
    return alpha * alpha / (kPi * d * d);
}

// Smith's shadowing and masking of GGX, each for itself, divided by 4 n.l n.v
float smithOver4(float nl, float nv, float alpha)
{
    const float a2 = alpha * alpha;
    const float l = nl + sqrt(a2 + (1.0 - a2) * nl * nl);
    const float v = nv + sqrt(a2 + (1.0 - a2) * nv * nv);
    return 1.0 / (l * v);
}
