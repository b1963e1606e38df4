"""The client of a real Spot, or of the stand-in robot.

Connect, log in, upload, execute.
"""
