// SPDX-License-Identifier: Apache-2.0

// Surfaces that transmit: docs/FORMAT.md, "Light from below". The second decoder's numbers lie behind the first's, and its
// text is the same: `neuralBase` is the place of the numbers that it reads.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const unit = (v) => v.map((each) => each / Math.max(Math.sqrt(dot(v, v)), 1e-6));

/** The share of directions that neuralDraw draws above the surface. */
export const SHARE_ABOVE = 0.5;

/** Light from below, mirrored to the side of the viewer; straight down where no facet refracts it to the viewer. */
export function mirroredLight(wi, wo, index) {
  if (index === 1) return [wi[0], wi[1], -wi[2]];
  let h = unit(wi.map((each, axis) => -(wo[axis] + index * each)));
  if (h[2] < 0) h = h.map((each) => -each);
  const seen = dot(wo, h);
  return seen > 0 && dot(wi, h) < 0 ? h.map((each, axis) => 2 * seen * each - wo[axis]) : [0, 0, -1];
}

/** Light from below, from its mirrored direction; null where the facet reflects all light. */
export function passedLight(mirrored, wo, index) {
  if (index === 1) return [mirrored[0], mirrored[1], -mirrored[2]];
  const h = unit(mirrored.map((each, axis) => each + wo[axis]));
  const seen = dot(wo, h);
  const inner = 1 - (1 - seen * seen) / (index * index);
  return inner > 0 ? h.map((each, axis) => (seen / index - Math.sqrt(inner)) * each - wo[axis] / index) : null;
}

/** The density of light from below by that of its mirrored direction. */
export function densityOfPassed(wi, mirrored, wo, index) {
  if (index === 1) return 1;
  const h = unit(mirrored.map((each, axis) => each + wo[axis]));
  const seen = dot(wo, h);
  const path = seen + index * dot(wi, h);
  return (4 * seen * index * index * Math.abs(dot(wi, h))) / Math.max(path * path, 1e-6);
}

/**
 * Rows of both decoders as rows over the whole sphere. Those of the second have mirrored directions. Rows with the light
 * below a decoder's own hemisphere are left out.
 */
export function joinReferences(above, below, index) {
  const through = below.wi.map((mirrored, row) => passedLight(mirrored, below.wo[row], index));
  const upper = all(above, (row) => above.wi[row][2] >= 0);
  const lower = all(below, (row) => through[row]?.[2] < 0 && below.wi[row][2] > 0 && below.wo[row][2] > 0);
  const joined = { count: upper.length + lower.length };
  for (const name of ["uv", "lod", "wo", "exported", "live"]) {
    if (above[name]) joined[name] = [...upper.map((row) => above[name][row]), ...lower.map((row) => below[name][row])];
  }
  joined.wi = [...upper.map((row) => above.wi[row]), ...lower.map((row) => through[row])];
  if (above.pdf && below.pdf) {
    const change = (row) => densityOfPassed(through[row], below.wi[row], below.wo[row], index);
    joined.pdf = [
      ...upper.map((row) => SHARE_ABOVE * above.pdf[row]),
      ...lower.map((row) => (1 - SHARE_ABOVE) * below.pdf[row] * change(row)),
    ];
  }
  return joined;
}

function all({ count }, holds) {
  return Array.from({ length: count }, (_, row) => row).filter(holds);
}

// What the text of one decoder is called.
const OF_ONE_SIDE = {
  NeuralSurface: "NeuralSide",
  neuralPrepare: "neuralPrepareSide",
  neuralPrepareLive: "neuralPrepareSideLive",
  neuralShade: "neuralShadeSide",
  neuralPdf: "neuralPdfSide",
  neuralDraw: "neuralDrawSide",
};

/** The text of one decoder with the names of one side, and without neuralEvaluate. */
export function asOneSide(text) {
  return text
    .replace(/^(vec3|fn) neuralEvaluate\([\s\S]*?\}\n/m, "")
    .replace(new RegExp(`\\b(${Object.keys(OF_ONE_SIDE).join("|")})\\b`, "g"), (name) => OF_ONE_SIDE[name]);
}

