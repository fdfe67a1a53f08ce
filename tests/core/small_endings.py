"""Small closing pictures and measurements of bakes: they would take most of a tiny bake's time."""

from functools import partial

from verdigris.core.baking import bake
from verdigris.core.baking.finish import finish
from verdigris.core.baking.measure.measure import sphere_to_compare
from verdigris.core.baking.phases import early_stopping
from verdigris.core.bundle.precision import gptq_rounding

# (object, name, value) of what makes them small, where no test looks at them.
SMALL_ENDINGS = (
    *(
        (module, "sphere_to_compare", partial(sphere_to_compare, size=16))
        for module in (finish, early_stopping)
    ),
    *((finish, name, (32, 1, 4)) for name in ("_SMALL_PREVIEW", "_SOFTWARE_PREVIEW")),
    (bake, "_QUICK_SAMPLES_ON_SOFTWARE", 1 << 11),
    (finish, "final_samples", lambda _device: 1 << 12),
    (gptq_rounding, "_SAMPLES", 256),
)
