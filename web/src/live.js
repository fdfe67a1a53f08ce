// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError } from "./errors.js";

/** The ends of a live input's range in its own units; for a colour, 0 (low) and 1 (high). */
export function endsOf({ type, low, high }) {
  return type === "color3" ? [0, 1] : [low, high];
}

/**
 * Values by name, such as { wetness: 0.5 }, as the numbers from 0 to 1 that decoders take. Inputs that are left out have
 * the numbers of `before`.
 */
export function liveNumbers(material, values = {}, before = material.live.map((each) => each.default)) {
  const names = material.live.map(({ name }) => name);
  for (const name of Object.keys(values)) {
    if (!names.includes(name)) {
      throw new VerdigrisError(material.name, `has no live input ${name}: it has ${names.join(", ") || "none"}`);
    }
  }
  return material.live.map((each, index) => {
    if (!(each.name in values)) return before[index];
    const [low, high] = endsOf(each);
    const value = values[each.name];
    if (!(value >= low && value <= high)) {
      throw new VerdigrisError(material.name, `the live input ${each.name} is ${value}: use a number from ${low} to ${high}`);
    }
    return (value - low) / (high - low);
  });
}

/** The inverse of liveNumbers: values by name. */
export function liveValues(material, numbers) {
  return Object.fromEntries(
    material.live.map((each, index) => {
      const [low, high] = endsOf(each);
      return [each.name, low + (high - low) * numbers[index]];
    }),
  );
}

/** The numbers as a vector of three, with 0 behind the last input. */
export function liveVector(numbers) {
  return [0, 1, 2].map((index) => numbers[index] ?? 0);
}
