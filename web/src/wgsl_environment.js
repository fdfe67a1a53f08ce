// SPDX-License-Identifier: Apache-2.0

import { lightOfSidesWgsl } from "./wgsl_sides.js";

/**
 * Environment light in WGSL, to put behind the decoder's text: the same as environment.js in GLSL. It reads a cube map
 * `neuralEnvironment` with a sampler, and nine harmonics of its irradiance, under the given names.
 * @param {{network: {frames: number}}} material
 * @param {string} space address space of the surface: "function" or "private"
 */
export function environmentWgsl({ network: { frames: F }, transmission }, { map, sampler, harmonics, space = "function" }) {
  return `
// Two independent random numbers of a pixel, as in GLSL.
fn neuralRandom(pixel: vec2u) -> vec2f {
  var v = pixel * 1664525u + 1013904223u;
  v.x += v.y * 1664525u;
  v.y += v.x * 1664525u;
  v ^= v >> vec2u(16u);
  v.x += v.y * 1664525u;
  v.y += v.x * 1664525u;
  v ^= v >> vec2u(16u);
  return vec2f(v >> vec2u(8u)) / 16777216.0;
}

fn neuralRadiance(direction: vec3f, solidAngle: f32) -> vec3f {
  let width = f32(textureDimensions(${map}, 0).x);
  let level = 0.5 * log2(max(solidAngle * 6.0 * width * width / (4.0 * neuralPi), 1.0));
  return textureSampleLevel(${map}, ${sampler}, direction, level).rgb;
}

fn neuralIrradiance(n: vec3f) -> vec3f {
  let sum = 0.282095 * ${harmonics}[0].xyz
    + 0.488603 * (n.y * ${harmonics}[1].xyz + n.z * ${harmonics}[2].xyz + n.x * ${harmonics}[3].xyz)
    + 1.092548 * (n.x * n.y * ${harmonics}[4].xyz + n.y * n.z * ${harmonics}[5].xyz + n.x * n.z * ${harmonics}[7].xyz)
    + 0.315392 * (3.0 * n.z * n.z - 1.0) * ${harmonics}[6].xyz + 0.546274 * (n.x * n.x - n.y * n.y) * ${harmonics}[8].xyz;
  return max(sum, vec3f(0.0));
}
${transmission ? lightOfSidesWgsl(F, space) : oneSideWgsl(F, space)}`;
}

function oneSideWgsl(F, space) {
  return `
fn neuralEnvironmentLight(s: ptr<${space}, NeuralSurface>, toWorld: mat3x3f, samples: i32, random: vec2f) -> vec3f {
  if ((*s).wo.z <= 0.0) { return vec3f(0.0); }
  var sampled = vec3f(0.0);
  var albedo = vec3f(0.0);
  var cosineLobe = vec3f(0.0);
  let n = f32(samples);
  for (var i = 0; i < samples; i++) {
    let wi = neuralDraw(s, fract(vec2f((f32(i) + 0.5) / n, f32(i) * 0.6180339887498949) + random));
    if (wi.z <= 0.0) { continue; }
    let density = neuralPdf(s, wi);
    let ratio = neuralShade(s, wi) / density;
    let light = neuralRadiance(toWorld * wi, 1.0 / (n * density));
    sampled += ratio * light;
    albedo += ratio;
    cosineLobe += wi.z / (neuralPi * density) * light;
  }
  let smoothly = neuralIrradiance(toWorld[2]) / neuralPi - cosineLobe / n;
  return max((sampled + ((*s).weights[${F}] + (*s).weights[${F + 1}]) * albedo * smoothly) / n, vec3f(0.0));
}
`;
}
