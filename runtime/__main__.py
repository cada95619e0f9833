"""``python -m runtime``: the command ``accord``."""

import sys

from runtime.cli import main

if __name__ == "__main__":
    sys.exit(main())
