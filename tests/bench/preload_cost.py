"""What loading libolpick.so costs a program that has nothing to offload.

Runs a program (default: true) bare and with the library preloaded, in turn, and times each run from spawn to exit.
Figures are of this machine at this moment: compare the two medians of one run, not the medians of two runs.
"""

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles

WARM_UP = 20


def once(program: str, env: dict[str, str]) -> int:
    """Nanoseconds from spawn (vfork and exec) to exit."""
    start = time.perf_counter_ns()
    pid = os.posix_spawn(program, [program], env)
    _, status = os.waitpid(pid, 0)
    end = time.perf_counter_ns()
    if status:
        raise SystemExit(f"{program}: status {os.waitstatus_to_exitcode(status)}")
    return end - start


def measure(program: str, library: str, runs: int) -> dict[str, list[int]]:
    """Interleaved samples; each pair begins with the other kind, so that a drift falls on both."""
    envs = {"bare": {"PATH": os.defpath}, "preload": {"PATH": os.defpath, "LD_PRELOAD": library}}
    samples: dict[str, list[int]] = {"bare": [], "preload": []}
    for run in range(-WARM_UP, runs):
        for kind in ("bare", "preload") if run % 2 == 0 else ("preload", "bare"):
            duration = once(program, envs[kind])
            if run >= 0:
                samples[kind].append(duration)
    return samples


def machine() -> dict[str, str | int | None]:
    """What the figures depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine()
    )
    return {"cpu": model, "cores": os.cpu_count(), "kernel": platform.release(), "libc": " ".join(platform.libc_ver())}


def main() -> int:
    """Measures, prints and, if asked, keeps the samples."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None, allow_abbrev=False)
    parser.add_argument("-n", "--runs", type=int, default=300, help="runs of each kind (%(default)s)")
    parser.add_argument("-o", "--output", type=Path, help="write machine, command and every sample as JSON")
    parser.add_argument("--library", help="the library to preload (what 'olpick lib' says)")
    parser.add_argument("--program", default="/bin/true", help="the program to run (%(default)s)")
    options = parser.parse_args()
    if options.runs < 2:
        parser.error("--runs: at least 2")
    program = shutil.which(options.program) or parser.error(f"--program: no {options.program}")
    library = (
        options.library
        or subprocess.run(["olpick", "lib"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    )
    if not Path(library).is_file():
        parser.error(f"--library: no file {library}")

    samples = measure(program, library, options.runs)
    command = shlex.join([Path(sys.executable).name, *sys.argv])
    about = {"machine": machine(), "command": command, "program": program, "library": Path(library).name, "unit": "ns"}
    middle = {kind: median(values) for kind, values in samples.items()}
    print(f"machine  {', '.join(f'{key} {value}' for key, value in machine().items())}")
    print(f"command  {command}")
    for kind, values in samples.items():
        low, _, high = (point / 1e3 for point in quantiles(values, n=4))
        spread = f"middle half {low:.1f} .. {high:.1f} us"
        print(f"{kind:<8} median {middle[kind] / 1e3:.1f} us   {spread}   n {len(values)}")
    difference = middle["preload"] - middle["bare"]
    print(f"cost     {difference / 1e3:+.1f} us a start, ratio {middle['preload'] / middle['bare']:.3f}")
    if options.output:
        options.output.write_text(json.dumps({**about, "samples": samples}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
