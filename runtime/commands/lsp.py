"""``accord lsp``: a language server for specs, on standard input and output, as editors start it."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from runtime.commands.exit_codes import OK, CommandError
from runtime.commands.options import Rules


def lsp(*, rules: Rules = []) -> int:  # noqa: B006 (cyclopts makes a new list)
    """Serve an editor: problems as one types, completion, hover, go to definition, rename, formatting.

    It speaks the Language Server Protocol on standard input and output, and ends when the editor says so. What it
    checks is what `accord check` finds before it explores. docs/editors.md says how VS Code, Neovim and Emacs start it.
    """
    if find_spec("pygls") is None:
        raise CommandError("accord lsp needs pygls: pip install 'accord[lsp]'")
    from runtime.editor.server import make_server  # pygls may be missing

    out, sys.stdout = sys.stdout.buffer, sys.stderr  # what a module of rules prints is no part of the protocol
    make_server(tuple(rules)).start_io(sys.stdin.buffer, out)
    return OK
