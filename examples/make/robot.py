"""The robot of the examples: a humanoid of 1.37 m with 32 joints, drawn for this project.

Legs: three hip joints with one centre, a knee, two ankle joints with one centre, so that the inverse kinematics has a closed form.
Hands: a thumb that stays and two fingers on a parallelogram, which is a closed loop.
"""

from __future__ import annotations

import numpy as np

from .forms import (
    ABDOMEN,
    BELT,
    BREAST,
    CHEST,
    CUFF,
    EYE,
    FACE,
    FINGER,
    FINGERTIP,
    FOOT,
    FOREARM,
    KNEE_PAD,
    LOOKS,
    LOWER_LEG,
    PACK,
    PALM,
    PELVIS,
    SHELL,
    SHOULDER,
    SKULL,
    SOLE_PAD,
    THUMB,
    TOE_CAP,
    TRIM,
    UPPER_ARM,
    UPPER_LEG,
    WINDOW,
    cap,
    motor,
)
from .model import Link, Loop, Part, Robot, Sensor
from .solids import Box, Cylinder

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

HIP_WIDTH = 0.085
HIP_DROP = 0.045
THIGH = 0.30
SHIN = 0.30
ANKLE_HEIGHT = 0.085
CRANK = 0.045
GROUND_BAR = 0.026

FORWARD = "0.577350269190 -0.577350269190 -0.577350269190 2.094395102393"
"""The turn that makes a camera's view, −z with y up, look along x with z up."""


def leg(side: str, sign: int) -> Link:
    """Build a leg: `sign` is +1 on the left."""
    fast, strong = (120.0, 2.2e-5), (160.0, 2.6e-5)
    foot = Link(
        f"{side}_ANKLE_ROLL",
        X,
        (0, 0, 0),
        (-25, 25),
        8.0,
        fast,
        [
            Part(SOLE_PAD, "JOINT", TRIM, (0.03, 0, 0), "z"),
            Part(FOOT, "SHELL", SHELL),
            Part(TOE_CAP, "ACCENT", TRIM),
            motor(0.028, 0.082, "x", (-0.004, 0, 0)),
        ],
        sensors=[
            Sensor(
                f"{side}_ANKLE_FORCE",
                "ForceSensor",
                {
                    "sensorId": "0" if sign < 0 else "1",
                    "maxForce": "1200 1200 2400",
                    "maxTorque": "120 120 60",
                },
            )
        ],
    )
    ankle = Link(
        f"{side}_ANKLE_PITCH",
        Y,
        (0, 0, -SHIN),
        (-65, 50),
        9.0,
        strong,
        [motor(0.032, 0.074, ""), cap(0.02, 0.080, "")],
        children=[foot],
    )
    knee = Link(
        f"{side}_KNEE",
        Y,
        (0, 0, -THIGH),
        (-2, 145),
        10.0,
        strong,
        [
            motor(0.046, 0.092, ""),
            cap(0.028, 0.098, ""),
            Part(LOWER_LEG, "SHELL", SHELL),
            Part(KNEE_PAD, "ACCENT", TRIM, (0.036, 0, -0.008), "x"),
        ],
        children=[ankle],
    )
    thigh = Link(
        f"{side}_HIP_PITCH",
        Y,
        (0, 0, 0),
        (-110, 45),
        9.0,
        strong,
        [
            motor(0.050, 0.106, ""),
            cap(0.030, 0.112, ""),
            Part(UPPER_LEG, "SHELL", SHELL, along="z"),
        ],
        children=[knee],
    )
    roll = Link(
        f"{side}_HIP_ROLL",
        X,
        (0, 0, 0),
        (-20, 35) if sign > 0 else (-35, 20),
        8.0,
        fast,
        [motor(0.036, 0.112, "x")],
        children=[thigh],
    )
    return Link(
        f"{side}_HIP_YAW",
        Z,
        (0, sign * HIP_WIDTH, -HIP_DROP),
        (-35, 45) if sign > 0 else (-45, 35),
        8.0,
        fast,
        [motor(0.044, 0.034, "z", (0, 0, 0.038))],
        children=[roll],
    )


