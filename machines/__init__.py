"""The pure core: spec model, reader, types, expressions, table, checker, session, codec, framing. No I/O, no clock."""
