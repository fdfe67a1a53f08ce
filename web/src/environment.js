// SPDX-License-Identifier: Apache-2.0

/** Width of a face of the cube map that environment light is read from. */
export const CUBE_WIDTH = 128;

// Axes of s, of t and of the face itself, for each face of a cube map: +x -x +y -y +z -z.
const FACES = [
  [[0, 0, -1], [0, -1, 0], [1, 0, 0]],
  [[0, 0, 1], [0, -1, 0], [-1, 0, 0]],
  [[1, 0, 0], [0, 0, 1], [0, 1, 0]],
  [[1, 0, 0], [0, 0, -1], [0, -1, 0]],
  [[1, 0, 0], [0, -1, 0], [0, 0, 1]],
  [[-1, 0, 0], [0, -1, 0], [0, 0, -1]],
];

/** Writes the unit direction of a texel's centre on a face to `into`. */
export function cubeDirection(face, column, row, width, into = [0, 0, 0]) {
  const s = (2 * column + 1) / width - 1;
  const t = (2 * row + 1) / width - 1;
  const length = Math.sqrt(s * s + t * t + 1);
  const [across, down, axis] = FACES[face];
  for (let each = 0; each < 3; each++) into[each] = (across[each] * s + down[each] * t + axis[each]) / length;
  return into;
}

/**
 * A cube map of an environment with all mip levels, each texel the mean of four.
 * @param {(direction: number[], into: number[]) => number[]} radiance
 * @returns {Float32Array[][]} by level, then by face: RGBA
 */
export function makeCubeMap(radiance, width = CUBE_WIDTH) {
  const direction = [0, 0, 0];
  const colour = [0, 0, 0];
  let faces = FACES.map((_, face) => {
    const texels = new Float32Array(4 * width * width);
    for (let row = 0, at = 0; row < width; row++) {
      for (let column = 0; column < width; column++, at += 4) {
        const [r, g, b] = radiance(cubeDirection(face, column, row, width, direction), colour);
        texels[at] = r;
        texels[at + 1] = g;
        texels[at + 2] = b;
        texels[at + 3] = 1;
      }
    }
    return texels;
  });
  const levels = [faces];
  for (let size = width; size > 1; size /= 2) {
    faces = faces.map((texels) => halved(texels, size));
    levels.push(faces);
  }
  return levels;
}

function halved(texels, size) {
  const half = size / 2;
  const result = new Float32Array(4 * half * half);
  for (let row = 0; row < half; row++) {
    for (let column = 0; column < half; column++) {
      for (let channel = 0; channel < 4; channel++) {
        const at = 4 * (2 * row * size + 2 * column) + channel;
        result[4 * (row * half + column) + channel] =
          (texels[at] + texels[at + 4] + texels[at + 4 * size] + texels[at + 4 * size + 4]) / 4;
      }
    }
  }
  return result;
}

/**
 * The irradiance of a cube map as spherical harmonics of order 2: nine colours, already multiplied by the
 * cosine lobe's factors, for neuralIrradiance() (Ramamoorthi and Hanrahan 2001).
 * @param {ArrayLike<number>[]} faces RGBA of each face
 * @returns {number[][]}
 */
export function irradianceHarmonics(faces, width) {
  const sums = Array.from({ length: 9 }, () => [0, 0, 0]);
  const direction = [0, 0, 0];
  let total = 0;
  faces.forEach((texels, face) => {
    for (let row = 0, at = 0; row < width; row++) {
      for (let column = 0; column < width; column++, at += 4) {
        const [x, y, z] = cubeDirection(face, column, row, width, direction);
        const [s, t] = [(2 * column + 1) / width - 1, (2 * row + 1) / width - 1];
        const angle = (1 + s * s + t * t) ** -1.5;
        total += angle;
        basis(x, y, z).forEach((value, index) => {
          for (let channel = 0; channel < 3; channel++) sums[index][channel] += texels[at + channel] * value * angle;
        });
      }
    }
  });
  const factors = [Math.PI, ...Array(3).fill((2 * Math.PI) / 3), ...Array(5).fill(Math.PI / 4)];
  return sums.map((sum, index) => sum.map((each) => (each * factors[index] * 4 * Math.PI) / total));
}

