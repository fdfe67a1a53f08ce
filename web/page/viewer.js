// SPDX-License-Identifier: Apache-2.0

import { CUBE_WIDTH, irradianceHarmonics, makeCubeMap } from "verdigris/environment.js";
import { liveNumbers, liveVector } from "verdigris/live.js";
import { GlMaterial, isSoftware, makeProgram } from "verdigris/webgl2.js";
import { ENVIRONMENTS, irradianceFromAbove } from "./environments.js";
import { freeTarget, makeCube, makeTarget } from "./targets.js";
import { aboutX, aboutY, columns, product, transpose, transposed, turned } from "./matrices.js";
import { MESH_VERTEX, PLACE_VERTEX, SHOW_FRAGMENT, meshFragment, shapeFragment } from "./shaders.js";

/** Samples of the environment at a pixel when a picture is done, and those of one pass. */
const FINAL_SAMPLES = 64;
const PASS_SAMPLES = 4;
/** Milliseconds of one draw, so that the page stays responsive, and of a whole pass. */
const DRAW_MS = 40;
const PASS_MS = 1500;
const MOVING_MS = 45;
/** Least width of a picture while it moves, and of the fine one, on slow devices. */
const [SMALLEST, SMALLEST_FINE] = [128, 420];
/** Decoder calls a millisecond, before anything was measured. */
const [GUESS, SOFTWARE_GUESS] = [40000, 60];
const HEAT_TOP = 0.25;

/**
 * Draws a material pass by pass: a coarse picture at once and while something moves, then a fine one that
 * gets less noisy. Draws nothing when the picture is done.
 */
