// SPDX-License-Identifier: Apache-2.0
// Relief of materials with a height map: docs/engines/SHADERS.md, "Relief". The file that includes it has
//   vec4 neuralHeight(ivec2 place, int level)  a texel of the height map, inside its level
//   ivec2 neuralHeightSize()                   width and height of its finest level, which are powers of two
//   vec2 neuralRange()                         its scale and midlevel

struct NeuralRelief
{
    vec2 uv;
    float height; // above the base surface, in world units
};

int neuralReliefTop()
{
    return int(log2(float(max(neuralHeightSize().x, neuralHeightSize().y))) + 0.5);
}

int neuralReliefFinest(float lod)
{
    return int(clamp(lod, 0.0, float(neuralReliefTop())));
}

ivec2 neuralReliefSize(int level)
{
    return ivec2(max(neuralHeightSize().x >> level, 1), max(neuralHeightSize().y >> level, 1));
}

vec4 neuralReliefTexel(ivec2 place, int level)
{
    ivec2 last = neuralReliefSize(level) - ivec2(1, 1);
    return neuralHeight(ivec2(place.x & last.x, place.y & last.y), level);
}

// A height has two bytes, the larger first.
float neuralReliefMean(ivec2 place, int level)
{
    vec4 texel = neuralReliefTexel(place, level);
    return (256.0 * texel.x + texel.y) * @MEAN@;
}

// lod: log2 of the footprint's smaller width in texels of the height map. Coarser levels have steps, which flat views show.
float neuralReliefLod(vec2 dx, vec2 dy)
{
    vec2 size = vec2(float(neuralHeightSize().x), float(neuralHeightSize().y));
    vec2 x = dx * size;
    vec2 y = dy * size;
    float longer = sqrt(max(max(dot(x, x), dot(y, y)), 0.000000000001));
    return log2(max(abs(x.x * y.y - x.y * y.x) / longer, 0.000001));
}

float neuralReliefStored(vec2 uv, int level)
{
    ivec2 size = neuralReliefSize(level);
    vec2 place = (uv - floor(uv)) * vec2(float(size.x), float(size.y)) - vec2(0.5, 0.5);
    ivec2 first = ivec2(int(floor(place.x)), int(floor(place.y)));
    vec2 part = place - floor(place);
    float lower = mix(neuralReliefMean(first, level), neuralReliefMean(first + ivec2(1, 0), level), part.x);
    float upper = mix(neuralReliefMean(first + ivec2(0, 1), level), neuralReliefMean(first + ivec2(1, 1), level), part.x);
    return mix(lower, upper, part.y);
}

// The first part of a segment at which it is below the surface of its cell; 2 without one.
float neuralReliefMeetCell(ivec2 cell, vec2 place, vec2 along, float start, float rise, int level)
{
    float corner = neuralReliefMean(cell, level);
    float right = 0.0;
    float up = 0.0;
    float twist = 0.0;
    if (level == 0)
    {
        right = neuralReliefMean(cell + ivec2(1, 0), 0) - corner;
        up = neuralReliefMean(cell + ivec2(0, 1), 0) - corner;
        twist = neuralReliefMean(cell + ivec2(1, 1), 0) - corner - right - up;
    }
    vec2 at = place - vec2(float(cell.x), float(cell.y));
    float a = corner + right * at.x + up * at.y + twist * at.x * at.y - start;
    float b = right * along.x + up * along.y + twist * (at.x * along.y + at.y * along.x) - rise;
    float root = b * b - 4.0 * a * twist * along.x * along.y;
    if (a >= 0.0)
        return 0.0;
    float under = b + sqrt(max(root, 0.0));
    return root >= 0.0 && under > 0.0 ? min(-2.0 * a / under, 2.0) : 2.0;
}

