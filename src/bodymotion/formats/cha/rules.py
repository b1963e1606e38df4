"""The rules of Spot animation files.

An error is something that the vendor's document forbids, or that cannot be played. Rules whose `source` is "reference" are those of the
vendor's converter.
"""

from __future__ import annotations

from bodymotion.diagnostics import DocumentRule, Rule

# The text.
UNREADABLE = Rule(
    "CHA101",
    "error",
    "The file can be opened and read to its end.",
    example=("a folder called move.cha", "a file called move.cha"),
)
BOM = Rule(
    "CHA102",
    "warning",
    "The file begins with its first keyword, without a byte order mark.",
    "the vendor's converter reads the mark as a part of the first keyword and ignores that option; save the file as UTF-8 without BOM",
    fixable=True,
    example=("a byte order mark before 'controls'", "controls body"),
)
ENCODING = Rule(
    "CHA103",
    "warning",
    "The text is UTF-8.",
    "save it as UTF-8",
    example=("description Wavé in Latin-1", "description Wavé in UTF-8"),
)
CONTROL = DocumentRule(
    "CHA104",
    "error",
    "The text has no control characters except tabs and line ends.",
    hint="the file is damaged, or is not text",
    example=("bpm 12\x000", "bpm 120"),
)
BLANKS = DocumentRule(
    "CHA105",
    "warning",
    "Words are separated by spaces and tabs.",
    hint="web pages and word processors use such characters; replace it by a space",
    fixable=True,
    example=("bpm\xa0120", "bpm 120"),
)
TOO_LONG = Rule(
    "CHA106",
    "error",
    "Options and parameters take at most 5000 lines.",
    "the three sections, options, parameters and keyframes, are separated by blank lines",
    example=("5000 lines of comments before the end of the options", "4000 lines of comments"),
)
NO_TEXT = DocumentRule(
    "CHA108",
    "error",
    "The file is text.",
    hint="it may be an image, an archive, or text in another encoding; animation files are UTF-8",
    example=("a .png called move.cha", "a text"),
)
LINE_LONG = Rule(
    "CHA107",
    "error",
    "A line has at most 100 000 characters.",
    example=("a line of 100 000 characters", "a line of 90 000 characters"),
)

# The sections.
LEADING_BLANK = Rule(
    "CHA110",
    "warning",
    "The options begin in the first line.",
    "the vendor's converter ends the options at the blank line; remove it",
    fixable=True,
    example=("\ncontrols body", "controls body"),
)
BLANK_LINES = DocumentRule(
    "CHA111",
    "error",
    "There is exactly one blank line between two sections.",
    hint="the vendor's converter reads a second blank line as an empty section; remove it",
    fixable=True,
    example=("bpm 120\n\n\nspeed 0.5 1 2", "bpm 120\n\nspeed 0.5 1 2"),
)
COMMENT_SECTION = DocumentRule(
    "CHA112",
    "error",
    "Comments are within one of the three sections; they are not a section of their own.",
    hint="remove the blank line before or after the comment",
    example=("bpm 120\n\n# parameters\n\nspeed 0.5 1 2", "bpm 120\n\n# parameters\nspeed 0.5 1 2"),
    fixable=True,
)
OPTIONS_MISSING = DocumentRule(
    "CHA113",
    "error",
    "The first section contains the options.",
    hint="begin with 'controls' and the tracks",
    example=("no parameters in the first line", "controls body\n\nno parameters"),
)
PARAMETERS_MISSING = DocumentRule(
    "CHA114",
    "error",
    "The second section contains the parameters.",
    hint="write 'no parameters' and a blank line",
    fixable=True,
    example=("controls body\n\ntime body_z", "controls body\n\nno parameters\n\ntime body_z"),
)
BODY_MISSING = DocumentRule(
    "CHA115",
    "error",
    "The third section contains the columns and the keyframes.",
    hint="after a blank line: a line of columns, such as 'time body_pos', and a line for each keyframe",
    example=("no parameters, and then nothing", "no parameters\n\ntime body_z\n0 0.48\n1 0.44"),
)
SECTIONS = DocumentRule(
    "CHA116",
    "error",
    "There are three sections, without blank lines inside a section.",
    hint="the vendor's converter starts the next section at a blank line; remove it",
    example=("extendable\n\nbpm 120", "extendable\nbpm 120"),
)
BLANK_MISSING = DocumentRule(
    "CHA117",
    "error",
    "There is a blank line between two sections.",
    hint="write a blank line before this one",
    example=("bpm 120\nspeed 0.5 1 2", "bpm 120\n\nspeed 0.5 1 2"),
    fixable=True,
)

