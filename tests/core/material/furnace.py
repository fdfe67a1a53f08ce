"""The share of a uniform white surrounding that a material returns, by quasi-random integration."""

import numpy as np

from .surfaces import respond

COSINES = (0.05, 0.1, 0.2, 0.35, 0.6, 0.85, 1.0)
_LEAST = 1e-4  # cosine at the light under which a sample counts as below the surface


def returned(teacher, uv, cosine, alphas, count=1 << 15):
    """Light returned towards a cosine, (3,). Lobes of these GGX roughnesses are sampled, and a
    cosine lobe beside them, so that neither a peak nor a tail is missed."""
    wo = np.array([np.sqrt(1 - cosine**2), 0.0, cosine])
    x, y = sequence(count)
    parts = [_cosine_lobe(x, y), *(ggx_lobe(x, y, wo, alpha) for alpha in alphas)]
    wi = np.concatenate(parts)
    wi = wi[wi[:, 2] > _LEAST].astype(np.float32).astype(np.float64)
    density = wi[:, 2] / np.pi + sum(ggx_density(wi, wo, alpha) for alpha in alphas)
    values = respond(teacher, np.tile(uv, (len(wi), 1)), wi, np.tile(wo, (len(wi), 1)))
    return (values / density[:, None]).sum(0) / count


def most_returned(teacher, uv, alphas, cosines=COSINES):
    """The largest share over directions and channels."""
    return max(returned(teacher, uv, cosine, alphas).max() for cosine in cosines)


def sequence(count):
    """Roberts's R2 sequence."""
    steps = np.arange(1, count + 1)
    return (0.5 + steps * 0.7548776662466927) % 1, (0.5 + steps * 0.5698402909980532) % 1


def _cosine_lobe(x, y):
    radius, angle = np.sqrt(x), 2 * np.pi * y
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.sqrt(1 - x)], 1)


def ggx_lobe(x, y, wo, alpha):
    """Reflections off visible normals, by the spherical caps of Dupuy and Benyoub 2023."""
    stretched = wo * [alpha, alpha, 1]
    stretched /= np.linalg.norm(stretched)
    z = (1 - y) * (1 + stretched[2]) - stretched[2]
    sine, angle = np.sqrt(np.clip(1 - z * z, 0, 1)), 2 * np.pi * x
    h = np.stack([sine * np.cos(angle), sine * np.sin(angle), z], 1) + stretched
    h *= [alpha, alpha, 1]
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    return 2 * (h @ wo)[:, None] * h - wo


def ggx_density(wi, wo, alpha):
    h = wi + wo
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    tangent2 = (1 - h[:, 2] ** 2) / h[:, 2] ** 2
    density = 1 / (np.pi * alpha**2 * h[:, 2] ** 4 * (1 + tangent2 / alpha**2) ** 2)
    seen = 2 / (1 + np.sqrt(1 + alpha**2 * (1 - wo[2] ** 2) / wo[2] ** 2))
    return density * seen / (4 * wo[2])
