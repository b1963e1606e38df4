"""Shared by the table formats: names of columns, rows of numbers, times."""