# The options.
CONTROLS_MISSING = DocumentRule(
    "CHA120",
    "error",
    "The option 'controls' names the tracks that the animation controls.",
    hint="write 'controls' and one or more of legs, body, arm, gripper",
    example=("control body", "controls body"),
)
CONTROLS_EMPTY = DocumentRule(
    "CHA121",
    "error",
    "One or more tracks follow 'controls'.",
    hint="one or more of legs, body, arm, gripper",
    example=("controls\n", "controls body\n"),
)
CONTROLS_TRACK = DocumentRule(
    "CHA122",
    "error",
    "The tracks are legs, body, arm and gripper.",
    hint="the vendor's converter ignores other names",
    example=("controls body head", "controls body"),
)
CONTROLS_TWICE = Rule("CHA123", "warning", "A track is named once.", example=("controls body body", "controls body"))
OPTION_UNKNOWN = DocumentRule(
    "CHA124",
    "error",
    "The options are those of the document.",
    hint="the vendor's converter ignores other options without a message",
    example=("extendible", "extendable"),
)
OPTION_CASE = Rule(
    "CHA125",
    "warning",
    "Options are written in lower case.",
    "the line is ignored, as by the vendor's converter",
    example=("BPM 120", "bpm 120"),
)
OPTION_TWICE = Rule(
    "CHA126",
    "warning",
    "An option is given once.",
    "the last one is used, as by the vendor's converter",
    example=("bpm 120\nbpm 120", "bpm 120"),
)
OPTION_VALUE_MISSING = DocumentRule("CHA127", "error", "An option has all its values.", example=("bpm\n", "bpm 120\n"))
OPTION_VALUE_EXTRA = DocumentRule(
    "CHA128",
    "error",
    "An option has no more values than it takes.",
    hint="the vendor's converter ignores further words without a message",
    example=("extendable 3", "extendable"),
)
OPTION_NUMBER = DocumentRule(
    "CHA129",
    "error",
    "The values of bpm, frequency and timing_adjustability are finite decimal numbers.",
    example=("bpm fast", "bpm 120"),
)
BPM_POSITIVE = Rule(
    "CHA130",
    "error",
    "The beats per minute are greater than 0.",
    "without 'bpm' the animation plays at its own speed",
    example=("bpm 0", "bpm 120"),
)
BPM_WHOLE = Rule(
    "CHA131",
    "note",
    "The beats per minute are a whole number without a point or an exponent.",
    "the vendor's converter only reads whole numbers",
    example=("bpm 98.5", "bpm 120"),
    source="reference",
)
FREQUENCY_POSITIVE = Rule(
    "CHA132",
    "error",
    "The frequency is greater than 0.",
    "keyframes per second, such as 30",
    example=("frequency 0", "frequency 30"),
)
COLOR_COUNT = DocumentRule(
    "CHA133",
    "error",
    "Three numbers follow 'display_rgb': red, green and blue.",
    example=("display_rgb 1 2\n", "display_rgb 1 2 3\n"),
)
COLOR_RANGE = DocumentRule(
    "CHA134",
    "error",
    "Red, green and blue are whole numbers from 0 to 255.",
    example=("display_rgb 1 2 256", "display_rgb 1 2 3"),
)
ADJUSTABILITY_RANGE = DocumentRule(
    "CHA135",
    "error",
    "The timing adjustability is between -1 and 1.",
    hint="1: drastic adjustment, 0: some, -1: none",
    example=("timing_adjustability 1.5", "timing_adjustability 0.5"),
)
PLAYBACK = DocumentRule(
    "CHA136",
    "error",
    "The arm playback is jointspace, workspace or workspace_dance_frame.",
    hint="the vendor's converter ignores other values",
    example=("arm_playback worldspace", "arm_playback workspace"),
)
ARM_CONTRADICTION = Rule(
    "CHA137",
    "error",
    "An animation that requires the arm, or controls nothing else, does not prohibit it.",
    "no robot could load it",
    example=("arm_required\narm_prohibited", "arm_required"),
)
ARM_PROHIBITED_USED = Rule(
    "CHA138",
    "warning",
    "An animation that moves the arm or the gripper does not prohibit an arm.",
    example=("controls body gripper\narm_prohibited", "controls body gripper"),
)
NEUTRAL_START = DocumentRule(
    "CHA139",
    "error",
    "A neutral start is for animations that control the body and not the legs.",
    hint="with legs, their columns define the start",
    example=("controls legs body\nneutral_start", "controls legs body"),
)
DESCRIPTION_CUT = DocumentRule(
    "CHA140",
    "warning",
    "A description contains neither # nor //, which begin a comment.",
    hint="write addresses of web pages without http://",
    example=("description see http://a.b", "description see a.b"),
)
CONVERTER_ONLY = Rule(
    "CHA141",
    "note",
    "The options are those of the document; the vendor's converter knows two more.",
    example=("precise_timing", "extendable"),
    source="reference",
)
OPTION_IDLE = Rule(
    "CHA142",
    "note",
    "Options for a track are used with a controlled track.",
    "the option has no effect",
    example=("arm_playback workspace in a move without the arm", "the same in a move with the arm"),
)
TIMING_TWICE = Rule(
    "CHA143",
    "warning",
    "The timing adjustability is given once.",
    "precise_timing means timing_adjustability -1",
    example=("timing_adjustability 0.5\nprecise_timing", "timing_adjustability 0.5"),
)
NEUTRAL_START_COLUMNS = DocumentRule(
    "CHA144",
    "warning",
    "An animation with a neutral start has no columns of legs.",
    hint="the legs are not controlled, so their columns are ignored",
    example=("neutral_start, and the column fl_x", "neutral_start, and no column of legs"),
)

