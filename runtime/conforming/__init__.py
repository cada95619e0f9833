"""Programs that others wrote, on the wire: played against (conform), listened to (proxy), stood in for (mock)."""
