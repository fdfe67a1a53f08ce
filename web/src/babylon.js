// SPDX-License-Identifier: Apache-2.0

import { Constants } from "@babylonjs/core/Engines/constants.js";
import { WebGLHardwareTexture } from "@babylonjs/core/Engines/WebGL/webGLHardwareTexture.js";
import { Light } from "@babylonjs/core/Lights/light.js";
import { ShaderMaterial } from "@babylonjs/core/Materials/shaderMaterial.js";
import { BaseTexture } from "@babylonjs/core/Materials/Textures/baseTexture.js";
import { RawTexture } from "@babylonjs/core/Materials/Textures/rawTexture.js";
import { InternalTexture, InternalTextureSource } from "@babylonjs/core/Materials/Textures/internalTexture.js";
import { Vector2, Vector3, Vector4 } from "@babylonjs/core/Maths/math.vector.js";
import "@babylonjs/core/Engines/Extensions/engine.rawTexture.js";
import "@babylonjs/core/Shaders/ShadersInclude/bonesDeclaration.js";
import "@babylonjs/core/Shaders/ShadersInclude/bonesVertex.js";
import "@babylonjs/core/Shaders/ShadersInclude/clipPlaneFragment.js";
import "@babylonjs/core/Shaders/ShadersInclude/clipPlaneFragmentDeclaration.js";
import "@babylonjs/core/Shaders/ShadersInclude/clipPlaneVertex.js";
import "@babylonjs/core/Shaders/ShadersInclude/clipPlaneVertexDeclaration.js";
import "@babylonjs/core/Shaders/ShadersInclude/fogFragmentDeclaration.js";
import "@babylonjs/core/Shaders/ShadersInclude/fogVertex.js";
import "@babylonjs/core/Shaders/ShadersInclude/fogVertexDeclaration.js";
import "@babylonjs/core/Shaders/ShadersInclude/instancesDeclaration.js";
import "@babylonjs/core/Shaders/ShadersInclude/instancesVertex.js";
import { SHADOW_GLSL, SHADOW_SAMPLERS, SHADOW_SUM, SHADOW_UNIFORMS, bindShadows, shadowDefines, shadowsOn } from "./babylon_shadows.js";
import { environmentGlsl, irradianceHarmonics } from "./environment.js";
import { ALONG_TEXTURE, decoderGlsl } from "./glsl.js";
import { liveNumbers, liveValues, liveVector } from "./live.js";
import { packNumbers } from "./packing.js";
import { RELIEF_EXTENT, RELIEF_PLACE, reliefLightGlsl } from "./relief.js";
import { paddedNumbers, uploadTexture } from "./webgl2.js";

/** Directions of environment light for each pixel, by default. */
const SAMPLES = 16;
/** The lights that a material takes, those with the highest renderPriority first, as Babylon.js sorts them. */
const LIGHTS = 8;

/**
 * A Babylon.js material (WebGL 2 engine) of a loaded bundle. It takes directional, point, spot and hemispheric lights
 * with the units and the physical falloff of PBRMaterial, shadows of directional and spot lights, relief, fog, clip
 * planes, instances, bones and an environment.
 *
 *     sphere.material = new NeuralMaterial(await loadMaterial("copper_tray.vdg"), scene);
 */