# The parameters.
PARAMETER_UNKNOWN = DocumentRule(
    "CHA150", "error", "The parameters are those of the document.", example=("sped 0.5 1 2", "speed 0.5 1 2")
)
PARAMETER_CASE = Rule(
    "CHA151",
    "warning",
    "Parameters are written in lower case.",
    "it is read in lower case, as by the vendor's converter",
    example=("Speed 0.5 1 2", "speed 0.5 1 2"),
)
PARAMETER_TWICE = Rule(
    "CHA152",
    "warning",
    "A parameter is given once.",
    "the last one is used",
    example=("speed 0.5 1 2\nspeed 0.5 1 2", "speed 0.5 1 2"),
)
PARAMETER_VALUES = DocumentRule(
    "CHA153",
    "error",
    "A parameter has three values, minimum, default and maximum, or none.",
    example=("speed 0.5 1\n", "speed 0.5 1 2\n"),
)
PARAMETER_NUMBER = DocumentRule(
    "CHA154",
    "error",
    "The values of parameters are finite decimal numbers.",
    example=("speed low 1 2", "speed 0.5 1 2"),
)
PARAMETER_ORDER = DocumentRule(
    "CHA155",
    "error",
    "The minimum of a parameter is not greater than its maximum.",
    hint="the order is minimum, default, maximum",
    example=("speed 2 1 0.5", "speed 0.5 1 2"),
)
PARAMETER_DEFAULT = DocumentRule(
    "CHA156",
    "error",
    "The default of a parameter is between its minimum and its maximum.",
    hint="the order is minimum, default, maximum",
    example=("speed 0.5 3 2", "speed 0.5 1 2"),
)
PARAMETER_TRACK = DocumentRule(
    "CHA157",
    "error",
    "The tracks that a parameter needs are controlled.",
    example=("gripper_offset -1 0 1 in a move without the gripper", "the same in a move with the gripper"),
)
STIFFNESS_RANGE = DocumentRule(
    "CHA158",
    "error",
    "The body tracking stiffness is between 1 and 11.",
    example=("body_tracking_stiffness 1 5 12", "body_tracking_stiffness 1 5 11"),
)
FRACTION_RANGE = DocumentRule(
    "CHA159",
    "error",
    "The gripper strength fraction is between 0 and 1.",
    example=("gripper_strength_fraction 0 1 1.5", "gripper_strength_fraction 0 1 1"),
)
PARAMETER_NEGATIVE = Rule(
    "CHA160",
    "warning",
    "Speeds are greater than 0; slices and frame numbers are not negative.",
    example=("body_exit_slices -1 0 1", "body_exit_slices 0 0 1"),
)
PARAMETER_WHOLE = Rule(
    "CHA161",
    "warning",
    "The number of a dance frame is a whole number.",
    example=("arm_dance_frame_id 0 0.5 1", "arm_dance_frame_id 0 0 1"),
)
DANCE_FRAME = DocumentRule(
    "CHA162",
    "error",
    "The parameter arm_dance_frame_id needs 'arm_playback workspace_dance_frame'.",
    hint="add the option, or remove the parameter",
    example=("arm_playback workspace", "arm_playback workspace_dance_frame"),
)
SPEED_ZERO = Rule(
    "CHA169",
    "error",
    "The default speed is greater than 0.",
    "1 is the animation's own speed",
    example=("speed 0 0 2", "speed 0.5 1 2"),
)
NO_PARAMETERS_FALSE = DocumentRule(
    "CHA164",
    "warning",
    "A file with 'no parameters' has no parameters.",
    hint="the parameters are used, as by the vendor's converter",
    example=("no parameters\nspeed 0.5 1 2", "speed 0.5 1 2"),
)
NO_PARAMETERS_WORDS = Rule(
    "CHA165",
    "warning",
    "The line without parameters is exactly 'no parameters'.",
    example=("No Parameters", "no parameters"),
)
PARAMETER_NAMED = Rule(
    "CHA166",
    "note",
    "A parameter has its limits in the file.",
    "the limits come from the robot; the vendor's converter needs the robot's MoveParamsConfig",
    example=("speed\n", "speed 0.5 1 2\n"),
)
PARAMETER_HUGE = Rule(
    "CHA167",
    "error",
    "The default of a parameter is at most 1 000 000.",
    "the animation cannot be played with it",
    example=("speed 0.5 1e300 1e300", "speed 0.5 1 2"),
)
NO_PARAMETERS_BLANKS = Rule(
    "CHA168",
    "note",
    "There is one space between 'no' and 'parameters'.",
    "the vendor's converter reads anything else as a parameter and stops",
    example=("no  parameters", "no parameters"),
    source="reference",
)

