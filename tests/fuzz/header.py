"""The reader in C, under sanitizers: with libFuzzer where clang is installed, else by the loop of
fuzz_header.c."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
_RUNTIME = HERE.parents[1] / "shaders" / "bundle" / "runtime"
_OPTIONS = ["-std=gnu99", "-O1", "-g", "-fno-sanitize-recover=all", "-I", str(_RUNTIME)]
_LIMIT_MB = 512


def compile_header(output: Path, compiler: str = "", *options: str) -> Path | None:
    """The fuzzer of the reader in C; None without a compiler."""
    found = compiler or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if not found:
        return None
    command = [found, *_OPTIONS, *(options or ("-fsanitize=address,undefined",))]
    command += [str(HERE / "fuzz_header.c"), "-o", str(output), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return output


def fuzz_header(bundle: Path, runs: int, seed: int, work: Path) -> str | None:
    """Reads damaged copies of a bundle. Returns the fault, empty if there is none; None without a
    compiler."""
    clang = shutil.which("clang")
    program = work / "fuzz_header"
    if not program.exists():
        sanitizers = ("-fsanitize=fuzzer,address,undefined", "-DVD_LIBFUZZER") if clang else ()
        if compile_header(program, clang or "", *sanitizers) is None:
            return None
    command = [str(program), str(bundle), str(runs), str(seed)]
    if clang:
        command = [str(program), f"-runs={runs}", f"-seed={seed}", f"-rss_limit_mb={_LIMIT_MB}",
                   "-timeout=10", f"-dict={HERE / 'dictionaries' / 'json.dict'}", "-max_len=65536",
                   f"-artifact_prefix={work}/"]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False, timeout=1800,
        env={**os.environ, "VD_FUZZ_BUNDLE": str(bundle)},
    )  # fmt: skip
    if not done.returncode:
        return ""
    lines = [
        each for each in done.stderr.splitlines() if "ERROR" in each or "runtime error" in each
    ]
    first = lines[0] if lines else f"ended with {done.returncode}"
    return f"{first}\n{' '.join(command)}\n{done.stderr[-5000:]}"