function basis(x, y, z) {
  return [
    0.282095,
    0.488603 * y, 0.488603 * z, 0.488603 * x,
    1.092548 * x * y, 1.092548 * y * z, 0.315392 * (3 * z * z - 1), 1.092548 * x * z, 0.546274 * (x * x - y * y),
  ];
}

/**
 * Environment light in GLSL, to put behind the decoder's text. `neuralEnvironmentLight` (with a light: `neuralLight`)
 * draws directions from the bundle's sampler, and reads the map as wide as each sample (filtered importance sampling).
 * The light of the cosine lobe comes from the irradiance. `neuralEnvironmentSplit` reads the map in a few fixed
 * directions, without noise.
 * @param {number} frames number of frames of the decoder
 */
export function environmentGlsl({ network: { frames: F }, transmission }) {
  return `
uniform highp samplerCube neuralEnvironment;
uniform vec3 neuralHarmonics[9];
uniform vec3 neuralAmbient;  // radiance from everywhere

// Two independent random numbers of a pixel (pcg2d of Jarzynski and Olano, Hash Functions for GPU Rendering, 2020).
vec2 neuralRandom(uvec2 pixel) {
  uvec2 v = pixel * 1664525u + 1013904223u;
  v.x += v.y * 1664525u;
  v.y += v.x * 1664525u;
  v ^= v >> 16u;
  v.x += v.y * 1664525u;
  v.y += v.x * 1664525u;
  v ^= v >> 16u;
  return vec2(v >> 8u) / 16777216.0;
}

vec3 neuralRadiance(vec3 direction, float solidAngle) {
  float width = float(textureSize(neuralEnvironment, 0).x);
  float level = 0.5 * log2(max(solidAngle * 6.0 * width * width / (4.0 * neuralPi), 1.0));
  return textureLod(neuralEnvironment, direction, level).rgb + neuralAmbient;
}

vec3 neuralIrradiance(vec3 n) {
  vec3 sum = 0.282095 * neuralHarmonics[0]
    + 0.488603 * (n.y * neuralHarmonics[1] + n.z * neuralHarmonics[2] + n.x * neuralHarmonics[3])
    + 1.092548 * (n.x * n.y * neuralHarmonics[4] + n.y * n.z * neuralHarmonics[5] + n.x * n.z * neuralHarmonics[7])
    + 0.315392 * (3.0 * n.z * n.z - 1.0) * neuralHarmonics[6] + 0.546274 * (n.x * n.x - n.y * n.y) * neuralHarmonics[8];
  return max(sum, 0.0) + neuralPi * neuralAmbient;
}
${transmission ? sidesGlsl(F) : oneSideGlsl(F)}`;
}

