// SPDX-License-Identifier: Apache-2.0

import { SHARE_ABOVE } from "./sides.js";

/** The functions of both sides in WGSL, behind the text of one: as sidesGlsl of sides.js. */
export function sidesWgsl(places, hasLive) {
  const share = SHARE_ABOVE.toFixed(2);
  const prepare = (name, parameters, own, given) => `
fn ${name}(uv: vec2f, lod: f32, wo: vec3f${parameters}) -> NeuralSurface {
  var s: NeuralSurface;
  s.wo = wo;
  neuralBase = 0;
  s.index = neuralNumbers[neuralBase + ${places.index}].x;
  for (var side = 0; side < 2; side++) {
    neuralBase = side * ${places.below};
    s.sides[side] = ${own}(uv, lod, wo${given});
  }
  return s;
}
`;
  const still = hasLive ? prepare("neuralPrepareLive", ", live: vec3f", "neuralPrepareSideLive", ", live") : "";
  return `
// Light from above and from below: wi has the whole sphere.
struct NeuralSurface {
  wo: vec3f,
  index: f32,  // of the medium below, 1 for a thin wall
  sides: array<NeuralSide, 2>,
}
${still}${prepare("neuralPrepare", "", "neuralPrepareSide", "")}
fn neuralMirrored(wi: vec3f, wo: vec3f, index: f32) -> vec3f {
  if (index == 1.0) { return vec3f(wi.xy, -wi.z); }
  var h = -(wo + index * wi);
  h /= max(length(h), 1e-6);
  if (h.z < 0.0) { h = -h; }
  let seen = dot(wo, h);
  return select(vec3f(0.0, 0.0, -1.0), 2.0 * seen * h - wo, seen > 0.0 && dot(wi, h) < 0.0);
}

// The direction of light below, from its mirrored one, and the density there by that of the mirrored one. Without light,
// z is not below 0.
fn neuralPassed(mirrored: vec3f, wo: vec3f, index: f32) -> vec4f {
  if (index == 1.0) { return vec4f(mirrored.xy, -mirrored.z, 1.0); }
  var h = mirrored + wo;
  h /= max(length(h), 1e-6);
  let seen = dot(wo, h);
  let inner = 1.0 - (1.0 - seen * seen) / (index * index);
  if (inner <= 0.0) { return vec4f(0.0); }
  let wi = (seen / index - sqrt(inner)) * h - wo / index;
  let path = seen + index * dot(wi, h);
  return vec4f(wi, 4.0 * seen * index * index * abs(dot(wi, h)) / max(path * path, 1e-6));
}

fn neuralShade(s: ptr<function, NeuralSurface>, wi: vec3f) -> vec3f {
  let which = select(0, 1, wi.z < 0.0);
  neuralBase = which * ${places.below};
  var side = (*s).sides[which];
  var light = wi;
  if (which == 1) { light = neuralMirrored(wi, (*s).wo, (*s).index); }
  return neuralShadeSide(&side, light);
}

// A lamp's light. What a solid refracts of it is a caustic, which is not shown.
fn neuralShadeLamp(s: ptr<function, NeuralSurface>, wi: vec3f) -> vec3f {
  if (wi.z < 0.0 && (*s).index != 1.0) { return vec3f(0.0); }
  return neuralShade(s, wi);
}

fn neuralEvaluate(uv: vec2f, lod: f32, wi: vec3f, wo: vec3f) -> vec3f {
  var surface = neuralPrepare(uv, lod, wo);
  return neuralShade(&surface, wi);
}

// Density by solid angle over the whole sphere with which neuralDraw draws wi.
fn neuralPdf(s: ptr<function, NeuralSurface>, wi: vec3f) -> f32 {
  let which = select(0, 1, wi.z < 0.0);
  var side = (*s).sides[which];
  if (which == 0) { return ${share} * neuralPdfSide(&side, wi); }
  let light = neuralMirrored(wi, (*s).wo, (*s).index);
  if (light.z <= 0.0) { return 0.0; }
  return (1.0 - ${share}) * neuralPassed(light, (*s).wo, (*s).index).w * neuralPdfSide(&side, light);
}

// A direction of light for two numbers in [0, 1). One without length carries no light.
fn neuralDraw(s: ptr<function, NeuralSurface>, random: vec2f) -> vec3f {
  let which = select(1, 0, random.x < ${share});
  var side = (*s).sides[which];
  let rest = select((random.x - ${share}) / (1.0 - ${share}), random.x / ${share}, which == 0);
  let drawn = neuralDrawSide(&side, vec2f(clamp(rest, 0.0, 0.99999994), random.y));
  if (drawn.z <= 0.0) { return vec3f(0.0); }
  if (which == 0) { return drawn; }
  let wi = neuralPassed(drawn, (*s).wo, (*s).index).xyz;
  return select(vec3f(0.0), wi, wi.z < 0.0);
}
`;
}

/** Environment light on both sides, behind the text of wgsl_environment.js. */
export function lightOfSidesWgsl(F, space) {
  return `
// Where light from below comes from, as in GLSL, and its share and the solid angle by that below.
struct NeuralBehind { from_: vec3f, passed: f32, angle: f32 }

fn neuralBehind(wi: vec3f, index: f32) -> NeuralBehind {
  let straight = NeuralBehind(wi, 1.0, 1.0);
  if (wi.z >= 0.0 || index == 1.0) { return straight; }
  let cosine = -wi.z;
  let outer2 = 1.0 - index * index * (1.0 - cosine * cosine);
  if (outer2 <= 0.0) { return straight; }
  let outer = sqrt(outer2);
  let across = (index * cosine - outer) / (index * cosine + outer);
  let along = (cosine - index * outer) / (cosine + index * outer);
  let turned = normalize(index * wi + (outer - index * cosine) * (vec3f(0.0, 0.0, 1.0) + 2.0 * cosine * wi));
  return NeuralBehind(turned, 1.0 - 0.5 * (across * across + along * along), index * index * cosine / max(outer, 0.1));
}

fn neuralEnvironmentLight(s: ptr<${space}, NeuralSurface>, toWorld: mat3x3f, samples: i32, random: vec2f) -> vec3f {
  if ((*s).wo.z <= 0.0) { return vec3f(0.0); }
  var sampled = vec3f(0.0);
  var albedo = array<vec3f, 2>();
  var cosineLobe = array<vec3f, 2>();
  let n = f32(samples);
  for (var i = 0; i < samples; i++) {
    let wi = neuralDraw(s, fract(vec2f((f32(i) + 0.5) / n, f32(i) * 0.6180339887498949) + random));
    let density = neuralPdf(s, wi);
    if (density <= 0.0) { continue; }
    let ratio = neuralShade(s, wi) / density;
    let side = select(0, 1, wi.z < 0.0);
    let behind = neuralBehind(wi, (*s).index);
    let light = behind.passed * neuralRadiance(toWorld * behind.from_, behind.angle / (n * density));
    sampled += ratio * light;
    albedo[side] += ratio;
    cosineLobe[side] += abs(wi.z) / (neuralPi * density) * light;
  }
  for (var side = 0; side < 2; side++) {
    // a solid has no diffuse light from below
    if (side == 1 && (*s).index != 1.0) { continue; }
    let smoothly = neuralIrradiance(select(toWorld[2], -toWorld[2], side == 1)) / neuralPi - cosineLobe[side] / n;
    sampled += ((*s).sides[side].weights[${F}] + (*s).sides[side].weights[${F + 1}]) * albedo[side] * smoothly;
  }
  return max(sampled / n, vec3f(0.0));
}
`;
}
