"""Whole events between programs: `event` is the file, `store` what is kept, `conductor` plays what is missing."""
