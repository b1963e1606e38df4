"""Choreographies: what is known of their moves, their rules, and the motion of their animations."""

from bodymotion.spot.choreography.playing import play_choreography
from bodymotion.spot.choreography.validation import check_choreography

__all__ = ["check_choreography", "play_choreography"]
