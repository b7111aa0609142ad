"""Asking a program's loader, before the program runs, whether it takes the library.

`ld.so --list PROGRAM` maps the program and what it needs, and prints the list; nothing of it is executed.
"""

import os
import select
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TIMEOUT: Final = 2.0
_MOST: Final = 1 << 20
_KEPT: Final = ("LD_PRELOAD", "LD_LIBRARY_PATH")


def probe(interpreter: str, binary: str, library: str, environment: Mapping[str, str], timeout: float = TIMEOUT) -> str:
    """Why the loader does not take the library, in its own words, or "".

    A loader that does not answer, fails without the library too, or cannot be started says nothing about the library,
    so that is "" too.

    Args:
        interpreter: the loader that the program asks for, a glibc one.
        binary: the program.
        library: the library as LD_PRELOAD names it.
        environment: what the program will be started with.
        timeout: in seconds.
    """
    # The loader's other variables make it print more, execute code (LD_AUDIT) or write files.
    clean = {name: value for name, value in environment.items() if not name.startswith("LD_") or name in _KEPT}
    command = [interpreter, "--list", str(Path(binary).absolute())]
    without = {**clean, "LD_PRELOAD": clean.get("LD_PRELOAD", "").replace(library, "")}
    try:
        status, output = _run(command, clean, timeout)
        fails = status != 0 and _run(command, without, timeout)[0] == 0
    except OSError:
        return ""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines()]
    listed = [line for line in lines if line.startswith((f"{library} (", f"{library} =>"))]
    complaints = [line for line in lines if library in line and line not in listed]
    if complaints:
        return complaints[0]
    if fails:
        return f"it fails with the library: {lines[-1] if lines else f'status {status}'}"
    # A program may be linked to the library itself: then it is listed once, under the name that the program has for it.
    if status == 0 and lines and not any(Path(library).name in line for line in lines):
        return "it leaves the library out of its list"
    return ""


def _run(command: list[str], environment: Mapping[str, str], timeout: float) -> tuple[int, bytes]:
    """Exit status and all output of a command; without `subprocess`, which costs 5 ms to import.

    Raises:
        OSError: it cannot be started, or is not done in time.
    """
    reader, writer = os.pipe()
    try:
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, writer, 1),
            (os.POSIX_SPAWN_DUP2, writer, 2),
        ]
        child = os.posix_spawn(command[0], command, environment, file_actions=actions, setsigdef=[signal.SIGPIPE])
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    try:
        output = _read(reader, time.monotonic() + timeout)
    except BaseException:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    finally:
        os.close(reader)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output


def _read(reader: int, deadline: float) -> bytes:
    """What comes until the other end is closed.

    Raises:
        OSError: it takes too long or is too much.
    """
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    output = b""
    while len(output) < _MOST:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise TimeoutError
        piece = os.read(reader, 1 << 16)
        if not piece:
            return output
        output += piece
    raise OSError("too much output")
