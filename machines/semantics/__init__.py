"""What a spec means, said once: who hears a peer, what its messages and faults lead to, how a sign-up seats it.

The rules work on a `domain.Domain`: a session over values (`machines.engine`), or one role of the exploration over
unknown ones (`machines.verification.abstract`). In which order layers, seats and items are asked, and what follows, is
said here. What a domain answers (`hears`, `early_of`) and how it leaves a state it says itself; the engine has quick
ways of its own before the rules (`iteration`, `Interpreter._enter`, `Session._fast_path`), and tests hold all to them.
"""