export class Viewer {
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: false, preserveDrawingBuffer: true, powerPreference: "high-performance" });
    if (!gl) throw new Error("this browser has no WebGL 2: open the page in a current Chrome, Edge, Firefox or Safari");
    this.gl = gl;
    this.isFloat = Boolean(gl.getExtension("EXT_color_buffer_float"));
    if (!this.isFloat && !gl.getExtension("EXT_color_buffer_half_float")) {
      throw new Error("this device cannot draw to float textures: open the page on another one");
    }
    this.speed = isSoftware(gl) ? SOFTWARE_GUESS : GUESS;
    this.show = makeProgram(gl, PLACE_VERTEX, SHOW_FRAGMENT);
    this.uniforms = new Map();
    this.cube = makeCube(gl);
    this.state = {
      shape: "sphere", environment: "studio", turn: 0, pitch: 0, zoom: 1, x: 0, y: 0, lightYaw: 0, lightPitch: 0,
      stops: 0, tiles: 1, emission: 1, compare: 0, wipe: 0, heatTop: HEAT_TOP,
      live: [],
    };
    this.targets = [];
    this.fences = [];
    this.passes = 0;
    /** Height of what lies over the canvas at its bottom, in CSS pixels. */
    this.covered = 0;
    this.onPicture = () => {};
    this.onDone = () => {};
    this.light();
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.resize();
  }

  /** Shows another material. Materials with one architecture share programs. */
  setMaterial(loaded) {
    this.material?.dispose();
    this.material = new GlMaterial(this.gl, loaded);
    this.loaded = loaded;
    this.state.live = liveNumbers(loaded);
    this.programs = new Map();
    this.restart();
    this.wake();
  }

  /** Shows another state of the material, as a live link does: the programs stay if they fit. */
  updateMaterial(loaded) {
    if (!this.material?.update(loaded)) {
      this.setMaterial(loaded);
      return;
    }
    this.loaded = loaded;
    this.restart();
    this.wake();
  }

  /** A mesh to draw as a shape: positions within the unit sphere, normals, uvs, 8 floats a vertex; and its own radius. */
  setMesh(floats, radius) {
    const { gl } = this;
    this.mesh = { radius, count: floats.length / 8, array: gl.createVertexArray() };
    gl.bindVertexArray(this.mesh.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, floats, gl.STATIC_DRAW);
    [[3, 0], [3, 12], [2, 24]].forEach(([size, offset], index) => {
      gl.enableVertexAttribArray(index);
      gl.vertexAttribPointer(index, size, gl.FLOAT, false, 32, offset);
    });
    gl.bindVertexArray(null);
  }

  /** Keeps the shape clear of what lies over the canvas at its bottom, in CSS pixels. */
  cover(height) {
    if (height === this.covered) return;
    this.covered = height;
    this.restart();
    this.wake();
  }

  /** Changes the state and draws anew. `isMoving` draws coarsely until it stops. */
  change(changes, isMoving = false) {
    const changed = Object.keys(changes).filter((name) => changes[name] !== this.state[name]);
    this.state = { ...this.state, ...changes };
    if (changed.includes("environment") || changed.includes("lightPitch")) this.light();
    if (isMoving) this.movedAt = performance.now();
    // these do not change the light that was computed
    if (changed.some((name) => !["compare", "wipe", "heatTop", "stops"].includes(name))) this.restart();
    else this.present();
    this.wake();
  }

  restart() {
    this.passes = 0;
    this.tile = 0;
    this.phase = "coarse";
  }

  get isMoving() {
    return performance.now() - (this.movedAt ?? -1e9) < 150;
  }

  /** Towards the light in the environment's axes. */
  get toLight() {
    const { environment, lightPitch } = this.state;
    const [x, y, z] = ENVIRONMENTS[environment].direction;
    const height = Math.min(Math.max(Math.asin(y) + (lightPitch * Math.PI) / 180, -0.2), 1.5);
    const flat = Math.cos(height) / Math.hypot(x, z);
    return [x * flat, Math.sin(height), z * flat];
  }

  light() {
    const { gl } = this;
    const chosen = ENVIRONMENTS[this.state.environment];
    const made = chosen.make(this.toLight);
    const key = `${this.state.environment} ${chosen.backdrop === "environment" ? this.toLight : ""}`;
    if (key !== this.lightKey) {
      this.lightKey = key;
      const levels = makeCubeMap(made.radiance);
      gl.bindTexture(gl.TEXTURE_CUBE_MAP, this.cube);
      levels.forEach((faces, level) =>
        faces.forEach((texels, face) =>
          gl.texSubImage2D(gl.TEXTURE_CUBE_MAP_POSITIVE_X + face, level, 0, 0, CUBE_WIDTH >> level, CUBE_WIDTH >> level, gl.RGBA, gl.FLOAT, texels),
        ),
      );
      this.harmonics = irradianceHarmonics(levels[2], CUBE_WIDTH / 4);
      this.fromAbove = irradianceFromAbove(levels[1], CUBE_WIDTH / 2);
    }
    this.lightColour = made.light(this.fromAbove);
    this.baseExposure = made.exposure(this.fromAbove, this.lightColour);
  }

  resize() {
    const { canvas } = this;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !height || (canvas.width === width && canvas.height === height)) return;
    canvas.width = width;
    canvas.height = height;
    this.restart();
    this.wake();
  }

  wake() {
    if (this.isAwake) return;
    this.isAwake = true;
    requestAnimationFrame(() => this.frame());
  }

  frame() {
    this.isAwake = false;
    if (!this.material || !this.canvas.width) return;
    if (this.fences.length && !this.settle()) {
      this.wake();
      return;
    }
    if (this.passes * PASS_SAMPLES >= FINAL_SAMPLES && this.phase === "fine") {
      this.onDone();
      return;
    }
    if (this.phase === "fine" && this.isMoving) this.restart();
    if (this.phase === "coarse" && this.passes) {
      if (this.isMoving) {
        this.wake();
        return;
      }
      this.phase = "fine";
      this.passes = 0;
      this.tile = 0;
    }
    this.step();
    this.wake();
  }

  /** Whether the last draw has ended; measures the device's speed by it. */
  settle() {
    const { gl } = this;
    const { sync, begun, calls } = this.fences[0];
    if (gl.clientWaitSync(sync, 0, 0) === gl.TIMEOUT_EXPIRED) return false;
    gl.deleteSync(sync);
    this.fences.shift();
    const taken = Math.max(performance.now() - begun, 1);
    // the first draw compiles
    if (this.isWarm && calls > 2000) this.speed = 0.7 * this.speed + 0.3 * Math.min(calls / taken, 400000);
    this.isWarm = true;
    return true;
  }

  /** Draws one tile of a pass, as large as the time allows. */
  step() {
    const { gl, canvas, state } = this;
    const isCoarse = this.phase === "coarse";
    const samples = state.environment === "dark" ? 0 : isCoarse ? 2 : PASS_SAMPLES;
    const each = 1.5 + 1.3 * samples;
    const longest = isCoarse ? (this.isWarm ? MOVING_MS : 12 * MOVING_MS) : PASS_MS;
    const least = isCoarse ? SMALLEST : SMALLEST_FINE;
    const pixels = (this.speed * longest) / each;
    const scale = Math.min(1, Math.max(Math.sqrt(pixels / (canvas.width * canvas.height)), least / Math.min(canvas.width, canvas.height)));
    const width = Math.max(1, Math.round(canvas.width * scale));
    const height = Math.max(1, Math.round(canvas.height * scale));
    if (!this.tile) {
      const isSame = this.targets[0]?.width === width && this.targets[0]?.height === height;
      if (!isSame && (this.passes === 0 || isCoarse)) {
        this.targets.forEach((target) => target !== this.shown && freeTarget(gl, target));
        this.targets = [0, 1].map(() => makeTarget(gl, width, height, this.isFloat));
        this.passes = 0;
      }
    }
    const target = this.targets[1];
    const rows = isCoarse ? target.height : Math.max(1, Math.min(target.height, Math.floor((this.speed * DRAW_MS) / each / target.width)));
    const first = this.tile;
    const count = Math.min(rows, target.height - first);
    const begun = performance.now();
    this.draw(target, samples, first, count);
    this.fences.push({ sync: this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0), begun, calls: target.width * count * each });
    this.gl.flush();
    this.tile = first + count;
    if (this.tile < target.height) return;
    this.tile = 0;
    this.passes++;
    this.targets.reverse();
    if (this.shown && !this.targets.includes(this.shown)) freeTarget(this.gl, this.shown);
    this.shown = this.targets[0];
    this.present();
    this.onPicture(this);
  }

  draw(target, samples, first, count) {
    const { gl, state } = this;
    const isMesh = state.shape === "mesh" && this.mesh;
    const program = this.program(isMesh ? "mesh" : "shape");
    const at = (name) => this.at(program, name);
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.buffer);
    gl.viewport(0, 0, target.width, target.height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(0, first, target.width, count);
    gl.useProgram(program);
    this.material.bind(program, 0, 0);
    this.texture(program, "neuralEnvironment", 2, gl.TEXTURE_CUBE_MAP, this.cube);
    this.texture(program, "before", 3, gl.TEXTURE_2D, this.targets[0].texture);
    if (this.material.emission) this.texture(program, "emissionMap", 4, gl.TEXTURE_2D, this.material.emission);
    if (this.material.opacity) this.texture(program, "opacityMap", 5, gl.TEXTURE_2D, this.material.opacity);
    if (this.material.relief) {
      const { scale, midlevel } = this.loaded.relief;
      this.texture(program, "neuralHeights", 6, gl.TEXTURE_2D, this.material.relief);
      gl.uniform2f(at("neuralRange"), isMesh ? scale / this.mesh.radius : scale, midlevel);
    }
    const turns = this.turns();
    gl.uniformMatrix3fv(at("turn"), false, turns.shape);
    gl.uniformMatrix3fv(at("lightTurn"), false, turns.light);
    gl.uniform3fv(at("toLight"), turned(transposed(turns.light), this.toLight));
    gl.uniform3fv(at("lightColour"), this.lightColour);
    gl.uniform1i(at("samples"), samples);
    gl.uniform1f(at("width"), this.phase === "coarse" ? 8 : FINAL_SAMPLES);
    gl.uniform2f(at("shift"), (this.passes * 0.7548776662) % 1, (this.passes * 0.5698402909) % 1);
    if (state.live.length) gl.uniform3fv(at("live"), liveVector(state.live));
    gl.uniform1f(at("tiles"), state.tiles);
    gl.uniform1f(at("earlier"), this.passes);
    gl.uniform1f(at("emissionScale"), state.emission);
    gl.uniform3fv(at("neuralHarmonics[0]"), this.harmonics.flat());
    gl.uniform3f(at("neuralAmbient"), 0, 0, 0);
    gl.uniform1i(at("shape"), state.shape === "plane" ? 1 : 0);
    gl.uniform4fv(at("window"), this.window());
    const [jx, jy] = [(this.passes * 0.6180339887) % 1, (this.passes * 0.7548776662) % 1];
    const spread = this.phase === "coarse" ? 0 : 1;
    gl.uniform2f(at("jitter"), (spread * 2 * (jx - 0.5)) / target.width, (spread * 2 * (jy - 0.5)) / target.height);
    if (isMesh) {
      // the mean of pixels beside the mesh needs no history: nothing is there
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      if (this.passes) this.copyEarlier(target, first, count);
      gl.enable(gl.DEPTH_TEST);
      gl.useProgram(program);
      gl.bindVertexArray(this.mesh.array);
      gl.drawArrays(gl.TRIANGLES, 0, this.mesh.count);
      gl.bindVertexArray(null);
      gl.disable(gl.DEPTH_TEST);
    } else {
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  /** Pixels of earlier passes that this one may miss fade by its share. */
  copyEarlier(target, first, count) {
    const { gl } = this;
    this.fade ??= makeProgram(gl, PLACE_VERTEX, `uniform sampler2D before; uniform float share; out vec4 color;
void main() { color = share * texelFetch(before, ivec2(gl_FragCoord.xy), 0); }`);
    gl.useProgram(this.fade);
    this.texture(this.fade, "before", 3, gl.TEXTURE_2D, this.targets[0].texture);
    gl.uniform1f(this.at(this.fade, "share"), this.passes / (this.passes + 1));
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** Shows the mean on the canvas. */
  present() {
    const { gl, canvas, state } = this;
    const drawn = this.shown;
    if (!drawn) return;
    const at = (name) => this.at(this.show, name);
    const chosen = ENVIRONMENTS[state.environment];
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.useProgram(this.show);
    this.texture(this.show, "mean", 0, gl.TEXTURE_2D, drawn.texture);
    this.texture(this.show, "environment", 2, gl.TEXTURE_CUBE_MAP, this.cube);
    const isCompared = state.compare && this.reference;
    this.texture(this.show, "reference", 1, gl.TEXTURE_2D, this.reference ?? drawn.texture);
    gl.uniformMatrix3fv(at("lightTurn"), false, this.turns().light);
    gl.uniform1f(at("exposure"), this.baseExposure * 2 ** state.stops);
    gl.uniform1i(at("hasShoulder"), chosen.hasShoulder ? 1 : 0);
    gl.uniform1i(at("hasBackdrop"), chosen.backdrop === "environment" ? 1 : 0);
    gl.uniform4fv(at("window"), this.window());
    gl.uniform1i(at("compare"), isCompared ? state.compare : 0);
    gl.uniform1f(at("wipe"), state.wipe);
    gl.uniform1f(at("heatTop"), state.heatTop);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  /** A picture to compare with, square, or null. */
  setReference(image) {
    const { gl } = this;
    if (this.reference) gl.deleteTexture(this.reference);
    this.reference = null;
    if (!image) return;
    this.reference = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.reference);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, image);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.LINEAR);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
  }

  /** Scale and shift from the canvas to the picture's square of -1 to 1. */
  window() {
    const { canvas, state } = this;
    // above the tools, which lie over the canvas
    const covered = Math.min(this.covered * (canvas.height / canvas.clientHeight), 0.3 * canvas.height);
    const least = Math.min(canvas.width, canvas.height - covered);
    const [across, down] = [canvas.width / least / state.zoom, canvas.height / least / state.zoom];
    return [across, down, state.x, state.y - (down * covered) / canvas.height];
  }

  turns() {
    const { state } = this;
    const camera = product(aboutX(state.pitch), aboutY(state.turn));
    const light = aboutY(-state.lightYaw);
    if (state.shape !== "mesh") return { shape: columns(camera), light: columns(light) };
    // seen from above and from the side; light stays in the mesh's axes
    const seen = product(aboutX(40), aboutY(20));
    return { shape: columns(product(camera, seen)), light: columns(product(light, transpose(seen))) };
  }

  program(kind) {
    if (!this.programs.has(kind)) {
      const [vertex, fragment] = kind === "mesh" ? [MESH_VERTEX, meshFragment] : [PLACE_VERTEX, shapeFragment];
      this.programs.set(kind, makeProgram(this.gl, vertex, fragment(this.material.glsl, this.loaded)));
    }
    return this.programs.get(kind);
  }

  at(program, name) {
    if (!this.uniforms.has(program)) this.uniforms.set(program, new Map());
    const known = this.uniforms.get(program);
    if (!known.has(name)) known.set(name, this.gl.getUniformLocation(program, name));
    return known.get(name);
  }

  texture(program, name, unit, target, texture) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(target, texture);
    gl.uniform1i(this.at(program, name), unit);
  }

  /** The mean that is shown, in linear light with coverage, rows from below: for tests. */
  pixels() {
    const { gl } = this;
    const { buffer, width, height } = this.shown;
    const values = new Float32Array(4 * width * height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, values);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return { width, height, values: Array.from(values), passes: this.passes, phase: this.phase };
  }
}
