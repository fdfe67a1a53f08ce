// SPDX-License-Identifier: Apache-2.0

import { environmentGlsl } from "verdigris/environment.js";
import { reliefGlsl } from "verdigris/relief.js";

/** Half of the field of view is 12 degrees, and a sphere leaves a margin of 6%, as in `verdigris render`. */
export const TAN = Math.tan((12 * Math.PI) / 180);
export const DISTANCE = 1.06 / Math.sin((12 * Math.PI) / 180);

export const PLACE_VERTEX = `out vec2 place;
void main() {
  place = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(place, 0.0, 1.0);
}`;

export const MESH_VERTEX = `layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec2 texcoord;
uniform mat3 turn;
uniform vec4 window;   // scale and shift of the picture's square in the canvas
uniform vec2 jitter;
out vec3 seenPosition;
out vec3 seenNormal;
out vec2 seenUv;
void main() {
  seenPosition = turn * position;
  seenNormal = turn * normal;
  seenUv = texcoord;
  float depth = ${DISTANCE.toFixed(9)} - seenPosition.z;
  vec2 at = (seenPosition.xy / depth / ${TAN.toFixed(9)} - window.zw) / window.xy;
  gl_Position = vec4((at + jitter) * depth, (depth - ${DISTANCE.toFixed(9)}) * 0.5 * depth, depth);
}`;

const SHARED = `
uniform mat3 turn;            // from the shape's axes to the picture's
uniform mat3 lightTurn;       // from the picture's axes to the environment's
uniform vec3 toLight;
uniform vec3 lightColour;
uniform int samples;
uniform float width;          // samples in all, for the filter
uniform vec2 shift;           // of this pass
uniform float tiles;
uniform float earlier;        // passes before this one
uniform float emissionScale;
uniform sampler2D before;
#ifdef HAS_LIVE
uniform vec3 live;            // values of live inputs, from 0 to 1
#endif
#ifdef HAS_EMISSION
uniform sampler2D emissionMap;
#endif
#ifdef HAS_OPACITY
uniform sampler2D opacityMap;
#endif
out vec4 color;

// extent: length of dP/du and dP/dv
vec4 lit(vec3 normal, vec3 tangent, vec3 bitangent, vec3 toEye, vec2 uv, vec2 dx, vec2 dy, vec2 extent) {
  mat3 frame = mat3(tangent, bitangent, normal);
  vec3 wo = toEye * frame;
  wo = normalize(vec3(wo.xy, max(wo.z, 1e-3)));
  float lod = neuralLod(dx, dy);
  vec3 light = lightColour;
#ifdef HAS_RELIEF
  float level = neuralReliefLod(dx, dy);
  NeuralRelief place = neuralRelief(uv, wo, extent, level);
  vec3 wi = toLight * frame;
  if (neuralReliefShadow(place, wi, extent, level) == 0.0 && THROWS_SHADOW) light = vec3(0.0);
  frame = frame * neuralReliefFrame(neuralReliefNormal(place.uv, extent, level));
  wo = toEye * frame;
  wo = normalize(vec3(wo.xy, max(wo.z, 1e-3)));
  uv = place.uv;
#endif
#ifdef HAS_LIVE
  NeuralSurface s = neuralPrepareLive(uv, lod, wo, live);
#else
  NeuralSurface s = neuralPrepare(uv, lod, wo);
#endif
  vec2 random = fract(shift + neuralRandom(uvec2(gl_FragCoord.xy)));
  vec3 sum = neuralLight(s, toLight * frame, light, lightTurn * frame, samples, width, random);
  float alpha = 1.0;
#ifdef HAS_EMISSION
  sum += emissionScale * textureLod(emissionMap, uv, max(lod, 0.0)).rgb;
#endif
#ifdef HAS_OPACITY
  alpha = textureLod(opacityMap, uv, max(lod, 0.0)).r;
#endif
  return vec4(sum, alpha);
}

void keep(vec4 seen) {
  vec4 mean = texelFetch(before, ivec2(gl_FragCoord.xy), 0);
  color = earlier > 0.0 ? mix(mean, seen, 1.0 / (earlier + 1.0)) : seen;
}
`;

