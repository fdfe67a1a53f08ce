"""Names of environments that are made here, without large imports."""

from __future__ import annotations

ENVIRONMENTS = STUDIO, SKY, OVERCAST, SUNSET = ("studio", "sky", "overcast", "sunset")
