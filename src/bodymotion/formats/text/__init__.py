"""Helpers for text formats: numbers as text, spelling of names, slips in numbers."""
