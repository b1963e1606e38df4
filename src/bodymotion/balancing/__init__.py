"""Balanced motions.

`balance` for any motion, Choreonoid's waist balancer for key poses (`waist`).
"""

from bodymotion.balancing.balancing import BalancedMotion, BalanceReport, balance
from bodymotion.balancing.waist import BalancerOptions, balanced

__all__ = ["BalanceReport", "BalancedMotion", "BalancerOptions", "balance", "balanced"]
