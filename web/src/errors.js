// SPDX-License-Identifier: Apache-2.0

/** A bundle that cannot be used: what is wrong, in which file and field, and what to do. */
export class VerdigrisError extends Error {
  /**
   * @param {string} file the file's name in the bundle, or the address of the bundle
   * @param {string} message
   * @param {string} [field] the field of the manifest or of the file's header
   */
  constructor(file, message, field) {
    super(`${file}: ${field ? `${field} ` : ""}${message}`);
    this.name = "VerdigrisError";
    this.file = file;
    this.field = field;
  }
}

/** The text of a value in a message, shortened. */
export function shown(value) {
  let text;
  try {
    text = typeof value === "bigint" ? String(value) : JSON.stringify(value);
  } catch {
    text = undefined;
  }
  text ??= String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
