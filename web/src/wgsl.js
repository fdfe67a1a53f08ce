// SPDX-License-Identifier: Apache-2.0

import { PLAIN_WIDTH, literal as n } from "./glsl.js";
import { headInputs } from "./network.js";
import { packNumbers } from "./packing.js";
import { asOneSide } from "./sides.js";
import { sidesWgsl } from "./wgsl_sides.js";

const LARGEST_UNIFORM = 65536;

/** Whether the numbers fit the uniform buffers of every device; otherwise they are a storage buffer. */
export function fitsUniform(packed) {
  return packed.floats.byteLength <= LARGEST_UNIFORM;
}

/**
 * The decoder in WGSL, to put in front of an entry point:
 *
 *     var surface = neuralPrepare(uv, lod, wo);
 *     let reflected = neuralShade(&surface, wi);        // for each light
 *     let wi = neuralDraw(&surface, random);            // nearly in proportion to the response
 *     let density = neuralPdf(&surface, wi);
 *
 * With live inputs, neuralPrepareLive(uv, lod, wo, live) takes their values from 0 to 1; neuralPrepare uses the values
 * at `places.live` of packNumbers.
 *
 * Of a surface that transmits, wi has the whole sphere: below it is light that passes through the surface.
 *
 * @param {object} options `group` and `binding`: the first of two places (three with `filter`
 *   "sampled"): latents, numbers, sampler; `filter`: "sampled" (texture unit) or "exact"
 */