# The columns.
HEADER_MISSING = DocumentRule(
    "CHA170",
    "error",
    "The first line of the third section names the columns.",
    hint="such as 'time body_pos'",
    example=("the first keyframe where the columns belong", "time body_z"),
)
COLUMN_UNKNOWN = DocumentRule(
    "CHA171", "error", "The columns are those of the document.", example=("time body_w", "time body_z")
)
COLUMN_TWICE = DocumentRule(
    "CHA172",
    "error",
    "A column is given once.",
    hint="a group counts as all its columns",
    example=("time body_z body_z", "time body_z body_x"),
)
BODY_EXCLUSIVE = DocumentRule(
    "CHA173",
    "error",
    "The body's position and its centre of mass exclude each other.",
    hint="body_pos or com_pos",
    example=("time body_z com_x", "time body_z body_x"),
)
ORIENTATION_EXCLUSIVE = DocumentRule(
    "CHA174",
    "error",
    "Different representations of an orientation exclude each other.",
    hint="one of quat_wxyz, quat_xyzw, euler_rpy",
    example=("time body_quat_wxyz body_yaw", "time body_quat_wxyz body_z"),
)
ARM_EXCLUSIVE = DocumentRule(
    "CHA175",
    "error",
    "The arm's joint angles and the pose of the hand exclude each other.",
    hint="arm_joints, or hand_pos with an orientation",
    example=("time arm_joints hand_x", "time arm_joints gripper"),
)
LEG_EXCLUSIVE = DocumentRule(
    "CHA176",
    "error",
    "For each leg, joint angles and the foot's position exclude each other.",
    hint="leg_joints or foot_pos, or their groups for single legs",
    example=("time leg_joints fl_x", "time leg_joints body_z"),
)
TIME_AND_FREQUENCY = DocumentRule(
    "CHA177",
    "error",
    "The column time and the option frequency exclude each other.",
    hint="remove one of them",
    example=("frequency 30, and the column time", "frequency 30, and no column time"),
)
TIME_MISSING = DocumentRule(
    "CHA178",
    "error",
    "The times of keyframes come from the column time or from the option frequency.",
    example=("no frequency, and no column time", "frequency 30, and no column time"),
)
TRACK_COLUMNS = DocumentRule(
    "CHA179", "error", "Each controlled track has columns.", example=("controls body arm", "controls body")
)
GRIPPER_MISSING = DocumentRule(
    "CHA180",
    "error",
    "An animation that controls the gripper has the column gripper.",
    example=("controls body gripper", "controls body"),
)
LEG_MISSING = DocumentRule(
    "CHA181",
    "error",
    "An animation that controls the legs has joint angles or a foot's position for each of them.",
    hint="leg_joints or foot_pos, or their groups for single legs",
    example=("time fl_angles fr_angles hl_angles", "time fl_angles fr_angles hl_angles hr_angles"),
)
LEG_INCOMPLETE = DocumentRule(
    "CHA182",
    "error",
    "A leg has all three joint angles, or all three coordinates of its foot.",
    example=("time fl_hx fl_hy fr_angles", "time fl_hx fl_hy fl_kn fr_angles"),
)
QUATERNION_INCOMPLETE = DocumentRule(
    "CHA183",
    "error",
    "A quaternion has four columns.",
    example=("time body_quat_w body_quat_x body_quat_y", "time body_quat_w body_quat_x body_quat_y body_quat_z"),
)
HAND_POSITION_MISSING = Rule(
    "CHA184",
    "warning",
    "The orientation of the hand comes with its position.",
    "add hand_pos; an orientation alone does not define the arm",
    example=("time hand_quat_wxyz", "time hand_pos hand_quat_wxyz"),
)
HAND_INCOMPLETE = Rule(
    "CHA185",
    "warning",
    "The position of the hand has x, y and z; its angles have roll, pitch and yaw.",
    "the robot may use 0 for a missing value",
    example=("time hand_x hand_y hand_euler_rpy", "time hand_x hand_y hand_z hand_euler_rpy"),
)
CONTACT_INCOMPLETE = Rule(
    "CHA186",
    "warning",
    "Contacts are given for all four feet, or for none.",
    "missing contacts are inferred from the legs",
    example=("time leg_joints fl_contact", "time leg_joints contact"),
)
UNCONTROLLED = DocumentRule(
    "CHA187",
    "note",
    "Columns belong to tracks that are controlled.",
    hint="these columns are ignored when the animation is played",
    example=("time body_z gripper in a move of the body", "time body_z"),
)
HAND_ORIENTATION_MISSING = Rule(
    "CHA188",
    "note",
    "The position of the hand comes with its orientation.",
    example=("time hand_pos", "time hand_pos hand_euler_rpy"),
)

