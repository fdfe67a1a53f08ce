// SPDX-License-Identifier: Apache-2.0

export { VerdigrisError } from "./errors.js";
export { Material, loadMaterial } from "./material.js";
export { connectLink } from "./link.js";
export { liveNumbers, liveValues } from "./live.js";
export { Decoder, compareWithReference } from "./decoder.js";
export { readKtx2 } from "./ktx2.js";
