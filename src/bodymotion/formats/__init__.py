"""Readers and writers of files: one package or module per format, and the registry of formats."""
