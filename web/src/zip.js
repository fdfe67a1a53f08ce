// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError } from "./errors.js";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const STORED = 0;
const DEFLATED = 8;
const LARGEST = 2 ** 31;

/**
 * The files of a zip by name, each a function that returns its bytes, at most `largest`. Entries are stored or deflated.
 * @param {Uint8Array} bytes
 * @param {string} label the archive's name in messages
 * @returns {Map<string, (largest?: number) => Promise<Uint8Array>>}
 */
export function openZip(bytes, label) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  if (end < 0) throw new VerdigrisError(label, "is not a whole zip archive: copy or download it again");
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  const files = new Map();
  for (let index = 0; index < count; index++) {
    const damaged = new VerdigrisError(label, `has a damaged directory at entry ${index}: download it again`);
    if (at + 46 > end || view.getUint32(at, true) !== ENTRY) throw damaged;
    const entry = {
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      local: view.getUint32(at + 42, true),
    };
    const length = view.getUint16(at + 28, true);
    if (at + 46 + length > end) throw damaged;
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + length));
    if (!name.endsWith("/")) files.set(name, (largest = LARGEST) => extract(bytes, view, name, entry, largest));
    at += 46 + length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return files;
}

function findEnd(view) {
  const last = view.byteLength - 22;
  for (let at = last; at >= Math.max(0, last - 65535); at--) {
    if (view.getUint32(at, true) === END) return at;
  }
  return -1;
}

async function extract(bytes, view, name, { method, packed, size, local }, largest) {
  const damaged = (why) => new VerdigrisError(name, `cannot be unpacked (${why}): download the zip again`);
  if (local + 30 > view.byteLength || view.getUint32(local, true) !== LOCAL) throw damaged("no local header");
  const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  if (start + packed > bytes.length) throw damaged("its end is missing");
  const stored = bytes.subarray(start, start + packed);
  // checked before anything is unpacked: a few bytes can become gigabytes
  if ((method === STORED ? packed : size) > largest) throw damaged(`${size} bytes, and the limit is ${largest}`);
  if (method === STORED) return stored;
  if (method !== DEFLATED) throw damaged(`method ${method}, which is neither stored nor deflated`);
  const result = new Uint8Array(size);
  let filled = 0;
  try {
    const stream = new Blob([stored]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (filled + value.length > size) throw new Error("longer than its directory says");
      result.set(value, filled);
      filled += value.length;
    }
  } catch (failure) {
    throw damaged(failure.message);
  }
  if (filled !== size) throw damaged(`${filled} of ${size} bytes`);
  return result;
}
