"""The commands of ``accord``, a module each; `runtime.cli` imports the one that is asked for, and no other."""
