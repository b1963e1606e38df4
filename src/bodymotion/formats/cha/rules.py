"""The rules of Spot animations: what their document asks for, and what we judge to be a mistake.

`source` says where a rule comes from: "document" (the vendor's description of the format), "reference" (the vendor's converter),
"judgement" (ours). An error is what the document forbids, or of which nothing can be played.
"""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

# The text.
UNREADABLE = Rule("CHA101", "error", "The file can be opened and read to its end.", "judgement")
BOM = Rule(
    "CHA102",
    "warning",
    "The file begins with its first keyword, without a byte order mark.",
    "judgement",
    "the vendor's converter takes the mark for a part of the first keyword, and passes over that option: save it as UTF-8 without BOM",
    fixable=True,
)
ENCODING = Rule("CHA103", "warning", "The text is UTF-8.", "judgement", "save it as UTF-8")
CONTROL = Rule(
    "CHA104",
    "error",
    "The text has no control characters but tabs and line ends.",
    hint="such characters come of files that are no text, or were damaged",
)
BLANKS = Rule(
    "CHA105",
    "warning",
    "Words stand apart by spaces and tabs.",
    hint="another blank character, as web pages and word processors have them; write a space",
    fixable=True,
)
TOO_LONG = Rule(
    "CHA106",
    "error",
    "Options and parameters take at most some thousand lines.",
    "judgement",
    "the three sections have a blank line between them: options, parameters, keyframes",
)
NO_TEXT = Rule(
    "CHA108",
    "error",
    "The file is a text.",
    hint="an image, an archive, or a text in another encoding; animation files are UTF-8",
)
LINE_LONG = Rule("CHA107", "error", "A line has at most a hundred thousand characters.", "judgement")

# The sections.
LEADING_BLANK = Rule(
    "CHA110",
    "warning",
    "The options begin in the first line.",
    "judgement",
    "the vendor's converter takes the blank line for the end of the options: remove it",
    fixable=True,
)
BLANK_LINES = Rule(
    "CHA111",
    "error",
    "One single blank line stands between two sections.",
    hint="the vendor's converter takes a second blank line for an empty section: remove it",
    fixable=True,
)
COMMENT_SECTION = Rule(
    "CHA112",
    "error",
    "Comments stand within one of the three sections, and make no section of their own.",
    hint="remove the blank line before or after the comment",
)
OPTIONS_MISSING = Rule(
    "CHA113", "error", "The first section has the options.", hint="begin with 'controls' and the tracks"
)
PARAMETERS_MISSING = Rule(
    "CHA114",
    "error",
    "The second section has the parameters.",
    hint="write 'no parameters' and a blank line",
    fixable=True,
)
BODY_MISSING = Rule(
    "CHA115",
    "error",
    "The third section has the columns and the keyframes.",
    hint="after a blank line: a line of columns, such as 'time body_pos', and a line for each keyframe",
)
SECTIONS = Rule(
    "CHA116",
    "error",
    "There are three sections, and no blank line within one.",
    hint="the vendor's converter takes a blank line for the beginning of the next section: remove it",
)
BLANK_MISSING = Rule(
    "CHA117", "error", "A blank line stands between two sections.", hint="write a blank line before this one"
)

