"""Small bundles with random numbers for tests, written as a bake writes them."""

import json

import numpy as np

from verdigris.core.bundle.files.ktx2 import BC7, RGBA8
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.stored_textures import Exported, export_numbers
from verdigris.core.bundle.files.weights import pack_weights
from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.proxies.proxy_texture import VIEW_COSINES, AlbedoCurves
from verdigris.core.bundle.runtime.device_materials import StoredMaterial
from verdigris.core.bundle.verify.verify import parameters_decoder
from verdigris.core.material.evaluator import POINT
from verdigris.core.network.light.sampler import head_views
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec

SMALL = LatentLayout(8, 4, 4)


def lively_parameters(spec=None, layout=SMALL, seed=3):
    """Random numbers far enough from zero that frames turn and responses differ by decades."""
    spec = spec or NetworkSpec(hidden_width=16, activation="silu")
    parameters = initialise(spec, layout, seed)
    parameters.latents *= 8
    parameters.frames()[:] *= 4
    random = np.random.default_rng(seed)
    for layer in spec.layers:
        parameters.bias(layer)[:] = 0.3 * random.standard_normal(layer.outputs)
    parameters.weights(spec.layers[-1])[:] *= 4
    parameters.head = _lively_head(spec)
    return parameters


def _lively_head(spec):
    """A sampler whose lobes differ by place and view, in half floats as a bake writes them."""
    head = 0.3 * np.random.default_rng(17).standard_normal(spec.head_layers[-1].end)
    return head.astype(np.float16).astype(np.float32)


def with_sums_of(size, layer=0, width=32, units=None):
    """A decoder whose hidden layer begins with a bias of -`size` and gets it back from an input
    behind the first sixteen, so that little is left of large sums: what narrow highlights do. Where
    `units` says how many, the first of them alone have it."""
    parameters = lively_parameters(NetworkSpec(width, 2, "silu"))
    first, second = parameters.spec.layers[:2]
    parameters.bias((first, second)[layer])[:units] -= size
    if layer == 0:
        parameters.frames()[[6, 7, 14, 15]] = 0  # not stretched, the input is near 1
        half_z = parameters.spec.inputs_of_frame(1).start + 2
        parameters.weights(first)[:, half_z] += size
    else:
        # a unit that is 2 everywhere, but for what silu leaves of it
        parameters.weights(first)[-1], parameters.bias(first)[-1] = 0, 2.2178
        parameters.weights(second)[:, -1] = 0
        parameters.weights(second)[:units, -1] = size / 2
    return export_numbers(parameters).parameters


def make_bundle(path, parameters=None, texel_format=BC7, **contents):
    """Writes and opens a bundle of parameters, or of numbers that are rounded."""
    exported = parameters
    if not isinstance(parameters, Exported):
        exported = export_numbers(parameters or lively_parameters(), format_name=texel_format)
    return open_bundle(write_bundle(path, exported, Contents(**contents)))


def edit(folder, change):
    """Changes the manifest as parsed JSON."""
    path = folder / "manifest.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def random_curves(random=None):
    """Between the albedos of proxies."""
    random = random or np.random.default_rng(0)
    return AlbedoCurves(random.uniform(-1, 1, (3, len(VIEW_COSINES), 4)).round(5))


def made_up(
    spec: NetworkSpec, width: int = 16, height: int = 8, seed: int = 0, texel_format: str = RGBA8
) -> Exported:
    """Large enough that no frame is the identity and every input matters."""
    layout = LatentLayout(width, height, max(width, height).bit_length())
    parameters = initialise(spec, layout, seed)
    random = np.random.default_rng(seed)
    parameters.latents[:] = random.standard_normal(parameters.latents.shape)
    parameters.decoder += 0.1 * random.standard_normal(parameters.decoder.shape).astype(np.float32)
    parameters.head = _lively_head(spec)
    return export_numbers(parameters, format_name=texel_format)


def stored(exported: Exported) -> StoredMaterial:
    weights, _ = pack_weights(exported.parameters)
    return StoredMaterial(exported.parameters.spec, weights, exported.latents)


class Graph:
    """A source whose response is `scale` times what a bundle holds, the same everywhere in what it
    gives off and covers. Implements response() and unlit()."""

    # nothing is known of it beforehand
    is_dark_and_opaque = False

    def __init__(self, bundle, scale, glow=(0, 0, 0), coverage=1):
        self._unlit = np.array([*glow, coverage], np.float32)
        self._decode, self._scale = parameters_decoder(bundle.parameters()), scale
        self._last = bundle.layout.levels
        self._width = bundle.layout.width

    def response(self, uv, wi, wo, frames=None, footprint=POINT, live=None):
        # the point's lod, by the width of the patch that is asked for
        found = np.clip(np.log2(footprint.width * self._width), 0, self._last)
        lod = np.full(len(uv), found, np.float32)
        return (self._scale * self._decode(uv, lod, wi, wo)).astype(np.float32)

    def unlit(self, uv, wo):
        return np.tile(self._unlit, (len(uv), 1))


def with_older_head(parameters, version):
    """The same with zeros for what samplers of this older version do not have."""
    _, _, last, bias = head_views(parameters.spec, parameters.head)
    outputs = _older_outputs(parameters.spec, version)
    last[outputs:] = 0
    bias[outputs:] = 0
    return parameters


def _older_outputs(spec, version):
    outputs = {"4.3": spec.untilted_outputs, "4.5": spec.tilted_outputs}
    return outputs.get(version, spec.head_outputs)


def write_as_older(folder, spec, version):
    """Makes a bundle of with_older_head() one of that version: 4.3 had no tilts of lobes, 4.5
    no leaning, and 4.6 one least cosine of the view for all lobes."""
    path = folder / "manifest.json"
    document = json.loads(path.read_text())
    document["version"] = version
    sampler, outputs = document["sampler"], _older_outputs(spec, version)
    kinds = {
        "4.3": "visible_normals",
        "4.5": "tilted_visible_normals",
        "4.6": "leaning_visible_normals",
    }
    sampler["kind"] = f"{kinds[version]}_cosine_uniform"
    sampler["view_cosine_minimum"] = sampler.pop("view_cosine_maximum")
    if version < "4.6":
        del sampler["lean_cosine_minimum"]
    if version == "4.3":
        del sampler["tilt_share"], sampler["tilt_maximum"]
    sampler["layers"][1]["outputs"] = outputs
    for tensor in document["weights"]["tensors"]:
        if tensor["name"].startswith("head1."):
            tensor["shape"][0] = outputs
    path.write_text(json.dumps(document))
