"""The little language of guards and values: parsed, shown, walked, compiled. Nothing in it runs code of a spec's."""
