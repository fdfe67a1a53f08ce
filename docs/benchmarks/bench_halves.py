"""What half floats cost the cooperative decoder, emulated in numpy on bundles.

    python docs/benchmarks/bench_halves.py BUNDLE ...

Prints the largest relative error on the bundle's reference points where the response is above its
bounds' floor, as shipped and with NEURAL_CAREFUL of 1 and 2: on a device that rounds a sum to half
floats once, and on one that begins with the bias and rounds to half floats after every 16 products,
as an H200 does. Then what the bundle asks for, and what a bake would say now.
"""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.core.bundle.files.arithmetic import WAYS
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.precision.half_errors import EXACT_PRODUCTS, judge, rounded_errors


def main() -> None:
    columns = [(name, products) for name in WAYS for products in EXACT_PRODUCTS]
    heads = [f"{name}{', 16 products' if products == 16 else ''}" for name, products in columns]
    print(f"| material | {' | '.join(heads)} | asks for | judged |")
    print("| --- " * (3 + len(heads)) + "|")
    for path in sys.argv[1:]:
        bundle = open_bundle(Path(path))
        parameters, reference = bundle.parameters(), bundle.reference()
        bounds = bundle.manifest.bounds
        found = rounded_errors(parameters, reference, bounds.floor)
        cells = [f"{found[WAYS[name], products]:.4f}" for name, products in columns]
        cells += [bundle.advised or "", judge(parameters, reference, bounds).advised]
        print(f"| {Path(path).name.split('.')[0]} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
