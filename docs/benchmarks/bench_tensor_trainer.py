"""Times training steps on a GPU, in total and by kernel, and checks the gradients of each variant.

    PYTHONPATH=tests/fakes python3 docs/benchmarks/bench_tensor_trainer.py [FILE ...]
        [--device vulkan] [--sweep] [--quick] [--out results.json]

A step includes the drawing of samples with their responses, the passes through the network, and the
update. The material is a cheap analytic one, then each FILE. `--sweep` times all group sizes.
"""

from __future__ import annotations

import argparse
import json
import time
import traceback
from pathlib import Path

import numpy as np
import slangpy
from analytic_material import AnalyticTeacher

from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network import numpy_mlp
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import PRESETS, LatentLayout
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.draw_settings import DrawSettings
from verdigris.core.settings.schedule import Schedule, TrainingSettings
from verdigris.core.training.tensor.group_plan import GroupPlan, group_bytes, plan_groups
from verdigris.core.training.tensor.tensor_trainer import TensorTrainer

BATCH = 16384


def relative(found, wanted):
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))


def check_gradients(device, spec, plan):
    """Relative errors of decoder and latent gradients against numpy_mlp in float64."""
    layout = LatentLayout(64, 32, 3)
    parameters = initialise(spec, layout, 1)
    random = np.random.default_rng(2)
    parameters.decoder += 0.05 * random.standard_normal(len(parameters.decoder)).astype("f4")
    draw = DrawSettings(coarse_share=0.3)
    source = DrawnSamples([AnalyticTeacher(device)], layout, settings=draw)
    settings = TrainingSettings(batch=1000, schedule=Schedule(decoder_rate=0, latent_rate=1e-2))
    trainer = TensorTrainer(parameters, source, settings, device, plan)
    report = trainer.step_many(1)
    state = trainer.state()
    # latents changed against their gradients; a mean square is a thousandth of the squared gradient
    moved = parameters.latents - trainer.parameters().latents
    found = np.copysign(np.sqrt(1000 * state["latents_v"]), moved)
    wanted = numpy_mlp.loss_and_gradients(
        spec, parameters.astype("f8"), source.draw(0, 1000).copy(), settings.loss
    )
    return {
        "loss_error": abs(report.loss / wanted.loss - 1),
        "decoder_error": relative(state["decoder_m"] / 0.1, wanted.decoder),
        "latent_error": relative(found, wanted.latents),
        "skipped": report.skipped,
    }


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


def copy_bandwidth(gpu, size=1 << 30):
    usage = slangpy.BufferUsage.unordered_access
    a, b = (gpu.create_buffer(size=size, usage=usage) for _ in range(2))
    for _ in range(2):
        start = time.perf_counter()
        encoder = gpu.create_command_encoder()
        for _ in range(10):
            encoder.copy_buffer(a, 0, b, 0, size)
        gpu.submit_command_buffer(encoder.finish())
        gpu.wait_for_idle()
        seconds = time.perf_counter() - start
    return 20 * size / seconds / 1e12


def variants(spec, options):
    if options.quick:
        return [plan_groups(spec, False, unrolls=False)]
    plans = [plan_groups(spec, True), plan_groups(spec, False)]
    if options.sweep:
        plans += [GroupPlan(True, n, parts) for n in (64, 32, 128) for parts in (2, 4, 1)]
        plans += [GroupPlan(False, 64, parts) for parts in (2, 4)]
    return list(dict.fromkeys(plan for plan in plans if group_bytes(spec, plan) <= 48 << 10))


def check_repeat(device, spec, plan, steps=100):
    """Whether an interrupted run gives the same bits as an uninterrupted one."""
    layout = LatentLayout(128, 128, 3)
    start = initialise(spec, layout, 1)
    source = DrawnSamples([AnalyticTeacher(device)], layout)
    settings = TrainingSettings(batch=4096, schedule=Schedule(steps=steps))
    whole = TensorTrainer(start, source, settings, device, plan)
    whole.step_many(steps)
    first = TensorTrainer(start, source, settings, device, plan)
    first.step_many(steps // 3)
    second = TensorTrainer(start, source, settings, device, plan)
    second.restore(first.parameters(), first.state())
    second.step_many(steps - steps // 3)
    a, b = whole.parameters(), second.parameters()
    pairs = ((a.decoder, b.decoder), (a.latents, b.latents))
    return {"same": int(all(np.array_equal(*pair) for pair in pairs))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--device", default="vulkan")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, for the CPU")
    parser.add_argument("--out")
    options = parser.parse_args()
    device = open_device(options.device)
    gpu, results = device.gpu, {}
    limits = gpu.info.limits
    print(device, [feature.name for feature in gpu.features])
    print(f"waves of {limits.min_wave_size} to {limits.max_wave_size}")
    if not options.quick:
        print(f"copy {copy_bandwidth(gpu):.2f} TB/s")

    def attempt(name, function, *arguments):
        try:
            results[name] = function(*arguments)
            numbers = [
                f"{k} {v:.4g}" for k, v in results[name].items() if isinstance(v, (int, float))
            ]
            print(f"{name:34}", *numbers, flush=True)
        except (RuntimeError, ValueError):
            results[name] = traceback.format_exc()
            print(name, "FAILED", results[name][-1500:], flush=True)

    size, batch, steps = (64, 512, 20) if options.quick else (512, BATCH, 2000)
    for preset, spec in PRESETS.items():
        for plan in variants(spec, options):
            kind = "tensor" if plan.uses_tensor else "portable"
            name = f"{preset} {kind} {plan.samples} x {plan.parts}"
            attempt(f"check {name}", check_gradients, device, spec, plan)
            attempt(f"time {name}", time_steps, device, spec, plan, size, batch, steps)
    if not options.quick:
        spec = PRESETS["2x32"]
        plan = plan_groups(spec, True)
        attempt("repeat 2x32", check_repeat, device, spec, plan)
        for other_size, other_batch in ((512, 8192), (512, 65536), (1024, 16384), (2048, 16384)):
            name = f"time 2x32 {other_size} {other_batch}"
            attempt(name, time_steps, device, spec, plan, other_size, other_batch, 1000)
    for file in options.files:
        teacher = Teacher(load_document(file), device=device)
        spec = PRESETS["2x32"]
        plan = plan_groups(spec, not options.quick, unrolls=not options.quick)
        for places in (1, 4):
            draw = DrawSettings(finest_places=places)
            name = f"time 2x32 {Path(file).stem} {places}"
            attempt(name, time_steps, device, spec, plan, size, batch, steps, teacher, draw)
    if options.out:
        Path(options.out).write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
