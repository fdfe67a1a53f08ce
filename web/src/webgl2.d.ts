// SPDX-License-Identifier: Apache-2.0

import type { Comparison, Material, Reference, Texture } from "./index.js";

export interface GlOptions {
  /** "sampled": the texture unit's filter; "exact": slower, to the last digit. */
  filter?: "sampled" | "exact";
  numbers?: "block" | "texture";
}

/** A material on a WebGL 2 context. */
export class GlMaterial {
  constructor(gl: WebGL2RenderingContext, material: Material, options?: GlOptions);
  readonly glsl: string;
  readonly latents: WebGLTexture;
  readonly emission: WebGLTexture | null;
  readonly opacity: WebGLTexture | null;
  readonly relief: WebGLTexture | null;
  /** Takes texture units `unit` and `unit + 1`, and uniform block `block`. */
  bind(program: WebGLProgram, unit?: number, block?: number): void;
  /** Shows another state of the material. False if it needs another shader, so that nothing was replaced. */
  update(material: Material): boolean;
  dispose(): void;
}

export function uploadTexture(gl: WebGL2RenderingContext, texture: Texture, file?: string, into?: WebGLTexture | null): WebGLTexture;
export function makeProgram(gl: WebGL2RenderingContext, vertex: string, fragment: string): WebGLProgram;
export function isSoftware(gl: WebGL2RenderingContext): boolean;
export function evaluateRows(
  gl: WebGL2RenderingContext,
  material: Material,
  reference: Reference,
  options?: GlOptions & { before?: Material },
): number[][];
/** Compares this device's decoder with the bundle's reference. */
export function check(gl: WebGL2RenderingContext, material: Material): Promise<Comparison>;

/** Relief in GLSL ES 3.00, for `neuralHeights` (the texture `relief`) and `neuralRange` (its scale and midlevel). */
export function reliefGlsl(): string;