# The options.
CONTROLS_MISSING = Rule(
    "CHA120",
    "error",
    "The option 'controls' says which tracks the animation moves.",
    hint="write 'controls' and one or more of legs, body, arm, gripper",
)
CONTROLS_EMPTY = Rule(
    "CHA121", "error", "One or more tracks follow 'controls'.", hint="one or more of legs, body, arm, gripper"
)
CONTROLS_TRACK = Rule(
    "CHA122",
    "error",
    "The tracks are legs, body, arm and gripper.",
    hint="the vendor's converter passes over others, and the robot does not move them",
)
CONTROLS_TWICE = Rule("CHA123", "warning", "A track is named once.", "judgement")
OPTION_UNKNOWN = Rule(
    "CHA124",
    "error",
    "The options are those of the document.",
    hint="the vendor's converter passes over others in silence",
)
OPTION_CASE = Rule(
    "CHA125",
    "warning",
    "Options are written in small letters.",
    "judgement",
    "the line is passed over, as the vendor's converter does",
)
OPTION_TWICE = Rule(
    "CHA126", "warning", "An option is given once.", "judgement", "the last one counts, as for the vendor's converter"
)
OPTION_VALUE_MISSING = Rule("CHA127", "error", "An option has all its values.")
OPTION_VALUE_EXTRA = Rule(
    "CHA128",
    "error",
    "An option has no more values than it takes.",
    hint="the vendor's converter passes over further words in silence",
)
OPTION_NUMBER = Rule(
    "CHA129", "error", "The values of bpm, frequency and timing_adjustability are finite decimal numbers."
)
BPM_POSITIVE = Rule(
    "CHA130",
    "error",
    "The beats per minute are more than zero.",
    "judgement",
    "without 'bpm' the animation plays at its own speed",
)
BPM_WHOLE = Rule(
    "CHA131",
    "note",
    "The beats per minute are a whole number, written without a point or an exponent.",
    "reference",
    "the document asks for a value; the vendor's converter reads whole numbers only",
)
FREQUENCY_POSITIVE = Rule(
    "CHA132", "error", "The frequency is more than zero.", "judgement", "keyframes a second, such as 30"
)
COLOR_COUNT = Rule("CHA133", "error", "Three numbers follow 'display_rgb': red, green and blue.")
COLOR_RANGE = Rule("CHA134", "error", "Red, green and blue are whole numbers from 0 to 255.")
ADJUSTABILITY_RANGE = Rule(
    "CHA135",
    "error",
    "The timing adjustability lies between -1 and 1.",
    hint="1: drastic adjustment, 0: some, -1: none",
)
PLAYBACK = Rule(
    "CHA136",
    "error",
    "The arm plays back in jointspace, workspace or workspace_dance_frame.",
    hint="the vendor's converter passes over others",
)
ARM_CONTRADICTION = Rule(
    "CHA137",
    "error",
    "An animation does not prohibit the arm that it requires, or has nothing else for.",
    "judgement",
    "no robot could load it",
)
ARM_PROHIBITED_USED = Rule(
    "CHA138", "warning", "An animation that moves the arm or the gripper does not prohibit an arm.", "judgement"
)
NEUTRAL_START = Rule(
    "CHA139",
    "error",
    "A neutral start is for animations that control the body and have no legs.",
    hint="with legs, their columns say where the animation starts",
)
DESCRIPTION_CUT = Rule(
    "CHA140",
    "warning",
    "A description holds neither # nor //: a comment begins there.",
    hint="addresses of web pages can only be written without http://",
)
CONVERTER_ONLY = Rule(
    "CHA141",
    "note",
    "The options are those of the document; two more are known to the vendor's converter only.",
    "reference",
)
OPTION_IDLE = Rule(
    "CHA142", "note", "Options for a track concern a track that is controlled.", "judgement", "it changes nothing"
)
TIMING_TWICE = Rule(
    "CHA143",
    "warning",
    "How far times may be shifted is said once.",
    "judgement",
    "precise_timing means timing_adjustability -1",
)
NEUTRAL_START_COLUMNS = Rule(
    "CHA144",
    "warning",
    "An animation with a neutral start has no columns of legs.",
    hint="the legs are not controlled, so their columns are passed over",
)

