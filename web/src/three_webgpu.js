// SPDX-License-Identifier: Apache-2.0

import {
  CubeRenderTarget,
  DataUtils,
  FloatType,
  HalfFloatType,
  LightingModel,
  LightingNode,
  LinearFilter,
  LinearMipmapLinearFilter,
  NodeMaterial,
  SRGBColorSpace,
  Vector2,
  Vector3,
  Vector4,
} from "three/webgpu";
import {
  attribute,
  buffer,
  cameraWorldMatrix,
  cubeTexture,
  float,
  frontFacing,
  normalViewGeometry,
  positionView,
  positionViewDirection,
  sampler,
  screenCoordinate,
  select,
  tangentView,
  texture as textureOf,
  uniform,
  uniformArray,
  uv,
  vec4,
  wgsl,
  wgslFn,
} from "three/tsl";
import { CUBE_WIDTH, irradianceHarmonics } from "./environment.js";
import { VerdigrisError } from "./errors.js";
import { followLink } from "./link.js";
import { liveNumbers, liveValues, liveVector } from "./live.js";
import { shaderKey } from "./network.js";
import { packNumbers } from "./packing.js";
import { makeTexture } from "./three_textures.js";
import { readsBlocks } from "./webgpu.js";
import { decoderWgsl } from "./wgsl.js";
import { environmentWgsl } from "./wgsl_environment.js";
import { reliefWgsl } from "./wgsl_relief.js";

/** Directions of environment light for each pixel, by default. */
const SAMPLES = 16;
/** Bytes of a uniform buffer on every device. */
const LARGEST_UNIFORM = 65536;

/**
 * A three.js material (WebGPURenderer) of a loaded bundle: lights and their shadows, fog, instancing and
 * skinning are three.js's own.
 *
 *     await renderer.init();
 *     const material = new NeuralNodeMaterial(await loadMaterial("copper_tray.vdg"), renderer);
 *     material.environment = await makeEnvironment(renderer, equirectangularTexture);
 */
export class NeuralNodeMaterial extends NodeMaterial {
  static get type() {
    return "NeuralNodeMaterial";
  }

  /**
   * @param {import("./material.js").Material} loaded
   * @param {import("three/webgpu").WebGPURenderer} renderer
   * @param {{samples?: number, flipV?: boolean, tangents?: boolean, filter?: "sampled" | "exact"}} options
   *   as for NeuralMaterial
   */
  constructor(loaded, renderer, { samples = SAMPLES, flipV = false, tangents = false, filter = "sampled" } = {}) {
    super();
    const { backend } = renderer;
    if (!backend?.isWebGPUBackend || !backend.device) {
      throw new VerdigrisError(loaded.name, "needs a WebGPURenderer that runs on WebGPU: await renderer.init() first, or use NeuralMaterial with a WebGLRenderer");
    }
    this.lights = true;
    this.fog = true;
    this.premultipliedAlpha = true;
    this.samples = samples;
    this._environment = null;
    this._intensity = uniform(1);
    this._tiles = uniform(new Vector4(1, 1, 0, 0));
    this._live = uniform(new Vector3());
    this._range = uniform(new Vector2());
    this._device = backend.device;
    this._options = { flipV, tangents, filter };
    this._textures = {};
    this._nodes = {};
    this.colorNode = vec4(1);
    this.update(loaded);
  }

  /**
   * Shows another state of the material, as a live link does. Numbers and texels are replaced; the shader stays if it fits.
   * @returns {boolean} whether the shader stays
   */
  update(loaded) {
    const key = shaderKey(loaded);
    const fits = key === this._key;
    const reads = (format) => readsBlocks(this._device, format);
    for (const name of ["latents", "emission", "opacity", "relief"]) {
      const before = this._textures[name] ?? null;
      this._textures[name] = loaded[name] && makeTexture(loaded[name], reads, loaded.manifest[name].file, before);
      if (!loaded[name]) before?.dispose();
      else if (fits) this._nodes[name].value = this._textures[name];
    }
    if (loaded.relief) this._range.value.set(loaded.relief.scale, loaded.relief.midlevel);
    if (fits) this._decoder.floats.set(packNumbers(loaded).floats);
    else this._compile(loaded);
    this._key = key;
    /** The loaded bundle. */
    this.loaded = loaded;
    return fits;
  }