# The keyframes.
NO_KEYFRAMES = DocumentRule(
    "CHA200",
    "error",
    "There are keyframes below the columns.",
    example=("time body_z, and then nothing", "time body_z\n0 0.48\n1 0.44"),
)
ONE_KEYFRAME = Rule(
    "CHA201",
    "warning",
    "There are at least two keyframes.",
    "to hold a pose, use two equal keyframes, at its beginning and at its end",
    example=("0 0.48\n", "0 0.48\n1 0.44\n"),
)
ROW_SHORT = DocumentRule("CHA202", "error", "A keyframe has a value for each column.", example=("1\n", "1 0.44\n"))
ROW_LONG = DocumentRule(
    "CHA203",
    "error",
    "A keyframe has no more values than there are columns.",
    hint="the vendor's converter ignores further values without a message",
    example=("1 0.44 9", "1 0.44"),
)
NUMBER = DocumentRule(
    "CHA204",
    "error",
    "The values of keyframes are decimal numbers.",
    hint="such as -1.25, 3 or 2e-3, not 0x10, 1_000 or a decimal comma",
    example=("1 0,44", "1 0.44"),
)
NOT_FINITE = Rule("CHA205", "error", "The values of keyframes are finite.", example=("1 nan", "1 0.44"))
GIVEN_UP = Rule(
    "CHA215",
    "error",
    "At most 10 000 keyframes are faulty.",
    example=("10 001 keyframes with a fault", "10 000 keyframes with a fault"),
)
TIME_NEGATIVE = DocumentRule(
    "CHA206", "error", "Times are not negative.", hint="the animation starts at time 0", example=("-1 0.48", "0 0.48")
)
TIME_START = DocumentRule("CHA207", "error", "The first keyframe is at time 0.", example=("0.5 0.48", "0 0.48"))
TIME_BACK = Rule(
    "CHA208",
    "error",
    "The time of a keyframe is after that of the keyframe before.",
    example=("0 0.48\n2 0.48\n1 0.44", "0 0.48\n1 0.44"),
)
TIME_REPEATED = Rule(
    "CHA209",
    "error",
    "No two keyframes have the same time.",
    "remove one of them, or write times with more digits",
    example=("1 0.44\n1 0.45", "1 0.44\n2 0.45"),
)
CONTACT = DocumentRule("CHA210", "error", "Contacts are 1 (stance) or 0 (swing).", example=("1 1 0.5 1", "1 1 0 1"))
QUATERNION_ZERO = Rule(
    "CHA211",
    "error",
    "Quaternions are not 0.",
    "1 0 0 0 in the order wxyz is no rotation",
    example=("1 0 0 0 0", "1 0 1 0 0"),
)
QUATERNION_UNIT = Rule(
    "CHA212",
    "warning",
    "Quaternions have length 1; they are normalized where the length differs by up to 10 %.",
    fixable=True,
    example=("1 0 1.05 0 0", "1 0 1 0 0"),
)
JOINT_LIMIT = Rule(
    "CHA213",
    "warning",
    "Joint angles are within the limits of the robot.",
    "the limits are those of the robot's public description, in radians",
    example=("a knee at 0.5 rad", "a knee at -1.6 rad"),
)
JUMP = Rule(
    "CHA214",
    "warning",
    "Values do not jump from one keyframe to the next.",
    "the robot moves through all poses in between",
    example=("0 3.1\n0.1 -3.1", "0 3.1\n0.1 3.2"),
)
VALUE_HUGE = Rule(
    "CHA216",
    "error",
    "The values of keyframes are at most 1 000 000.",
    "positions are in metres, angles in radians",
    example=("1 1e300", "1 0.44"),
)
MOVE_LONG = Rule(
    "CHA217",
    "error",
    "A move has at most 10 000 000 slices or hundredths of a second, about a day.",
    "times are in seconds; a longer move cannot be played",
    example=("1e300 0.44", "1 0.44"),
)
WIDTH = Rule(
    "CHA218",
    "error",
    "The number of columns is that of the values of each keyframe.",
    "this line has a column too few or too many; a group counts as all its columns, body_pos as three",
    example=("time body_z, and keyframes of 4 values", "time body_pos, and keyframes of 4 values"),
)
DEGREES = Rule(
    "CHA219",
    "warning",
    "Angles are in radians.",
    "multiply them by π/180: 90 degrees are 1.5708. Joint limits and jumps of angles are not checked",
    example=("a roll of -30, and a yaw of 45", "a roll of -0.52, and a yaw of 0.79"),
)
METRES = Rule(
    "CHA226",
    "warning",
    "Positions are in metres.",
    "jumps of positions and the motion that is played are not checked",
    example=("a body at 480", "a body at 0.48"),
)

