"""Motions that can stand: `balance` for any motion, and Choreonoid's waist balancer for key poses (`waist`)."""

from bodymotion.balancing.balancing import BalancedMotion, BalanceReport, balance
from bodymotion.balancing.waist import BalancerOptions, balanced

__all__ = ["BalanceReport", "BalancedMotion", "BalancerOptions", "balance", "balanced"]
