"""The workshop: writing a protocol, trying it by hand, and watching it while it is edited."""
