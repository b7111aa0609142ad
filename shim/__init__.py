"""Choosing and acting: the drop-in library libolpick.so, its launcher and the command line.

From Python, a program is started with the library in it so::

    subprocess.run(["./app"], env={**os.environ, **olpick.shim.run_env(log="select")})
"""

from typing import TYPE_CHECKING, Any

from olpick.shim.library import library_path

if TYPE_CHECKING:
    from olpick.shim.launch import run_env

__all__ = ["library_path", "run_env"]


def __getattr__(name: str) -> Any:
    # Every command imports this package, and few of them need the launcher.
    if name == "run_env":
        from olpick.shim.launch import run_env

        return run_env
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
