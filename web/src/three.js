// SPDX-License-Identifier: Apache-2.0

import {
  Color,
  DataTexture,
  DataUtils,
  FloatType,
  GLSL3,
  HalfFloatType,
  LinearFilter,
  LinearMipmapLinearFilter,
  NearestFilter,
  RGBAFormat,
  SRGBColorSpace,
  ShaderMaterial,
  Uniform,
  UniformsGroup,
  UniformsLib,
  UniformsUtils,
  Vector2,
  Vector3,
  Vector4,
  WebGLCubeRenderTarget,
} from "three";
import { CUBE_WIDTH, environmentGlsl, irradianceHarmonics } from "./environment.js";
import { FORMATS } from "./formats.js";
import { ALONG_TEXTURE, decoderGlsl } from "./glsl.js";
import { followLink } from "./link.js";
import { liveNumbers, liveValues, liveVector } from "./live.js";
import { shaderKey } from "./network.js";
import { packNumbers } from "./packing.js";
import { RELIEF_EXTENT, RELIEF_PLACE, reliefLightGlsl } from "./relief.js";
import { makeTexture } from "./three_textures.js";
import { isSoftware, paddedNumbers } from "./webgl2.js";

/** Directions of environment light for each pixel, by default. */
const SAMPLES = 16;
/** Textures of a bundle, with their uniforms and definitions. */
const TEXTURES = [
  ["latents", "neuralLatents"],
  ["emission", "neuralEmission", "NEURAL_EMISSION"],
  ["opacity", "neuralOpacity", "NEURAL_OPACITY"],
  ["relief", "neuralHeights"],
];

/**
 * A three.js material (WebGLRenderer) of a loaded bundle. It takes directional, point and spot lights with
 * their shadows, fog, instancing, skinning and an environment.
 *
 *     const material = new NeuralMaterial(await loadMaterial("copper_tray.vdg"), renderer);
 *     material.environment = makeEnvironment(renderer, equirectangularTexture);
 */
export class NeuralMaterial extends ShaderMaterial {
  /**
   * @param {import("./material.js").Material} loaded
   * @param {import("three").WebGLRenderer} renderer
   * @param {{samples?: number, split?: boolean, flipV?: boolean, tangents?: boolean, filter?: "sampled" | "exact"}} options
   *   samples: directions of environment light; split: a few fixed directions without noise instead;
   *   flipV: for meshes whose v points down, as glTF; tangents: use the geometry's attribute `tangent`
   */
  constructor(loaded, renderer, { samples = SAMPLES, split = false, flipV = false, tangents = false, filter = "sampled" } = {}) {
    super({
      glslVersion: GLSL3,
      lights: true,
      fog: true,
      premultipliedAlpha: true,
      defines: { ...(tangents && { USE_TANGENT: "" }), ...(flipV && { NEURAL_FLIP_V: "" }) },
      uniforms: {
        ...UniformsUtils.clone(UniformsLib.lights),
        ...UniformsUtils.clone(UniformsLib.fog),
        neuralTiles: new Uniform(new Vector4(1, 1, 0, 0)),
        neuralEnvironment: new Uniform(null),
        neuralHarmonics: new Uniform(Array.from({ length: 9 }, () => new Vector3())),
        neuralAmbient: new Uniform(new Color(0)),
        neuralIntensity: new Uniform(1),
      },
      vertexShader: VERTEX,
    });
    this.split = split;
    this.samples = samples;
    this._renderer = renderer;
    this._filter = filter;
    this.update(loaded);
  }

