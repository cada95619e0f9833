"""What a spec means, said once: who hears a peer, what its messages and faults lead to, how a sign-up seats it.

The rules work on a `domain.Domain`: a session over values (`machines.engine`), or one role of the exploration over
unknown ones (`machines.verification.abstract`). Neither decides any of this by itself, so they cannot differ in it.
"""