def hand(side: str, sign: int) -> Link:
    """Build the wrist and what hangs on it."""
    small = (60.0, 1.1e-6)
    pins = GROUND_BAR
    fingers = Link(
        f"{side}_FINGERS",
        Y,
        (0, 0, -CRANK),
        (-60, 30),
        8.0,
        parts=[
            Part(Box((pins + 0.018, 0.034, 0.013)), "JOINT", TRIM, (-pins / 2, 0, 0)),
            *(
                Part(FINGER, "SHELL", SHELL, (0.001, y, -0.008), "z")
                for y in (-0.0125, 0.0125)
            ),
            *(
                Part(FINGERTIP, "ACCENT", TRIM, (0.001, y, -0.046), "z")
                for y in (-0.0125, 0.0125)
            ),
        ],
    )
    bars = [
        Part(Box((0.011, 0.006, CRANK)), "METAL", 2700.0, (0, y, -CRANK / 2))
        for y in (-0.021, 0.021)
    ]
    crank = Link(
        f"{side}_FINGER_CRANK",
        Y,
        (-0.002, 0, -0.072),
        (-30, 60),
        6.0,
        small,
        [
            motor(0.009, 0.050, ""),
            *bars,
            Part(Cylinder(0.006, 0.050), "METAL", 2700.0, (0, 0, -CRANK)),
        ],
        children=[fingers],
    )
    rocker = Link(
        f"{side}_FINGER_ROCKER",
        Y,
        (-0.002 - pins, 0, -0.072),
        (-30, 60),
        6.0,
        parts=[
            *bars,
            Part(Cylinder(0.006, 0.050), "METAL", 2700.0),
            Part(Cylinder(0.006, 0.050), "METAL", 2700.0, (0, 0, -CRANK)),
        ],
    )
    return Link(
        f"{side}_WRIST",
        Z,
        (0, 0, -0.20),
        (-100, 100),
        8.0,
        small,
        [
            motor(0.024, 0.034, "z"),
            Part(PALM, "SHELL", SHELL, (0, 0, 0), "z"),
            Part(THUMB, "SHELL", SHELL, (0.034, 0, 0), "z"),
            Part(FINGERTIP, "ACCENT", TRIM, (0.034, 0, -0.132), "z"),
        ],
        sensors=[
            Sensor(
                f"{side}_WRIST_FORCE",
                "ForceSensor",
                {
                    "sensorId": "2" if sign < 0 else "3",
                    "maxForce": "200 200 200",
                    "maxTorque": "20 20 20",
                },
            )
        ],
        children=[crank, rocker],
    )


def arm(side: str, sign: int) -> Link:
    """Build an arm: `sign` is +1 on the left."""
    middle = (100.0, 4.2e-6)
    elbow = Link(
        f"{side}_ELBOW",
        Y,
        (0, 0, -0.22),
        (-140, 2),
        9.0,
        middle,
        [
            motor(0.034, 0.072, ""),
            cap(0.021, 0.077, ""),
            Part(FOREARM, "SHELL", SHELL, along="z"),
            Part(CUFF, "ACCENT", TRIM, along="z"),
        ],
        children=[hand(side, sign)],
    )
    upper = Link(
        f"{side}_SHOULDER_YAW",
        Z,
        (0, 0, 0),
        (-100, 100),
        8.0,
        middle,
        [
            Part(UPPER_ARM, "SHELL", SHELL, along="z"),
            motor(0.030, 0.02, "z", (0, 0, -0.05)),
        ],
        children=[elbow],
    )
    roll = Link(
        f"{side}_SHOULDER_ROLL",
        X,
        (0, 0, 0),
        (-15, 120) if sign > 0 else (-120, 15),
        8.0,
        middle,
        [
            Part(SHOULDER, "SHELL", SHELL, along="z"),
            cap(0.028, 0.064, "", (0, sign * 0.030, 0)),
        ],
        children=[upper],
    )
    return Link(
        f"{side}_SHOULDER_PITCH",
        Y,
        (0, sign * 0.205, 0.255),
        (-180, 70),
        8.0,
        middle,
        [motor(0.036, 0.06, "", (0, -sign * 0.05, 0))],
        children=[roll],
    )


