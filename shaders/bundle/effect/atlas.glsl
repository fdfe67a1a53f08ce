// All levels and layers of the latents in one image without alpha, below each other: a row has, for
// each layer, its first three channels, then its fourth. The first and the last texel are marks.

bool effectIsMark(ivec2 texel, vec3 mark)
{
    vec3 away = abs(effectAtlas(texel) - mark);
    return max(away.x, max(away.y, away.z)) < 0.004;
}

// Whether the image was loaded upside down.
bool effectIsFlipped() { return effectIsMark(ivec2(0, 0), kAtlasLast); }

bool effectIsWhole() { return effectIsMark(ivec2(0, 0), kAtlasFirst) || effectIsFlipped(); }

// at: column, row, layer, level
vec4 neuralTexel(ivec4 at)
{
    int width = max(kAtlasWidth >> at.w, 1);
    int row = kAtlasTops[at.w] + at.y;
    if (effectIsFlipped())
        row = kAtlasRows - 1 - row;
    int column = at.x + 2 * at.z * width;
    return vec4(effectAtlas(ivec2(column, row)), effectAtlas(ivec2(column + width, row)).x);
}
