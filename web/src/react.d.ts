// SPDX-License-Identifier: Apache-2.0

import type { ReactElement, Ref } from "react";
import type { Texture } from "three";
import type { Material } from "./index.js";
import type { Environment, NeuralMaterial as ThreeMaterial, NeuralOptions } from "./three.js";

export interface NeuralMaterialProps extends NeuralOptions {
  /** The URL of a folder NAME.vdg or of a zip of it; or what else loadMaterial() takes, the same object each time. */
  from: Parameters<typeof import("./index.js").loadMaterial>[0];
  /** An equirectangular texture without its sun, or what makeEnvironment() returned. */
  environment?: Texture | Environment | null;
  environmentIntensity?: number;
  /** Values of the live inputs by name, in their own units. They change without a compilation. */
  live?: Record<string, number>;
  /** The address of a live link (docs/LINK.md): the material shows what is being baked. */
  link?: string;
  /** Repetitions along u and v, and the offset. */
  tile?: number | [u: number, v?: number, offsetU?: number, offsetV?: number];
  ref?: Ref<ThreeMaterial>;
}

/** A neural material as the child of a <mesh>, inside of <Suspense>. */
export function NeuralMaterial(props: NeuralMaterialProps): ReactElement;

/** The three.js material of a bundle, for components that share one. Suspends while the bundle loads. */
export function useNeuralMaterial(from: NeuralMaterialProps["from"], options?: NeuralOptions): ThreeMaterial;

/** Starts to load a bundle. */
export function preload(from: NeuralMaterialProps["from"]): Promise<Material>;

/** Forgets a bundle, for example after an error. */
export function forget(from: NeuralMaterialProps["from"]): void;
