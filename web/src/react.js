// SPDX-License-Identifier: Apache-2.0

import { useThree } from "@react-three/fiber";
import { createElement, use, useEffect, useLayoutEffect, useMemo } from "react";
import { loadMaterial } from "./material.js";
import { NeuralMaterial as ThreeMaterial, makeEnvironment } from "./three.js";

const loading = new Map();
const environments = new WeakMap();

/** Starts to load a bundle, so that a component that needs it later does not wait. */
export function preload(from) {
  if (!loading.has(from)) {
    const started = loadMaterial(from);
    started.catch(() => {});
    loading.set(from, started);
  }
  return loading.get(from);
}

/** Forgets a bundle, for example after an error: the next component loads it again. */
export function forget(from) {
  loading.delete(from);
}

/**
 * The three.js material of a bundle, for components that share one. The component suspends while the bundle loads.
 * @param {object} options those of NeuralMaterial in three.js. A change of one makes a new material.
 */
export function useNeuralMaterial(from, { samples, split, flipV, tangents, filter } = {}) {
  const loaded = use(preload(from));
  const renderer = useThree((state) => state.gl);
  const material = useMemo(
    () => new ThreeMaterial(loaded, renderer, { samples, split, flipV, tangents, filter }),
    [loaded, renderer, samples, split, flipV, tangents, filter],
  );
  useEffect(() => () => material.dispose(), [material]);
  return material;
}

/**
 * A neural material as the child of a <mesh>, inside of <Suspense>:
 *
 *     <mesh><sphereGeometry args={[1, 64, 32]} /><NeuralMaterial from="/copper_tray.vdg" environment={sky} /></mesh>
 *
 * environment: an equirectangular texture, or what makeEnvironment() returned. The other properties are in react.d.ts.
 */
export function NeuralMaterial({ from, environment = null, environmentIntensity = 1, live, link, tile, ref, ...options }) {
  const material = useNeuralMaterial(from, options);
  const renderer = useThree((state) => state.gl);
  const invalidate = useThree((state) => state.invalidate);
  const made = environment?.isTexture ? environmentOf(renderer, environment) : environment;
  const [tileU, tileV = tileU, offsetU = 0, offsetV = 0] = Array.isArray(tile) ? tile : [tile ?? 1];
  const values = live ? JSON.stringify(live) : "";
  // before the frame is drawn
  useLayoutEffect(() => {
    if (material.environment !== made) material.environment = made;
    material.environmentIntensity = environmentIntensity;
    material.tile(tileU, tileV, offsetU, offsetV);
    if (values) material.live = JSON.parse(values);
    invalidate();
  }, [material, made, environmentIntensity, tileU, tileV, offsetU, offsetV, values, invalidate]);
  useEffect(() => {
    if (!link) return undefined;
    const followed = material.connect(link, { onMaterial: () => invalidate(), onState: () => invalidate() });
    return () => followed.close();
  }, [material, link, invalidate]);
  return createElement("primitive", { object: material, attach: "material", ref });
}

/** One environment for all materials with the same texture. */
function environmentOf(renderer, texture) {
  let of = environments.get(renderer);
  if (!of) environments.set(renderer, (of = new WeakMap()));
  if (!of.has(texture)) of.set(texture, makeEnvironment(renderer, texture));
  return of.get(texture);
}