export class NeuralMaterial extends ShaderMaterial {
  /**
   * @param {import("./material.js").Material} loaded
   * @param {import("@babylonjs/core").Scene} scene
   * @param {{samples?: number, split?: boolean, flipV?: boolean, filter?: "sampled" | "exact"}} options
   *   samples: directions of environment light; split: a few fixed directions without noise instead; flipV: for meshes
   *   whose v points down, as glTF
   */
  constructor(loaded, scene, { samples = SAMPLES, split = false, flipV = false, filter = "sampled" } = {}) {
    const engine = scene.getEngine();
    if (!engine.version || engine.isWebGPU || engine.webGLVersion < 2) {
      throw new Error(`${loaded.name}: its Babylon.js material needs an Engine on WebGL 2, and this one is ${engine.description}`);
    }
    const { emission, opacity, relief } = loaded;
    const fragment = fragmentText(loaded, filter, split);
    super(
      `Verdigris ${loaded.name}`,
      scene,
      { vertexSource: VERTEX, fragmentSource: fragment },
      {
        attributes: ["position", "normal", "uv"],
        uniforms: ["world", "viewProjection", ...UNIFORMS, ...SHADOW_UNIFORMS],
        samplers: ["neuralLatents", "neuralNumbers", "neuralEnvironment", "neuralEmission", "neuralOpacity", "neuralHeights", ...SHADOW_SAMPLERS],
        useClipPlane: true,
        defines: [
          ...(flipV ? ["#define NEURAL_FLIP_V"] : []),
          ...(emission ? ["#define NEURAL_EMISSION"] : []),
          ...(opacity ? ["#define NEURAL_OPACITY"] : []),
        ],
        needAlphaBlending: Boolean(opacity),
      },
    );
    /** The loaded bundle. */
    this.loaded = loaded;
    this.alphaMode = Constants.ALPHA_PREMULTIPLIED_PORTERDUFF;
    this.samples = split ? -1 : samples;
    this.environmentIntensity = 1;
    this._liveNumbers = liveNumbers(loaded);
    this._tiles = new Vector4(1, 1, 0, 0);
    this._environment = null;
    this._owned = [makeTexture(loaded.latents, scene, loaded.manifest.latents.file), numbersTexture(packNumbers(loaded), scene)];
    this.setTexture("neuralLatents", this._owned[0]);
    this.setTexture("neuralNumbers", this._owned[1]);
    for (const [field, name] of [["emission", "neuralEmission"], ["opacity", "neuralOpacity"], ["relief", "neuralHeights"]]) {
      if (!loaded[field]) continue;
      this._owned.push(makeTexture(loaded[field], scene, loaded.manifest[field].file));
      this.setTexture(name, this._owned.at(-1));
    }
    if (relief) this.setVector2("neuralRange", new Vector2(relief.scale, relief.midlevel));
    this._dark = new BaseTexture(scene, engine.emptyCubeTexture);
    this._bindEnvironment();
    this.onBindObservable.add((mesh) => this._bindNeural(mesh));
  }

  /** An environment of makeEnvironment(), or null. */
  get environment() {
    return this._environment;
  }

  set environment(made) {
    this._environment = made;
    this._bindEnvironment();
  }

  /** Values of the live inputs by name, in their own units: `material.live = { wetness: 0.5 }`. Others stay. */
  get live() {
    return liveValues(this.loaded, this._liveNumbers);
  }

  set live(values) {
    this._liveNumbers = liveNumbers(this.loaded, values, this._liveNumbers);
    this.getScene().resetCachedMaterial();
  }

  /** Repetitions of the material along u and v, and their offset. */
  tile(u, v = u, offsetU = 0, offsetV = 0) {
    this._tiles.set(u, v, offsetU, offsetV);
    return this;
  }

  isReadyForSubMesh(mesh, subMesh, useInstances) {
    const isLit = Boolean(this._environment) || this.getScene().lights.some(isHemispheric);
    const wanted = isLit && this.samples ? String(this.samples) : undefined;
    if (this._lit !== wanted) {
      this._lit = wanted;
      if (wanted) this.setDefine("NEURAL_SAMPLES", wanted);
      else this.setDefine("NEURAL_SAMPLES", false);
    }
    const scene = this.getScene();
    const shadows = shadowDefines(shadowsOn(mesh, lightsOf(mesh, scene), scene), scene.getEngine());
    for (const [name, value] of Object.entries(shadows)) this.setDefine(name, value);
    return super.isReadyForSubMesh(mesh, subMesh, useInstances);
  }

  dispose(forceDisposeEffect, forceDisposeTextures, notBoundToMesh) {
    for (const texture of this._owned) texture.dispose();
    super.dispose(forceDisposeEffect, forceDisposeTextures, notBoundToMesh);
  }

  _bindEnvironment() {
    this.setTexture("neuralEnvironment", this._environment?.map ?? this._dark);
    const harmonics = this._environment?.harmonics ?? Array.from({ length: 9 }, () => [0, 0, 0]);
    this.setArray3("neuralHarmonics", harmonics.flat());
  }

