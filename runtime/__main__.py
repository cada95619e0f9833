"""``python -m runtime``, and the command ``accord``: the command line, loaded so that Ctrl-C ends it at any time."""

import sys

INTERRUPTED = 130  # as `runtime.commands.exit_codes` has it, which is not loaded yet


def start() -> int:
    """Run the command line of this process, and return its exit code; Ctrl-C while it is loaded is no traceback."""
    try:
        from runtime.cli import main

        return main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(start())
