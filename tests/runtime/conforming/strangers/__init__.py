"""Programs that know nothing of Accord: right ones in several styles, and the same with a mistake planted."""
