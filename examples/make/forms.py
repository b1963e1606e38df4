"""The forms of the robot and how they look: colours, densities, and every hull, in the frame of its link."""

from __future__ import annotations

from .model import Part, Vector
from .solids import Cylinder, limb, shell

LOOKS = {
    "SHELL": "diffuseColor 0.83 0.82 0.79 specularColor 0.25 0.25 0.25 shininess 0.4 ambientIntensity 0.3",
    "JOINT": "diffuseColor 0.15 0.16 0.18 specularColor 0.2 0.2 0.22 shininess 0.3 ambientIntensity 0.3",
    "METAL": "diffuseColor 0.42 0.44 0.47 specularColor 0.35 0.35 0.35 shininess 0.5 ambientIntensity 0.3",
    "ACCENT": "diffuseColor 0.93 0.37 0.07 specularColor 0.25 0.2 0.15 shininess 0.4 ambientIntensity 0.3",
    "VISOR": "diffuseColor 0.05 0.06 0.08 specularColor 0.6 0.6 0.65 shininess 0.8 ambientIntensity 0.2",
    "GLOW": "diffuseColor 0.1 0.66 0.82 emissiveColor 0.1 0.66 0.82",
}
SHELL, MOTOR, TRIM = 640.0, 1800.0, 800.0
"""Mean densities [kg/m³] of what is inside a shell, of a drive, of a cover."""


def motor(
    radius: float, height: float, along: str, at: Vector = (0.0, 0.0, 0.0)
) -> Part:
    """Draw a drive."""
    return Part(Cylinder(radius, height), "JOINT", MOTOR, at, along)


def cap(radius: float, height: float, along: str, at: Vector = (0.0, 0.0, 0.0)) -> Part:
    """Draw the coloured disc on a drive; it sticks out a little at both ends."""
    return Part(Cylinder(radius, height), "ACCENT", TRIM, at, along)


PELVIS = limb(
    (-0.085, 0.05, 0.066),
    (-0.03, 0.076, 0.098),
    (0.055, 0.07, 0.098),
    ends=(0.03, 0.022),
)
BELT = limb((0.0, 0.062, 0.088), (0.022, 0.062, 0.088), ends=(0.006, 0.006))
ABDOMEN = limb(
    (0.0, 0.058, 0.078),
    (0.035, 0.054, 0.074),
    (0.075, 0.062, 0.084),
    ends=(0.012, 0.012),
)
CHEST = shell(
    (0.06, 0.064, 0.088, 0),
    (0.14, 0.090, 0.128, 0.006),
    (0.235, 0.098, 0.150, 0.008),
    (0.325, 0.066, 0.100, -0.004),
    ends=(0.024, 0.03),
)
PACK = limb((-0.03, 0.085, 0.09), (0.03, 0.075, 0.08), power=4, ends=(0.01, 0.02))
BREAST = limb((0.0, 0.074, 0.022), (0.02, 0.072, 0.022), power=5, ends=(0.004, 0.008))
WINDOW = limb((0.0, 0.044, 0.010), (0.014, 0.044, 0.010), power=5, ends=(0.003, 0.004))
SKULL = shell(
    (0.0, 0.062, 0.070, 0.012),
    (0.06, 0.090, 0.102, 0.010),
    (0.125, 0.092, 0.104, 0.004),
    (0.20, 0.066, 0.076, 0.0),
    ends=(0.03, 0.045),
)
FACE = limb((0.0, 0.084, 0.050), (0.046, 0.073, 0.043), power=3.6, ends=(0.01, 0.016))
EYE = limb((0.0, 0.012, 0.018), (0.006, 0.011, 0.017), power=2.2, ends=(0.001, 0.003))
UPPER_LEG = limb(
    (-0.275, 0.047, 0.043),
    (-0.16, 0.060, 0.055),
    (-0.02, 0.066, 0.058),
    ends=(0.02, 0.03),
)
LOWER_LEG = shell(
    (-0.272, 0.034, 0.034, 0.0),
    (-0.16, 0.050, 0.045, -0.006),
    (-0.08, 0.056, 0.048, -0.008),
    (-0.015, 0.046, 0.042, 0),
    ends=(0.015, 0.02),
)
KNEE_PAD = limb(
    (0.0, 0.040, 0.026), (0.022, 0.034, 0.022), power=3, ends=(0.004, 0.012)
)
SOLE_PAD = limb(
    (-0.085, 0.122, 0.062), (-0.067, 0.122, 0.062), power=4, ends=(0.004, 0.004)
)
FOOT = shell(
    (-0.069, 0.116, 0.058, 0.026),
    (-0.045, 0.104, 0.055, 0.014),
    (-0.014, 0.058, 0.044, -0.008),
    power=3.2,
    ends=(0.006, 0.02),
)
TOE_CAP = shell(
    (-0.070, 0.045, 0.0605, 0.108),
    (-0.036, 0.030, 0.052, 0.092),
    power=3.4,
    ends=(0.005, 0.016),
)
SHOULDER = limb(
    (-0.062, 0.042, 0.042),
    (-0.01, 0.057, 0.057),
    (0.058, 0.046, 0.046),
    power=2.2,
    ends=(0.02, 0.04),
)
UPPER_ARM = limb(
    (-0.195, 0.034, 0.034),
    (-0.12, 0.041, 0.040),
    (-0.045, 0.040, 0.040),
    power=2.3,
    ends=(0.016, 0.012),
)
FOREARM = limb(
    (-0.175, 0.029, 0.028),
    (-0.09, 0.041, 0.039),
    (-0.012, 0.036, 0.034),
    power=2.3,
    ends=(0.010, 0.016),
)
CUFF = limb(
    (-0.19, 0.031, 0.030), (-0.172, 0.032, 0.031), power=2.3, ends=(0.004, 0.004)
)
PALM = limb(
    (-0.075, 0.037, 0.028),
    (-0.045, 0.041, 0.030),
    (-0.012, 0.027, 0.025),
    power=3,
    ends=(0.010, 0.010),
)
FINGER = limb(
    (-0.052, 0.0075, 0.0085),
    (-0.02, 0.0095, 0.0095),
    (0.008, 0.0095, 0.0095),
    power=3,
    ends=(0.007, 0.005),
)
THUMB = limb(
    (-0.150, 0.0075, 0.012),
    (-0.11, 0.0105, 0.014),
    (-0.060, 0.013, 0.017),
    power=3,
    ends=(0.007, 0.006),
)
FINGERTIP = limb(
    (-0.022, 0.0075, 0.0085), (-0.002, 0.0088, 0.0098), power=3, ends=(0.006, 0.003)
)
