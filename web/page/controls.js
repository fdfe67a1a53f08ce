// SPDX-License-Identifier: Apache-2.0

import { endsOf, liveNumbers } from "verdigris/live.js";
import { ENVIRONMENTS } from "./environments.js";

const HEAT_TOPS = [0.05, 0.1, 0.25, 0.5];
const EMPTY = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==";
const byId = (id) => document.getElementById(id);

function element(name, attributes = {}, ...children) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
}

/** The picture of a reference as a canvas. */
export async function imageOf(reference) {
  const image = new Image();
  image.src = reference.image;
  await image.decode();
  // preview.png holds reference, neural material and heat map side by side
  const width = image.width / (reference.columns ?? 1);
  const canvas = element("canvas", { width, height: image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, image.height, 0, 0, width, image.height);
  return canvas;
}

/** A row of choices, of which one holds. */
function choices(label, options, chosen, onChange) {
  const group = element("div", { className: "group" });
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", label);
  const inputs = new Map();
  for (const [value, title, hint] of options) {
    const input = element("input", { type: "radio", name: label, value, checked: value === chosen });
    input.addEventListener("change", () => onChange(value));
    inputs.set(value, input);
    group.append(element("label", { title: hint ?? "" }, input, element("span", { textContent: title })));
  }
  return { group, inputs, set: (value) => { inputs.get(value).checked = true; } };
}

function range(label, { min, max, step, value, shown }, onInput) {
  const input = element("input", { type: "range", min, max, step, value });
  input.setAttribute("aria-label", label);
  const output = element("output", { textContent: shown(value) });
  input.addEventListener("input", () => {
    output.textContent = shown(Number(input.value));
    onInput(Number(input.value));
  });
  const group = element("label", { className: "group range" }, label, input, output);
  return { group, set: (to) => { input.value = to; output.textContent = shown(to); } };
}

/** The tools over the picture, and what fingers and mouse do on it. */
export function makeControls(viewer, data, on) {
  const canvas = byId("canvas");
  const tools = byId("tools");
  const divider = byId("divider");
  let drag = "shape";
  let references = [];
  let reference = null;
  let [tallest, widest] = [0, 0];

  const shape = choices("Shape", [["sphere", "Sphere"], ["plane", "Plane"], ...(data.mesh ? [["mesh", data.mesh.name]] : [])], "sphere", (value) => {
    leaveComparison();
    viewer.change({ shape: value, turn: 0, pitch: 0, zoom: 1, x: 0, y: 0 });
  });
  const environment = choices("Light", Object.entries(ENVIRONMENTS).map(([name, { title }]) => [name, title]), "studio", (value) => {
    leaveComparison();
    viewer.change({ environment: value, lightYaw: 0, lightPitch: 0 });
  });
  const dragging = choices("Drag", [["shape", "Turn", "Dragging turns the material"], ["light", "Light", "Dragging moves the light (or hold Shift, or the right button)"]], drag, (value) => {
    drag = value;
  });
  const compare = choices("Compare", [["0", "View"], ["1", "Wipe", "Against the picture of the source material"], ["2", "Heat map", "Where they differ"]], "0", (value) => setCompare(Number(value)));
  const exposure = range("Exposure", { min: -4, max: 4, step: 0.1, value: 0, shown: (stops) => `${stops > 0 ? "+" : ""}${stops.toFixed(1)}` }, (stops) => {
    if (viewer.state.compare) leaveComparison();
    viewer.change({ stops });
  });
  const tiles = range("Tiling", { min: 1, max: 8, step: 1, value: 1, shown: (count) => `${count}×` }, (count) => {
    leaveComparison();
    viewer.change({ tiles: count });
  });
  const live = element("div", { className: "lives", hidden: true });
  let sliders = [];
  const which = element("div", { className: "group", hidden: true });
  const buttons = element("div", { className: "group" },
    element("button", { type: "button", textContent: "Reset", title: "The view and light at the start (double-click)", onclick: reset }),
    element("button", { type: "button", textContent: "Save PNG", onclick: save }),
  );
  tools.append(compare.group, which, shape.group, environment.group, dragging.group, exposure.group, tiles.group, live, buttons);

  function reset() {
    exposure.set(0);
    tiles.set(1);
    resetLive();
    viewer.change({ turn: 0, pitch: 0, zoom: 1, x: 0, y: 0, lightYaw: 0, lightPitch: 0, stops: 0, tiles: 1, wipe: 0 });
    place();
  }

  /** Live inputs as the bundle has them by default, which pictures of the source show. */
  function resetLive() {
    if (!sliders.length) return;
    sliders.forEach(({ set, start }) => set(start));
    viewer.change({ live: liveNumbers(viewer.loaded) });
  }

  function save() {
    viewer.present();
    const link = element("a", { href: canvas.toDataURL("image/png"), download: `${data.materials[picked()].name}.png` });
    link.click();
  }

  /** Takes view and light of the reference picture, which a comparison needs. */
  function setCompare(value) {
    compare.set(String(value));
    divider.hidden = value !== 1;
    byId("scale").hidden = value !== 2;
    which.hidden = !value || references.length < 2;
    // the reference picture settles these
    for (const { group } of [shape, environment, dragging, exposure, tiles]) group.hidden = Boolean(value);
    live.hidden = Boolean(value) || !sliders.length;
    if (value && reference) {
      shape.set(reference.shape);
      environment.set(reference.environment);
      exposure.set(0);
      tiles.set(1);
      resetLive();
      viewer.change({
        shape: reference.shape, environment: reference.environment, emission: reference.emission ? 1 : 0,
        turn: 0, pitch: 0, zoom: viewer.state.zoom, lightYaw: 0, lightPitch: 0, stops: 0, tiles: 1, compare: value,
      });
    } else {
      viewer.change({ compare: 0, emission: 1 });
    }
    place();
  }

  function leaveComparison() {
    if (!viewer.state.compare) return;
    setCompare(0);
  }

  /** Puts the divider where the wipe is. */
  function place() {
    const { wipe } = viewer.state;
    const [scale, , shift] = viewer.window();
    divider.style.left = `${(50 * ((wipe - shift) / scale + 1)).toFixed(3)}%`;
    byId("scale-top").textContent = `${100 * viewer.state.heatTop}%`;
  }

  function wipeTo(clientX) {
    const box = canvas.getBoundingClientRect();
    const [scale, , shift] = viewer.window();
    const wipe = ((2 * (clientX - box.left)) / box.width - 1) * scale + shift;
    viewer.change({ wipe: Math.min(Math.max(wipe, -1), 1) });
    place();
  }

  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  divider.addEventListener("pointermove", (event) => {
    if (divider.hasPointerCapture(event.pointerId)) wipeTo(event.clientX);
  });
  byId("scale").addEventListener("click", () => {
    const next = HEAT_TOPS[(HEAT_TOPS.indexOf(viewer.state.heatTop) + 1) % HEAT_TOPS.length];
    viewer.change({ heatTop: next });
    place();
  });

  // One pointer drags, two pinch.
  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (!dx && !dy) return;
    const { state } = viewer;
    if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, each]) => each);
      const ratio = Math.hypot(now[0] - other[0], now[1] - other[1]) / Math.max(Math.hypot(before[0] - other[0], before[1] - other[1]), 1);
      zoomTo(state.zoom * ratio, dx / 2, dy / 2);
    } else if (state.compare === 1) {
      wipeTo(event.clientX);
    } else if (drag === "light" || event.shiftKey || event.buttons === 2) {
      leaveComparison();
      viewer.change({ lightYaw: state.lightYaw + dx * 0.5, lightPitch: clamp(state.lightPitch - dy * 0.35, 80) }, true);
    } else if (state.compare) {
      zoomTo(state.zoom, dx, dy);
    } else {
      viewer.change({ turn: state.turn + (dx * 0.4) / state.zoom, pitch: clamp(state.pitch + (dy * 0.4) / state.zoom, 90) }, true);
    }
    pointers.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("dblclick", reset);
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomTo(viewer.state.zoom * Math.exp(-event.deltaY * 0.0015), 0, 0);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] }[event.key];
    if (steps && viewer.state.compare === 1) viewer.change({ wipe: clamp(viewer.state.wipe + steps[0] / 100, 1) });
    else if (steps) viewer.change({ turn: viewer.state.turn + steps[0], pitch: clamp(viewer.state.pitch + steps[1], 90) }, true);
    else if (["1", "2", "3"].includes(event.key) && references.length) setCompare(Number(event.key) - 1);
    else return;
    event.preventDefault();
    place();
  });
  new ResizeObserver(() => {
    const isOver = getComputedStyle(tools).position === "absolute";
    // a comparison has fewer tools, and must not move the picture
    tallest = tools.clientWidth === widest ? Math.max(tallest, tools.clientHeight) : tools.clientHeight;
    widest = tools.clientWidth;
    viewer.cover(isOver ? tallest : 0);
    byId("stage").style.setProperty("--covered", `${viewer.covered}px`);
    place();
  }).observe(tools);

  function zoomTo(wanted, dx, dy) {
    const zoom = Math.min(Math.max(wanted, 1), 16);
    const perPixel = 2 / Math.min(canvas.clientWidth, canvas.clientHeight) / zoom;
    const most = 1 - 1 / zoom;
    viewer.change({ zoom, x: clamp(viewer.state.x - dx * perPixel, most), y: clamp(viewer.state.y + dy * perPixel, most) }, true);
    place();
  }

  const cards = makePicker(data, on.choose);
  const picked = () => Math.max(0, cards.findIndex(({ input }) => input.checked));

  return {
    setBroken: (index) => cards[index]?.label.classList.add("is-broken"),
    /** A slider for each live input of a material. */
    setLive(material) {
      sliders = material.live.map((input) => {
        const [min, max] = endsOf(input);
        const start = min + (max - min) * input.default;
        const shown = (value) => String(Number(value.toPrecision(3)));
        const slider = range(input.name, { min, max, step: (max - min) / 200, value: start, shown }, (value) => {
          leaveComparison();
          viewer.change({ live: liveNumbers(material, { [input.name]: value }, viewer.state.live) }, true);
        });
        return { ...slider, start };
      });
      live.replaceChildren(...sliders.map(({ group }) => group));
      live.hidden = !sliders.length;
    },
    /** The pictures that there are to compare with. */
    setReferences(list) {
      references = list;
      reference = list[0] ?? null;
      for (const value of ["1", "2"]) compare.inputs.get(value).disabled = !list.length;
      compare.group.title = list.length ? "" : "This page has no reference pictures of this material";
      const chooser = choices("Reference", list.map(({ title }, index) => [String(index), title]), "0", (index) => {
        reference = references[Number(index)];
        on.reference(reference).then(() => setCompare(viewer.state.compare));
      });
      which.replaceChildren(...chooser.group.childNodes);
      const before = viewer.state.compare;
      on.reference(reference).then(() => setCompare(reference ? before : 0));
    },
  };
}

function makePicker(data, choose) {
  if (data.materials.length < 2) return [];
  const picker = byId("picker");
  picker.hidden = false;
  byId("stage").classList.add("has-picker");
  return data.materials.map(({ name, references = [] }, index) => {
    const input = element("input", { type: "radio", name: "material", checked: index === 0 });
    input.setAttribute("aria-label", name);
    input.addEventListener("change", () => choose(index));
    const picture = element("img", { alt: "", src: EMPTY });
    if (references.length) imageOf(references[0]).then((image) => { picture.src = image.toDataURL(); }, () => {});
    const label = element("label", { title: name }, input, picture, element("span", { textContent: name }));
    picker.append(label);
    return { label, input };
  });
}

function clamp(value, most) {
  return Math.min(Math.max(value, -most), most);
}