  _bindNeural(mesh) {
    const scene = this.getScene();
    const effect = this.getEffect();
    const camera = scene.activeCamera;
    const isOrthographic = camera.mode === 1;
    const back = new Vector3(0, 0, scene.useRightHandedSystem ? 1 : -1);
    const eye = isOrthographic ? camera.getDirection(back) : camera.globalPosition;
    effect.setFloat4("neuralEye", eye.x, eye.y, eye.z, isOrthographic ? 0 : 1);
    effect.setVector4("neuralTiles", this._tiles);
    effect.setFloat("neuralIntensity", this._environment ? this.environmentIntensity : 1);
    effect.setFloat("neuralSkyZ", scene.useRightHandedSystem !== Boolean(this._environment?.map.invertZ) ? -1 : 1);
    const { isEnabled, applyByPostProcess, exposure } = scene.imageProcessingConfiguration;
    const isLinear = isEnabled && applyByPostProcess;
    effect.setFloat2("neuralDisplay", isLinear ? 1 : exposure, isLinear ? 0 : 1);
    effect.setFloat3("neuralLive", ...liveVector(this._liveNumbers));
    const lights = lightsOf(mesh, scene);
    const [places, axes, colors] = [0, 1, 2].map(() => new Float32Array(4 * LIGHTS));
    const ambient = [0, 0, 0];
    for (const light of (mesh?.lightSources ?? scene.lights).filter(isHemispheric)) {
      // the mean of sky and ground
      const { diffuse: { r, g, b }, groundColor: ground } = light;
      [[r, ground.r], [g, ground.g], [b, ground.b]].forEach(([up, down], channel) => {
        ambient[channel] += 0.5 * light.getScaledIntensity() * (up + down);
      });
    }
    let count = 0;
    for (const light of lights) {
      const power = light.getScaledIntensity();
      const { r, g, b } = light.diffuse;
      const kind = light.getTypeID();
      const isTransformed = light.computeTransformedInformation();
      const position = isTransformed ? light.transformedPosition : light.position;
      const direction = kind && Vector3.Normalize(isTransformed ? light.transformedDirection : light.direction);
      if (kind === Light.LIGHTTYPEID_DIRECTIONALLIGHT) places.set([-direction.x, -direction.y, -direction.z, 0], 4 * count);
      else places.set([position.x, position.y, position.z, 1], 4 * count);
      if (kind === Light.LIGHTTYPEID_SPOTLIGHT) {
        // PBRMaterial's physical falloff: 1% at the half angle
        const sharpness = Math.log2(100) / (1 - Math.cos(0.5 * light.angle));
        axes.set([direction.x, direction.y, direction.z, sharpness], 4 * count);
      }
      colors.set([power * r, power * g, power * b, 0], 4 * count++);
    }
    effect.setInt("neuralLightCount", count);
    effect.setFloatArray4("neuralLightPlaces", places);
    effect.setFloatArray4("neuralLightAxes", axes);
    effect.setFloatArray4("neuralLightColors", colors);
    effect.setFloat3("neuralAmbient", ...ambient);
    bindShadows(effect, shadowsOn(mesh, lights, scene), camera);
  }
}

/** The lights of the sum over lights. */
function lightsOf(mesh, scene) {
  const takes = (light) => light.isEnabled() && light.getTypeID() <= Light.LIGHTTYPEID_SPOTLIGHT;
  return (mesh?.lightSources ?? scene.lights).filter(takes).slice(0, LIGHTS);
}

function isHemispheric(light) {
  return light.getTypeID() === Light.LIGHTTYPEID_HEMISPHERICLIGHT && light.isEnabled();
}

/**
 * Light of a cube map with mip levels, such as an HDRCubeTexture that has loaded, for NeuralMaterial.environment. Take the
 * sun out of it first, and use a DirectionalLight in its place.
 */
export async function makeEnvironment(cube) {
  const width = cube.getSize().width;
  const faces = await Promise.all(Array.from({ length: 6 }, (_, face) => cube.readPixels(face, 0)));
  const scale = faces[0] instanceof Uint8Array ? 1 / 255 : 1;
  const floats = faces.map((texels) => Float32Array.from(texels, (each) => scale * each));
  return { map: cube, harmonics: irradianceHarmonics(floats, width) };
}