  _compile(loaded) {
    const { flipV, tangents, filter } = this._options;
    const { emission, opacity } = loaded;
    this.name = `Verdigris ${loaded.name}`;
    this.transparent = Boolean(opacity);
    this._live.value.set(...liveVector(liveNumbers(loaded)));
    const place = flipV ? uv().mul(vec4(1, -1, 0, 0).xy).add(vec4(0, 1, 0, 0).xy) : uv();
    const places = place.mul(this._tiles.xy).add(this._tiles.zw);
    this._decoder = new Decoder(loaded, this._textures, filter, places, tangents, this._live, this._range);
    const mapOf = (name) => {
      this._nodes[name] = textureOf(this._textures[name], this._decoder.seen).level(this._decoder.lodOf(places));
      return this._nodes[name];
    };
    this._nodes = { latents: this._decoder.latents, relief: this._decoder.heights };
    this.opacityNode = opacity ? mapOf("opacity").r : null;
    this.emissiveNode = emission ? mapOf("emission").rgb : null;
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
    return this._environment;
  }

  set environment(made) {
    this._environment = made;
    this.needsUpdate = true;
  }

  /** Factor of the environment's light. */
  get environmentIntensity() {
    return this._intensity.value;
  }

  set environmentIntensity(value) {
    this._intensity.value = value;
  }

  /** Values of the live inputs by name, in their own units: `material.live = { wetness: 0.5 }`. Others stay. */
  get live() {
    return liveValues(this.loaded, this._live.value.toArray());
  }

  set live(values) {
    this._live.value.set(...liveVector(liveNumbers(this.loaded, values, this._live.value.toArray())));
  }

  /** Repetitions of the material along u and v, and their offset. */
  tile(u, v = u, offsetU = 0, offsetV = 0) {
    this._tiles.value.set(u, v, offsetU, offsetV);
    return this;
  }

  customProgramCacheKey() {
    return `${super.customProgramCacheKey()} ${this._environment?.map.uuid} ${this.samples} ${this._key}`;
  }

  setupLightingModel() {
    return new NeuralLightingModel(this._decoder);
  }

  setupMaterialLightings(builder) {
    const others = super.setupMaterialLightings(builder);
    if (!this._environment || !this.samples) return others;
    return [...others, new NeuralEnvironmentNode(this._decoder, this._environment, this.samples, this._intensity)];
  }

  /** The response already contains what the surface covers. */
  setupPremultipliedAlpha(builder, outputNode) {
    return outputNode;
  }

  dispose() {
    this.link?.close();
    for (const each of Object.values(this._textures)) each?.dispose();
    super.dispose();
  }
}

/** The decoder's shader text, and the nodes that call it. */
class Decoder {
  constructor(loaded, { latents, relief }, filter, places, tangents, live, range) {
    this.loaded = loaded;
    const { floats, count } = packNumbers(loaded);
    if (floats.byteLength > LARGEST_UNIFORM) {
      throw new VerdigrisError(loaded.name, `has a decoder of ${floats.byteLength} bytes, and a uniform buffer holds ${LARGEST_UNIFORM}: use src/webgpu.js or WebGLRenderer`);
    }
    this.floats = floats;
    // three.js declares the resources under their names
    const numbers = buffer(floats, "vec4", count).setName("neuralNumbers");
    const read = textureOf(latents).setName("neuralLatents");
    this.latents = read;
    const text = decoderWgsl(loaded, { filter })
      .replace(/^fn neuralEvaluate[\s\S]*?^}\n/m, "")
      .replace(/^@group\(\d+\) @binding\(\d+\) var.*\n/gm, "")
      .replaceAll("neuralNumbers[", "neuralNumbers.value[")
      .replaceAll("neuralSampler", "neuralLatents_sampler")
      .replaceAll("ptr<function, NeuralSurface>", "ptr<private, NeuralSurface>");
    const heights = relief && textureOf(relief).setName("neuralHeights");
    this.heights = heights;
    this.code = wgsl(`${text}${PLACE}${relief ? RELIEF + reliefWgsl() : ""}`);
    const hasLive = loaded.live.length > 0;
    const begin = wgslFn(beginWgsl(hasLive, Boolean(relief)), [this.code]);
    const along = tangents ? vec4(tangentView, attribute("tangent", "vec4").w) : vec4(0);
    // later calls take its result, so it comes first
    this.begun = begin({
      latents: read,
      latentsSampler: sampler(read),
      first: numbers.element(0),
      place: places,
      position: positionView,
      toEye: positionViewDirection,
      upward: normalViewGeometry,
      along,
      facing: select(frontFacing, float(1), float(-1)),
      ...(hasLive && { live }),
      ...(relief && { heights, range }),
    }).toVar();
    /** Where the maps are read. */
    this.seen = relief ? wgslFn(SEEN, [this.code])({ begun: this.begun }) : places;
    const shade = relief ? shadeRelief(loaded) : SHADE;
    this.shade = wgslFn(loaded.transmission ? shade.replace("neuralShade(", "neuralShadeLamp(") : shade, [this.code]);
    // of the maps
    const lod = wgslFn(LOD);
    this.lodOf = (place) => lod({ latents: read, place }).max(0);
  }
}

