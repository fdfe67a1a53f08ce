// All levels of the height map in one image, as the latents.

ivec2 neuralHeightSize() { return kHeightSize; }

vec2 neuralRange() { return kHeightRange; }

vec4 neuralHeight(ivec2 place, int level)
{
    int width = max(kHeightSize.x >> level, 1);
    int row = kHeightTops[level] + place.y;
    if (effectIsFlipped())
        row = kHeightRows - 1 - row;
    return vec4(effectHeights(ivec2(place.x, row)), effectHeights(ivec2(place.x + width, row)).x);
}

