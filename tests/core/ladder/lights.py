"""Random directions of light and view, (N, 3)."""

import numpy as np

# Widths of mirror lobes, as shaders/ladder/views/draw_responses.slang has them.
LOBES = (0.003, 0.02, 0.08, 0.25)


def random_views(rng, count):
    found = rng.normal(size=(count, 3))
    found[:, 2] = np.abs(found[:, 2]) + 0.2
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def lights_for(rng, wo):
    """A half in a cosine lobe, a half in mirror lobes of views."""
    xi = rng.random((len(wo), 3))
    kind = (xi[:, 2] * 2 * len(LOBES)).astype(int)
    wi = around_z(np.sqrt(xi[:, 0]), xi[:, 1])
    for number, alpha in enumerate(LOBES):
        chosen = kind == number
        x = xi[chosen, 0]
        halfway = around_z(np.sqrt((1 - x) / (1 + (alpha**2 - 1) * x)), xi[chosen, 1])
        towards = wo[chosen]
        mirrored = 2 * (towards * halfway).sum(1, keepdims=True) * halfway - towards
        wi[chosen] = np.where(mirrored[:, 2:] > 0.02, mirrored, wi[chosen])
    wi[:, 2] = np.maximum(wi[:, 2], 1e-3)
    return (wi / np.linalg.norm(wi, axis=1, keepdims=True)).astype(np.float32)


def around_z(cosine, turn):
    sine = np.sqrt(np.maximum(0.0, 1.0 - cosine**2))
    return np.stack(
        [sine * np.cos(2 * np.pi * turn), sine * np.sin(2 * np.pi * turn), cosine], axis=1
    )
