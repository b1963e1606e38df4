"""Motions that can stand: Choreonoid's waist balancer (`waist`)."""

from bodymotion.balancing.waist import BalancerOptions, balanced

__all__ = ["BalancerOptions", "balanced"]
