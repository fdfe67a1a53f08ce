"""Published reflection models in double precision, to hold the teacher against.

Directions are (N, 3) in the tangent frame; a response is BRDF times cosine at the light, (N, 3).
"""

import numpy as np


def _column(values):
    return np.asarray(values, np.float64).reshape(-1, 1)


def _colour(colour):
    return np.atleast_2d(np.asarray(colour, np.float64))


def half_vector(wi, wo):
    h = wi + wo
    return h / np.linalg.norm(h, axis=1, keepdims=True)


def lambert(colour, wi):
    return _colour(colour) / np.pi * wi[:, 2:]


def oren_nayar(colour, sigma, wi, wo):
    """Oren and Nayar 1994, the qualitative model, from the angles it is stated in."""
    theta_i, theta_o = np.arccos(np.minimum(wi[:, 2], 1)), np.arccos(np.minimum(wo[:, 2], 1))
    azimuth = np.arctan2(wi[:, 1], wi[:, 0]) - np.arctan2(wo[:, 1], wo[:, 0])
    steep, shallow = np.maximum(theta_i, theta_o), np.minimum(theta_i, theta_o)
    a = 1 - 0.5 * sigma**2 / (sigma**2 + 0.33)
    b = 0.45 * sigma**2 / (sigma**2 + 0.09)
    lobe = a + b * np.maximum(0, np.cos(azimuth)) * np.sin(steep) * np.tan(shallow)
    return _colour(colour) / np.pi * _column(lobe * wi[:, 2])


def energy_preserving_oren_nayar(colour, roughness, wi, wo):
    """Portsmouth, Kutz and Hill 2025: Fujii's model plus the energy that it loses."""
    mu_i, mu_o = wi[:, 2], wo[:, 2]
    scale = 1 / (1 + (0.5 - 2 / (3 * np.pi)) * roughness)

    def albedo(mu):
        sine = np.sqrt(np.maximum(0, 1 - mu * mu))
        g = sine * (np.arccos(np.minimum(mu, 1)) - sine * mu)
        g = g + 2 / 3 * (sine / mu * (1 - sine**3) - sine)
        return scale * (1 + roughness / np.pi * g)

    mean = scale * (1 + (2 / 3 - 28 / (15 * np.pi)) * roughness)
    s = (wi * wo).sum(1) - mu_i * mu_o
    s_over_t = np.where(s > 0, s / np.maximum(mu_i, mu_o), s)
    single = _column(scale * (1 + roughness * s_over_t))
    lost = _column((1 - albedo(mu_i)) * (1 - albedo(mu_o)) / np.maximum(1 - mean, 1e-12))
    colour = _colour(colour)
    mean = _column(mean)
    tint = colour**2 * mean / (1 - colour * (1 - mean))
    return (colour * single + tint * lost) / np.pi * wi[:, 2:]


def burley(colour, roughness, wi, wo):
    """Burley 2012, section 5.3."""
    cosine = (wi * half_vector(wi, wo)).sum(1)
    at_grazing = 0.5 + 2 * roughness * cosine**2

    def toward(mu):
        return 1 + (at_grazing - 1) * (1 - mu) ** 5

    return _colour(colour) / np.pi * _column(toward(wi[:, 2]) * toward(wo[:, 2]) * wi[:, 2])


def fresnel(cosine, n, k):
    """Unpolarised reflectance of an interface with a complex index, by complex arithmetic."""
    cosine = _column(cosine)
    index = np.asarray(n, np.float64) + 1j * np.asarray(k, np.float64)
    inner = np.sqrt(index**2 - (1 - cosine**2))
    across = (cosine - inner) / (cosine + inner)
    along = (index**2 * cosine - inner) / (index**2 * cosine + inner)
    return 0.5 * (np.abs(across) ** 2 + np.abs(along) ** 2)


def schlick(cosine, colour0, colour82, colour90, exponent=5.0):
    """Hoffman 2023: Schlick's curve with a dip whose tint is given at about 82 degrees."""
    cosine, lowest = _column(cosine), 1 / 7
    colour0, colour82, colour90 = map(_colour, (colour0, colour82, colour90))

    def curve(x):
        return colour0 + (colour90 - colour0) * (1 - x) ** exponent

    dip = curve(lowest) * (1 - colour82) / (lowest * (1 - lowest) ** 6)
    return curve(cosine) - dip * cosine * (1 - cosine) ** 6


