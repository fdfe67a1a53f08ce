// SPDX-License-Identifier: Apache-2.0

// Relief of materials with a height map: docs/engines/SHADERS.md, "Relief". The march is that of neural_relief.slang in
// Verdigris.

// Steps of a march; the least cosine of a direction; the height above the surface, in parts of `scale`, at which rays to
// lights start.
export const [STEPS, COSINE, BIAS] = [160, "0.02", "0.002"];

// A height has two bytes, the larger first.
export const MEAN = 255 / 65535;

/**
 * Relief in GLSL ES 3.00, to put in front of a fragment shader's main(). `neuralHeights` is the texture of
 * `material.relief`, and `neuralRange` its scale and midlevel:
 *
 *     NeuralRelief place = neuralRelief(uv, wo, extent, lod);
 *     mat3 frame = neuralReliefFrame(neuralReliefNormal(place.uv, extent, lod));
 *     NeuralSurface surface = neuralPrepare(place.uv, latentLod, wo * frame);
 *     light += neuralReliefShadow(place, wi, extent, lod) * neuralShade(surface, wi * frame);   // for each light
 *
 * `extent` is the length of dP/du and of dP/dv in world units. The point that is seen is P + wo * place.height / wo.z.
 */
export function reliefGlsl() {
  return `
uniform highp sampler2D neuralHeights;
uniform vec2 neuralRange;  // scale and midlevel

struct NeuralRelief {
  vec2 uv;
  float height;  // above the base surface, in world units
};

int neuralReliefTop() {
  ivec2 size = textureSize(neuralHeights, 0);
  return int(log2(float(max(size.x, size.y))) + 0.5);
}
int neuralReliefFinest(float lod) { return int(clamp(lod, 0.0, float(neuralReliefTop()))); }
vec4 neuralReliefTexel(ivec2 place, int level) {
  return texelFetch(neuralHeights, place & (textureSize(neuralHeights, level) - 1), level);
}
float neuralReliefMean(vec4 texel) { return (256.0 * texel.x + texel.y) * ${MEAN}; }

// lod: log2 of the footprint's smaller width in texels of the height map. Coarser levels have steps, which flat views show.
float neuralReliefLod(vec2 dx, vec2 dy) {
  vec2 size = vec2(textureSize(neuralHeights, 0));
  dx *= size;
  dy *= size;
  float longer = sqrt(max(max(dot(dx, dx), dot(dy, dy)), 1e-12));
  return log2(max(abs(dx.x * dy.y - dx.y * dy.x) / longer, 1e-6));
}

float neuralReliefStored(vec2 uv, int level) {
  vec2 place = (uv - floor(uv)) * vec2(textureSize(neuralHeights, level)) - 0.5;
  ivec2 first = ivec2(floor(place));
  vec2 share = place - floor(place);
  float lower = mix(
    neuralReliefMean(neuralReliefTexel(first, level)), neuralReliefMean(neuralReliefTexel(first + ivec2(1, 0), level)), share.x);
  float upper = mix(
    neuralReliefMean(neuralReliefTexel(first + ivec2(0, 1), level)), neuralReliefMean(neuralReliefTexel(first + 1, level)), share.x);
  return mix(lower, upper, share.y);
}

// The first part of a segment at which it is below the surface of its cell; 2 without one.
float neuralReliefMeetCell(vec4 texel, ivec2 cell, vec2 place, vec2 along, float start, float rise, int level) {
  float corner = neuralReliefMean(texel);
  float right = 0.0, up = 0.0, twist = 0.0;
  if (level == 0) {
    right = neuralReliefMean(neuralReliefTexel(cell + ivec2(1, 0), 0)) - corner;
    up = neuralReliefMean(neuralReliefTexel(cell + ivec2(0, 1), 0)) - corner;
    twist = neuralReliefMean(neuralReliefTexel(cell + 1, 0)) - corner - right - up;
  }
  vec2 at = place - vec2(cell);
  float a = corner + right * at.x + up * at.y + twist * at.x * at.y - start;
  float b = right * along.x + up * along.y + twist * (at.x * along.y + at.y * along.x) - rise;
  float root = b * b - 4.0 * a * twist * along.x * along.y;
  if (a >= 0.0) return 0.0;
  float under = b + sqrt(max(root, 0.0));
  return root >= 0.0 && under > 0.0 ? min(-2.0 * a / under, 2.0) : 2.0;
}

// The first t from 0 to 1 at which a ray meets the relief; 2 without one. It skips cells whose largest height is below it.
float neuralReliefMeet(vec2 place, float start, vec2 along, float rise, int finest) {
  int top = neuralReliefTop();
  float longest = max(max(abs(along.x), abs(along.y)), 1e-6);
  int level = clamp(int(max(ceil(log2(longest)), 0.0)), finest, top);
  float t = 0.0;
  for (int count = 0; count < ${STEPS}; count++) {
    float side = exp2(float(level));
    vec2 cell = floor((place + t * along) / side);
    vec2 border = (cell + vec2(along.x > 0.0, along.y > 0.0)) * side;
    vec2 ends = vec2(
      abs(along.x) > 1e-6 ? (border.x - place.x) / along.x : 2.0, abs(along.y) > 1e-6 ? (border.y - place.y) / along.y : 2.0);
    float end = clamp(min(ends.x, ends.y), t, 1.0);
    vec4 texel = neuralReliefTexel(ivec2(cell), level);
    float first = start + t * rise;
    float last = start + end * rise;
    if (first <= texel.z) return t;
    if (min(first, last) <= texel.w) {
      // above the cell's largest height nothing is met
      float near = first > texel.w && rise < 0.0 ? max((texel.w - start) / rise, t) : t;
      if (level > finest) {
        t = min(near, end);
        level--;
        continue;
      }
      float met = neuralReliefMeetCell(
        texel, ivec2(cell), place + near * along, (end - near) * along, start + near * rise, (end - near) * rise, level);
      if (met <= 1.0) return mix(near, end, met);
    }
    if (end >= 1.0) return 2.0;
    t = end + 1e-3 / longest;
    level = min(level + 1, top);
  }
  return t;
}

// The place that a ray towards wo sees. wo.z must be above 0.
NeuralRelief neuralRelief(vec2 uv, vec3 wo, vec2 extent, float lod) {
  vec2 size = vec2(textureSize(neuralHeights, 0));
  vec2 lean = wo.xy / max(wo.z, ${COSINE}) * neuralRange.x / extent;
  vec2 start = uv - floor(uv) + lean * (1.0 - neuralRange.y);
  float t = neuralReliefMeet(start * size - 0.5, 1.0, -lean * size, -1.0, neuralReliefFinest(lod));
  float above = 1.0 - min(t, 1.0) - neuralRange.y;
  return NeuralRelief(uv + lean * above, neuralRange.x * above);
}

// 1 where light from wi reaches the place, 0 in the shadow of the relief, and where wi.z is 0 or below.
float neuralReliefShadow(NeuralRelief place, vec3 wi, vec2 extent, float lod) {
  float stored = place.height / neuralRange.x + neuralRange.y + ${BIAS};
  float rise = 1.0 - stored;
  if (wi.z <= 0.0 || rise <= 0.0) return wi.z > 0.0 ? 1.0 : 0.0;
  vec2 size = vec2(textureSize(neuralHeights, 0));
  vec2 along = wi.xy / max(wi.z, ${COSINE}) * neuralRange.x / extent * rise;
  vec2 start = place.uv - floor(place.uv);
  return neuralReliefMeet(start * size - 0.5, stored, along * size, rise, neuralReliefFinest(lod)) > 1.0 ? 1.0 : 0.0;
}

// The normal of the relief, in the frame of the base surface.
vec3 neuralReliefNormal(vec2 uv, vec2 extent, float lod) {
  int level = neuralReliefFinest(lod);
  vec2 texel = 1.0 / vec2(textureSize(neuralHeights, level));
  vec2 across = vec2(0.5 * texel.x, 0.0), up = vec2(0.0, 0.5 * texel.y);
  vec2 slope = vec2(
    neuralReliefStored(uv + across, level) - neuralReliefStored(uv - across, level),
    neuralReliefStored(uv + up, level) - neuralReliefStored(uv - up, level));
  return normalize(vec3(-slope / texel * neuralRange.x / extent, 1.0));
}

// Tangent, bitangent and normal of the relief: direction * frame turns a direction into it.
mat3 neuralReliefFrame(vec3 normal) {
  vec3 tangent = normalize(vec3(normal.z, 0.0, -normal.x));
  return mat3(tangent, cross(normal, tangent), normal);
}
`;
}