# The parameters.
PARAMETER_UNKNOWN = Rule("CHA150", "error", "The parameters are those of the document.")
PARAMETER_CASE = Rule(
    "CHA151",
    "warning",
    "Parameters are written in small letters.",
    "judgement",
    "read as the vendor's converter does, as if it were in small letters",
)
PARAMETER_TWICE = Rule("CHA152", "warning", "A parameter is given once.", "judgement", "the last one counts")
PARAMETER_VALUES = Rule("CHA153", "error", "Three values follow a parameter, minimum, default and maximum, or none.")
PARAMETER_NUMBER = Rule("CHA154", "error", "The values of parameters are finite decimal numbers.")
PARAMETER_ORDER = Rule(
    "CHA155",
    "error",
    "The minimum of a parameter is not above its maximum.",
    hint="the order is minimum, default, maximum",
)
PARAMETER_DEFAULT = Rule(
    "CHA156",
    "error",
    "The default of a parameter lies between its minimum and its maximum.",
    hint="the order is minimum, default, maximum",
)
PARAMETER_TRACK = Rule("CHA157", "error", "The tracks that a parameter needs are controlled.")
STIFFNESS_RANGE = Rule("CHA158", "error", "The body's tracking stiffness lies between 1 and 11.")
FRACTION_RANGE = Rule("CHA159", "error", "The fraction of the gripper's strength lies between 0 and 1.")
PARAMETER_NEGATIVE = Rule(
    "CHA160",
    "warning",
    "Speeds are more than zero, and slices and the numbers of frames not negative.",
    "judgement",
)
PARAMETER_WHOLE = Rule("CHA161", "warning", "The number of a dance frame is a whole number.", "judgement")
DANCE_FRAME = Rule(
    "CHA162",
    "error",
    "The parameter arm_dance_frame_id goes with 'arm_playback workspace_dance_frame'.",
    hint="add that option, or take the parameter away",
)
SPEED_ZERO = Rule(
    "CHA169", "error", "The speed is more than zero by default.", "judgement", "1 plays at the animation's own speed"
)
NO_PARAMETERS_FALSE = Rule(
    "CHA164",
    "warning",
    "Where it says 'no parameters' there are none.",
    hint="the parameters count, as for the vendor's converter",
)
NO_PARAMETERS_WORDS = Rule("CHA165", "warning", "The keywords are 'no parameters', and nothing else.", "judgement")
PARAMETER_NAMED = Rule(
    "CHA166",
    "note",
    "A parameter has its limits in the file.",
    "judgement",
    "its limits come from the robot; the vendor's converter needs the robot's MoveParamsConfig for it",
)
PARAMETER_HUGE = Rule(
    "CHA167",
    "error",
    "The default of a parameter is at most a million.",
    "judgement",
    "nothing can be played with it",
)
NO_PARAMETERS_BLANKS = Rule(
    "CHA168",
    "note",
    "One space stands between 'no' and 'parameters'.",
    "reference",
    "the vendor's converter takes anything else for a parameter, and stops",
)

# The columns.
HEADER_MISSING = Rule(
    "CHA170", "error", "The first line of the third section names the columns.", hint="such as 'time body_pos'"
)
COLUMN_UNKNOWN = Rule("CHA171", "error", "The columns are those of the document.")
COLUMN_TWICE = Rule("CHA172", "error", "A column stands once.", hint="a group counts as all its columns")
BODY_EXCLUSIVE = Rule(
    "CHA173", "error", "The body's position and its centre of mass exclude each other.", hint="body_pos or com_pos"
)
ORIENTATION_EXCLUSIVE = Rule(
    "CHA174",
    "error",
    "The ways to give an orientation exclude each other.",
    hint="one of quat_wxyz, quat_xyzw, euler_rpy",
)
ARM_EXCLUSIVE = Rule(
    "CHA175",
    "error",
    "The arm's joint angles and the pose of the hand exclude each other.",
    hint="arm_joints, or hand_pos with an orientation",
)
LEG_EXCLUSIVE = Rule(
    "CHA176",
    "error",
    "For each leg, joint angles and the foot's position exclude each other.",
    hint="leg_joints or foot_pos, or their groups for single legs",
)
TIME_AND_FREQUENCY = Rule(
    "CHA177", "error", "The column time and the option frequency exclude each other.", hint="take one of them away"
)
TIME_MISSING = Rule("CHA178", "error", "Either the column time or the option frequency says when the keyframes are.")
TRACK_COLUMNS = Rule("CHA179", "error", "Each controlled track has columns.")
GRIPPER_MISSING = Rule("CHA180", "error", "An animation that controls the gripper has the column gripper.")
LEG_MISSING = Rule(
    "CHA181",
    "error",
    "An animation that controls the legs has joint angles or a foot's position for each of them.",
    hint="leg_joints or foot_pos, or their groups for single legs",
)
LEG_INCOMPLETE = Rule("CHA182", "error", "A leg has all three joint angles, or all three coordinates of its foot.")
QUATERNION_INCOMPLETE = Rule("CHA183", "error", "A quaternion has four columns.")
HAND_POSITION_MISSING = Rule(
    "CHA184",
    "warning",
    "The hand's orientation comes with its position.",
    "judgement",
    "add hand_pos: the arm can not be placed by a direction alone",
)
HAND_INCOMPLETE = Rule(
    "CHA185",
    "warning",
    "The hand's position has x, y and z, its angles have roll, pitch and yaw.",
    "judgement",
    "the robot may take what is missing as 0",
)
CONTACT_INCOMPLETE = Rule(
    "CHA186",
    "warning",
    "Contacts are given for all four feet, or for none.",
    "judgement",
    "those that are not given are inferred from the legs",
)
UNCONTROLLED = Rule(
    "CHA187",
    "note",
    "Columns belong to tracks that are controlled.",
    hint="they are passed over when the animation is played",
)
HAND_ORIENTATION_MISSING = Rule("CHA188", "note", "The hand's position comes with its orientation.", "judgement")