// The first t from 0 to 1 at which a ray meets the relief; 2 without one. It skips cells whose largest height is below it.
float neuralReliefMeet(vec2 place, float start, vec2 along, float rise, int finest)
{
    int top = neuralReliefTop();
    float longest = max(max(abs(along.x), abs(along.y)), 0.000001);
    int level = clamp(int(max(ceil(log2(longest)), 0.0)), finest, top);
    float t = 0.0;
    for (int count = 0; count < @STEPS@; count++)
    {
        float side = exp2(float(level));
        vec2 cell = floor((place + t * along) / side);
        vec2 border = (cell + vec2(along.x > 0.0 ? 1.0 : 0.0, along.y > 0.0 ? 1.0 : 0.0)) * side;
        float end_x = abs(along.x) > 0.000001 ? (border.x - place.x) / along.x : 2.0;
        float end_y = abs(along.y) > 0.000001 ? (border.y - place.y) / along.y : 2.0;
        float end = clamp(min(end_x, end_y), t, 1.0);
        ivec2 whole = ivec2(int(cell.x), int(cell.y));
        vec4 texel = neuralReliefTexel(whole, level);
        float first = start + t * rise;
        float last = start + end * rise;
        if (first <= texel.z)
            return t;
        if (min(first, last) <= texel.w)
        {
            // above the cell's largest height nothing is met
            float near_t = first > texel.w && rise < 0.0 ? max((texel.w - start) / rise, t) : t;
            if (level > finest)
            {
                t = min(near_t, end);
                level--;
                continue;
            }
            float met = neuralReliefMeetCell(
                whole, place + near_t * along, (end - near_t) * along, start + near_t * rise, (end - near_t) * rise, level);
            if (met <= 1.0)
                return mix(near_t, end, met);
        }
        if (end >= 1.0)
            return 2.0;
        t = end + 0.001 / longest;
        level = min(level + 1, top);
    }
    return t;
}

// The place that a ray towards wo sees. wo.z must be above 0. extent: the length of dP/du and of dP/dv in world units.
NeuralRelief neuralRelief(vec2 uv, vec3 wo, vec2 extent, float lod)
{
    vec2 size = vec2(float(neuralHeightSize().x), float(neuralHeightSize().y));
    vec2 lean = wo.xy / max(wo.z, @COSINE@) * neuralRange().x / extent;
    vec2 start = uv - floor(uv) + lean * (1.0 - neuralRange().y);
    float t = neuralReliefMeet(start * size - vec2(0.5, 0.5), 1.0, -lean * size, -1.0, neuralReliefFinest(lod));
    float above = 1.0 - min(t, 1.0) - neuralRange().y;
    NeuralRelief place;
    place.uv = uv + lean * above;
    place.height = neuralRange().x * above;
    return place;
}

// 1 where light from wi reaches the place, 0 in the shadow of the relief, and where wi.z is 0 or below.
float neuralReliefShadow(NeuralRelief place, vec3 wi, vec2 extent, float lod)
{
    float stored = place.height / neuralRange().x + neuralRange().y + @BIAS@;
    float rise = 1.0 - stored;
    if (wi.z <= 0.0 || rise <= 0.0)
        return wi.z > 0.0 ? 1.0 : 0.0;
    vec2 size = vec2(float(neuralHeightSize().x), float(neuralHeightSize().y));
    vec2 along = wi.xy / max(wi.z, @COSINE@) * neuralRange().x / extent * rise;
    vec2 start = place.uv - floor(place.uv);
    float t = neuralReliefMeet(start * size - vec2(0.5, 0.5), stored, along * size, rise, neuralReliefFinest(lod));
    return t > 1.0 ? 1.0 : 0.0;
}

// The normal of the relief, in the frame of the base surface.
vec3 neuralReliefNormal(vec2 uv, vec2 extent, float lod)
{
    int level = neuralReliefFinest(lod);
    ivec2 size = neuralReliefSize(level);
    vec2 texel = vec2(1.0 / float(size.x), 1.0 / float(size.y));
    vec2 across = vec2(0.5 * texel.x, 0.0);
    vec2 up = vec2(0.0, 0.5 * texel.y);
    vec2 slope = vec2(
        neuralReliefStored(uv + across, level) - neuralReliefStored(uv - across, level),
        neuralReliefStored(uv + up, level) - neuralReliefStored(uv - up, level));
    slope = slope / texel * neuralRange().x / extent;
    return normalize(vec3(-slope.x, -slope.y, 1.0));
}

// A direction of the base surface's frame in that of the relief.
vec3 neuralReliefTurned(vec3 normal, vec3 direction)
{
    vec3 tangent = normalize(vec3(normal.z, 0.0, -normal.x));
    return vec3(dot(tangent, direction), dot(cross(normal, tangent), direction), dot(normal, direction));
}

// The inverse.
vec3 neuralReliefInBase(vec3 normal, vec3 direction)
{
    vec3 tangent = normalize(vec3(normal.z, 0.0, -normal.x));
    return direction.x * tangent + direction.y * cross(normal, tangent) + direction.z * normal;
}
