"""examples/learn/simplify_mesh: collapses, gradients of the soft rasteriser, skin weights."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def example(learn):
    return learn("simplify_mesh")


@pytest.fixture(scope="module")
def meshes(learn):
    return learn("demo_meshes")


@pytest.fixture(scope="module")
def welded(learn):
    return learn("mesh").welded


@pytest.fixture(scope="module")
def quadrics(learn):
    return learn("quadrics")


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, i]].astype(float) for i in range(3))
    return np.einsum("ni,ni->", a, np.cross(b, c)) / 6


def test_collapses_leave_a_cube_a_cube(meshes, quadrics, welded):
    side = np.linspace(0, 1, 5)
    faces, corners = [], []
    for axis in range(3):
        for end in (0, 1):
            u, v = np.meshgrid(side, side, indexing="ij")
            place = np.insert(np.stack([u, v], -1).reshape(-1, 2), axis, end, 1)
            flat = meshes.grid(5, 5, False)
            flat = flat[(flat % 5).max(1) - (flat % 5).min(1) <= 1]
            a, b, c = (place[flat[0, i]] for i in range(3))
            outward = np.cross(b - a, c - a)[axis] * (2 * end - 1) > 0
            faces.append((flat if outward else flat[:, ::-1]) + 25 * len(corners))
            corners.append(place)
    cube = welded(
        meshes.Mesh(np.concatenate(corners), np.concatenate(faces), *[np.zeros((150, 3))] * 2)
    )
    assert len(cube.triangles) == 6 * 32
    vertices, triangles = quadrics.collapse(cube.vertices, cube.triangles, 12)
    assert len(triangles) == 12
    assert volume(vertices, triangles) == pytest.approx(1.0, abs=1e-3)
    assert {tuple(each) for each in np.round(vertices).astype(int)} == set(np.ndindex(2, 2, 2))


def test_a_closed_mesh_stays_closed(meshes, quadrics, welded):
    stone = welded(meshes.stone(8))
    vertices, triangles = quadrics.collapse(stone.vertices, stone.triangles, 100)
    edges = np.sort(np.concatenate([triangles[:, [i, (i + 1) % 3]] for i in range(3)]), 1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert len(triangles) <= 100
    assert volume(vertices, triangles) == pytest.approx(
        volume(stone.vertices, stone.triangles), rel=0.05
    )


def test_gradients_of_the_picture_agree_with_finite_differences(example, meshes, device, welded):
    stone = welded(meshes.stone(6))
    mesh = example.simplified(device, stone, 0.2)
    (view,) = example.views(1, 24, 3)
    view = {**view, "blur": 0.5}
    wanted = np.random.default_rng(4).random((24, 24, 3)).astype("f4")
    mesh.draw(view, mesh._program.buffer(wanted))
    gradients = mesh.gradients()

    def error():
        return np.mean((mesh.draw(view).astype(float) - wanted) ** 2)

    # of places, normals and colours; a place can also turn a triangle away, which is a jump
    for which, least in ((0, 0.9), (1, 0.999), (2, 0.999)):
        numbers, found = mesh.parameters[which].ravel(), gradients[which].ravel()
        largest, changes = np.argsort(-np.abs(found))[:8], []
        step = 2e-3 if which == 0 else 1e-2
        for index in largest:
            ends = []
            for sign in (1, -1):
                moved = numbers.copy()
                moved[index] += sign * step
                mesh._values[which].copy_from_numpy(moved)
                ends.append(error())
            mesh._values[which].copy_from_numpy(numbers)
            changes.append((ends[0] - ends[1]) / (2 * step))
        assert np.corrcoef(found[largest], changes)[0, 1] > least


def test_training_brings_pictures_nearer(example, meshes, device, welded):
    stone = welded(meshes.stone(6))
    mesh = example.simplified(device, stone, 0.2)
    cameras = example.views(4, 24, 1)
    original = example.original(device, stone)
    pictures = [original.sharp(camera) for camera in cameras]
    _, before, _ = example.measure(mesh, cameras, pictures)
    mesh.train(cameras, pictures, 15, 2e-3)
    _, after, _ = example.measure(mesh, cameras, pictures)
    assert after > before + 0.4


def test_weights_are_moved_to_the_nearest_that_add_up_to_one(learn):
    skinning = learn("skinning")
    found = skinning.to_simplex(np.array([[0.5, 0.7, -0.1, -1.0], [0.25, 0.25, 0.25, 0.25]]))
    np.testing.assert_allclose(found, [[0.4, 0.6, 0, 0], [0.25] * 4])


def test_fitted_skin_weights_follow_unseen_poses_better_than_copied_ones(learn, meshes, quadrics):
    skinning = learn("skinning")
    limb = meshes.arm(5)
    vertices, triangles = quadrics.collapse(limb.vertices, limb.triangles, 80)
    found = skinning.compare_weights(limb.vertices, vertices, triangles)
    assert found.free < found.fitted < 0.95 * found.copied