def ggx(wi, wo, alpha_x, alpha_y):
    """Heitz 2014 without Fresnel: the density by slopes, and masking and shadowing correlated by
    height, each direction with the roughness along it."""
    h = half_vector(wi, wo)
    slope_x, slope_y = h[:, 0] / h[:, 2], h[:, 1] / h[:, 2]
    spread = 1 + (slope_x / alpha_x) ** 2 + (slope_y / alpha_y) ** 2
    density = 1 / (np.pi * alpha_x * alpha_y * h[:, 2] ** 4 * spread**2)

    def hidden(w):
        slope2 = ((alpha_x * w[:, 0]) ** 2 + (alpha_y * w[:, 1]) ** 2) / w[:, 2] ** 2
        return (np.sqrt(1 + slope2) - 1) / 2

    visible = 1 / (1 + hidden(wi) + hidden(wo))
    return density * visible / (4 * wo[:, 2])


def specular(reflectance, total, wi, wo, alpha_x, alpha_y):
    """A GGX lobe with this reflectance (N, C) at the half vector. Lost bounces are restored
    (Turquin 2019, equations 14 and 16) from what one bounce off white facets returns, (N,)."""
    lost = (1 - _column(total)) / _column(total)
    return reflectance * (1 + reflectance * lost) * _column(ggx(wi, wo, alpha_x, alpha_y))


def sheen(colour, roughness, wi, wo):
    """Estevez and Kulla 2017: a power of the sine, with the smooth denominator of Neubelt."""
    sine = np.sqrt(np.maximum(0, 1 - half_vector(wi, wo)[:, 2] ** 2))
    density = (2 + 1 / roughness) * sine ** (1 / roughness) / (2 * np.pi)
    mu_i, mu_o = wi[:, 2], wo[:, 2]
    return _colour(colour) * _column(density * mu_i / (4 * (mu_i + mu_o - mu_i * mu_o)))


def chiang_hair(tints, index, roughnesses, tilt, absorption, wi, wo):
    """Chiang et al. 2016, of a hair along x: four ways through it, the last for all longer ones,
    each with its tint, and its roughness along and around the hair. It has the cosine in it."""
    sine_i, sine_o = wi[:, 0], wo[:, 0]
    theta_i = np.arcsin(sine_i)
    cosine_o = np.sqrt(1 - sine_o**2)
    angle_i, angle_o = np.arctan2(wi[:, 1], wi[:, 2]), np.arctan2(wo[:, 1], wo[:, 2])
    # where the ray enters and how it goes on inside, as angles around the hair
    gamma_o = -angle_o
    slanted = np.sqrt(index**2 - sine_o**2) / cosine_o
    gamma_t = np.arcsin(np.sin(gamma_o) / slanted)
    inside = 2 * np.cos(gamma_t) / np.sqrt(1 - (sine_o / index) ** 2)
    kept = np.exp(-_colour(absorption) * inside[:, None])
    reflected = fresnel(cosine_o * np.cos(gamma_o), index, 0.0)
    through = (1 - reflected) ** 2 * kept
    ways = [reflected, through, through * kept * reflected]
    ways.append(ways[2] * kept * reflected / (1 - kept * reflected))
    total = 0
    for way, (share, tint) in enumerate(zip(ways, tints, strict=True)):
        along, around = roughnesses[way]
        tilted = theta_i + (0 if way == 3 else (2 - 3 * way) * tilt)
        at = np.cos(tilted) * cosine_o / along
        lengthwise = np.exp(-np.sin(tilted) * sine_o / along) * np.i0(at)
        lengthwise /= 2 * along * np.sinh(1 / along)
        left = angle_o - angle_i - (2 * way * gamma_t - 2 * gamma_o + way * np.pi)
        left = (left + np.pi) % (2 * np.pi) - np.pi
        scale = around * np.sqrt(np.pi / 8)
        turned = np.exp(-np.abs(left) / scale)
        turned = turned / (scale * (1 + turned) ** 2) / np.tanh(np.pi / (2 * scale))
        if way == 3:
            turned = np.full_like(left, 1 / (2 * np.pi))
        total = total + _colour(tint) * share * _column(lengthwise * turned)
    return total
