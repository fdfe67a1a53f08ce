"""The tree of triangles, and shadow rays on the device, against every triangle tried in numpy."""

from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.kernels import Source
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.lighting.bvh import LEAF_TRIANGLES, NOTHING, build_bvh
from verdigris.core.lighting.device_lighting import DeviceBvh

TRAY = Path(__file__).parents[3] / "examples" / "tray.obj"
TRACE = Source(
    "test_trace_rays",
    """import lighting.bvh;
struct Parameters { uint count; uint firstLeaf; }
uniform Parameters gParameters;
StructuredBuffer<float> gRays;
RWStructuredBuffer<uint> gResult;
[shader("compute")] [numthreads(64, 1, 1)]
void traceRays(uint3 thread: SV_DispatchThreadID)
{
    if (thread.x >= gParameters.count)
        return;
    const uint at = 6 * thread.x;
    const float3 origin = float3(gRays[at], gRays[at + 1], gRays[at + 2]);
    const float3 direction = float3(gRays[at + 3], gRays[at + 4], gRays[at + 5]);
    gResult[thread.x] = isOccluded(gParameters.firstLeaf, origin, direction) ? 1 : 0;
}
""",
)


def on_device(bvh, origins, directions):
    import slangpy

    device = open_device("software")
    usage = slangpy.BufferUsage.unordered_access | slangpy.BufferUsage.shader_resource
    rays = np.concatenate([origins, directions], 1).astype(np.float32).reshape(-1)
    count = len(origins)
    source = device.gpu.create_buffer(
        element_count=rays.size, struct_size=4, usage=usage, data=rays
    )
    result = device.gpu.create_buffer(element_count=count, struct_size=4, usage=usage)
    uploaded = DeviceBvh.upload(device, bvh)
    device.dispatch(
        device.shared_kernels({}, ()).get((TRACE,), "traceRays"),
        count,
        {
            "gParameters": {"count": count, "firstLeaf": uploaded.first_leaf},
            "gRays": source,
            "gResult": result,
            **uploaded.buffers,
        },
    )
    return result.to_numpy().view(np.uint32)[:count].astype(bool)


def by_trying_all(triangles, origins, directions):
    """Signed volumes in double precision; also how near the ray passes by an edge."""
    a, b, c = (triangles[None, :, corner].astype(float) - origins[:, None] for corner in range(3))
    d = directions[:, None]
    volumes = np.stack([(np.cross(p, q) * d).sum(-1) for p, q in ((a, b), (b, c), (c, a))], -1)
    is_inside = (volumes > 0).all(-1) | (volumes < 0).all(-1)
    normal = np.cross(b - a, c - a)
    along = (normal * d).sum(-1)
    distance = np.divide((normal * a).sum(-1), along, out=np.zeros_like(along), where=along != 0)
    return (is_inside & (distance > 0)).any(1)


@pytest.mark.parametrize("count", [1, 3, 5, 700])
def test_rays_end_at_the_triangles_at_which_they_end_when_all_are_tried(count):
    triangles = load_mesh(TRAY).position[::7][:count]
    rng = np.random.default_rng(count)
    # from inside of the box and from outside, along its axes, too
    origins = rng.uniform(-0.3, 0.3, (600, 3)) * [1, 0.2, 1]
    directions = triangles.mean(1)[rng.integers(0, len(triangles), 600)] - origins
    directions[::2] += rng.normal(size=(300, 3)) * 0.05
    directions[::9] = [0, -1, 0]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found = on_device(build_bvh(triangles), origins, directions)
    expected = by_trying_all(triangles, origins.astype("f4"), directions.astype("f4"))
    assert 0 < expected.mean() < 1
    # rays along an edge may go either way
    assert (found == expected).mean() > 0.997


def test_every_triangle_is_in_the_tree_and_inside_of_all_boxes_above_it():
    triangles = load_mesh(TRAY).position[:1001]
    tree = build_bvh(triangles)
    assert len(tree.triangles) == tree.first_leaf * LEAF_TRIANGLES
    rows = {tuple(each) for each in tree.triangles.reshape(-1, 9).tolist()}
    assert rows == {tuple(each) for each in triangles.reshape(-1, 9).tolist()}
    for node in range(2, len(tree.boxes)):
        low, high = tree.boxes[node]
        assert (tree.boxes[node // 2][0] <= low).all() and (tree.boxes[node // 2][1] >= high).all()
    for leaf in range(tree.first_leaf):
        corners = tree.triangles[LEAF_TRIANGLES * leaf :][:LEAF_TRIANGLES].reshape(-1, 3)
        low, high = tree.boxes[tree.first_leaf + leaf]
        assert (low == corners.min(0)).all() and (high == corners.max(0)).all()


def test_nothing_throws_no_shadow():
    origins = np.random.default_rng(1).normal(size=(100, 3))
    assert not on_device(NOTHING, origins, -origins).any()