export function decoderWgsl(material, { filter = "sampled", group = 0, binding = 0 } = {}) {
  const { network, sampler } = material;
  const packed = packNumbers(material);
  const { places, count } = packed;
  const quads = (length) => Math.ceil(length / 4);
  const [W, F, L] = [quads(network.width), network.frames, quads(3 * network.lobes)];
  // layers of the latent texture; vectors of the inputs that no light changes, and of the head's inputs
  const [Q, V, I] = [network.latents / 4, quads(network.latents + 2 * F), quads(headInputs(network))];
  const times = (at) => Array.from({ length: Q }, (_, i) => `neuralMatrix(${at} + ${4 * i}) * x[${i}]`).join(" + ");
  const hasLive = network.live > 0;
  const space = fitsUniform(packed) ? "uniform" : "storage, read";
  const product = (name, rows, start, place, input, inputs, activation = "") => `
  var ${name}: array<vec4f, ${rows}>;
  at = ${place};
  for (var row = 0; row < ${rows}; row++) {
    var sum = ${start};
    for (var i = 0; i < ${inputs}; i++) { sum += neuralMatrix(at) * ${input}[i]; at += 4; }
    ${name}[row] = ${activation}(sum);
  }`;
  const layers = Array.from({ length: network.hiddenLayers }, (_, before) => {
    const index = before + 1;
    const isLast = index === network.hiddenLayers;
    const start = `neuralNumbers[${places[`bias${index}`]} + row]`;
    return product(`x${index}`, isLast ? L : W, start, places[`layer${index}`], `x${before}`, W, isLast ? "" : "neuralActivate");
  });
  const lobes = Array.from({ length: network.lobes }, (_, lobe) => {
    const y = (channel) => `x${network.hiddenLayers}[${(3 * lobe + channel) >> 2}][${(3 * lobe + channel) & 3}]`;
    return `exp(min(vec3f(${y(0)}, ${y(1)}, ${y(2)}) - ${n(network.shift)}, vec3f(${n(network.limit)})))`;
  });
  const text = `// Verdigris: a neural material in WGSL. docs/FORMAT.md of Verdigris describes each step.
@group(${group}) @binding(${binding}) var neuralLatents: texture_2d_array<f32>;
@group(${group}) @binding(${binding + 1}) var<${space}> neuralNumbers: array<vec4f, ${count}>;
${filter === "exact" ? "" : `@group(${group}) @binding(${binding + 2}) var neuralSampler: sampler;
`}
struct NeuralSurface {
  wo: vec3f,
  tangent: array<vec3f, ${F}>,
  bitangent: array<vec3f, ${F}>,
  normal: array<vec3f, ${F}>,
  stretch: array<vec2f, ${F}>,
  seen: array<vec3f, ${F}>,  // wo in each frame
  view: array<vec4f, ${W}>,  // the first layer's sum of what does not depend on the light
  lobe: array<mat3x3f, ${F}>, // axes of the sampler's lobes
  above: array<vec3f, ${F}>, // wo in these, above their horizons
  widths: array<vec2f, ${F}>,
  weights: array<f32, ${F + 2}>,
}

fn neuralMatrix(i: i32) -> mat4x4f {
  return mat4x4f(neuralNumbers[i], neuralNumbers[i + 1], neuralNumbers[i + 2], neuralNumbers[i + 3]);
}
fn neuralNormalize(v: vec3f) -> vec3f { return v / max(length(v), ${n(network.lengthEpsilon)}); }
fn neuralLog(cosine: f32) -> f32 { return ${n(network.logarithmShare)} * log(max(cosine, 0.0) + ${n(network.cosineOffset)}); }
${activationWgsl(network)}
${filter === "exact" ? EXACT : SAMPLED}
// lod: log2 of the footprint's width in texels of level 0
fn neuralLod(dx: vec2f, dy: vec2f) -> f32 {
  let size = vec2f(textureDimensions(neuralLatents, 0));
  let x = dx * size;
  let y = dy * size;
  return 0.5 * log2(max(max(dot(x, x), dot(y, y)), 1e-12));
}

fn ${hasLive ? "neuralPrepareLive(uv: vec2f, lod: f32, wo: vec3f, live: vec3f)" : "neuralPrepare(uv: vec2f, lod: f32, wo: vec3f)"} -> NeuralSurface {
  var s: NeuralSurface;
  s.wo = wo;
  var x: array<vec4f, ${I}>;
  let last = i32(textureNumLevels(neuralLatents)) - 1;
  let level = clamp(max(0.5 * lod, lod - 1.0), 0.0, f32(last));
  for (var i = 0; i < ${Q}; i++) { x[i] = neuralNumbers[${places.offset} + i] + neuralNumbers[${places.scale} + i] * neuralFetch(uv, level, last, i); }
  var at = ${places.frames};
  for (var k = 0; k < ${F}; k++) {
    ${hasLive ? "var" : "let"} r0 = ${times("at")};
    ${hasLive ? "var" : "let"} r1 = ${times(`at + ${4 * Q}`)};
${hasLive ? `    r0 += neuralMatrix(${places.framesLive} + 8 * k) * vec4f(live, 0.0);
    r1 += neuralMatrix(${places.framesLive + 4} + 8 * k) * vec4f(live, 0.0);
` : ""}    at += ${8 * Q};
    let normal = neuralNormalize(r0.xyz + vec3f(0.0, 0.0, 1.0));
    let along = vec3f(r0.w + 1.0, r1.xy);
    let tangent = neuralNormalize(along - normal * dot(normal, along));
    let bitangent = cross(normal, tangent);
    s.normal[k] = normal;
    s.tangent[k] = tangent;
    s.bitangent[k] = bitangent;
    s.stretch[k] = exp(${n(network.stretchLimit)} * tanh(clamp(r1.zw / ${n(network.stretchLimit)}, vec2f(-10.0), vec2f(10.0))));
    let seen = vec3f(dot(tangent, wo), dot(bitangent, wo), dot(normal, wo));
    s.seen[k] = seen;
    x[${Q} + k / 2][2 * (k & 1)] = seen.z;
    x[${Q} + k / 2][2 * (k & 1) + 1] = neuralLog(seen.z);
  }
  at = ${places.view};
  for (var row = 0; row < ${W}; row++) {
    var sum = neuralNumbers[${places.bias0} + row]${hasLive ? ` + neuralMatrix(${places.viewLive} + 4 * row) * vec4f(live, 0.0)` : ""};
    for (var i = 0; i < ${V}; i++) { sum += neuralMatrix(at) * x[i]; at += 4; }
    s.view[row] = sum;
  }
${sampler ? lobesWgsl({ network, sampler }, places, quads) : plainLobesWgsl(F)}  return s;
}
${hasLive ? `
fn neuralPrepare(uv: vec2f, lod: f32, wo: vec3f) -> NeuralSurface {
  return neuralPrepareLive(uv, lod, wo, neuralNumbers[${places.live}].xyz);
}
` : ""}
fn neuralShade(s: ptr<function, NeuralSurface>, wi: vec3f) -> vec3f {
  if (wi.z <= 0.0 || (*s).wo.z <= 0.0) { return vec3f(0.0); }
  var light: array<vec4f, ${2 * F}>;
  for (var k = 0; k < ${F}; k++) {
    let a = vec3f(dot((*s).tangent[k], wi), dot((*s).bitangent[k], wi), dot((*s).normal[k], wi));
    let h = neuralNormalize(a + (*s).seen[k]);
    let cosine = dot(h, a);
    let d = a.xy - h.xy * ((cosine + a.z) / max(1.0 + h.z, ${n(network.halfZMinimum)}));
    light[2 * k] = vec4f(neuralNormalize(vec3f(h.xy * (*s).stretch[k], h.z)), d.x);
    light[2 * k + 1] = vec4f(d.y, cosine, a.z, neuralLog(a.z));
  }
  var at = 0;${product("x0", W, "(*s).view[row]", places.light, "light", 2 * F, "neuralActivate")}${layers.join("")}
  return ${lobes.join("\n    + ")};
}

fn neuralEvaluate(uv: vec2f, lod: f32, wi: vec3f, wo: vec3f) -> vec3f {
  var surface = neuralPrepare(uv, lod, wo);
  return neuralShade(&surface, wi);
}
${samplerWgsl(network)}`;
  if (!material.transmission) return text;
  const ofSide = asOneSide(text)
    .replaceAll("neuralNumbers[", "neuralNumbers[neuralBase + ")
    .replace("struct NeuralSide", "var<private> neuralBase: i32 = 0;\n\nstruct NeuralSide");
  return ofSide + sidesWgsl(places, hasLive);
}

