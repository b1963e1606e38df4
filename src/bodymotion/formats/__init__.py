"""Files in, files out: one room per format, and the table of them."""
