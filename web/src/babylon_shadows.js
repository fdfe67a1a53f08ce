// SPDX-License-Identifier: Apache-2.0

import { Light } from "@babylonjs/core/Lights/light.js";
import "@babylonjs/core/Shaders/ShadersInclude/helperFunctions.js";
import "@babylonjs/core/Shaders/ShadersInclude/shadowsFragmentFunctions.js";

/** Lights of a mesh whose shadows it receives. */
export const SHADOWS = 4;
// filters of a ShadowGenerator
const [POISSON, PCF, PCSS] = [2, 6, 7];
const ESM = [1, 3];
const CLOSE_ESM = [4, 5];
// functions of Babylon.js, as its own materials call them: info has darkness, two numbers of the filter, and the fall-off at the border
const CALLS = {
  PLAIN: "computeShadow(place, depth, map, info.x, info.w)",
  POISSON: "computeShadowWithPoissonSampling(place, depth, map, info.y, info.x, info.w)",
  ESM: "computeShadowWithESM(place, depth, map, info.x, info.z, info.w)",
  CLOSE_ESM: "computeShadowWithCloseESM(place, depth, map, info.x, info.z, info.w)",
  PCF1: "computeShadowWithPCF1(place, depth, map, info.x, info.w)",
  PCF3: "computeShadowWithPCF3(place, depth, map, info.yz, info.x, info.w)",
  PCF5: "computeShadowWithPCF5(place, depth, map, info.yz, info.x, info.w)",
};
const KINDS = Object.keys(CALLS);

const each = (make) => Array.from({ length: SHADOWS }, (_, slot) => make(slot));

export const SHADOW_SAMPLERS = each((slot) => `neuralShadowMap${slot}`);
export const SHADOW_UNIFORMS = [...each((slot) => `neuralShadowMatrix${slot}`), "neuralShadowInfo", "neuralShadowDepths", "neuralShadowLights"];

/** Declarations, and a function that multiplies the power of lights by their shadows. */
export const SHADOW_GLSL = `
#ifdef SHADOWS
#include<helperFunctions>
#include<shadowsFragmentFunctions>
uniform vec4 neuralShadowInfo[${SHADOWS}];
uniform vec2 neuralShadowDepths[${SHADOWS}];
uniform int neuralShadowLights[${SHADOWS}];  // which light of the sum
${each((slot) => `
#ifdef NEURAL_SHADOW${slot}
#if NEURAL_SHADOW${slot} >= ${KINDS.indexOf("PCF1")}
uniform highp sampler2DShadow neuralShadowMap${slot};
#else
uniform highp sampler2D neuralShadowMap${slot};
#endif
uniform mat4 neuralShadowMatrix${slot};
float neuralShadow${slot}(vec3 at) {
  vec4 place = neuralShadowMatrix${slot} * vec4(at, 1.0);
  vec4 info = neuralShadowInfo[${slot}];
  float depth = (place.z + neuralShadowDepths[${slot}].x) / neuralShadowDepths[${slot}].y;
  float shadow = 1.0;
  ${KINDS.map((kind, index) => `
#if NEURAL_SHADOW${slot} == ${index}
  shadow = ${CALLS[kind].replace("map", `neuralShadowMap${slot}`)};
#endif`).join("")}
  return shadow;
}
#endif`).join("\n")}
#endif`;

/** Fills lit[], which is 1 without a shadow. */
export const SHADOW_SUM = `
#ifdef SHADOWS
${each((slot) => `#ifdef NEURAL_SHADOW${slot}
  lit[neuralShadowLights[${slot}]] = neuralShadow${slot}(neuralPosition);
#endif`).join("\n")}
#endif`;

/** The shadows of these lights on a mesh: for each slot the light's number, its generator and the kind of its map. */
export function shadowsOn(mesh, lights, scene) {
  if (!mesh?.receiveShadows || !scene.shadowsEnabled) return [];
  const found = [];
  lights.forEach((light, number) => {
    const generator = light.shadowEnabled && (light.getShadowGenerator(scene.activeCamera) ?? light.getShadowGenerator());
    if (!generator?.getShadowMap?.() || light.getTypeID() === Light.LIGHTTYPEID_POINTLIGHT) return;
    // a cascaded one has no transform of its own
    if (generator.getClassName() !== "ShadowGenerator" || found.length === SHADOWS) return;
    found.push({ number, light, generator, kind: KINDS.indexOf(kindOf(generator)) });
  });
  return found;
}

function kindOf({ filter, filteringQuality }) {
  // contact hardening without its soft part
  if (filter === PCF || filter === PCSS) return ["PCF5", "PCF3", "PCF1"][filteringQuality];
  if (ESM.includes(filter)) return "ESM";
  if (CLOSE_ESM.includes(filter)) return "CLOSE_ESM";
  return filter === POISSON ? "POISSON" : "PLAIN";
}

/** The definitions that the shadows need, by name; false without. */
export function shadowDefines(shadows, engine) {
  const { textureFloatRender, textureFloatLinearFiltering, textureHalfFloatRender, textureHalfFloatLinearFiltering } = engine.getCaps();
  const isFloat = (textureFloatRender && textureFloatLinearFiltering) || (textureHalfFloatRender && textureHalfFloatLinearFiltering);
  const named = each((slot) => [`NEURAL_SHADOW${slot}`, shadows[slot] ? String(shadows[slot].kind) : false]);
  return { SHADOWS: shadows.length > 0, SHADOWFLOAT: shadows.length > 0 && Boolean(isFloat), ...Object.fromEntries(named) };
}

export function bindShadows(effect, shadows, camera) {
  if (!shadows.length) return;
  const [info, depths, numbers] = [new Float32Array(4 * SHADOWS), new Float32Array(2 * SHADOWS), new Int32Array(SHADOWS)];
  shadows.forEach(({ number, light, generator, kind }, slot) => {
    const isCompared = kind >= KINDS.indexOf("PCF1");
    const width = generator.getShadowMap().getSize().width;
    const map = generator.getShadowMapForRendering();
    effect.setMatrix(`neuralShadowMatrix${slot}`, generator.getTransformMatrix());
    if (isCompared) effect.setDepthStencilTexture(`neuralShadowMap${slot}`, map);
    else effect.setTexture(`neuralShadowMap${slot}`, map);
    const numbersOf = isCompared ? [width, 1 / width] : [generator.blurScale / width, generator.depthScale];
    info.set([generator.getDarkness(), ...numbersOf, generator.frustumEdgeFalloff], 4 * slot);
    const [near, far] = [light.getDepthMinZ(camera), light.getDepthMaxZ(camera)];
    depths.set([near, near + far], 2 * slot);
    numbers[slot] = number;
  });
  effect.setFloatArray4("neuralShadowInfo", info);
  effect.setFloatArray2("neuralShadowDepths", depths);
  effect.setIntArray("neuralShadowLights", numbers);
}
