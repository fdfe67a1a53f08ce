"""Errors of the cooperative decoder from half floats, emulated in numpy.

    python docs/benchmarks/bench_halves.py BUNDLE ...

Prints the largest relative error at the reference points of the bundle with a response above the
floor of its bounds: with the default arithmetic, and with NEURAL_CAREFUL of 1 and 2. Columns are
for devices that round a sum to half floats once, and for devices like an H200, which start with
the bias and round after every 16 products. The last columns are the advice in the bundle and the
advice that a new bake would give.
"""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.core.bundle.files.arithmetic import WAYS
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.half_floats import EXACT_PRODUCTS, judge, rounded_errors


def main() -> None:
    columns = [(name, products) for name in WAYS for products in EXACT_PRODUCTS]
    heads = [f"{name}{', 16 products' if products == 16 else ''}" for name, products in columns]
    print(f"| material | {' | '.join(heads)} | advice | new advice |")
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