function activationWgsl({ activation, slope, smeluWidth }) {
  const body = {
    silu: "x / (1.0 + exp(-x))",
    relu: "max(x, vec4f(0.0))",
    leaky_relu: `max(x, ${n(slope)} * x)`,
    leaky_smelu: `${n(slope)} * x + ${n(1 - slope)} * (q * q / ${n(4 * smeluWidth)} + max(x - ${n(smeluWidth)}, vec4f(0.0)))`,
  }[activation];
  const q = `  let q = clamp(x + ${n(smeluWidth)}, vec4f(0.0), vec4f(${n(2 * smeluWidth)}));\n`;
  return `fn neuralActivate(x: vec4f) -> vec4f {\n${activation === "leaky_smelu" ? q : ""}  return ${body};\n}`;
}

const SAMPLED = `fn neuralFetch(uv: vec2f, level: f32, last: i32, layer: i32) -> vec4f {
  return textureSampleLevel(neuralLatents, neuralSampler, uv, layer, level);
}`;

// Texture units have few bits for the fractions.
const EXACT = `fn neuralBilinear(uv: vec2f, layer: i32, level: i32) -> vec4f {
  let size = vec2i(textureDimensions(neuralLatents, level));
  let place = (uv - floor(uv)) * vec2f(size) - 0.5;
  let corner = floor(place);
  let part = place - corner;
  let p = (vec2i(corner) + size) % size;
  let q = (vec2i(corner) + 1 + size) % size;
  return mix(mix(textureLoad(neuralLatents, p, layer, level), textureLoad(neuralLatents, vec2i(q.x, p.y), layer, level), part.x),
             mix(textureLoad(neuralLatents, vec2i(p.x, q.y), layer, level), textureLoad(neuralLatents, q, layer, level), part.x), part.y);
}
fn neuralFetch(uv: vec2f, level: f32, last: i32, layer: i32) -> vec4f {
  let finer = i32(level);
  return mix(neuralBilinear(uv, layer, finer), neuralBilinear(uv, layer, min(finer + 1, last)), level - f32(finer));
}`;