/** The functions of both sides in GLSL, behind the text of one. They have the names of an opaque surface's. */
export function sidesGlsl(places, hasLive) {
  const share = SHARE_ABOVE.toFixed(2);
  const prepare = (name, parameters, own, given) => `
NeuralSurface ${name}(vec2 uv, float lod, vec3 wo${parameters}) {
  NeuralSurface s;
  s.wo = wo;
  neuralBase = 0;
  s.index = neuralNumber(${places.index}).x;
  for (int side = 0; side < 2; side++) {
    neuralBase = side * ${places.below};
    s.sides[side] = ${own}(uv, lod, wo${given});
  }
  return s;
}
`;
  const still = hasLive ? prepare("neuralPrepareLive", ", vec3 live", "neuralPrepareSideLive", ", live") : "";
  return `
// Light from above and from below: wi has the whole sphere.
struct NeuralSurface {
  vec3 wo;
  float index;  // of the medium below, 1 for a thin wall
  NeuralSide sides[2];
};
${still}${prepare("neuralPrepare", "", "neuralPrepareSide", "")}
vec3 neuralMirrored(vec3 wi, vec3 wo, float index) {
  if (index == 1.0) return vec3(wi.xy, -wi.z);
  vec3 h = -(wo + index * wi);
  h /= max(length(h), 1e-6);
  if (h.z < 0.0) h = -h;
  float seen = dot(wo, h);
  return seen > 0.0 && dot(wi, h) < 0.0 ? 2.0 * seen * h - wo : vec3(0.0, 0.0, -1.0);
}

// The direction of light below, from its mirrored one, and the density there by that of the mirrored one. Without light,
// z is not below 0.
vec4 neuralPassed(vec3 mirrored, vec3 wo, float index) {
  if (index == 1.0) return vec4(mirrored.xy, -mirrored.z, 1.0);
  vec3 h = mirrored + wo;
  h /= max(length(h), 1e-6);
  float seen = dot(wo, h);
  float inner = 1.0 - (1.0 - seen * seen) / (index * index);
  if (inner <= 0.0) return vec4(0.0);
  vec3 wi = (seen / index - sqrt(inner)) * h - wo / index;
  float path = seen + index * dot(wi, h);
  return vec4(wi, 4.0 * seen * index * index * abs(dot(wi, h)) / max(path * path, 1e-6));
}

vec3 neuralShade(const in NeuralSurface s, vec3 wi) {
  int side = wi.z < 0.0 ? 1 : 0;
  neuralBase = side * ${places.below};
  if (side == 1) wi = neuralMirrored(wi, s.wo, s.index);
  return neuralShadeSide(s.sides[side], wi);
}

// A lamp's light. What a solid refracts of it is a caustic, which is not shown.
vec3 neuralShadeLamp(const in NeuralSurface s, vec3 wi) {
  return wi.z < 0.0 && s.index != 1.0 ? vec3(0.0) : neuralShade(s, wi);
}

vec3 neuralEvaluate(vec2 uv, float lod, vec3 wi, vec3 wo) { return neuralShade(neuralPrepare(uv, lod, wo), wi); }

// Density by solid angle over the whole sphere with which neuralDraw draws wi.
float neuralPdf(const in NeuralSurface s, vec3 wi) {
  int side = wi.z < 0.0 ? 1 : 0;
  float density = side == 1 ? 1.0 - ${share} : ${share};
  if (side == 1) {
    wi = neuralMirrored(wi, s.wo, s.index);
    if (wi.z <= 0.0) return 0.0;
    density *= neuralPassed(wi, s.wo, s.index).w;
  }
  return density * neuralPdfSide(s.sides[side], wi);
}

// A direction of light for two numbers in [0, 1). One without length carries no light.
vec3 neuralDraw(const in NeuralSurface s, vec2 random) {
  int side = random.x < ${share} ? 0 : 1;
  float rest = side == 0 ? random.x / ${share} : (random.x - ${share}) / (1.0 - ${share});
  vec3 wi = neuralDrawSide(s.sides[side], vec2(clamp(rest, 0.0, 0.99999994), random.y));
  if (wi.z <= 0.0) return vec3(0.0);
  if (side == 0) return wi;
  wi = neuralPassed(wi, s.wo, s.index).xyz;
  return wi.z < 0.0 ? wi : vec3(0.0);
}
`;
}
