// SPDX-License-Identifier: Apache-2.0

import { cubeDirection } from "verdigris/environment.js";

// The light of `verdigris render`: its studio, and its clear sky. x to the right, y up, z to the viewer.

const LUMINANCE = [0.2126, 0.7152, 0.0722];
const unit = (v) => {
  const length = Math.hypot(...v);
  return v.map((each) => each / length);
};
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

const SOFT_BOXES = [
  { colour: [5.0, 4.6, 4.0], centre: unit([-0.6, 0.65, 0.55]), sharpness: 18 },
  { colour: [1.6, 2.1, 2.8], centre: unit([0.85, 0.25, -0.1]), sharpness: 24 },
  { colour: [0.9, 0.9, 0.95], centre: unit([0.35, 0.3, 0.9]), sharpness: 6 },
];
const STUDIO_BRIGHTNESS = 0.8;
const FLOOR = [0.1, 0.095, 0.09];
const CEILING = [0.42, 0.45, 0.5];

function studioRadiance(direction, into) {
  const up = (0.5 + 0.5 * direction[1]) ** 2;
  for (let channel = 0; channel < 3; channel++) into[channel] = FLOOR[channel] + (CEILING[channel] - FLOOR[channel]) * up;
  for (const { colour, centre, sharpness } of SOFT_BOXES) {
    const light = Math.exp(sharpness * (dot(direction, centre) - 1));
    for (let channel = 0; channel < 3; channel++) into[channel] += colour[channel] * light;
  }
  for (let channel = 0; channel < 3; channel++) into[channel] *= STUDIO_BRIGHTNESS;
  return into;
}

const tint = (colour) => colour.map((each) => each / dot(colour, LUMINANCE));
const [OF_ZENITH, OF_HORIZON] = [tint([0.42, 0.68, 1.25]), tint([0.86, 0.96, 1.12])];
const [OF_GROUND, OF_SUN] = [tint([1.1, 1.0, 0.86]), tint([1.08, 1.0, 0.88])];
const SUN_OVER_SKY = 4.5;

function skyRadiance(toSun) {
  return (direction, into) => {
    const up = direction[1];
    const away = 1 - dot(direction, toSun);
    const zenith = up > 0 ? 0.6 : 0;
    const horizon = up > 0 ? 0.9 * Math.exp(-6 * up) : 0;
    const ground = up > 0 ? 0 : 0.12;
    const glow = up > -0.05 ? 6 * Math.exp(-120 * away) + 0.8 * Math.exp(-8 * away) : 0;
    for (let channel = 0; channel < 3; channel++) {
      into[channel] = zenith * OF_ZENITH[channel] + horizon * OF_HORIZON[channel] + ground * OF_GROUND[channel] + glow * OF_SUN[channel];
    }
    return into;
  };
}

/** The light that a view starts with; `radiance` of the environment and irradiance of the `light`. */
export const ENVIRONMENTS = {
  studio: {
    title: "Studio",
    direction: unit([-0.45, 0.6, 0.66]),
    hasShoulder: false,
    backdrop: "plain",
    make: () => ({ radiance: studioRadiance, light: () => [2.4, 2.3, 2.2], exposure: () => 1 }),
  },
  sky: {
    title: "Clear sky",
    direction: unit([0.6, 0.62, 0.5]),
    hasShoulder: true,
    backdrop: "environment",
    make: (toSun) => ({
      radiance: skyRadiance(toSun),
      // 4.5 times the sky's light on the ground
      light: (fromAbove) => (toSun[1] > 0 ? OF_SUN.map((each) => each * SUN_OVER_SKY * dot(fromAbove, LUMINANCE)) : [0, 0, 0]),
      exposure: (fromAbove, light) =>
        Math.PI / (dot(fromAbove, LUMINANCE) + Math.max(toSun[1], 0) * dot(light, LUMINANCE)),
    }),
  },
  dark: {
    title: "One light",
    direction: unit([-0.45, 0.6, 0.66]),
    hasShoulder: false,
    backdrop: "plain",
    make: () => ({ radiance: (_, into) => into.fill(0), light: () => [2.4, 2.3, 2.2], exposure: () => 1 }),
  },
};

/** On a surface that faces up. */
export function irradianceFromAbove(faces, width) {
  const sum = [0, 0, 0];
  const direction = [0, 0, 0];
  faces.forEach((texels, face) => {
    for (let row = 0, at = 0; row < width; row++) {
      for (let column = 0; column < width; column++, at += 4) {
        const up = cubeDirection(face, column, row, width, direction)[1];
        if (up <= 0) continue;
        const [s, t] = [(2 * column + 1) / width - 1, (2 * row + 1) / width - 1];
        const share = (up * 4 * (1 + s * s + t * t) ** -1.5) / (width * width);
        for (let channel = 0; channel < 3; channel++) sum[channel] += texels[at + channel] * share;
      }
    }
  });
  return sum;
}
