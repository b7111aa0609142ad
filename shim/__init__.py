"""Choosing and acting: the drop-in library libolpick.so, its launcher and the command line.

From Python, a program is started with the library in it so::

    subprocess.run(["./app"], env={**os.environ, **olpick.shim.run_env(log="select")})
"""

from olpick.shim.launch import run_env
from olpick.shim.library import library_path

__all__ = ["library_path", "run_env"]
