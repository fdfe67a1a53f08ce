// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError } from "./errors.js";
import { openZip } from "./zip.js";

const MANIFEST = "manifest.json";

/**
 * Opens the place of a bundle's files: the URL of a folder or of a zip; a zip as Blob, ArrayBuffer or bytes; or an object
 * or Map with bytes by name.
 * @returns {Promise<{label: string, read(name: string, largest?: number): Promise<Uint8Array>}>}
 */
export async function openSource(from, { fetch: get = globalThis.fetch, label } = {}) {
  if (typeof from === "string" || from instanceof URL) return openUrl(String(from), get, label);
  if (typeof Blob !== "undefined" && from instanceof Blob) {
    return fromZip(new Uint8Array(await from.arrayBuffer()), label ?? from.name ?? "the zip");
  }
  if (from instanceof ArrayBuffer) return fromZip(new Uint8Array(from), label ?? "the zip");
  if (ArrayBuffer.isView(from)) {
    return fromZip(new Uint8Array(from.buffer, from.byteOffset, from.byteLength), label ?? "the zip");
  }
  if (from && typeof from === "object") {
    const files = from instanceof Map ? from : new Map(Object.entries(from));
    return {
      label: label ?? "the bundle",
      async read(name) {
        if (!files.has(name)) throw missing(name);
        return new Uint8Array(await files.get(name));
      },
    };
  }
  throw new TypeError("a bundle is the URL of a folder or zip, a Blob, an ArrayBuffer, or an object of files by name");
}

function missing(name) {
  return new VerdigrisError(name, "is missing: copy the whole folder NAME.vdg");
}

async function openUrl(address, get, label) {
  const path = address.split(/[?#]/)[0];
  if (/\.zip$/i.test(path)) return fromZip(await download(address, address, get), label ?? address);
  const folder = path.endsWith("/") ? path : `${path}/`;
  return { label: label ?? folder, read: (name) => download(folder + name, name, get) };
}

async function download(address, name, get) {
  let answer;
  try {
    answer = await get(address);
  } catch (failure) {
    throw new VerdigrisError(name, `cannot be loaded from ${address} (${failure.message})`);
  }
  if (answer.status === 404) throw new VerdigrisError(name, `is missing at ${address}: copy the whole folder NAME.vdg`);
  if (!answer.ok) throw new VerdigrisError(name, `cannot be loaded from ${address} (${answer.status} ${answer.statusText})`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** The files of a zip, which are at its top or in one folder. */
function fromZip(bytes, label) {
  const files = openZip(bytes, label);
  const manifest = [...files.keys()].filter((name) => name === MANIFEST || name.endsWith(`/${MANIFEST}`));
  if (manifest.length !== 1) {
    throw new VerdigrisError(label, `has ${manifest.length} files with the name ${MANIFEST}: zip one bundle folder`);
  }
  const folder = manifest[0].slice(0, -MANIFEST.length);
  return {
    label,
    async read(name, largest) {
      const file = files.get(folder + name);
      if (!file) throw missing(name);
      return file(largest);
    },
  };
}
