"""The little language of guards and values: parsed, shown, walked, compiled to closures. Nothing in it runs code."""