def upper_body() -> Link:
    """Build the waist joints, the chest, the head and the arms."""
    head = Link(
        "HEAD_TILT",
        Y,
        (0, 0, 0.025),
        (-40, 50),
        6.0,
        (80.0, 1.1e-6),
        [
            Part(SKULL, "SHELL", SHELL * 0.6),
            Part(FACE, "VISOR", TRIM * 0.5, (0.060, 0, 0.100), "x"),
            *(Part(EYE, "GLOW", TRIM, (0.103, y, 0.104), "x") for y in (-0.034, 0.034)),
            Part(Cylinder(0.036, 0.222), "JOINT", TRIM * 0.3, (0, 0, 0.098)),
            cap(0.025, 0.232, "", (0, 0, 0.098)),
        ],
        sensors=[
            Sensor(
                "HEAD_CAMERA",
                "VisionSensor",
                {
                    "name": '"HEAD_CAMERA"',
                    "sensorId": "0",
                    "type": '"COLOR_DEPTH"',
                    "translation": "0.108 0 0.104",
                    "rotation": FORWARD,
                    "fieldOfView": "1.0471976",
                    "frontClipDistance": "0.05",
                    "backClipDistance": "12",
                    "width": "640",
                    "height": "480",
                    "frameRate": "30",
                },
            )
        ],
    )
    neck = Link(
        "HEAD_PAN",
        Z,
        (0, 0, 0.335),
        (-80, 80),
        6.0,
        (80.0, 1.1e-6),
        [motor(0.034, 0.05, "z", (0, 0, 0.0))],
        children=[head],
    )
    chest = Link(
        "CHEST_PITCH",
        Y,
        (0, 0, 0),
        (-15, 45),
        5.0,
        (160.0, 2.6e-5),
        [
            Part(ABDOMEN, "METAL", SHELL, along="z"),
            Part(CHEST, "SHELL", SHELL),
            Part(BREAST, "ACCENT", TRIM, (0.088, 0, 0.238), "x"),
            Part(WINDOW, "VISOR", TRIM, (0.091, 0, 0.165), "x"),
            Part(Cylinder(0.009, 0.006), "GLOW", TRIM, (0.107, -0.048, 0.238), "x"),
        ],
        pack=(
            "BATTERY",
            (-0.095, 0, 0.205),
            [Part(PACK, "METAL", 1500.0, (0, 0, 0), turn=(Z, 0.5 * np.pi))],
        ),
        sensors=[
            Sensor(
                "CHEST_SCANNER",
                "RangeSensor",
                {
                    "sensorId": "0",
                    "translation": "0.105 0 0.165",
                    "rotation": FORWARD,
                    "scanAngle": "3.1415927",
                    "scanStep": "0.0174533",
                    "scanRate": "20",
                    "maxDistance": "8",
                },
            )
        ],
        children=[neck, arm("R", -1), arm("L", 1)],
    )
    return Link(
        "CHEST_YAW",
        Z,
        (0, 0, 0.085),
        (-45, 45),
        5.0,
        (160.0, 2.6e-5),
        [motor(0.055, 0.04, "z", (0, 0, -0.012))],
        children=[chest],
    )


def biped() -> Robot:
    """Build the whole robot and number its joints, depth first."""
    waist = Link(
        "WAIST",
        None,
        (0, 0, HIP_DROP + THIGH + SHIN + ANKLE_HEIGHT),
        parts=[
            Part(PELVIS, "SHELL", SHELL, along="z"),
            Part(BELT, "ACCENT", TRIM, (0, 0, 0.045), "z"),
            motor(0.04, 0.1, "", (0, 0, 0)),
        ],
        sensors=[
            Sensor(
                "WAIST_ACCELERATION",
                "AccelerationSensor",
                {"sensorId": "0", "maxAcceleration": "80 80 80"},
            ),
            Sensor(
                "WAIST_GYRO",
                "Gyro",
                {"sensorId": "0", "maxAngularVelocity": "20 20 20"},
            ),
        ],
        children=[leg("R", -1), leg("L", 1), upper_body()],
    )
    for number, link in enumerate(list(waist.walk())[1:]):
        link.id = number
    loops = tuple(
        Loop(
            f"{side}_HAND_LOOP",
            (f"{side}_FINGER_ROCKER", f"{side}_FINGERS"),
            ((0, 0, -CRANK), (-GROUND_BAR, 0, 0)),
        )
        for side in "RL"
    )
    return Robot(
        "BIPED",
        (
            "Biped: a small humanoid, 32 joints, made by a script for bodymotion",
            "Each hand has a parallelogram, closed by an extra joint: crank a, fingers -a, rocker a",
        ),
        "1.0",
        LOOKS,
        waist,
        loops,
        (
            ("Three quarters", (2.1, 1.5, 1.25), (0.0, 0.0, 0.66)),
            ("Front", (2.7, 0.0, 0.8), (0.0, 0.0, 0.66)),
            ("Left side", (0.0, 2.7, 0.8), (0.0, 0.0, 0.66)),
            ("Back", (-2.3, -1.2, 1.2), (0.0, 0.0, 0.66)),
        ),
    )