  /**
   * Shows another state of the material, as a live link does. Numbers and texels are replaced; the shader stays if it fits.
   * @returns {boolean} whether the shader stays
   */
  update(loaded) {
    const renderer = this._renderer;
    const gl = renderer.getContext();
    const packed = packNumbers(loaded);
    const isBlock = packed.floats.byteLength <= gl.getParameter(gl.MAX_UNIFORM_BLOCK_SIZE) && !isSoftware(gl);
    const key = `${isBlock} ${shaderKey(loaded)}`;
    const fits = key === this._key;
    const { uniforms } = this;
    const reads = (format) => renderer.extensions.has(FORMATS[format].blocks.extension);
    for (const [field, name] of TEXTURES) {
      const before = uniforms[name]?.value ?? null;
      if (!loaded[field]) {
        before?.dispose();
        delete uniforms[name];
        continue;
      }
      const made = makeTexture(loaded[field], reads, loaded.manifest[field].file, before);
      (uniforms[name] ??= new Uniform(null)).value = made;
    }
    if (!fits) this._compile(loaded, packed, isBlock);
    else if (isBlock) this.uniformsGroups[0].uniforms[0].value.forEach((each, index) => each.fromArray(packed.floats, 4 * index));
    else {
      uniforms.neuralNumbers.value.image.data.set(packed.floats);
      uniforms.neuralNumbers.value.needsUpdate = true;
    }
    if (loaded.relief) (uniforms.neuralRange ??= new Uniform(new Vector2())).value.set(loaded.relief.scale, loaded.relief.midlevel);
    this._key = key;
    /** The loaded bundle. */
    this.loaded = loaded;
    return fits;
  }

  _compile(loaded, packed, isBlock) {
    const { uniforms, defines } = this;
    this.name = `Verdigris ${loaded.name}`;
    this.transparent = Boolean(loaded.opacity);
    for (const [field, , define] of TEXTURES) {
      if (define && loaded[field]) defines[define] = "";
      else delete defines[define];
    }
    this._disposeNumbers();
    if (isBlock) this.uniformsGroups = [numbersBlock(packed.floats)];
    else uniforms.neuralNumbers = new Uniform(numbersTexture(packed));
    if (loaded.live.length) uniforms.neuralLive = new Uniform(new Vector3(...liveVector(liveNumbers(loaded))));
    else delete uniforms.neuralLive;
    this.fragmentShader = fragment(loaded, isBlock, this._filter);
    this.needsUpdate = true;
  }

  /**
   * Shows the material of a live link from now on: `material.connect(address)`. Takes the options of connectLink, and a
   * link of it in place of an address.
   * @returns the link, with `close()`
   */
  connect(address, options = {}) {
    return followLink(this, address, options);
  }

  /** An environment of makeEnvironment(), or null. */
  get environment() {
    return this._environment ?? null;
  }

  set environment(made) {
    this._environment = made;
    this.uniforms.neuralEnvironment.value = made?.map ?? null;
    made?.harmonics.forEach((each, index) => this.uniforms.neuralHarmonics.value[index].copy(each));
    const samples = this.split ? -1 : this.samples;
    if (made && samples) this.defines.NEURAL_SAMPLES = samples;
    else delete this.defines.NEURAL_SAMPLES;
    this.needsUpdate = true;
  }

  /** Factor of the environment's light. */
  get environmentIntensity() {
    return this.uniforms.neuralIntensity.value;
  }

  set environmentIntensity(value) {
    this.uniforms.neuralIntensity.value = value;
  }

  /** Values of the live inputs by name, in their own units: `material.live = { wetness: 0.5 }`. Others stay. */
  get live() {
    return liveValues(this.loaded, this.uniforms.neuralLive?.value.toArray() ?? []);
  }

  set live(values) {
    const vector = this.uniforms.neuralLive?.value;
    const numbers = liveNumbers(this.loaded, values, vector?.toArray() ?? []);
    vector?.set(...liveVector(numbers));
  }

  /** Repetitions of the material along u and v, and their offset. */
  tile(u, v = u, offsetU = 0, offsetV = 0) {
    this.uniforms.neuralTiles.value.set(u, v, offsetU, offsetV);
    return this;
  }

  _disposeNumbers() {
    this.uniforms.neuralNumbers?.value.dispose();
    delete this.uniforms.neuralNumbers;
    for (const group of this.uniformsGroups ?? []) group.dispose();
    this.uniformsGroups = [];
  }

  dispose() {
    this.link?.close();
    for (const [, name] of TEXTURES) this.uniforms[name]?.value?.dispose();
    this._disposeNumbers();
    super.dispose();
  }
}

/**
 * Light of an equirectangular texture, such as HDRLoader loads, for NeuralMaterial.environment. Take the
 * sun out of the texture first, and use a DirectionalLight in its place.
 */
