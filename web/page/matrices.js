// SPDX-License-Identifier: Apache-2.0

// Matrices of three rows; those for WebGL are lists of nine numbers, column by column.
const radians = (degrees) => (degrees * Math.PI) / 180;

export function aboutX(degrees) {
  const [c, s] = [Math.cos(radians(degrees)), Math.sin(radians(degrees))];
  return [[1, 0, 0], [0, c, -s], [0, s, c]];
}

export function aboutY(degrees) {
  const [c, s] = [Math.cos(radians(degrees)), Math.sin(radians(degrees))];
  return [[c, 0, s], [0, 1, 0], [-s, 0, c]];
}

export function product(a, b) {
  return a.map((row) => [0, 1, 2].map((column) => row[0] * b[0][column] + row[1] * b[1][column] + row[2] * b[2][column]));
}

export function transpose(m) {
  return [0, 1, 2].map((row) => m.map((each) => each[row]));
}

/** As WebGL takes them: column by column. */
export function columns(m) {
  return transpose(m).flat();
}

export function transposed(c) {
  return [c[0], c[3], c[6], c[1], c[4], c[7], c[2], c[5], c[8]];
}

export function turned(c, v) {
  return [0, 1, 2].map((row) => c[row] * v[0] + c[3 + row] * v[1] + c[6 + row] * v[2]);
}
