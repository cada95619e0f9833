"""What the rules promise about peers, a module for each module of rules: ``CONTRACTS``, a table of calls and contracts.

`machines.verification.abstract.contracts` says what a contract may be; the tests hold the rules to them in games
that are played.
"""
