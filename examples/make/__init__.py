"""How the examples of this folder are made: the robot's shapes and links, the walking-pattern generator, and the two writers."""