class NeuralLightingModel extends LightingModel {
  constructor(decoder) {
    super();
    this.decoder = decoder;
  }

  direct({ lightDirection, lightColor, reflectedLight }) {
    const { begun, shade } = this.decoder;
    reflectedLight.directDiffuse.addAssign(lightColor.mul(shade({ begun, light: lightDirection })));
  }
}

class NeuralEnvironmentNode extends LightingNode {
  static get type() {
    return "NeuralEnvironmentNode";
  }

  constructor(decoder, { map, harmonics }, samples, intensity) {
    super();
    Object.assign(this, { decoder, map, harmonics, samples, intensity });
  }

  setup(builder) {
    const { code, begun, loaded } = this.decoder;
    const map = cubeTexture(this.map).setName("neuralEnvironment");
    const harmonics = uniformArray(this.harmonics, "vec4").setName("neuralHarmonics");
    const names = { map: "neuralEnvironment", sampler: "neuralEnvironment_sampler", harmonics: "neuralHarmonics.value", space: "private" };
    const light = wgslFn(SURROUNDINGS.replace("SAMPLES", this.samples), [code, wgsl(environmentWgsl(loaded, names))]);
    const found = light({ begun, map, mapSampler: sampler(map), first: harmonics.element(0), world: cameraWorldMatrix, pixel: screenCoordinate });
    builder.context.reflectedLight.indirectDiffuse.addAssign(found.mul(this.intensity));
  }
}

/**
 * Light of an equirectangular texture, for NeuralNodeMaterial.environment. Take the sun out of the texture
 * first, and use a DirectionalLight in its place.
 */
export async function makeEnvironment(renderer, texture) {
  const cube = cubeOf(renderer, texture, CUBE_WIDTH, true);
  const width = 32;
  const small = cubeOf(renderer, texture, width, false);
  const faces = [];
  for (let face = 0; face < 6; face++) faces.push(await readFace(renderer, small, width, face));
  small.dispose();
  const harmonics = irradianceHarmonics(faces, width).map(([r, g, b]) => new Vector4(r, g, b, 0));
  return { map: cube.texture, harmonics, dispose: () => cube.dispose() };
}

function cubeOf(renderer, texture, width, isMipmapped) {
  const { minFilter } = texture;
  texture.minFilter = isMipmapped ? LinearMipmapLinearFilter : LinearFilter;
  try {
    return new CubeRenderTarget(width).fromEquirectangularTexture(renderer, texture);
  } finally {
    texture.minFilter = minFilter;
  }
}

/** Linear RGBA of a face with any type of texels. */
async function readFace(renderer, target, width, face) {
  const { type, colorSpace } = target.texture;
  const texels = await renderer.readRenderTargetPixelsAsync(target, 0, 0, width, width, 0, face);
  if (type === FloatType) return texels;
  if (type === HalfFloatType) return Float32Array.from(texels, DataUtils.fromHalfFloat);
  const linear = colorSpace === SRGBColorSpace ? (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4) : (v) => v;
  return Float32Array.from(texels, (v) => linear(v / 255));
}

// The surface of the pixel, which is private because functions of TSL pass no structures by reference.
const PLACE = `
var<private> neuralPlace: NeuralSurface;
var<private> neuralToView: mat3x3f;  // tangent, bitangent, normal
`;

// The place that the relief shows, and the surface's own frame.
const RELIEF = `
var<private> neuralRange: vec2f;
var<private> neuralExtent: vec2f;  // length of dP/du and dP/dv
var<private> neuralReliefLevel: f32;
var<private> neuralSeen: NeuralRelief;
var<private> neuralBaseToView: mat3x3f;
`;

const SEEN = `fn neuralSeenUv(begun: f32) -> vec2f { return neuralSeen.uv; }`;

