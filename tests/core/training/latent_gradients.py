"""What a trainer's first step has found for the latents, told from what it leaves."""

import numpy as np


def latent_error(start, trainer, expected):
    """Relative, of the gradients of a trainer that began with these parameters, at some rate.

    The step leaves a thousandth of their squares in the running mean, and latents have moved
    against them; at the borders of their range some cannot, but for the last bit.
    """
    moved = start.latents - trainer.parameters().latents
    moved[np.abs(moved) < 1e-5] = 0
    assert np.count_nonzero(moved) > 0.9 * np.count_nonzero(expected)
    size = np.sqrt(1000 * trainer.state()["latents_v"])
    found = np.copysign(size, np.where(moved == 0, expected, moved))
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)
