"""What the rules promise about peers, a module for each module of rules: ``PROMISES``, a table of calls and promises.

`machines.verification.contracts` says what a promise may be; the tests hold the rules to them in games that are played.
"""