export function makeEnvironment(renderer, texture) {
  const cube = cubeOf(renderer, texture, CUBE_WIDTH, true);
  const width = 32;
  const small = cubeOf(renderer, texture, width, false);
  const faces = Array.from({ length: 6 }, (_, face) => readFace(renderer, small, width, face));
  small.dispose();
  const harmonics = irradianceHarmonics(faces, width).map((each) => new Vector3(...each));
  return { map: cube.texture, harmonics, dispose: () => cube.dispose() };
}

/** three.js gives the cube its source's type and filters, and loaders of HDRIs request no mip levels. */
function cubeOf(renderer, texture, width, isMipmapped) {
  const { generateMipmaps, minFilter } = texture;
  texture.generateMipmaps = isMipmapped;
  texture.minFilter = isMipmapped ? LinearMipmapLinearFilter : LinearFilter;
  try {
    return new WebGLCubeRenderTarget(width).fromEquirectangularTexture(renderer, texture);
  } finally {
    Object.assign(texture, { generateMipmaps, minFilter });
  }
}

/** Linear RGBA of a face with any type of texels. */
function readFace(renderer, target, width, face) {
  const { type, colorSpace } = target.texture;
  const Texels = { [FloatType]: Float32Array, [HalfFloatType]: Uint16Array }[type] ?? Uint8Array;
  const texels = new Texels(4 * width * width);
  renderer.readRenderTargetPixels(target, 0, 0, width, width, texels, face);
  if (type === FloatType) return texels;
  if (type === HalfFloatType) return Float32Array.from(texels, DataUtils.fromHalfFloat);
  const linear = colorSpace === SRGBColorSpace ? (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4) : (v) => v;
  return Float32Array.from(texels, (v) => linear(v / 255));
}

function numbersTexture(packed) {
  const { data, width, height } = paddedNumbers(packed);
  const texture = new DataTexture(data, width, height, RGBAFormat, FloatType);
  texture.minFilter = texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
}

function numbersBlock(floats) {
  const values = Array.from({ length: floats.length / 4 }, (_, index) => new Vector4().fromArray(floats, 4 * index));
  const group = new UniformsGroup();
  group.setName("NeuralNumbers");
  group.add(new Uniform(values));
  return group;
}

const VERTEX = `
#include <common>
#include <batching_pars_vertex>
#include <morphtarget_pars_vertex>
#include <skinning_pars_vertex>
#include <shadowmap_pars_vertex>
#include <fog_pars_vertex>
#include <logdepthbuf_pars_vertex>
#include <clipping_planes_pars_vertex>
out vec3 neuralPosition;
out vec3 neuralNormal;
out vec2 neuralUv;
#ifdef USE_TANGENT
out vec4 neuralTangent;
#endif
uniform vec4 neuralTiles;
void main() {
  #include <batching_vertex>
  #include <beginnormal_vertex>
  #include <morphinstance_vertex>
  #include <morphnormal_vertex>
  #include <skinbase_vertex>
  #include <skinnormal_vertex>
  #include <defaultnormal_vertex>
  #include <begin_vertex>
  #include <morphtarget_vertex>
  #include <skinning_vertex>
  #include <project_vertex>
  #include <logdepthbuf_vertex>
  #include <clipping_planes_vertex>
  neuralPosition = mvPosition.xyz;
  neuralNormal = transformedNormal;
  neuralUv = uv;
  #ifdef NEURAL_FLIP_V
  neuralUv.y = 1.0 - uv.y;
  #endif
  neuralUv = neuralUv * neuralTiles.xy + neuralTiles.zw;
  #ifdef USE_TANGENT
  neuralTangent = vec4(transformedTangent, tangent.w);
  #endif
  #include <worldpos_vertex>
  #include <shadowmap_vertex>
  #include <fog_vertex>
}`;

