// SPDX-License-Identifier: Apache-2.0

/** The values of IEEE 754 half floats. */
export function halvesToFloats(bytes) {
  const halves = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const result = new Float32Array(bytes.byteLength >> 1);
  for (let index = 0; index < result.length; index++) result[index] = halfToFloat(halves.getUint16(2 * index, true));
  return result;
}

export function halfToFloat(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const mantissa = half & 1023;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}
