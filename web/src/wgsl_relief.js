// SPDX-License-Identifier: Apache-2.0

import { BIAS, COSINE, MEAN, STEPS } from "./relief.js";

/**
 * Relief in WGSL: the functions of reliefGlsl() in relief.js. `heights` and `range` are expressions for the texture of
 * `material.relief`, and for its scale and midlevel.
 */
export function reliefWgsl({ heights = "neuralHeights", range = "neuralRange" } = {}) {
  return `
struct NeuralRelief {
  uv: vec2f,
  height: f32,  // above the base surface, in world units
}

fn neuralReliefSize(level: i32) -> vec2i { return vec2i(textureDimensions(${heights}, level)); }
fn neuralReliefTop() -> i32 { return i32(textureNumLevels(${heights})) - 1; }
fn neuralReliefFinest(lod: f32) -> i32 { return i32(clamp(lod, 0.0, f32(neuralReliefTop()))); }
fn neuralReliefTexel(place: vec2i, level: i32) -> vec4f {
  return textureLoad(${heights}, place & (neuralReliefSize(level) - 1), level);
}
fn neuralReliefMean(texel: vec4f) -> f32 { return (256.0 * texel.x + texel.y) * ${MEAN}; }

// lod: log2 of the footprint's smaller width in texels of the height map. Coarser levels have steps, which flat views show.
fn neuralReliefLod(dx: vec2f, dy: vec2f) -> f32 {
  let size = vec2f(neuralReliefSize(0));
  let x = dx * size;
  let y = dy * size;
  let longer = sqrt(max(max(dot(x, x), dot(y, y)), 1e-12));
  return log2(max(abs(x.x * y.y - x.y * y.x) / longer, 1e-6));
}

fn neuralReliefStored(uv: vec2f, level: i32) -> f32 {
  let place = fract(uv) * vec2f(neuralReliefSize(level)) - 0.5;
  let first = vec2i(floor(place));
  let share = place - floor(place);
  let lower = mix(
    neuralReliefMean(neuralReliefTexel(first, level)), neuralReliefMean(neuralReliefTexel(first + vec2i(1, 0), level)), share.x);
  let upper = mix(
    neuralReliefMean(neuralReliefTexel(first + vec2i(0, 1), level)), neuralReliefMean(neuralReliefTexel(first + 1, level)), share.x);
  return mix(lower, upper, share.y);
}

// The first part of a segment at which it is below the surface of its cell; 2 without one.
fn neuralReliefMeetCell(texel: vec4f, cell: vec2i, place: vec2f, along: vec2f, start: f32, rise: f32, level: i32) -> f32 {
  let corner = neuralReliefMean(texel);
  var right = 0.0;
  var up = 0.0;
  var twist = 0.0;
  if (level == 0) {
    right = neuralReliefMean(neuralReliefTexel(cell + vec2i(1, 0), 0)) - corner;
    up = neuralReliefMean(neuralReliefTexel(cell + vec2i(0, 1), 0)) - corner;
    twist = neuralReliefMean(neuralReliefTexel(cell + 1, 0)) - corner - right - up;
  }
  let at = place - vec2f(cell);
  let a = corner + right * at.x + up * at.y + twist * at.x * at.y - start;
  let b = right * along.x + up * along.y + twist * (at.x * along.y + at.y * along.x) - rise;
  let root = b * b - 4.0 * a * twist * along.x * along.y;
  if (a >= 0.0) { return 0.0; }
  let under = b + sqrt(max(root, 0.0));
  return select(2.0, min(-2.0 * a / under, 2.0), root >= 0.0 && under > 0.0);
}

// The first t from 0 to 1 at which a ray meets the relief; 2 without one. It skips cells whose largest height is below it.
fn neuralReliefMeet(place: vec2f, start: f32, along: vec2f, rise: f32, finest: i32) -> f32 {
  let top = neuralReliefTop();
  let longest = max(max(abs(along.x), abs(along.y)), 1e-6);
  let straight = abs(along) <= vec2f(1e-6);
  var level = clamp(i32(max(ceil(log2(longest)), 0.0)), finest, top);
  var t = 0.0;
  for (var count = 0; count < ${STEPS}; count++) {
    let side = exp2(f32(level));
    let cell = floor((place + t * along) / side);
    let border = (cell + select(vec2f(0.0), vec2f(1.0), along > vec2f(0.0))) * side;
    let ends = select((border - place) / select(along, vec2f(1.0), straight), vec2f(2.0), straight);
    let end = clamp(min(ends.x, ends.y), t, 1.0);
    let texel = neuralReliefTexel(vec2i(cell), level);
    let first = start + t * rise;
    let last = start + end * rise;
    if (first <= texel.z) { return t; }
    if (min(first, last) <= texel.w) {
      // above the cell's largest height nothing is met
      var near = t;
      if (first > texel.w && rise < 0.0) { near = max((texel.w - start) / rise, t); }
      if (level > finest) {
        t = min(near, end);
        level--;
        continue;
      }
      let met = neuralReliefMeetCell(
        texel, vec2i(cell), place + near * along, (end - near) * along, start + near * rise, (end - near) * rise, level);
      if (met <= 1.0) { return mix(near, end, met); }
    }
    if (end >= 1.0) { return 2.0; }
    t = end + 1e-3 / longest;
    level = min(level + 1, top);
  }
  return t;
}

// The place that a ray towards wo sees. wo.z must be above 0.
fn neuralRelief(uv: vec2f, wo: vec3f, extent: vec2f, lod: f32) -> NeuralRelief {
  let size = vec2f(neuralReliefSize(0));
  let lean = wo.xy / max(wo.z, ${COSINE}) * ${range}.x / extent;
  let start = fract(uv) + lean * (1.0 - ${range}.y);
  let t = neuralReliefMeet(start * size - 0.5, 1.0, -lean * size, -1.0, neuralReliefFinest(lod));
  let above = 1.0 - min(t, 1.0) - ${range}.y;
  return NeuralRelief(uv + lean * above, ${range}.x * above);
}

// 1 where light from wi reaches the place, 0 in the shadow of the relief, and where wi.z is 0 or below.
fn neuralReliefShadow(place: NeuralRelief, wi: vec3f, extent: vec2f, lod: f32) -> f32 {
  let stored = place.height / ${range}.x + ${range}.y + ${BIAS};
  let rise = 1.0 - stored;
  if (wi.z <= 0.0 || rise <= 0.0) { return select(0.0, 1.0, wi.z > 0.0); }
  let size = vec2f(neuralReliefSize(0));
  let along = wi.xy / max(wi.z, ${COSINE}) * ${range}.x / extent * rise;
  let t = neuralReliefMeet(fract(place.uv) * size - 0.5, stored, along * size, rise, neuralReliefFinest(lod));
  return select(0.0, 1.0, t > 1.0);
}

// The normal of the relief, in the frame of the base surface.
fn neuralReliefNormal(uv: vec2f, extent: vec2f, lod: f32) -> vec3f {
  let level = neuralReliefFinest(lod);
  let texel = 1.0 / vec2f(neuralReliefSize(level));
  let across = vec2f(0.5 * texel.x, 0.0);
  let up = vec2f(0.0, 0.5 * texel.y);
  let slope = vec2f(
    neuralReliefStored(uv + across, level) - neuralReliefStored(uv - across, level),
    neuralReliefStored(uv + up, level) - neuralReliefStored(uv - up, level));
  return normalize(vec3f(-slope / texel * ${range}.x / extent, 1.0));
}

// Tangent, bitangent and normal of the relief: direction * frame turns a direction into it.
fn neuralReliefFrame(normal: vec3f) -> mat3x3f {
  let tangent = normalize(vec3f(normal.z, 0.0, -normal.x));
  return mat3x3f(tangent, cross(normal, tangent), normal);
}
`;
}
