// SPDX-License-Identifier: Apache-2.0

/** Name of a VkFormat, such as R8G8B8A8_UNORM or BC7_UNORM_BLOCK: one of formats.js. */
export type TextureFormat = `${string}_${"UNORM" | "SRGB" | "SFLOAT" | "UNORM_BLOCK" | "UFLOAT_BLOCK"}`;

export interface Texture {
  format: TextureFormat;
  width: number;
  height: number;
  /** 0 for a texture that is not an array. */
  layers: number;
  /** All layers one after another; row 0 has the lowest v. */
  levels: { width: number; height: number; data: Uint8Array }[];
}

export interface Network {
  /** Latent channels of a texel: 4 or 8. */
  latents: number;
  frames: number;
  /** Number of live inputs. */
  live: number;
  inputs: number;
  width: number;
  hiddenLayers: number;
  lobes: number;
  activation: "silu" | "relu" | "leaky_relu" | "leaky_smelu";
  [constant: string]: number | string;
}

export interface Reference {
  count: number;
  uv: [number, number][];
  lod: number[];
  wi: Vector[];
  wo: Vector[];
  exported: Vector[];
  teacher?: Vector[];
  /** The values of live inputs, if there are any. */
  live?: number[][];
}

export type Vector = [number, number, number];

/** A loaded bundle: everything is in memory, nothing on a GPU. */
export class Material {
  readonly name: string;
  readonly label: string;
  readonly manifest: Record<string, any>;
  readonly network: Network;
  /** Live inputs: each evaluation takes their values as numbers from 0 (low) to 1 (high). */
  readonly live: { name: string; type: "float" | "color3" | "time" | "frame"; low: number | number[]; high: number | number[]; default: number }[];
  readonly sampler: Record<string, number> | null;
  readonly tensors: Record<string, Float32Array>;
  /** For light from below; `albedo` is the mean share of it that passes. */
  readonly transmission: { index: number; tensors: Record<string, Float32Array>; albedo: Texture | null } | null;
  readonly latents: Texture & { scale: number[]; offset: number[] };
  readonly emission: Texture | null;
  readonly opacity: Texture | null;
  readonly relief: (Texture & { scale: number; midlevel: number }) | null;
  readonly proxies: (Texture & { cosines: number[]; curves: number[][][] }) | null;
  reference(): Promise<Reference>;
  /** A file that the manifest lists, such as preview.png. */
  file(name: string): Promise<Uint8Array>;
}

export type Bytes = Uint8Array | ArrayBuffer;

export interface LoadOptions {
  /** Replaces the global fetch, for example to add headers. */
  fetch?: (address: string) => Promise<Response>;
  /** The bundle's name in messages. */
  label?: string;
}

/** Loads a bundle: the URL of a folder or zip, a Blob, bytes of a zip, or bytes by file name. */
export function loadMaterial(
  from: string | URL | Blob | ArrayBuffer | ArrayBufferView | Map<string, Bytes> | Record<string, Bytes>,
  options?: LoadOptions,
): Promise<Material>;

/** A bundle that cannot be used. */
export class VerdigrisError extends Error {
  constructor(file: string, message: string, field?: string);
  readonly file: string;
  readonly field?: string;
}

/** The part of an evaluation that does not depend on the light. */
export interface Prepared {
  latent: number[];
  frames: object[];
  wo: Vector;
}

/** Evaluates a material on the CPU, in double precision. */
export class Decoder {
  constructor(material: Material);
  evaluate(uv: [number, number], lod: number, wi: Vector, wo: Vector, live?: number[]): Vector;
  prepare(uv: [number, number], lod: number, wo: Vector, live?: number[]): Prepared;
  shade(prepared: Prepared, wi: Vector): Vector;
  latent(uv: [number, number], lod: number): number[];
}

/** The largest differences from a reference. */
export interface Comparison {
  /** The largest relative difference of responses from `bounds.floor` up. */
  relative: number;
  /** The largest difference of the other responses. */
  absolute: number;
  /** The row of the largest relative difference. */
  worst: number;
  rows: number;
}

export function compareWithReference(
  reference: Reference,
  responses: number[][],
  bounds?: { floor?: number },
): Comparison;

/**
 * Values by name, in the units of their inputs, as the numbers from 0 to 1 that decoders take. The default is that of the
 * bundle.
 */
export function liveNumbers(material: Material, values?: Record<string, number>, before?: number[]): number[];
/** The inverse of liveNumbers: values by name. */
export function liveValues(material: Material, numbers: number[]): Record<string, number>;

/** What a live link tells about a state of a material. */
export interface Snapshot {
  number: number;
  material: string;
  /** Whether these are the numbers of a finished bundle. */
  final: boolean;
  step?: number;
  steps?: number;
}

export interface LinkState {
  /** The material that this client is shown, and all that it can ask for. */
  material: string;
  materials: string[];
  /** Values of live inputs, in their own units. */
  live?: Record<string, number>;
  phase?: string;
}

export interface LinkOptions {
  /** The name of a material; by default the one that the server has chosen. */
  material?: string;
  /** `fits` is that of a material of three.js: whether its shader stays. */
  onMaterial?: (loaded: Material, snapshot: Snapshot, fits?: boolean) => void;
  onState?: (state: LinkState) => void;
  /** The link has ended for good. */
  onEnd?: (failure: Error, isFinal: boolean) => void;
  /** Connect again when the server is gone; true by default. */
  retry?: boolean;
  WebSocket?: typeof WebSocket;
}

export interface Link {
  /** The first material. */
  readonly first: Promise<Material>;
  readonly loaded: Material | null;
  readonly snapshot: Snapshot | null;
  readonly state: LinkState | null;
  readonly isClosed: boolean;
  /** Ends the link. The last material stays. */
  close(): void;
}

/** Shows a material of `verdigris bake --link` or `verdigris link`, again whenever it changes. */
export function connectLink(address: string, options?: LinkOptions): Link;

export function readKtx2(
  bytes: Uint8Array,
  file: string,
  wanted: { format: string; width: number; height: number; levels: number; layers: number },
): Texture;