/**
 * A texture of a bundle with its own mip levels and blocks. It is uploaded beside the engine, because RawTexture2DArray of
 * the WebGL engine takes no mip levels (9.35: its updateMipLevel overwrites level 0).
 */
function makeTexture(texture, scene, file) {
  const engine = scene.getEngine();
  const gl = engine.getRenderingCanvas().getContext("webgl2");
  const internal = new InternalTexture(engine, InternalTextureSource.Unknown, true);
  internal._hardwareTexture = new WebGLHardwareTexture(uploadTexture(gl, texture, file), gl);
  engine.wipeCaches(true);
  internal.width = internal.baseWidth = texture.width;
  internal.height = internal.baseHeight = texture.height;
  internal.is2DArray = texture.layers > 0;
  internal.samplingMode = Constants.TEXTURE_TRILINEAR_SAMPLINGMODE;
  internal.generateMipMaps = internal.useMipMaps = true;
  internal.isReady = true;
  const made = new BaseTexture(scene, internal);
  made.anisotropicFilteringLevel = 1;
  return made;
}

function numbersTexture(packed, scene) {
  const { data, width, height } = paddedNumbers(packed);
  return RawTexture.CreateRGBATexture(
    data, width, height, scene, false, false, Constants.TEXTURE_NEAREST_SAMPLINGMODE, Constants.TEXTURETYPE_FLOAT,
  );
}

const UNIFORMS = [
  "neuralEye", "neuralTiles", "neuralIntensity", "neuralDisplay", "neuralLive", "neuralLightCount", "neuralLightPlaces",
  "neuralLightAxes", "neuralLightColors", "neuralAmbient", "neuralHarmonics", "neuralSkyZ", "neuralRange",
];

const VERTEX = `
precision highp float;
attribute vec3 position;
attribute vec3 normal;
attribute vec2 uv;
uniform mat4 viewProjection;
uniform vec4 neuralTiles;
varying vec3 neuralPosition;
varying vec3 neuralNormal;
varying vec2 neuralUv;
#include<bonesDeclaration>
#include<instancesDeclaration>
#include<clipPlaneVertexDeclaration>
#include<fogVertexDeclaration>
#ifdef FOG
uniform mat4 view;
#endif
void main() {
  #include<instancesVertex>
  #include<bonesVertex>
  vec4 worldPos = finalWorld * vec4(position, 1.0);
  #include<clipPlaneVertex>
  #include<fogVertex>
  mat3 turn = mat3(finalWorld);
  // the inverse transpose, but for a factor
  neuralNormal = mat3(cross(turn[1], turn[2]), cross(turn[2], turn[0]), cross(turn[0], turn[1])) * normal * sign(determinant(turn));
  neuralPosition = worldPos.xyz;
  neuralUv = uv;
  #ifdef NEURAL_FLIP_V
  neuralUv.y = 1.0 - uv.y;
  #endif
  neuralUv = neuralUv * neuralTiles.xy + neuralTiles.zw;
  gl_Position = viewProjection * worldPos;
}`;