/** The relief of a fragment shader that lights a surface: `reliefGlsl()` and what the lines below keep for its lights. */
export function reliefLightGlsl({ transmission }) {
  // light from below passes through the surface, and the relief throws no shadow on it
  return `${reliefGlsl()}
vec2 neuralExtent;
float neuralReliefLevel;
NeuralRelief neuralSeen;
float neuralReliefLit(vec3 wi) {
  return ${transmission ? "wi.z < 0.0 ? 1.0 : " : ""}neuralReliefShadow(neuralSeen, wi, neuralExtent, neuralReliefLevel);
}
`;
}

/** The length of dP/du and dP/dv, behind ALONG_TEXTURE of glsl.js. */
export const RELIEF_EXTENT = `  neuralExtent = vec2(length(alongU), length(alongV)) / max(abs(area), 1e-20);
`;

/** The place that the relief shows, its frame in that of the surface, and wo in this frame. */
export const RELIEF_PLACE = `  neuralReliefLevel = neuralReliefLod(uvX, uvY);
  neuralSeen = neuralRelief(neuralUv, wo, neuralExtent, neuralReliefLevel);
  mat3 neuralTurn = neuralReliefFrame(neuralReliefNormal(neuralSeen.uv, neuralExtent, neuralReliefLevel));
  wo = wo * neuralTurn;
  wo = normalize(vec3(wo.xy, max(wo.z, 1e-3)));
`;
