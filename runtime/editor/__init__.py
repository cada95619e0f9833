"""What an editor asks of a spec while it is written: problems, completion, hover, definitions, names; `accord lsp`."""
