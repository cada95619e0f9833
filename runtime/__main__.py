"""``python -m runtime``, and the command ``accord``: the command line, loaded so that Ctrl-C ends it at any time."""

import gc
import sys

INTERRUPTED = 130  # as `runtime.commands.exit_codes` has it, which is not loaded yet
# New objects until Python looks for rings of them; else it does after 700, often while a spec is read.
GARBAGE = 20_000


def start() -> int:
    """Run the command line of this process, and return its exit code; Ctrl-C while it is loaded is no traceback."""
    try:
        gc.set_threshold(GARBAGE)
        from runtime.cli import main

        return main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(start())