function defines(loaded) {
  return `${loaded.emission ? "#define HAS_EMISSION\n" : ""}${loaded.opacity ? "#define HAS_OPACITY\n" : ""}${loaded.live.length ? "#define HAS_LIVE\n" : ""}${loaded.transmission?.index === 1 ? "#define IS_THIN\n" : ""}${relief(loaded)}`;
}

/** Light from below passes through the surface, and the relief throws no shadow on it. */
function relief({ relief, transmission }) {
  return relief ? `#define HAS_RELIEF\n#define THROWS_SHADOW ${transmission ? "(wi.z > 0.0)" : "true"}\n${reliefGlsl()}` : "";
}

/** A sphere or a plane, hit by the ray of each pixel. Adds one pass to the mean of those before. */
export function shapeFragment(decoder, loaded) {
  return `${defines(loaded)}${decoder}${environmentGlsl(loaded)}${SHARED}
in vec2 place;
uniform int shape;            // 0: sphere, 1: plane
uniform vec4 window;
uniform vec2 jitter;
void main() {
  vec2 xy = (place - jitter) * window.xy + window.zw;
  vec3 ray = vec3(xy * ${TAN.toFixed(9)}, -1.0);
  vec3 normal, tangent, bitangent, toEye;
  vec2 uv, extent = vec2(1.0);
  bool isHit;
  if (shape == 0) {
    ray = normalize(ray);
    float along = ${DISTANCE.toFixed(9)} * -ray.z;
    float root = along * along - ${(DISTANCE * DISTANCE - 1).toFixed(9)};
    isHit = root > 0.0;
    normal = normalize(ray * (along - sqrt(max(root, 0.0))) + vec3(0.0, 0.0, ${DISTANCE.toFixed(9)}));
    vec3 own = normal * turn;
    // u wraps around twice, so that texels are about square
    uv = vec2(atan(own.x, own.z) / 3.14159265 + 0.5, 0.5 + asin(clamp(own.y, -1.0, 1.0)) / 3.14159265);
    tangent = turn * normalize(vec3(own.z, 0.0, -own.x) + vec3(1e-7, 0.0, 0.0));
    bitangent = cross(normal, tangent);
    extent = 3.14159265 * vec2(sqrt(max(1.0 - own.y * own.y, 1e-6)), 1.0);
    toEye = -ray;
  } else {
    vec3 eye = vec3(0.0, 0.0, ${(0.5 / TAN).toFixed(9)});
    ray = vec3(xy * 0.5, 0.0) - eye;
    tangent = turn[0];
    bitangent = turn[1];
    normal = turn[2];
    float along = dot(ray, normal);
    float t = -dot(eye, normal) / (abs(along) < 1e-6 ? -1e-6 : along);
    vec3 own = (eye + ray * t) * turn;
    uv = own.xy + 0.5;
#ifdef IS_THIN
    // from behind, a thin wall looks the same
    if (along > 0.0) {
      normal = -normal;
      along = -along;
    }
#endif
    isHit = along < 0.0 && t > 0.0 && abs(own.x) <= 0.5 && abs(own.y) <= 0.5;
    toEye = -normalize(ray);
  }
  // u jumps by whole numbers at the seam
  vec2 dx = dFdx(uv), dy = dFdy(uv);
  dx -= round(dx);
  dy -= round(dy);
  keep(isHit ? lit(normal, tangent, bitangent, toEye, uv * tiles, dx * tiles, dy * tiles, extent / tiles) : vec4(0.0));
}`;
}