function oneSideGlsl(F) {
  return `
// One light and an environment of \`samples\` directions. The map is read as wide as one of \`width\` samples.
// toWorld: tangent, bitangent, normal. The loop calls the long decoder at one place, which compiles faster.
vec3 neuralLight(const in NeuralSurface s, vec3 toLight, vec3 lightColour, mat3 toWorld, int samples, float width, vec2 random) {
  if (s.wo.z <= 0.0) return vec3(0.0);
  vec3 direct = vec3(0.0);
  vec3 sampled = vec3(0.0);
  vec3 albedo = vec3(0.0);
  vec3 cosineLobe = vec3(0.0);
  float n = max(float(samples), 1.0);
  for (int i = -1; i < samples; i++) {
    vec3 wi = toLight;
    float density = 1.0;
    if (i >= 0) {
      wi = neuralDraw(s, fract(vec2((float(i) + 0.5) / n, float(i) * 0.6180339887498949) + random));
      density = neuralPdf(s, wi);
    }
    if (wi.z <= 0.0) continue;
    vec3 ratio = neuralShade(s, wi) / density;
    if (i < 0) {
      direct = ratio * lightColour;
      continue;
    }
    vec3 light = neuralRadiance(toWorld * wi, 1.0 / (width * density));
    sampled += ratio * light;
    albedo += ratio;
    cosineLobe += wi.z / (neuralPi * density) * light;
  }
  vec3 smoothly = neuralIrradiance(toWorld[2]) / neuralPi - cosineLobe / n;
  vec3 surrounding = max((sampled + (s.weights[${F}] + s.weights[${F + 1}]) * albedo * smoothly) / n, 0.0);
  return samples > 0 ? direct + surrounding : direct;
}

vec3 neuralEnvironmentLight(const in NeuralSurface s, mat3 toWorld, int samples, float width, vec2 random) {
  return neuralLight(s, vec3(0.0, 0.0, -1.0), vec3(0.0), toWorld, samples, width, random);
}

// Three fixed directions for each GGX lobe and two for diffuse light.
vec3 neuralEnvironmentSplit(const in NeuralSurface s, mat3 toWorld) {
  if (s.wo.z <= 0.0) return vec3(0.0);
  vec3 diffuse = neuralIrradiance(toWorld[2]) / neuralPi;
  vec2 across = dot(s.wo.xy, s.wo.xy) > 1e-6 ? normalize(vec2(-s.wo.y, s.wo.x)) : vec2(1.0, 0.0);
  vec3 result = vec3(0.0);
  for (int i = 0; i < ${3 * F + 2}; i++) {
    vec3 wi = sqrt(0.5) * vec3(i == ${3 * F} ? across : -across, 1.0);
    float share = 0.5 * (s.weights[${F}] + s.weights[${F + 1}]);
    vec3 light = diffuse;
    if (i < ${3 * F}) {
      int k = i / 3;
      int side = i - 3 * k;
      vec2 random = vec2((s.widths[k].y > s.widths[k].x ? 0.25 : 0.0) + (side == 2 ? 0.5 : 0.0), side == 0 ? 0.0 : 0.5);
      vec3 d = neuralDrawGgx(s.above[k], s.widths[k], random);
      wi = s.lobe[k] * d;
      share = s.weights[k] / 3.0;
      light = neuralRadiance(toWorld * wi, 1.0 / (3.0 * max(neuralGgxPdf(d, s.above[k], s.widths[k]), 1e-3)));
    }
    if (wi.z > 0.0) result += share / neuralPdf(s, wi) * neuralShade(s, wi) * light;
  }
  return result;
}
`;
}

