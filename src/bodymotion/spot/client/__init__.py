"""The client of a real Spot, or of the stand-in robot: connect, log in, upload, execute."""
