// SPDX-License-Identifier: Apache-2.0

import { headInputs } from "./network.js";
import { packNumbers } from "./packing.js";
import { asOneSide, sidesGlsl } from "./sides.js";

/** Width of the float texture with the numbers, if they are too many for a uniform block. */
export const NUMBERS_WIDTH = 256;
/** GGX alpha of the lobes in bundles without a sampler, before the frames' stretch. */
export const PLAIN_WIDTH = 0.15;
/** Where neuralUv grows at a pixel, from its derivatives and those of neuralPosition. */
export const ALONG_TEXTURE = `  // dP/du, y towards growing v
  vec2 uvX = dFdx(neuralUv);
  vec2 uvY = dFdy(neuralUv);
  vec3 positionX = dFdx(neuralPosition);
  vec3 positionY = dFdy(neuralPosition);
  float area = uvX.x * uvY.y - uvX.y * uvY.x;
  vec3 alongU = (positionX * uvY.y - positionY * uvX.y) * sign(area);
  vec3 alongV = (positionY * uvX.x - positionX * uvY.x) * sign(area);
`;

/** A number in the form that GLSL and WGSL read. */
export function literal(value) {
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/**
 * The decoder in GLSL ES 3.00, to put in front of a fragment shader's main():
 *
 *     NeuralSurface surface = neuralPrepare(uv, lod, wo);
 *     vec3 reflected = neuralShade(surface, wi);          // for each light
 *     vec3 wi = neuralDraw(surface, random);              // nearly in proportion to the response
 *     float density = neuralPdf(surface, wi);
 *
 * With live inputs, neuralPrepareLive(uv, lod, wo, live) takes their values from 0 to 1; neuralPrepare uses the values
 * at `places.live` of packNumbers.
 *
 * Of a surface that transmits, wi has the whole sphere: below it is light that passes through the surface.
 *
 * The text depends on the architecture alone: materials with one architecture share a program.
 *
 * @param {object} options `filter`: "sampled" (texture unit) or "exact"; `numbers`: "block" (uniform
 *   block NeuralNumbers) or "texture" (sampler2D neuralNumbers)
 */
export function decoderGlsl(material, { filter = "sampled", numbers = "block" } = {}) {
  const { network, sampler } = material;
  const { places, count } = packNumbers(material);
  const quads = (length) => Math.ceil(length / 4);
  const [W, F, L] = [quads(network.width), network.frames, quads(3 * network.lobes)];
  // layers of the latent texture; vectors of the inputs that no light changes, and of the head's inputs
  const [Q, V, I] = [network.latents / 4, quads(network.latents + 2 * F), quads(headInputs(network))];
  const times = (at) => Array.from({ length: Q }, (_, i) => `neuralMatrix(${at} + ${4 * i}) * x[${i}]`).join(" + ");
  const n = literal;
  const hasLive = network.live > 0;
  const [base, from] = material.transmission ? ["int neuralBase = 0;\n", "i += neuralBase; "] : ["", ""];
  const source =
    numbers === "block"
      ? `layout(std140) uniform NeuralNumbers { highp vec4 neuralNumbers[${count}]; };
${base}vec4 neuralNumber(int i) { ${from}return neuralNumbers[i]; }`
      : `uniform highp sampler2D neuralNumbers;
${base}vec4 neuralNumber(int i) { ${from}return texelFetch(neuralNumbers, ivec2(i & ${NUMBERS_WIDTH - 1}, i >> ${Math.log2(NUMBERS_WIDTH)}), 0); }`;
  const product = (name, rows, start, place, input, count, activation = "") => `
  vec4 ${name}[${rows}];
  at = ${place};
  for (int row = 0; row < ${rows}; row++) {
    vec4 sum = ${start};
    for (int i = 0; i < ${count}; i++, at += 4) sum += neuralMatrix(at) * ${input}[i];
    ${name}[row] = ${activation}(sum);
  }`;
  const layer = (index) => {
    const isLast = index === network.hiddenLayers;
    const start = `neuralNumber(${places[`bias${index}`]} + row)`;
    return product(`x${index}`, isLast ? L : W, start, places[`layer${index}`], `x${index - 1}`, W, isLast ? "" : "neuralActivate");
  };
  const lobes = Array.from({ length: network.lobes }, (_, lobe) => {
    const y = (channel) => `x${network.hiddenLayers}[${(3 * lobe + channel) >> 2}][${(3 * lobe + channel) & 3}]`;
    return `exp(min(vec3(${y(0)}, ${y(1)}, ${y(2)}) - ${n(network.shift)}, ${n(network.limit)}))`;
  });
  const text = `// Verdigris: a neural material in GLSL ES 3.00. docs/FORMAT.md of Verdigris describes each step.
uniform highp sampler2DArray neuralLatents;
${source}
mat4 neuralMatrix(int i) { return mat4(neuralNumber(i), neuralNumber(i + 1), neuralNumber(i + 2), neuralNumber(i + 3)); }

struct NeuralSurface {
  vec3 wo;
  vec3 tangent[${F}];
  vec3 bitangent[${F}];
  vec3 normal[${F}];
  vec2 stretch[${F}];
  vec3 seen[${F}];   // wo in each frame
  vec4 view[${W}];   // the first layer's sum of what does not depend on the light
  mat3 lobe[${F}];   // axes of the sampler's lobes
  vec3 above[${F}];  // wo in these, above their horizons
  vec2 widths[${F}];
  float weights[${F + 2}];
};

vec3 neuralNormalize(vec3 v) { return v / max(length(v), ${n(network.lengthEpsilon)}); }
float neuralLog(float cosine) { return ${n(network.logarithmShare)} * log(max(cosine, 0.0) + ${n(network.cosineOffset)}); }
${activationGlsl(network)}
${filter === "exact" ? EXACT : SAMPLED}
// lod: log2 of the footprint's width in texels of level 0
float neuralLod(vec2 dx, vec2 dy) {
  vec2 size = vec2(textureSize(neuralLatents, 0).xy);
  dx *= size;
  dy *= size;
  return 0.5 * log2(max(max(dot(dx, dx), dot(dy, dy)), 1e-12));
}

NeuralSurface ${hasLive ? "neuralPrepareLive(vec2 uv, float lod, vec3 wo, vec3 live)" : "neuralPrepare(vec2 uv, float lod, vec3 wo)"} {
  NeuralSurface s;
  s.wo = wo;
  vec4 x[${I}];
  ivec2 size = textureSize(neuralLatents, 0).xy;
  float levels = floor(log2(float(max(size.x, size.y))) + 0.001);
  float level = clamp(max(0.5 * lod, lod - 1.0), 0.0, levels);
  for (int i = 0; i < ${Q}; i++) x[i] = neuralNumber(${places.offset} + i) + neuralNumber(${places.scale} + i) * neuralFetch(uv, level, int(levels), i);
  for (int i = ${Q}; i < ${I}; i++) x[i] = vec4(0.0);
  for (int k = 0; k < ${F}; k++) {
    int at = ${places.frames} + ${8 * Q} * k;
    vec4 r0 = ${times("at")};
    vec4 r1 = ${times(`at + ${4 * Q}`)};
${hasLive ? `    r0 += neuralMatrix(${places.framesLive} + 8 * k) * vec4(live, 0.0);
    r1 += neuralMatrix(${places.framesLive + 4} + 8 * k) * vec4(live, 0.0);
` : ""}    vec3 normal = neuralNormalize(r0.xyz + vec3(0.0, 0.0, 1.0));
    vec3 along = vec3(r0.w + 1.0, r1.xy);
    vec3 tangent = neuralNormalize(along - normal * dot(normal, along));
    s.normal[k] = normal;
    s.tangent[k] = tangent;
    s.bitangent[k] = cross(normal, tangent);
    s.stretch[k] = exp(${n(network.stretchLimit)} * tanh(clamp(r1.zw / ${n(network.stretchLimit)}, -10.0, 10.0)));
    s.seen[k] = vec3(dot(tangent, wo), dot(s.bitangent[k], wo), dot(normal, wo));
    vec2 cosine = vec2(s.seen[k].z, neuralLog(s.seen[k].z));
    if ((k & 1) == 0) x[${Q} + k / 2].xy = cosine;
    else x[${Q} + k / 2].zw = cosine;
  }
  int at = ${places.view};
  for (int row = 0; row < ${W}; row++) {
    vec4 sum = neuralNumber(${places.bias0} + row)${hasLive ? ` + neuralMatrix(${places.viewLive} + 4 * row) * vec4(live, 0.0)` : ""};
    for (int i = 0; i < ${V}; i++, at += 4) sum += neuralMatrix(at) * x[i];
    s.view[row] = sum;
  }
${sampler ? lobesGlsl(material, places, quads) : plainLobesGlsl(F)}  return s;
}
${hasLive ? `
NeuralSurface neuralPrepare(vec2 uv, float lod, vec3 wo) {
  return neuralPrepareLive(uv, lod, wo, neuralNumber(${places.live}).xyz);
}
` : ""}
vec3 neuralShade(const in NeuralSurface s, vec3 wi) {
  if (wi.z <= 0.0 || s.wo.z <= 0.0) return vec3(0.0);
  vec4 light[${2 * F}];
  for (int k = 0; k < ${F}; k++) {
    vec3 a = vec3(dot(s.tangent[k], wi), dot(s.bitangent[k], wi), dot(s.normal[k], wi));
    vec3 h = neuralNormalize(a + s.seen[k]);
    float cosine = dot(h, a);
    vec2 d = a.xy - h.xy * ((cosine + a.z) / max(1.0 + h.z, ${n(network.halfZMinimum)}));
    light[2 * k] = vec4(neuralNormalize(vec3(h.xy * s.stretch[k], h.z)), d.x);
    light[2 * k + 1] = vec4(d.y, cosine, a.z, neuralLog(a.z));
  }
  int at;${product("x0", W, "s.view[row]", places.light, "light", 2 * F, "neuralActivate")}${Array.from({ length: network.hiddenLayers }, (_, index) => layer(index + 1)).join("")}  return ${lobes.join("\n    + ")};
}

vec3 neuralEvaluate(vec2 uv, float lod, vec3 wi, vec3 wo) { return neuralShade(neuralPrepare(uv, lod, wo), wi); }
${samplerGlsl(network)}`;
  return material.transmission ? asOneSide(text) + sidesGlsl(places, hasLive) : text;
}

function activationGlsl({ activation, slope, smeluWidth }) {
  const body = {
    silu: "x / (1.0 + exp(-x))",
    relu: "max(x, 0.0)",
    leaky_relu: `max(x, ${literal(slope)} * x)`,
    leaky_smelu: `${literal(slope)} * x + ${literal(1 - slope)} * (q * q / ${literal(4 * smeluWidth)} + max(x - ${literal(smeluWidth)}, 0.0))`,
  }[activation];
  const q = `  vec4 q = clamp(x + ${literal(smeluWidth)}, 0.0, ${literal(2 * smeluWidth)});\n`;
  return `vec4 neuralActivate(vec4 x) {\n${activation === "leaky_smelu" ? q : ""}  return ${body};\n}`;
}

const SAMPLED = `vec4 neuralFetch(vec2 uv, float level, int last, int layer) {
  return textureLod(neuralLatents, vec3(uv, float(layer)), level);
}`;

// Texture units have few bits for the fractions.
const EXACT = `vec4 neuralBilinear(vec2 uv, int layer, int level) {
  ivec2 size = textureSize(neuralLatents, level).xy;
  vec2 place = (uv - floor(uv)) * vec2(size) - 0.5;
  vec2 corner = floor(place);
  vec2 part = place - corner;
  ivec2 p = (ivec2(corner) + size) % size;
  ivec2 q = (ivec2(corner) + 1 + size) % size;
  return mix(mix(texelFetch(neuralLatents, ivec3(p, layer), level), texelFetch(neuralLatents, ivec3(q.x, p.y, layer), level), part.x),
             mix(texelFetch(neuralLatents, ivec3(p.x, q.y, layer), level), texelFetch(neuralLatents, ivec3(q, layer), level), part.x), part.y);
}
vec4 neuralFetch(vec2 uv, float level, int last, int layer) {
  int finer = int(level);
  return mix(neuralBilinear(uv, layer, finer), neuralBilinear(uv, layer, min(finer + 1, last)), level - float(finer));
}`;

function lobesGlsl({ network, sampler }, places, quads) {
  const live = network.live ? ` + neuralMatrix(${places.headLive} + 4 * row) * vec4(live, 0.0)` : "";
  const [Q, F] = [network.latents / 4, network.frames];
  const [H, I, O] = [quads(sampler.hidden), quads(headInputs(network)), quads(sampler.outputs)];
  const cosine = `vec2(wo.z, neuralLog(wo.z))`;
  const y = (index) => `y[(${index}) >> 2][(${index}) & 3]`;
  return `  x[${Q + (F >> 1)}].${F % 2 ? "zw" : "xy"} = ${cosine};
  vec4 hidden[${H}];
  at = ${places.head0};
  for (int row = 0; row < ${H}; row++) {
    vec4 sum = neuralNumber(${places.headBias0} + row)${live};
    for (int i = 0; i < ${I}; i++, at += 4) sum += neuralMatrix(at) * x[i];
    hidden[row] = max(sum, ${literal(sampler.slope)} * sum);
  }
  vec4 y[${O}];
  at = ${places.head1};
  for (int row = 0; row < ${O}; row++) {
    y[row] = neuralNumber(${places.headBias1} + row);
    for (int i = 0; i < ${H}; i++, at += 4) y[row] += neuralMatrix(at) * hidden[i];
  }
  float largest = ${y(2 * F)};
  for (int lobe = 1; lobe < ${F + 2}; lobe++) largest = max(largest, ${y(`${2 * F} + lobe`)});
  float total = 0.0;
  for (int lobe = 0; lobe < ${F + 2}; lobe++) {
    s.weights[lobe] = exp(${y(`${2 * F} + lobe`)} - largest);
    total += s.weights[lobe];
  }
  for (int lobe = 0; lobe < ${F + 2}; lobe++)
    s.weights[lobe] = ${literal(sampler.weightMinimum)} + ${literal(1 - sampler.weightMinimum * (F + 2))} * s.weights[lobe] / total;
  for (int k = 0; k < ${F}; k++) {
    vec2 logs = clamp(vec2(${y("2 * k")}, ${y("2 * k + 1")}), -40.0, 40.0);
    s.widths[k] = clamp(exp(logs) / s.stretch[k], ${literal(sampler.widthMinimum)}, ${literal(sampler.widthMaximum)});
    s.lobe[k] = mat3(s.tangent[k], s.bitangent[k], s.normal[k]);
${
  sampler.isTilted
    ? `    vec2 tilt = ${literal(sampler.tiltShare)} * vec2(${y(`${3 * F + 2} + 2 * k`)}, ${y(`${3 * F + 3} + 2 * k`)});
${
  sampler.isLeaning
    ? `    vec3 next = s.normal[(k + 1) % ${F}] * s.lobe[k];
    tilt += ${y(`${5 * F + 2} + k`)} * next.xy / max(next.z, ${literal(sampler.leanCosineMinimum)});
`
    : ""
}    tilt = clamp(tilt, ${literal(-sampler.tiltMaximum)}, ${literal(sampler.tiltMaximum)});
    vec3 n = normalize(s.lobe[k] * vec3(tilt, 1.0));
    vec3 t = normalize(s.tangent[k] - n * dot(n, s.tangent[k]));
    s.lobe[k] = mat3(t, cross(n, t), n);
`
    : ""
}    vec3 c = wo * s.lobe[k];
    float least = clamp(max(s.widths[k].x, s.widths[k].y), ${literal(sampler.viewCosineMinimum)}, ${literal(sampler.viewCosineMaximum)});
    s.above[k] = neuralNormalize(vec3(c.xy, max(c.z, least)));
  }
`;
}

/** Lobes for bundles without a sampler: noisier, and as correct. */
function plainLobesGlsl(F) {
  return `  for (int k = 0; k < ${F}; k++) {
    s.widths[k] = clamp(${literal(PLAIN_WIDTH)} / s.stretch[k], 0.004, 4.0);
    s.lobe[k] = mat3(s.tangent[k], s.bitangent[k], s.normal[k]);
    s.above[k] = neuralNormalize(vec3(s.seen[k].xy, max(s.seen[k].z, 0.05)));
    s.weights[k] = ${literal(0.5 / F)};
  }
  s.weights[${F}] = 0.45;
  s.weights[${F + 1}] = 0.05;
`;
}

function samplerGlsl({ frames: F }) {
  return `
const float neuralPi = 3.14159265358979;

float neuralGgxPdf(vec3 a, vec3 v, vec2 width) {
  vec3 h = neuralNormalize(a + v);
  if (h.z <= 0.0 || dot(a, h) <= 0.0) return 0.0;
  vec2 slope = h.xy / width;
  vec2 shadow = v.xy * width;
  float spread = dot(slope, slope) + h.z * h.z;
  return 1.0 / (neuralPi * width.x * width.y * spread * spread * 2.0 * (v.z + sqrt(dot(shadow, shadow) + v.z * v.z)));
}

// Density by solid angle with which neuralDraw draws wi.
float neuralPdf(const in NeuralSurface s, vec3 wi) {
  float density = wi.z > 0.0 ? (s.weights[${F}] * wi.z + 0.5 * s.weights[${F + 1}]) / neuralPi : 0.0;
  for (int k = 0; k < ${F}; k++) {
    vec3 a = wi * s.lobe[k];
    density += s.weights[k] * neuralGgxPdf(a, s.above[k], s.widths[k]);
  }
  return density;
}

// Cosine and sine of a part of a full turn: SwiftShader's are wrong by 2^-11, which lobes amplify.
vec2 neuralOnCircle(float turn) {
  float quarters = floor(4.0 * turn + 0.5);
  float a = (4.0 * turn - quarters) * (0.5 * neuralPi);
  float b = a * a;
  float s = a + a * b * (-0.1666665 + b * (0.00833198 - 0.00019496 * b));
  float c = 1.0 + b * (-0.49999895 + b * (0.04165629 - 0.00135978 * b));
  int quarter = int(quarters);
  vec2 turned = (quarter & 1) != 0 ? vec2(-s, c) : vec2(c, s);
  return (quarter & 2) != 0 ? -turned : turned;
}

vec3 neuralAround(float z, float turn) {
  return vec3(sqrt(max(1.0 - z * z, 0.0)) * neuralOnCircle(turn), z);
}

vec3 neuralDrawGgx(vec3 v, vec2 width, vec2 random) {
  vec3 e = neuralNormalize(vec3(width * v.xy, v.z));
  vec3 m = neuralAround((1.0 - random.y) * (1.0 + e.z) - e.z, random.x) + e;
  vec3 h = neuralNormalize(vec3(width * m.xy, max(m.z, 0.0)));
  return 2.0 * dot(h, v) * h - v;
}

// A direction of light for two numbers in [0, 1). One with z <= 0 carries no light.
vec3 neuralDraw(const in NeuralSurface s, vec2 random) {
  int chosen = 0;
  float before = 0.0;
  while (chosen < ${F + 1} && random.x >= before + s.weights[chosen]) before += s.weights[chosen++];
  vec2 rest = vec2(clamp((random.x - before) / s.weights[chosen], 0.0, 0.99999994), random.y);
  if (chosen >= ${F}) return neuralAround(chosen == ${F} ? sqrt(1.0 - rest.y) : rest.y, rest.x);
  return s.lobe[chosen] * neuralDrawGgx(s.above[chosen], s.widths[chosen], rest);
}
`;
}