# Gait cycles.
CYCLE_LEGS = DocumentRule(
    "CHA220",
    "error",
    "A custom gait cycle controls the legs.",
    example=("controls body\ncustom_gait_cycle", "controls legs\ncustom_gait_cycle"),
)
CYCLE_ENDS = DocumentRule(
    "CHA221",
    "error",
    "The first and the last keyframe of a custom gait cycle are the same.",
    hint="the vendor's page on Custom Gait lets the body's x differ; the document does not",
    example=("a knee at -1.7 in the last keyframe, at -1.6 in the first", "a knee at -1.6 in both"),
)
CYCLE_FEET_UP = DocumentRule(
    "CHA222",
    "error",
    "A custom gait cycle has all four feet on the ground at its start and its end.",
    hint="the vendor's page on Custom Gait allows feet in the air; the document does not",
    example=("contacts 1 1 0 1 in the last keyframe", "contacts 1 1 1 1 in the last keyframe"),
)
CYCLE_NO_SWING = DocumentRule(
    "CHA223",
    "error",
    "In a custom gait cycle each foot swings at least once.",
    example=("contacts that are always 1 1 1 1", "contacts of 0 for each foot in some keyframe"),
)
CYCLE_SWINGS = DocumentRule(
    "CHA224",
    "error",
    "In a custom gait cycle no foot swings more than twice.",
    example=("contacts 1 0 1 0 1 0 1 of a foot", "contacts 1 0 1 0 0 0 1 of a foot"),
)
CYCLE_CONTACTS = Rule(
    "CHA225",
    "note",
    "A custom gait cycle has the contacts of its feet.",
    "without contacts they are inferred from heights and speeds of the feet; a robot may infer others",
    example=("custom_gait_cycle, and no column contact", "custom_gait_cycle, and the column contact"),
)

OF_CYCLES = (CYCLE_LEGS, CYCLE_ENDS, CYCLE_FEET_UP, CYCLE_NO_SWING, CYCLE_SWINGS, CYCLE_CONTACTS)
