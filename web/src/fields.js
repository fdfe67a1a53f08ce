// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError, shown } from "./errors.js";

/** Checked access to the fields of a JSON file. Every error names file and field. */
export class Fields {
  constructor(file, value, path = "") {
    this.file = file;
    this.value = value;
    this.path = path;
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      throw new VerdigrisError(file, `is ${shown(value)}: it must be an object`, path || "the file");
    }
  }

  /** An error about a wrong field. */
  error(name, message) {
    return new VerdigrisError(this.file, message, this.place(name));
  }

  place(name) {
    return this.path ? `${this.path}.${name}` : name;
  }

  has(name) {
    return Object.hasOwn(this.value, name);
  }

  raw(name) {
    if (!this.has(name)) throw this.error(name, "is missing");
    return this.value[name];
  }

  object(name) {
    return new Fields(this.file, this.raw(name), this.place(name));
  }

  text(name) {
    const value = this.raw(name);
    if (typeof value !== "string" || !value || value.length > 4096) {
      throw this.error(name, `is ${shown(value)}: it must be a text of 1 to 4,096 characters`);
    }
    return value;
  }

  oneOf(name, allowed) {
    const value = this.raw(name);
    if (!allowed.includes(value)) {
      throw this.error(name, `is ${shown(value)}: this package knows ${allowed.join(", ")}`);
    }
    return value;
  }

  count(name, least = 0, most = Number.MAX_SAFE_INTEGER) {
    const value = this.raw(name);
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      throw this.error(name, `is ${shown(value)}: it must be a whole number from ${least} to ${most}`);
    }
    return value;
  }

  number(name, least = -3e38, most = 3e38) {
    const value = this.raw(name);
    if (typeof value !== "number" || !(value >= least && value <= most)) {
      throw this.error(name, `is ${shown(value)}: it must be a number from ${least} to ${most}`);
    }
    return value;
  }

  numbers(name, length, least = -3e38, most = 3e38) {
    const value = this.list(name, length, length);
    const wrong = value.findIndex((each) => typeof each !== "number" || !(each >= least && each <= most));
    if (wrong >= 0) {
      throw this.error(`${name}[${wrong}]`, `is ${shown(value[wrong])}: it must be a number from ${least} to ${most}`);
    }
    return value;
  }

  list(name, least, most) {
    const value = this.raw(name);
    if (!Array.isArray(value) || value.length < least || value.length > most) {
      const length = Array.isArray(value) ? `has ${value.length} entries` : `is ${shown(value)}`;
      const wanted = least === most ? `${least}` : `${least} to ${most}`;
      throw this.error(name, `${length}: it must be a list of ${wanted}`);
    }
    return value;
  }

  objects(name, least, most) {
    return this.list(name, least, most).map(
      (each, index) => new Fields(this.file, each, `${this.place(name)}[${index}]`),
    );
  }
}

// As in verdigris.h.
export const LARGEST_MANIFEST = 4 << 20;
const LARGEST_REFERENCE = 8 << 20;
const DEEPEST = 100;

/** Parses an untrusted JSON file. */
export function parseJson(file, bytes, largest = LARGEST_REFERENCE) {
  if (bytes.length > largest) {
    throw new VerdigrisError(file, `has ${bytes.length} bytes, and the limit is ${largest}: the file is damaged, copy the bundle again`);
  }
  if (depthOf(bytes) > DEEPEST) {
    throw new VerdigrisError(file, `is nested more than ${DEEPEST} deep: the file is damaged, copy the bundle again`);
  }
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new VerdigrisError(file, "is not UTF-8: the file is damaged, copy the bundle again");
  }
  try {
    return JSON.parse(text);
  } catch (failure) {
    throw new VerdigrisError(file, `is not JSON (${failure.message}): the file is damaged, copy the bundle again`);
  }
}

/** The deepest nesting of lists and objects, outside of texts. */
function depthOf(bytes) {
  const [quote, backslash, opens, closes] = [0x22, 0x5c, [0x5b, 0x7b], [0x5d, 0x7d]];
  let depth = 0;
  let deepest = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) isText = !isText;
    else if (isText) at += byte === backslash ? 1 : 0;
    else if (opens.includes(byte)) deepest = Math.max(deepest, ++depth);
    else if (closes.includes(byte)) depth--;
  }
  return deepest;
}