/** The same on both sides of a surface that transmits. */
function sidesGlsl(F) {
  const diffuse = (side) => `(${side}.weights[${F}] + ${side}.weights[${F + 1}])`;
  return `
// Where light from below comes from, its share, and the solid angle by that below. A solid refracts it once more, at a smooth
// interface: each place is taken for one of a sphere, on which the angles at both interfaces are equal.
vec3 neuralBehind(vec3 wi, float index, out vec2 passed) {
  passed = vec2(1.0);
  if (wi.z >= 0.0 || index == 1.0) return wi;
  float cosine = -wi.z;
  float outer2 = 1.0 - index * index * (1.0 - cosine * cosine);
  // what is reflected inside leaves elsewhere: it is taken to go on straight
  if (outer2 <= 0.0) return wi;
  float outer = sqrt(outer2);
  float across = (index * cosine - outer) / (index * cosine + outer);
  float along = (cosine - index * outer) / (cosine + index * outer);
  passed = vec2(1.0 - 0.5 * (across * across + along * along), index * index * cosine / max(outer, 0.1));
  return normalize(index * wi + (outer - index * cosine) * (vec3(0.0, 0.0, 1.0) + 2.0 * cosine * wi));
}

// One light and an environment of \`samples\` directions. The map is read as wide as one of \`width\` samples.
// toWorld: tangent, bitangent, normal. The loop calls the long decoder at one place, which compiles faster.
vec3 neuralLight(const in NeuralSurface s, vec3 toLight, vec3 lightColour, mat3 toWorld, int samples, float width, vec2 random) {
  if (s.wo.z <= 0.0) return vec3(0.0);
  vec3 direct = vec3(0.0);
  vec3 sampled = vec3(0.0);
  vec3 albedo[2] = vec3[2](vec3(0.0), vec3(0.0));
  vec3 cosineLobe[2] = vec3[2](vec3(0.0), vec3(0.0));
  float n = max(float(samples), 1.0);
  for (int i = -1; i < samples; i++) {
    vec3 wi = toLight;
    float density = 1.0;
    if (i >= 0) {
      wi = neuralDraw(s, fract(vec2((float(i) + 0.5) / n, float(i) * 0.6180339887498949) + random));
      density = neuralPdf(s, wi);
    }
    if (density <= 0.0) continue;
    vec3 ratio = neuralShade(s, wi) / density;
    if (i < 0) {
      // what a solid refracts of one light is a caustic, which is not shown
      if (wi.z >= 0.0 || s.index == 1.0) direct = ratio * lightColour;
      continue;
    }
    int side = wi.z < 0.0 ? 1 : 0;
    vec2 passed;
    vec3 from = neuralBehind(wi, s.index, passed);
    vec3 light = passed.x * neuralRadiance(toWorld * from, passed.y / (width * density));
    sampled += ratio * light;
    albedo[side] += ratio;
    cosineLobe[side] += abs(wi.z) / (neuralPi * density) * light;
  }
  vec3 surrounding = sampled;
  for (int side = 0; side < 2; side++) {
    // a solid has no diffuse light from below
    if (side == 1 && s.index != 1.0) continue;
    vec3 smoothly = neuralIrradiance(side == 0 ? toWorld[2] : -toWorld[2]) / neuralPi - cosineLobe[side] / n;
    surrounding += ${diffuse("s.sides[side]")} * albedo[side] * smoothly;
  }
  return samples > 0 ? direct + max(surrounding / n, 0.0) : direct;
}

vec3 neuralEnvironmentLight(const in NeuralSurface s, mat3 toWorld, int samples, float width, vec2 random) {
  return neuralLight(s, vec3(0.0, 0.0, 1.0), vec3(0.0), toWorld, samples, width, random);
}

// Three fixed directions for each GGX lobe and two for diffuse light, on each side.
vec3 neuralEnvironmentSplit(const in NeuralSurface s, mat3 toWorld) {
  if (s.wo.z <= 0.0) return vec3(0.0);
  vec2 across = dot(s.wo.xy, s.wo.xy) > 1e-6 ? normalize(vec2(-s.wo.y, s.wo.x)) : vec2(1.0, 0.0);
  vec3 result = vec3(0.0);
  for (int i = 0; i < ${2 * (3 * F + 2)}; i++) {
    int which = i < ${3 * F + 2} ? 0 : 1;
    int own = i - which * ${3 * F + 2};
    NeuralSide side = s.sides[which];
    vec3 wi = sqrt(0.5) * vec3(own == ${3 * F} ? across : -across, 1.0);
    float share = 0.5 * ${diffuse("side")};
    float solidAngle = 0.0;
    if (own < ${3 * F}) {
      int k = own / 3;
      int point = own - 3 * k;
      vec2 random = vec2((side.widths[k].y > side.widths[k].x ? 0.25 : 0.0) + (point == 2 ? 0.5 : 0.0), point == 0 ? 0.0 : 0.5);
      vec3 d = neuralDrawGgx(side.above[k], side.widths[k], random);
      wi = side.lobe[k] * d;
      share = side.weights[k] / 3.0;
      solidAngle = 1.0 / (3.0 * max(neuralGgxPdf(d, side.above[k], side.widths[k]), 1e-3));
    }
    if (wi.z <= 0.0) continue;
    share /= neuralPdfSide(side, wi);
    vec2 passed = vec2(1.0);
    vec3 from = wi;
    if (which == 1) {
      vec4 below = neuralPassed(wi, s.wo, s.index);
      if (below.z >= 0.0) continue;
      wi = below.xyz;
      from = neuralBehind(wi, s.index, passed);
      // the mirrored direction's solid angle is so much larger
      share /= max(below.w, 1e-3);
      passed.y /= max(below.w, 1e-3);
    }
    vec3 diffuse = neuralIrradiance(which == 0 ? toWorld[2] : -toWorld[2]) / neuralPi;
    vec3 light = own < ${3 * F} ? neuralRadiance(toWorld * from, passed.y * solidAngle) : diffuse;
    result += share * passed.x * neuralShade(s, wi) * light;
  }
  return result;
}
`;
}
