// SPDX-License-Identifier: Apache-2.0

import { VerdigrisError, shown } from "./errors.js";
import { endsOf } from "./live.js";
import { loadMaterial } from "./material.js";

/** Version of the protocol: docs/LINK.md of Verdigris. */
const VERSION = 1;
const MAGIC = 0x4b4c4456; // VDLK
const LARGEST_HEAD = 1 << 20;
/** Milliseconds until a lost link is opened again: at first, and at most. */
const [FIRST_WAIT, LONGEST_WAIT] = [500, 5000];

/**
 * Shows a material of `verdigris bake --link` or `verdigris link`, again whenever it changes:
 *
 *     const link = connectLink(address, { onMaterial: (loaded) => mine.update(loaded) });
 *     const loaded = await link.first;
 *
 * @param {string} address the address that the command prints
 * @param {object} options
 *   material: the name of a material, by default the one that the server has chosen;
 *   onMaterial(loaded, snapshot): a new state of the material, complete. One that comes while another is loading replaces it;
 *   onState(state): what the server tells, such as `live` values and `phase`;
 *   onEnd(error, isFinal): the link has ended for good: the address is wrong, or the server is gone and `retry` is false;
 *   retry: whether to connect again when the server is gone, true by default
 */
export function connectLink(address, options = {}) {
  return new Link(address, options);
}

/**
 * Lets a material of three.js follow a link: its `update` gets each state, its `live` the values that the server tells.
 * `address` may be a link that is open.
 */
export function followLink(material, address, options) {
  if (material.link !== address) material.link?.close();
  const show = ({ live = {} }) => {
    const known = material.loaded.live.filter(({ name }) => Number.isFinite(live[name]));
    material.live = Object.fromEntries(
      known.map((each) => {
        const [low, high] = endsOf(each);
        return [each.name, Math.min(Math.max(live[each.name], low), high)];
      }),
    );
  };
  const followed = {
    ...options,
    onMaterial(loaded, snapshot) {
      const fits = material.update(loaded);
      if (material.link?.state) show(material.link.state);
      options.onMaterial?.(loaded, snapshot, fits);
    },
    onState(state) {
      show(state);
      options.onState?.(state);
    },
  };
  const isOpen = address instanceof Link;
  material.link = isOpen ? Object.assign(address, followed) : connectLink(address, followed);
  if (isOpen && address.loaded && address.loaded !== material.loaded) followed.onMaterial(address.loaded, address.snapshot);
  return material.link;
}

class Link {
  constructor(address, { material, onMaterial = () => {}, onState = () => {}, onEnd = () => {}, retry = true, WebSocket = globalThis.WebSocket } = {}) {
    const place = new URL(address);
    place.protocol = place.protocol.replace("http", "ws");
    place.hash = "";
    place.searchParams.set("version", VERSION);
    if (material !== undefined) place.searchParams.set("material", material);
    Object.assign(this, { address: place.href, onMaterial, onState, onEnd, retry, WebSocket });
    /** The newest loaded material and its snapshot: number, material, step, steps, final. */
    this.loaded = this.snapshot = this.state = null;
    this.isClosed = false;
    this.wait = FIRST_WAIT;
    /** The first material. */
    this.first = new Promise((resolve, reject) => Object.assign(this, { begin: resolve, refuse: reject }));
    this.first.catch(() => {});
    this.open();
  }

  open() {
    const socket = new this.WebSocket(this.address);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    // the server counts what it has sent on this connection
    this.files = new Map();
    socket.onmessage = ({ data }) => {
      if (socket !== this.socket) return;
      try {
        this.take(data);
      } catch (failure) {
        this.end(failure);
      }
    };
    socket.onclose = ({ code, reason }) => {
      if (socket !== this.socket || this.isClosed) return;
      const refused = code >= 4400 && code < 4500;
      if (refused || !this.retry) {
        this.end(new VerdigrisError("the link", reason || "has ended: start the bake or verdigris link, and copy its address again"));
        return;
      }
      this.timer = setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
  }

  take(data) {
    const { head, files } = readMessage(data);
    this.wait = FIRST_WAIT;
    if (head.kind === "state") {
      this.state = head;
      this.onState(head);
      return;
    }
    if (head.kind !== "snapshot") return;
    const { files: listed, ...snapshot } = head;
    // a file that has not changed is the one that came before
    this.files = new Map([...this.files, ...files]);
    // loading takes a moment, and only the newest counts
    this.waiting = { all: this.files, snapshot };
    this.loading ??= this.loadAll().catch((failure) => this.end(failure)).finally(() => {
      this.loading = null;
    });
  }

  async loadAll() {
    while (this.waiting) {
      const { all, snapshot } = this.waiting;
      this.waiting = null;
      const loaded = await loadMaterial(all, { label: snapshot.material });
      if (this.isClosed) return;
      this.loaded = loaded;
      this.snapshot = snapshot;
      this.onMaterial(loaded, snapshot);
      this.begin(loaded);
      // the next one comes now, and not what would have waited meanwhile
      if (this.socket.readyState === 1) this.socket.send("next");
    }
  }

  end(failure) {
    if (this.isClosed) return;
    this.close();
    this.refuse(failure);
    this.onEnd(failure, Boolean(this.snapshot?.final));
  }

  /** Ends the link. The last material stays. */
  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
  }
}

/** The head of a message, and its files by name. */
export function readMessage(data) {
  const wrong = (what) => new VerdigrisError("the link", `${what}: use the same version of Verdigris on both sides`);
  const view = new DataView(data);
  if (data.byteLength < 8 || view.getUint32(0, true) !== MAGIC) throw wrong("sent something else than a message");
  const length = view.getUint32(4, true);
  if (length > LARGEST_HEAD || 8 + length > data.byteLength) throw wrong(`sent a head of ${length} bytes`);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length)));
  if (head.link !== VERSION) throw wrong(`has version ${shown(head.link)} and not ${VERSION}`);
  const first = 16 * Math.ceil((8 + length) / 16);
  const files = new Map();
  for (const { file, offset, bytes } of head.files ?? []) {
    if (!(offset >= 0 && bytes >= 0 && first + offset + bytes <= data.byteLength)) throw wrong(`ends inside of ${shown(file)}`);
    files.set(file, new Uint8Array(data, first + offset, bytes));
  }
  return { head, files };
}
