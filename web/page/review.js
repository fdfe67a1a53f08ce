// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError } from "verdigris/errors.js";
import { connectLink } from "verdigris/link.js";
import { liveNumbers } from "verdigris/live.js";
import { loadMaterial } from "verdigris/material.js";
import { openZip } from "verdigris/zip.js";
import { check } from "verdigris/webgl2.js";
import { imageOf, makeControls } from "./controls.js";
import { describe, showCheck } from "./facts.js";
import { Viewer } from "./viewer.js";

const byId = (id) => document.getElementById(id);
const begun = performance.now();

/** What tests and other pages can reach. */
const review = { ready: undefined, viewer: null, material: null, firstPicture: null };
window.verdigrisReview = review;

function bytesOf(id) {
  const text = atob(byId(id).textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** Shows an error in place of the picture. Those of a bundle name file and field. */
export function showFailure(failure, name) {
  const box = byId("failure");
  box.hidden = false;
  const title = document.createElement("strong");
  title.textContent = name ? `${name} cannot be shown` : "This page cannot be shown";
  const reason = document.createElement("code");
  reason.textContent = failure instanceof VerdigrisError ? failure.message : failure?.message ?? String(failure);
  box.replaceChildren(title, reason);
  byId("status").textContent = "";
}

async function start() {
  const data = JSON.parse(byId("review").textContent);
  const viewer = new Viewer(byId("canvas"));
  review.viewer = viewer;
  const loaded = new Map();
  const checked = new Map();
  let current = 0;

  // the page of a server shows its link; any other one that of `#link=ADDRESS`
  const address = data.link ? location.href : new URLSearchParams(location.hash.slice(1)).get("link");
  const link = address && connectLink(address, {
    onMaterial: (material) => review.material && follow(material),
    onState: ({ live }) => live && review.material && viewer.change({ live: liveNumbers(review.material, live) }),
    onEnd: (failure) => showFailure(failure, review.material?.name),
  });
  if (link) {
    byId("status").textContent = "Waiting for the material…";
    const { name } = await link.first;
    data.materials = [{ name, references: [] }];
    document.title = name;
  }
  const trained = () => {
    const { final, step, steps } = link?.snapshot ?? {};
    return !step || final ? "" : `Training: step ${step} of ${steps}`;
  };

  function follow(material) {
    review.material = material;
    checked.clear();
    viewer.updateMaterial(material);
    if (link.snapshot.final) describe(byId("facts"), material, data.materials[0], data);
  }

  const load = (index) => {
    if (link) return link.loaded;
    if (!loaded.has(index)) loaded.set(index, loadMaterial(bytesOf(`bundle-${index}`), { label: data.materials[index].name }));
    return loaded.get(index);
  };

  async function choose(index) {
    current = index;
    const entry = data.materials[index];
    byId("failure").hidden = true;
    byId("status").textContent = "Loading…";
    try {
      const material = await load(index);
      if (current !== index) return;
      review.material = material;
      viewer.setMaterial(material);
      controls.setLive(material);
      describe(byId("facts"), material, entry, data);
      const known = checked.get(index);
      if (known) showCheck(known);
      controls.setReferences(entry.references ?? []);
    } catch (failure) {
      review.material = null;
      describe(byId("facts"), null, entry, data);
      showFailure(failure, entry.name);
      controls.setBroken(index);
      throw failure;
    }
  }

  const controls = makeControls(viewer, data, {
    choose: (index) => choose(index).catch(() => {}),
    async reference(entry) {
      viewer.setReference(entry ? await imageOf(entry) : null);
      viewer.change({ compare: viewer.state.compare });
    },
  });

  const pictured = new Promise((resolve) => {
    viewer.onPicture = ({ phase, passes }) => {
      if (review.firstPicture === null) {
        review.firstPicture = performance.now() - begun;
        review.sinceNavigation = performance.now();
        resolve(review);
      }
      byId("status").textContent = trained() || (phase === "fine" && passes > 1 ? "" : "Refining…");
    };
  });
  viewer.onDone = async () => {
    byId("status").textContent = trained();
    const index = current;
    // a training has no reference
    if (checked.has(index) || !review.material?.manifest.reference) return;
    checked.set(index, null);
    const canvas = document.createElement("canvas");
    try {
      const result = await check(canvas.getContext("webgl2"), review.material);
      checked.set(index, result);
      if (current === index) showCheck(result);
    } catch (failure) {
      checked.set(index, { failure: failure.message });
      if (current === index) showCheck(checked.get(index));
    }
  };
  await choose(0);
  await pictured;
  if (data.mesh) {
    const file = openZip(bytesOf("mesh"), "the mesh").get("mesh.bin");
    viewer.setMesh(new Float32Array((await file()).slice().buffer), data.mesh.radius);
  }
  return review;
}

review.ready = start();
review.ready.catch((failure) => {
  // those of a bundle are shown already
  if (byId("failure").hidden) showFailure(failure);
});