# The keyframes.
NO_KEYFRAMES = Rule("CHA200", "error", "There are keyframes below the columns.")
ONE_KEYFRAME = Rule(
    "CHA201",
    "warning",
    "There are at least two keyframes.",
    "judgement",
    "a pose to hold takes two equal keyframes, at its beginning and at its end",
)
ROW_SHORT = Rule("CHA202", "error", "A keyframe has a value for each column.")
ROW_LONG = Rule(
    "CHA203",
    "error",
    "A keyframe has no more values than there are columns.",
    hint="the vendor's converter passes over further values in silence",
)
NUMBER = Rule(
    "CHA204",
    "error",
    "The values of keyframes are decimal numbers.",
    hint="such as -1.25, 3 or 2e-3; 0x10, 1_000 and a decimal comma are none",
)
NOT_FINITE = Rule("CHA205", "error", "The values of keyframes are finite.", "judgement")
GIVEN_UP = Rule("CHA215", "error", "At most ten thousand keyframes are wrong.", "judgement")
TIME_NEGATIVE = Rule("CHA206", "error", "Times are not negative.", hint="the animation starts at time 0")
TIME_START = Rule("CHA207", "error", "The first keyframe is at time 0.")
TIME_BACK = Rule("CHA208", "error", "The time of a keyframe is after that of the one before.", "judgement")
TIME_REPEATED = Rule(
    "CHA209",
    "error",
    "No two keyframes have one time.",
    "judgement",
    "leave one of them out, or write times with more digits",
)
CONTACT = Rule("CHA210", "error", "Contacts are 1, in stance, or 0, in swing.")
QUATERNION_ZERO = Rule(
    "CHA211", "error", "Quaternions have a direction.", "judgement", "1 0 0 0 in the order wxyz is no rotation"
)
QUATERNION_UNIT = Rule("CHA212", "warning", "Quaternions are of length 1.", "judgement", fixable=True)
JOINT_LIMIT = Rule(
    "CHA213",
    "warning",
    "Joint angles are within what the robot's joints can do.",
    "judgement",
    "the limits are those of the robot's public description; angles are in radians",
)
JUMP = Rule(
    "CHA214",
    "warning",
    "Values do not jump from one keyframe to the next.",
    "judgement",
    "the robot moves on all the way between the two",
)
VALUE_HUGE = Rule(
    "CHA216",
    "error",
    "The values of keyframes are at most a million.",
    "judgement",
    "positions are in metres, angles in radians: no robot is so large",
)
MOVE_LONG = Rule(
    "CHA217",
    "error",
    "A move is at most a day long: ten million slices, or hundredths of a second.",
    "judgement",
    "times are in seconds; nothing can be played of a move so long",
)

# Gait cycles.
CYCLE_LEGS = Rule("CHA220", "error", "A custom gait cycle controls the legs.")
CYCLE_ENDS = Rule(
    "CHA221",
    "error",
    "The first and the last keyframe of a custom gait cycle are the same.",
    hint="the vendor's page on Custom Gait lets the body's x differ; the document does not",
)
CYCLE_FEET_UP = Rule(
    "CHA222",
    "error",
    "A custom gait cycle has all four feet on the ground at its start and its end.",
    hint="the vendor's page on Custom Gait allows feet in the air; the document does not",
)
CYCLE_NO_SWING = Rule("CHA223", "error", "In a custom gait cycle each foot swings at least once.")
CYCLE_SWINGS = Rule("CHA224", "error", "In a custom gait cycle no foot swings more than twice.")
CYCLE_CONTACTS = Rule(
    "CHA225",
    "note",
    "A custom gait cycle says when its feet are on the ground.",
    "judgement",
    "without contacts they are inferred from the feet's heights and speeds, which a robot may do in another way",
)

RULES: tuple[Rule, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Rule))
"""All rules, in the order of their codes."""
