"""Times training steps on a GPU, in total and by kernel.

    PYTHONPATH=tests/fakes python3 docs/benchmarks/bench_tensor_trainer.py [FILE ...]
        [--device vulkan] [--quick]

A step includes the drawing of samples with their responses, the passes through the network, and the
update. The material is a cheap analytic one, then each FILE.
"""

from __future__ import annotations

import argparse
import time
import traceback
from pathlib import Path

import numpy as np
import slangpy
from analytic_material import AnalyticTeacher

from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import PRESETS, LatentLayout
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.tensor.group_plan import plan_groups
from verdigris.core.training.tensor.tensor_trainer import TensorTrainer

BATCH = 16384


def split_times(trainer, gpu):
    """Median microseconds of each kernel of a step, from timestamps between dispatches."""
    steps, launches = 64, trainer._kernels.step
    count = steps * len(launches) + 1
    queries = gpu.create_query_pool(type=slangpy.QueryType.timestamp, count=count)
    for _ in range(2):
        queries.reset()
        encoder = gpu.create_command_encoder()
        with encoder.begin_compute_pass() as compute:
            compute.write_timestamp(queries, 0)
            for number in range(1, count):
                launches[(number - 1) % len(launches)].record(compute)
                compute.write_timestamp(queries, number)
        gpu.submit_command_buffer(encoder.finish())
        gpu.wait_for_idle()
    times = np.diff(np.array(queries.get_timestamp_results(0, count))) * 1e6
    return [float(np.median(times[kernel :: len(launches)])) for kernel in range(len(launches))]


def timed_runs(trainer, steps):
    """Milliseconds per step of three runs, and their reports."""
    times, reports = [], []
    for _ in range(3):
        start = time.perf_counter()
        reports.append(trainer.step_many(steps))
        times.append((time.perf_counter() - start) / steps * 1e3)
    return times, reports


def time_steps(device, spec, plan, size, batch, steps, material=None, draw=None):
    layout = LatentLayout(size, size, 5)
    material = material or AnalyticTeacher(device)
    source = DrawnSamples([material], layout, settings=draw or DrawSettings())
    settings = TrainingSettings(batch=batch, schedule=Schedule(steps=4 * steps))
    start = time.perf_counter()
    trainer = TensorTrainer(initialise(spec, layout, 1), source, settings, device, plan)
    first = trainer.step_many(32)
    compile_seconds = time.perf_counter() - start
    for _ in range(3 if steps > 100 else 0):  # an idle device has a low clock rate
        trainer.step_many(steps // 2)
    times, reports = timed_runs(trainer, steps)
    trainer.step_many(-trainer.step % 32)
    start = time.perf_counter()
    encoder = device.gpu.create_command_encoder()
    trainer._record(encoder, 16)
    recording = (time.perf_counter() - start) / 16 * 1e3
    device.gpu.submit_command_buffer(encoder.finish())
    device.gpu.wait_for_idle()
    start = time.perf_counter()
    for _ in range(4):
        encoder = device.gpu.create_command_encoder()
        source.record(encoder, trainer._memory.samples, 0, 32, batch)
        device.gpu.submit_command_buffer(encoder.finish())
    device.gpu.wait_for_idle()
    drawing = (time.perf_counter() - start) / 128 * 1e3
    train, update, *rotate = split_times(trainer, device.gpu)
    result = {
        "ms": float(np.median(times)),
        "all_ms": times,
        "train_us": train,
        "update_us": update,
        "rotate_us": sum(rotate),
        "draw_us": drawing * 1e3,
        "record_us": recording * 1e3,
        "compile_s": compile_seconds,
        "loss_first": first.loss,
        "loss_last": reports[-1].loss,
        "skipped": sum(report.skipped for report in reports),
    }
    trainer.close()
    return result


def variants(spec, options):
    if options.quick:
        return [plan_groups(spec, False, unrolls=False)]
    return list(dict.fromkeys((plan_groups(spec, True), plan_groups(spec, False))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for the CPU")
    options = parser.parse_args()
    device = open_device(options.device)
    print(device)

    def attempt(name, *arguments):
        try:
            found = time_steps(device, *arguments)
            numbers = [f"{k} {v:.4g}" for k, v in found.items() if isinstance(v, (int, float))]
            print(f"{name:34}", *numbers, flush=True)
        except (RuntimeError, ValueError):
            print(name, "FAILED", traceback.format_exc()[-1500:], flush=True)

    size, batch, steps = (64, 512, 20) if options.quick else (512, BATCH, 2000)
    for preset, spec in PRESETS.items():
        for plan in variants(spec, options):
            kind = "tensor" if plan.uses_tensor else "portable"
            name = f"{preset} {kind} {plan.samples} x {plan.parts}"
            attempt(name, spec, plan, size, batch, steps)
    if not options.quick:
        spec = PRESETS["2x32"]
        plan = plan_groups(spec, True)
        for other_size, other_batch in ((512, 8192), (512, 65536), (1024, 16384), (2048, 16384)):
            name = f"2x32 {other_size} {other_batch}"
            attempt(name, spec, plan, other_size, other_batch, 1000)
    for file in options.files:
        teacher = Teacher(load_document(file), device=device)
        spec = PRESETS["2x32"]
        plan = plan_groups(spec, not options.quick, unrolls=not options.quick)
        for places in (1, 4):
            draw = DrawSettings(finest_places=places)
            name = f"2x32 {Path(file).stem} {places}"
            attempt(name, spec, plan, size, batch, steps, teacher, draw)


if __name__ == "__main__":
    main()