function lobesWgsl({ network, sampler }, places, quads) {
  const live = network.live ? ` + neuralMatrix(${places.headLive} + 4 * row) * vec4f(live, 0.0)` : "";
  const [Q, F] = [network.latents / 4, network.frames];
  const [H, I, O] = [quads(sampler.hidden), quads(headInputs(network)), quads(sampler.outputs)];
  const y = (index) => `y[(${index}) >> 2][(${index}) & 3]`;
  const lane = F % 2 ? 2 : 0;
  return `  x[${Q + (F >> 1)}][${lane}] = wo.z;
  x[${Q + (F >> 1)}][${lane + 1}] = neuralLog(wo.z);
  var hidden: array<vec4f, ${H}>;
  at = ${places.head0};
  for (var row = 0; row < ${H}; row++) {
    var sum = neuralNumbers[${places.headBias0} + row]${live};
    for (var i = 0; i < ${I}; i++) { sum += neuralMatrix(at) * x[i]; at += 4; }
    hidden[row] = max(sum, ${n(sampler.slope)} * sum);
  }
  var y: array<vec4f, ${O}>;
  at = ${places.head1};
  for (var row = 0; row < ${O}; row++) {
    var sum = neuralNumbers[${places.headBias1} + row];
    for (var i = 0; i < ${H}; i++) { sum += neuralMatrix(at) * hidden[i]; at += 4; }
    y[row] = sum;
  }
  var largest = ${y(2 * F)};
  for (var lobe = 1; lobe < ${F + 2}; lobe++) { largest = max(largest, ${y(`${2 * F} + lobe`)}); }
  var total = 0.0;
  for (var lobe = 0; lobe < ${F + 2}; lobe++) {
    s.weights[lobe] = exp(${y(`${2 * F} + lobe`)} - largest);
    total += s.weights[lobe];
  }
  for (var lobe = 0; lobe < ${F + 2}; lobe++) {
    s.weights[lobe] = ${n(sampler.weightMinimum)} + ${n(1 - sampler.weightMinimum * (F + 2))} * s.weights[lobe] / total;
  }
  for (var k = 0; k < ${F}; k++) {
    let logs = clamp(vec2f(${y("2 * k")}, ${y("2 * k + 1")}), vec2f(-40.0), vec2f(40.0));
    s.widths[k] = clamp(exp(logs) / s.stretch[k], vec2f(${n(sampler.widthMinimum)}), vec2f(${n(sampler.widthMaximum)}));
    s.lobe[k] = mat3x3f(s.tangent[k], s.bitangent[k], s.normal[k]);
${
  sampler.isTilted
    ? `    var tilt = ${n(sampler.tiltShare)} * vec2f(${y(`${3 * F + 2} + 2 * k`)}, ${y(`${3 * F + 3} + 2 * k`)});
${
  sampler.isLeaning
    ? `    let next = s.normal[(k + 1) % ${F}] * s.lobe[k];
    tilt += ${y(`${5 * F + 2} + k`)} * next.xy / max(next.z, ${n(sampler.leanCosineMinimum)});
`
    : ""
}    tilt = clamp(tilt, vec2f(${n(-sampler.tiltMaximum)}), vec2f(${n(sampler.tiltMaximum)}));
    let normal = normalize(s.lobe[k] * vec3f(tilt, 1.0));
    let tangent = normalize(s.tangent[k] - normal * dot(normal, s.tangent[k]));
    s.lobe[k] = mat3x3f(tangent, cross(normal, tangent), normal);
`
    : ""
}    let c = wo * s.lobe[k];
    let least = clamp(max(s.widths[k].x, s.widths[k].y), ${n(sampler.viewCosineMinimum)}, ${n(sampler.viewCosineMaximum)});
    s.above[k] = neuralNormalize(vec3f(c.xy, max(c.z, least)));
  }
`;
}

