"""The components of a motion about the feet of a robot with four legs."""

# Front left, front right, hind left, hind right: the order of arrays over legs.
LEGS = ("fl", "fr", "hl", "hr")
FOOT_CONTACT = "FootContact"
"""The content of the component with contacts (T, 4): 1 in contact, 0 in swing."""
REACH_ERROR = "ReachError"
"""The content of the component with distances (T, K) [m] from feet to their targets."""
