"""Where libolpick.so is."""

from pathlib import Path
from typing import Final

NAME: Final = "libolpick.so"


def library_path() -> Path:
    """The drop-in library that is installed beside this package, as an absolute path.

    Raises:
        LibraryError: it is not there.
    """
    # An editable installation keeps the package in two folders: one has the sources, the other what was built.
    from olpick.shim import __path__ as folders

    for folder in folders:
        path = Path(folder).absolute() / NAME
        if path.is_file():
            return path

    from olpick.shim.errors import LibraryError

    raise LibraryError(
        "no-library",
        f"{NAME} is not in {Path(folders[0]).absolute()}",
        "install olpick from its wheel, or with 'pip install .' in its source tree, which builds the library",
    )