function fragmentText(loaded, filter, split) {
  const hasLive = loaded.live.length > 0;
  const shade = loaded.transmission ? "neuralShadeLamp" : "neuralShade";
  const seen = loaded.relief ? "neuralSeen.uv" : "neuralUv";
  const shaded = loaded.relief
    ? `neuralReliefLit(toTangent * towards) * ${shade}(place, (toTangent * towards) * neuralTurn)`
    : `${shade}(place, toTangent * towards)`;
  return `
precision highp float;
precision highp int;
varying vec3 neuralPosition;
varying vec3 neuralNormal;
varying vec2 neuralUv;
uniform vec4 neuralEye;  // a position, or with w = 0 the direction to the viewer
uniform float neuralIntensity;
uniform float neuralSkyZ;  // -1 where cube maps have the other handedness than the scene
uniform vec2 neuralDisplay;  // exposure, and whether the result is sRGB
uniform vec3 neuralLive;
uniform int neuralLightCount;
uniform vec4 neuralLightPlaces[${LIGHTS}];  // a position, or with w = 0 the direction to the light
uniform vec4 neuralLightAxes[${LIGHTS}];
uniform vec4 neuralLightColors[${LIGHTS}];
#ifdef NEURAL_EMISSION
uniform highp sampler2D neuralEmission;
#endif
#ifdef NEURAL_OPACITY
uniform highp sampler2D neuralOpacity;
#endif
#include<clipPlaneFragmentDeclaration>
#include<fogFragmentDeclaration>
${decoderGlsl(loaded, { filter, numbers: "texture" })}
${environmentGlsl(loaded)}
${loaded.relief ? reliefLightGlsl(loaded) : ""}${SHADOW_GLSL}
void main() {
  #include<clipPlaneFragment>
  vec3 normal = normalize(neuralNormal);
${ALONG_TEXTURE}${loaded.relief ? RELIEF_EXTENT : ""}  vec3 view = neuralEye.w > 0.0 ? normalize(neuralEye.xyz - neuralPosition) : neuralEye.xyz;
  // the side of the triangle, which does not depend on the winding
  vec3 face = cross(positionX, positionY);
  if (dot(face, normal) * dot(face, view) < 0.0) normal = -normal;
  vec3 tangent = alongU - normal * dot(normal, alongU);
  tangent = dot(tangent, tangent) > 1e-20 ? normalize(tangent) : normalize(cross(normal, vec3(0.4, 0.9, 0.1)));
  vec3 bitangent = cross(normal, tangent);
  if (dot(bitangent, alongV) < 0.0) bitangent = -bitangent;
  mat3 toWorld = mat3(tangent, bitangent, normal);
  mat3 toTangent = transpose(toWorld);
  vec3 wo = toTangent * view;
  // at a silhouette, smooth normals can point away from the viewer
  wo = normalize(vec3(wo.xy, max(wo.z, 1e-3)));
  float lod = neuralLod(uvX, uvY);
${loaded.relief ? RELIEF_PLACE : ""}  NeuralSurface place = ${hasLive ? `neuralPrepareLive(${seen}, lod, wo, neuralLive)` : `neuralPrepare(${seen}, lod, wo)`};
  vec3 sum = vec3(0.0);
  float lit[${LIGHTS}];
  for (int i = 0; i < ${LIGHTS}; i++) lit[i] = 1.0;
${SHADOW_SUM}
  for (int i = 0; i < neuralLightCount; i++) {
    vec4 light = neuralLightPlaces[i];
    vec3 towards = light.xyz - light.w * neuralPosition;
    float power = 1.0;
    if (light.w > 0.0) {
      power = 1.0 / max(dot(towards, towards), 1e-7);
      towards *= sqrt(power);
      float sharpness = neuralLightAxes[i].w;
      if (sharpness > 0.0) power *= exp2(-sharpness * (1.0 + dot(neuralLightAxes[i].xyz, towards)));
    }
    sum += lit[i] * power * neuralLightColors[i].rgb * ${shaded};
  }
  #ifdef NEURAL_SAMPLES
  mat3 toSky = toWorld${loaded.relief ? " * neuralTurn" : ""};
  for (int i = 0; i < 3; i++) toSky[i].z *= neuralSkyZ;
  ${split
    ? "sum += neuralIntensity * neuralEnvironmentSplit(place, toSky);"
    : "sum += neuralIntensity * neuralEnvironmentLight(place, toSky, NEURAL_SAMPLES, float(NEURAL_SAMPLES), neuralRandom(uvec2(gl_FragCoord.xy)));"}
  #endif
  float alpha = 1.0;
  #ifdef NEURAL_EMISSION
  sum += textureLod(neuralEmission, ${seen}, max(lod, 0.0)).rgb;
  #endif
  #ifdef NEURAL_OPACITY
  alpha = textureLod(neuralOpacity, ${seen}, max(lod, 0.0)).r;
  #endif
  #ifdef FOG
  // in linear light, as PBRMaterial
  sum = mix(alpha * pow(vFogColor, vec3(2.2)), sum, pow(CalcFogFactor(), 2.2));
  #endif
  sum *= neuralDisplay.x;
  vec3 curve = mix(12.92 * sum, 1.055 * pow(max(sum, vec3(1e-6)), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, sum));
  gl_FragColor = vec4(neuralDisplay.y > 0.0 ? curve : sum, alpha);
}`;
}