function fragment(loaded, isBlock, filter) {
  const hasLive = loaded.live.length > 0;
  const shade = loaded.transmission ? "neuralShadeLamp" : "neuralShade";
  const place = loaded.relief ? "neuralSeen.uv" : "neuralUv";
  const lit = loaded.relief ? "neuralReliefLit(toTangent * light.direction) * " : "";
  const turned = loaded.relief ? "(toTangent * light.direction) * neuralTurn" : "toTangent * light.direction";
  return `
#include <common>
#include <packing>
#include <fog_pars_fragment>
#include <bsdfs>
#include <lights_pars_begin>
#include <shadowmap_pars_fragment>
#include <logdepthbuf_pars_fragment>
#include <clipping_planes_pars_fragment>
in vec3 neuralPosition;
in vec3 neuralNormal;
in vec2 neuralUv;
#ifdef USE_TANGENT
in vec4 neuralTangent;
#endif
#ifdef NEURAL_EMISSION
uniform sampler2D neuralEmission;
#endif
#ifdef NEURAL_OPACITY
uniform sampler2D neuralOpacity;
#endif
uniform float neuralIntensity;
${hasLive ? "uniform vec3 neuralLive;" : ""}
layout(location = 0) out highp vec4 neuralColor;
#define gl_FragColor neuralColor
${decoderGlsl(loaded, { filter, numbers: isBlock ? "block" : "texture" })}
${environmentGlsl(loaded)}${loaded.relief ? reliefLightGlsl(loaded) : ""}
// In the loops of three.js's lights:
#define RE_Direct(light, position, n, view, coat, material, reflected) \\
  if (light.visible) neuralSum += light.color * ${lit}${shade}(neuralPlace, ${turned})

void main() {
  #include <clipping_planes_fragment>
  #include <logdepthbuf_fragment>
  vec3 normal = normalize(neuralNormal);
${ALONG_TEXTURE}  float side = dot(cross(normal, alongU), alongV) < 0.0 ? -1.0 : 1.0;
  if (!gl_FrontFacing) normal = -normal;
${loaded.relief ? RELIEF_EXTENT : ""}  #ifdef USE_TANGENT
  alongU = neuralTangent.xyz;
  side = neuralTangent.w;
  #endif
  vec3 tangent = alongU - normal * dot(normal, alongU);
  tangent = dot(tangent, tangent) > 1e-20 ? normalize(tangent) : normalize(cross(normal, vec3(0.4, 0.9, 0.1)));
  vec3 bitangent = side * (gl_FrontFacing ? 1.0 : -1.0) * cross(normal, tangent);
  mat3 toTangent = transpose(mat3(tangent, bitangent, normal));
  vec3 vViewPosition = -neuralPosition;
  vec3 wo = toTangent * (isOrthographic ? vec3(0.0, 0.0, 1.0) : normalize(vViewPosition));
  // at a silhouette, smooth normals can point away from the viewer
  wo = normalize(vec3(wo.xy, max(wo.z, 1e-3)));
  float lod = neuralLod(uvX, uvY);
${loaded.relief ? RELIEF_PLACE : ""}  NeuralSurface neuralPlace = ${hasLive ? `neuralPrepareLive(${place}, lod, wo, neuralLive)` : `neuralPrepare(${place}, lod, wo)`};
  vec3 neuralSum = vec3(0.0);
  ${LIGHTS}
  #ifdef NEURAL_SAMPLES
  mat3 toWorld = transpose(mat3(viewMatrix)) * mat3(tangent, bitangent, normal)${loaded.relief ? " * neuralTurn" : ""};
  #if NEURAL_SAMPLES < 0
  neuralSum += neuralIntensity * neuralEnvironmentSplit(neuralPlace, toWorld);
  #else
  neuralSum += neuralIntensity * neuralEnvironmentLight(neuralPlace, toWorld, NEURAL_SAMPLES, float(NEURAL_SAMPLES), neuralRandom(uvec2(gl_FragCoord.xy)));
  #endif
  #endif
  float alpha = 1.0;
  #ifdef NEURAL_EMISSION
  neuralSum += textureLod(neuralEmission, ${place}, max(lod, 0.0)).rgb;
  #endif
  #ifdef NEURAL_OPACITY
  alpha = textureLod(neuralOpacity, ${place}, max(lod, 0.0)).r;
  #endif
  gl_FragColor = vec4(neuralSum, alpha);
  #include <tonemapping_fragment>
  #include <colorspace_fragment>
  #include <fog_fragment>
}`;
}

// three.js's own loops over lights, which need these names.
const LIGHTS = `struct NeuralNothing { float none; } material, reflectedLight;
  {
  #include <lights_fragment_begin>
  }`;

