"""`python -m olpick.shim`: the command `olpick`."""

import sys

from olpick.shim.cli import main

if __name__ == "__main__":
    sys.exit(main())