/** A mesh. Pixels beside it are cleared when a mean begins. */
export function meshFragment(decoder, loaded) {
  return `${defines(loaded)}${decoder}${environmentGlsl(loaded)}${SHARED}
in vec3 seenPosition;
in vec3 seenNormal;
in vec2 seenUv;
void main() {
  vec3 toEye = normalize(vec3(0.0, 0.0, ${DISTANCE.toFixed(9)}) - seenPosition);
  vec2 dx = dFdx(seenUv), dy = dFdy(seenUv);
  vec3 px = dFdx(seenPosition), py = dFdy(seenPosition);
  float area = dx.x * dy.y - dx.y * dy.x;
  vec3 alongU = (px * dy.y - py * dx.y) * sign(area);
  vec3 alongV = (py * dx.x - px * dy.x) * sign(area);
  vec3 normal = normalize(seenNormal);
  if (dot(cross(px, py), normal) < 0.0) normal = -normal;
  vec3 tangent = alongU - normal * dot(normal, alongU);
  tangent = dot(tangent, tangent) > 1e-24 ? normalize(tangent) : normalize(cross(normal, vec3(0.4, 0.9, 0.1)));
  vec3 bitangent = cross(normal, tangent);
  if (dot(bitangent, alongV) < 0.0) bitangent = -bitangent;
  vec2 extent = vec2(length(alongU), length(alongV)) / max(abs(area), 1e-20);
  keep(lit(normal, tangent, bitangent, toEye, seenUv * tiles, dx * tiles, dy * tiles, extent / tiles));
}`;
}

/** Puts the mean on the canvas: backdrop, exposure, shoulder, and the comparison with a reference. */
export const SHOW_FRAGMENT = `in vec2 place;
uniform sampler2D mean;
uniform sampler2D reference;
uniform highp samplerCube environment;
uniform mat3 lightTurn;
uniform float exposure;
uniform bool hasShoulder;
uniform bool hasBackdrop;     // the environment, out of focus
uniform vec4 window;
uniform int compare;          // 0: off, 1: wipe, 2: heat map
uniform float wipe;           // -1 to 1 in the picture's square
uniform float heatTop;
uniform float pixel;          // of the canvas, in the picture's square
out vec4 color;

vec3 display(vec3 linear) {
  linear *= exposure;
  if (hasShoulder) {
    vec3 above = max(linear - 0.7, 0.0) / 0.3;
    linear = mix(linear, 0.7 + 0.3 * above / (1.0 + above), greaterThan(linear, vec3(0.7)));
  }
  linear = clamp(linear, 0.0, 1.0);
  return mix(12.92 * linear, 1.055 * pow(linear, vec3(1.0 / 2.4)) - 0.055, greaterThan(linear, vec3(0.0031308)));
}

vec3 heat(float share) {
  vec3 stops[5] = vec3[5](vec3(0.001, 0.001, 0.004), vec3(0.085, 0.006, 0.150), vec3(0.470, 0.038, 0.070),
                          vec3(0.970, 0.300, 0.010), vec3(0.980, 0.960, 0.520));
  float at = clamp(share, 0.0, 1.0) * 4.0;
  int i = min(int(at), 3);
  vec3 linear = mix(stops[i], stops[i + 1], at - float(i));
  return mix(12.92 * linear, 1.055 * pow(linear, vec3(1.0 / 2.4)) - 0.055, greaterThan(linear, vec3(0.0031308)));
}

void main() {
  vec2 xy = place * window.xy + window.zw;
  vec4 seen = texture(mean, 0.5 * place + 0.5);
  vec3 ray = normalize(vec3(xy * ${TAN.toFixed(9)}, -1.0));
  float down = clamp(0.5 - 0.5 * xy.y, 0.0, 1.0);
  // the screen's corners are darker, so that the shape stands out
  vec3 behind = vec3(mix(0.11, 0.035, down)) / exposure;
  if (hasBackdrop) behind = textureLod(environment, lightTurn * ray, 4.0).rgb;
  vec3 shown = display(seen.rgb + (1.0 - seen.a) * behind);
  if (compare > 0 && max(abs(xy.x), abs(xy.y)) <= 1.0) {
    vec3 other = texture(reference, vec2(0.5 + 0.5 * xy.x, 0.5 - 0.5 * xy.y)).rgb;
    if (compare == 1 && xy.x > wipe) shown = mix(shown, other, step(0.001, seen.a));
    if (compare == 2) {
      vec3 difference = abs(shown - other);
      shown = mix(shown, heat(max(difference.r, max(difference.g, difference.b)) / heatTop), step(0.5, seen.a));
    }
  }
  // breaks up bands
  float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  color = vec4(shown + (noise - 0.5) / 255.0, 1.0);
}`;