// Light from below passes through the surface, and the relief throws no shadow on it.
const shadeRelief = ({ transmission }) => `fn neuralShadeLight(begun: f32, light: vec3f) -> vec3f {
  let wi = light * neuralBaseToView;
  var lit = neuralReliefShadow(neuralSeen, wi, neuralExtent, neuralReliefLevel);
${transmission ? "  if (wi.z < 0.0) { lit = 1.0; }\n" : ""}  return lit * neuralShade(&neuralPlace, light * neuralToView);
}`;

const SEE_RELIEF = `  neuralRange = range;
  neuralReliefLevel = neuralReliefLod(uvX, uvY);
  neuralBaseToView = neuralToView;
  neuralSeen = neuralRelief(place, seen, neuralExtent, neuralReliefLevel);
  neuralToView = neuralToView * neuralReliefFrame(neuralReliefNormal(neuralSeen.uv, neuralExtent, neuralReliefLevel));
  wo = normalize(toEye) * neuralToView;
  seen = normalize(vec3f(wo.xy, max(wo.z, 1e-3)));
`;

function beginWgsl(hasLive, hasRelief) {
  const uv = hasRelief ? "neuralSeen.uv" : "place";
  return `fn neuralBegin(latents: texture_2d_array<f32>, latentsSampler: sampler, first: vec4f, place: vec2f, position: vec3f, toEye: vec3f, upward: vec3f, along: vec4f, facing: f32${hasLive ? ", live: vec3f" : ""}${hasRelief ? ", heights: texture_2d<f32>, range: vec2f" : ""}) -> f32 {
  // dP/du, y towards growing v
  let uvX = dpdx(place);
  let uvY = dpdy(place);
  let positionX = dpdx(position);
  let positionY = dpdy(position);
  let area = uvX.x * uvY.y - uvX.y * uvY.x;
  var alongU = (positionX * uvY.y - positionY * uvX.y) * sign(area);
  let alongV = (positionY * uvX.x - positionX * uvY.x) * sign(area);
${hasRelief ? "  neuralExtent = vec2f(length(alongU), length(alongV)) / max(abs(area), 1e-20);\n" : ""}  var normal = normalize(upward);
  var side = select(1.0, -1.0, dot(cross(normal, alongU), alongV) < 0.0);
  normal *= facing;
  if (along.w != 0.0) {
    alongU = along.xyz;
    side = along.w;
  }
  var tangent = alongU - normal * dot(normal, alongU);
  if (dot(tangent, tangent) > 1e-20) { tangent = normalize(tangent); }
  else { tangent = normalize(cross(normal, vec3f(0.4, 0.9, 0.1))); }
  neuralToView = mat3x3f(tangent, side * facing * cross(normal, tangent), normal);
  ${hasRelief ? "var" : "let"} wo = normalize(toEye) * neuralToView;
  let lod = neuralLod(uvX, uvY);
  // at a silhouette, smooth normals can point away from the viewer
  ${hasRelief ? "var" : "let"} seen = normalize(vec3f(wo.xy, max(wo.z, 1e-3)));
${hasRelief ? SEE_RELIEF : ""}  neuralPlace = ${hasLive ? `neuralPrepareLive(${uv}, lod, seen, live)` : `neuralPrepare(${uv}, lod, seen)`};
  return lod;
}`;
}

const SHADE = `fn neuralShadeLight(begun: f32, light: vec3f) -> vec3f {
  return neuralShade(&neuralPlace, light * neuralToView);
}`;

// As neuralLod(), without the decoder's text.
const LOD = `fn neuralMapLod(latents: texture_2d_array<f32>, place: vec2f) -> f32 {
  let size = vec2f(textureDimensions(latents, 0));
  let x = dpdx(place) * size;
  let y = dpdy(place) * size;
  return 0.5 * log2(max(max(dot(x, x), dot(y, y)), 1e-12));
}`;

const SURROUNDINGS = `fn neuralSurroundings(begun: f32, map: texture_cube<f32>, mapSampler: sampler, first: vec4f, world: mat4x4f, pixel: vec2f) -> vec3f {
  // cube maps that three.js renders on WebGPU are mirrored in x
  let mirrored = vec3f(-1.0, 1.0, 1.0);
  let toWorld = mat3x3f(world[0].xyz * mirrored, world[1].xyz * mirrored, world[2].xyz * mirrored) * neuralToView;
  return neuralEnvironmentLight(&neuralPlace, toWorld, SAMPLES, neuralRandom(vec2u(pixel)));
}`;