function plainLobesWgsl(F) {
  return `  for (var k = 0; k < ${F}; k++) {
    s.widths[k] = clamp(${n(PLAIN_WIDTH)} / s.stretch[k], vec2f(0.004), vec2f(4.0));
    s.lobe[k] = mat3x3f(s.tangent[k], s.bitangent[k], s.normal[k]);
    s.above[k] = neuralNormalize(vec3f(s.seen[k].xy, max(s.seen[k].z, 0.05)));
    s.weights[k] = ${n(0.5 / F)};
  }
  s.weights[${F}] = 0.45;
  s.weights[${F + 1}] = 0.05;
`;
}

function samplerWgsl({ frames: F }) {
  return `
const neuralPi = 3.14159265358979;

fn neuralGgxPdf(a: vec3f, v: vec3f, width: vec2f) -> f32 {
  let h = neuralNormalize(a + v);
  if (h.z <= 0.0 || dot(a, h) <= 0.0) { return 0.0; }
  let slope = h.xy / width;
  let shadow = v.xy * width;
  let spread = dot(slope, slope) + h.z * h.z;
  return 1.0 / (neuralPi * width.x * width.y * spread * spread * 2.0 * (v.z + sqrt(dot(shadow, shadow) + v.z * v.z)));
}

// Density by solid angle with which neuralDraw draws wi.
fn neuralPdf(s: ptr<function, NeuralSurface>, wi: vec3f) -> f32 {
  var density = select(0.0, ((*s).weights[${F}] * wi.z + 0.5 * (*s).weights[${F + 1}]) / neuralPi, wi.z > 0.0);
  for (var k = 0; k < ${F}; k++) {
    let a = wi * (*s).lobe[k];
    density += (*s).weights[k] * neuralGgxPdf(a, (*s).above[k], (*s).widths[k]);
  }
  return density;
}

// Cosine and sine of a part of a full turn: a device's may be wrong by 2^-11, which lobes amplify.
fn neuralOnCircle(turn: f32) -> vec2f {
  let quarters = floor(4.0 * turn + 0.5);
  let a = (4.0 * turn - quarters) * (0.5 * neuralPi);
  let b = a * a;
  let s = a + a * b * (-0.1666665 + b * (0.00833198 - 0.00019496 * b));
  let c = 1.0 + b * (-0.49999895 + b * (0.04165629 - 0.00135978 * b));
  let quarter = i32(quarters);
  let turned = select(vec2f(c, s), vec2f(-s, c), (quarter & 1) != 0);
  return select(turned, -turned, (quarter & 2) != 0);
}

fn neuralAround(z: f32, turn: f32) -> vec3f {
  return vec3f(sqrt(max(1.0 - z * z, 0.0)) * neuralOnCircle(turn), z);
}

fn neuralDrawGgx(v: vec3f, width: vec2f, random: vec2f) -> vec3f {
  let e = neuralNormalize(vec3f(width * v.xy, v.z));
  let m = neuralAround((1.0 - random.y) * (1.0 + e.z) - e.z, random.x) + e;
  let h = neuralNormalize(vec3f(width * m.xy, max(m.z, 0.0)));
  return 2.0 * dot(h, v) * h - v;
}

// A direction of light for two numbers in [0, 1). One with z <= 0 carries no light.
fn neuralDraw(s: ptr<function, NeuralSurface>, random: vec2f) -> vec3f {
  var chosen = 0;
  var before = 0.0;
  while (chosen < ${F + 1} && random.x >= before + (*s).weights[chosen]) {
    before += (*s).weights[chosen];
    chosen++;
  }
  let turn = clamp((random.x - before) / (*s).weights[chosen], 0.0, 0.99999994);
  if (chosen == ${F}) { return neuralAround(sqrt(1.0 - random.y), turn); }
  if (chosen > ${F}) { return neuralAround(random.y, turn); }
  return (*s).lobe[chosen] * neuralDrawGgx((*s).above[chosen], (*s).widths[chosen], vec2f(turn, random.y));
}
`;
}
