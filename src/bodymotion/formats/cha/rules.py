"""The rules of Spot animations: what their document asks for, and what we judge to be a mistake.

`source` says where a rule comes from: "document" (the vendor's description of the format), "reference" (the vendor's converter),
"judgement" (ours). An error is what the document forbids, or of which nothing can be played.
"""

from __future__ import annotations

from bodymotion.diagnostics import Rule

__all__ = ["RULES"]

# The text.
UNREADABLE = Rule(
    "CHA101",
    "error",
    "The file can be opened and read to its end.",
    "judgement",
    example=("a folder called move.cha", "a file called move.cha"),
)
BOM = Rule(
    "CHA102",
    "warning",
    "The file begins with its first keyword, without a byte order mark.",
    "judgement",
    "the vendor's converter takes the mark for a part of the first keyword, and passes over that option: save it as UTF-8 without BOM",
    fixable=True,
    example=("a byte order mark before 'controls'", "controls body"),
)
ENCODING = Rule(
    "CHA103",
    "warning",
    "The text is UTF-8.",
    "judgement",
    "save it as UTF-8",
    example=("description Wavé in Latin-1", "description Wavé in UTF-8"),
)
CONTROL = Rule(
    "CHA104",
    "error",
    "The text has no control characters but tabs and line ends.",
    hint="such characters come of files that are no text, or were damaged",
    example=("bpm 12\x000", "bpm 120"),
)
BLANKS = Rule(
    "CHA105",
    "warning",
    "Words stand apart by spaces and tabs.",
    hint="another blank character, as web pages and word processors have them; write a space",
    fixable=True,
    example=("bpm\xa0120", "bpm 120"),
)
TOO_LONG = Rule(
    "CHA106",
    "error",
    "Options and parameters take at most some thousand lines.",
    "judgement",
    "the three sections have a blank line between them: options, parameters, keyframes",
    example=("5000 lines of comments before the end of the options", "4000 lines of comments"),
)
NO_TEXT = Rule(
    "CHA108",
    "error",
    "The file is a text.",
    hint="an image, an archive, or a text in another encoding; animation files are UTF-8",
    example=("a .png called move.cha", "a text"),
)
LINE_LONG = Rule(
    "CHA107",
    "error",
    "A line has at most a hundred thousand characters.",
    "judgement",
    example=("a line of 100 000 characters", "a line of 90 000 characters"),
)

# The sections.
LEADING_BLANK = Rule(
    "CHA110",
    "warning",
    "The options begin in the first line.",
    "judgement",
    "the vendor's converter takes the blank line for the end of the options: remove it",
    fixable=True,
    example=("\ncontrols body", "controls body"),
)
BLANK_LINES = Rule(
    "CHA111",
    "error",
    "One single blank line stands between two sections.",
    hint="the vendor's converter takes a second blank line for an empty section: remove it",
    fixable=True,
    example=("bpm 120\n\n\nspeed 0.5 1 2", "bpm 120\n\nspeed 0.5 1 2"),
)
COMMENT_SECTION = Rule(
    "CHA112",
    "error",
    "Comments stand within one of the three sections, and make no section of their own.",
    hint="remove the blank line before or after the comment",
    example=("bpm 120\n\n# parameters\n\nspeed 0.5 1 2", "bpm 120\n\n# parameters\nspeed 0.5 1 2"),
    fixable=True,
)
OPTIONS_MISSING = Rule(
    "CHA113",
    "error",
    "The first section has the options.",
    hint="begin with 'controls' and the tracks",
    example=("no parameters in the first line", "controls body\n\nno parameters"),
)
PARAMETERS_MISSING = Rule(
    "CHA114",
    "error",
    "The second section has the parameters.",
    hint="write 'no parameters' and a blank line",
    fixable=True,
    example=("controls body\n\ntime body_z", "controls body\n\nno parameters\n\ntime body_z"),
)
BODY_MISSING = Rule(
    "CHA115",
    "error",
    "The third section has the columns and the keyframes.",
    hint="after a blank line: a line of columns, such as 'time body_pos', and a line for each keyframe",
    example=("no parameters, and then nothing", "no parameters\n\ntime body_z\n0 0.48\n1 0.44"),
)
SECTIONS = Rule(
    "CHA116",
    "error",
    "There are three sections, and no blank line within one.",
    hint="the vendor's converter takes a blank line for the beginning of the next section: remove it",
    example=("extendable\n\nbpm 120", "extendable\nbpm 120"),
)
BLANK_MISSING = Rule(
    "CHA117",
    "error",
    "A blank line stands between two sections.",
    hint="write a blank line before this one",
    example=("bpm 120\nspeed 0.5 1 2", "bpm 120\n\nspeed 0.5 1 2"),
    fixable=True,
)

# The options.
CONTROLS_MISSING = Rule(
    "CHA120",
    "error",
    "The option 'controls' says which tracks the animation moves.",
    hint="write 'controls' and one or more of legs, body, arm, gripper",
    example=("control body", "controls body"),
)
CONTROLS_EMPTY = Rule(
    "CHA121",
    "error",
    "One or more tracks follow 'controls'.",
    hint="one or more of legs, body, arm, gripper",
    example=("controls\n", "controls body\n"),
)
CONTROLS_TRACK = Rule(
    "CHA122",
    "error",
    "The tracks are legs, body, arm and gripper.",
    hint="the vendor's converter passes over others, and the robot does not move them",
    example=("controls body head", "controls body"),
)
CONTROLS_TWICE = Rule(
    "CHA123", "warning", "A track is named once.", "judgement", example=("controls body body", "controls body")
)
OPTION_UNKNOWN = Rule(
    "CHA124",
    "error",
    "The options are those of the document.",
    hint="the vendor's converter passes over others in silence",
    example=("extendible", "extendable"),
)
OPTION_CASE = Rule(
    "CHA125",
    "warning",
    "Options are written in small letters.",
    "judgement",
    "the line is passed over, as the vendor's converter does",
    example=("BPM 120", "bpm 120"),
)
OPTION_TWICE = Rule(
    "CHA126",
    "warning",
    "An option is given once.",
    "judgement",
    "the last one counts, as for the vendor's converter",
    example=("bpm 120\nbpm 120", "bpm 120"),
)
OPTION_VALUE_MISSING = Rule("CHA127", "error", "An option has all its values.", example=("bpm\n", "bpm 120\n"))
OPTION_VALUE_EXTRA = Rule(
    "CHA128",
    "error",
    "An option has no more values than it takes.",
    hint="the vendor's converter passes over further words in silence",
    example=("extendable 3", "extendable"),
)
OPTION_NUMBER = Rule(
    "CHA129",
    "error",
    "The values of bpm, frequency and timing_adjustability are finite decimal numbers.",
    example=("bpm fast", "bpm 120"),
)
BPM_POSITIVE = Rule(
    "CHA130",
    "error",
    "The beats per minute are more than zero.",
    "judgement",
    "without 'bpm' the animation plays at its own speed",
    example=("bpm 0", "bpm 120"),
)
BPM_WHOLE = Rule(
    "CHA131",
    "note",
    "The beats per minute are a whole number, written without a point or an exponent.",
    "reference",
    "the document asks for a value; the vendor's converter reads whole numbers only",
    example=("bpm 98.5", "bpm 120"),
)
FREQUENCY_POSITIVE = Rule(
    "CHA132",
    "error",
    "The frequency is more than zero.",
    "judgement",
    "keyframes a second, such as 30",
    example=("frequency 0", "frequency 30"),
)
COLOR_COUNT = Rule(
    "CHA133",
    "error",
    "Three numbers follow 'display_rgb': red, green and blue.",
    example=("display_rgb 1 2\n", "display_rgb 1 2 3\n"),
)
COLOR_RANGE = Rule(
    "CHA134",
    "error",
    "Red, green and blue are whole numbers from 0 to 255.",
    example=("display_rgb 1 2 256", "display_rgb 1 2 3"),
)
ADJUSTABILITY_RANGE = Rule(
    "CHA135",
    "error",
    "The timing adjustability lies between -1 and 1.",
    hint="1: drastic adjustment, 0: some, -1: none",
    example=("timing_adjustability 1.5", "timing_adjustability 0.5"),
)
PLAYBACK = Rule(
    "CHA136",
    "error",
    "The arm plays back in jointspace, workspace or workspace_dance_frame.",
    hint="the vendor's converter passes over others",
    example=("arm_playback worldspace", "arm_playback workspace"),
)
ARM_CONTRADICTION = Rule(
    "CHA137",
    "error",
    "An animation does not prohibit the arm that it requires, or has nothing else for.",
    "judgement",
    "no robot could load it",
    example=("arm_required\narm_prohibited", "arm_required"),
)
ARM_PROHIBITED_USED = Rule(
    "CHA138",
    "warning",
    "An animation that moves the arm or the gripper does not prohibit an arm.",
    "judgement",
    example=("controls body gripper\narm_prohibited", "controls body gripper"),
)
NEUTRAL_START = Rule(
    "CHA139",
    "error",
    "A neutral start is for animations that control the body and have no legs.",
    hint="with legs, their columns say where the animation starts",
    example=("controls legs body\nneutral_start", "controls legs body"),
)
DESCRIPTION_CUT = Rule(
    "CHA140",
    "warning",
    "A description holds neither # nor //: a comment begins there.",
    hint="addresses of web pages can only be written without http://",
    example=("description see http://a.b", "description see a.b"),
)
CONVERTER_ONLY = Rule(
    "CHA141",
    "note",
    "The options are those of the document; two more are known to the vendor's converter only.",
    "reference",
    example=("precise_timing", "extendable"),
)
OPTION_IDLE = Rule(
    "CHA142",
    "note",
    "Options for a track concern a track that is controlled.",
    "judgement",
    "it changes nothing",
    example=("arm_playback workspace in a move without the arm", "the same in a move with the arm"),
)
TIMING_TWICE = Rule(
    "CHA143",
    "warning",
    "How far times may be shifted is said once.",
    "judgement",
    "precise_timing means timing_adjustability -1",
    example=("timing_adjustability 0.5\nprecise_timing", "timing_adjustability 0.5"),
)
NEUTRAL_START_COLUMNS = Rule(
    "CHA144",
    "warning",
    "An animation with a neutral start has no columns of legs.",
    hint="the legs are not controlled, so their columns are passed over",
    example=("neutral_start, and the column fl_x", "neutral_start, and no column of legs"),
)

# The parameters.
PARAMETER_UNKNOWN = Rule(
    "CHA150", "error", "The parameters are those of the document.", example=("sped 0.5 1 2", "speed 0.5 1 2")
)
PARAMETER_CASE = Rule(
    "CHA151",
    "warning",
    "Parameters are written in small letters.",
    "judgement",
    "read as the vendor's converter does, as if it were in small letters",
    example=("Speed 0.5 1 2", "speed 0.5 1 2"),
)
PARAMETER_TWICE = Rule(
    "CHA152",
    "warning",
    "A parameter is given once.",
    "judgement",
    "the last one counts",
    example=("speed 0.5 1 2\nspeed 0.5 1 2", "speed 0.5 1 2"),
)
PARAMETER_VALUES = Rule(
    "CHA153",
    "error",
    "Three values follow a parameter, minimum, default and maximum, or none.",
    example=("speed 0.5 1\n", "speed 0.5 1 2\n"),
)
PARAMETER_NUMBER = Rule(
    "CHA154",
    "error",
    "The values of parameters are finite decimal numbers.",
    example=("speed low 1 2", "speed 0.5 1 2"),
)
PARAMETER_ORDER = Rule(
    "CHA155",
    "error",
    "The minimum of a parameter is not above its maximum.",
    hint="the order is minimum, default, maximum",
    example=("speed 2 1 0.5", "speed 0.5 1 2"),
)
PARAMETER_DEFAULT = Rule(
    "CHA156",
    "error",
    "The default of a parameter lies between its minimum and its maximum.",
    hint="the order is minimum, default, maximum",
    example=("speed 0.5 3 2", "speed 0.5 1 2"),
)
PARAMETER_TRACK = Rule(
    "CHA157",
    "error",
    "The tracks that a parameter needs are controlled.",
    example=("gripper_offset -1 0 1 in a move without the gripper", "the same in a move with the gripper"),
)
STIFFNESS_RANGE = Rule(
    "CHA158",
    "error",
    "The body's tracking stiffness lies between 1 and 11.",
    example=("body_tracking_stiffness 1 5 12", "body_tracking_stiffness 1 5 11"),
)
FRACTION_RANGE = Rule(
    "CHA159",
    "error",
    "The fraction of the gripper's strength lies between 0 and 1.",
    example=("gripper_strength_fraction 0 1 1.5", "gripper_strength_fraction 0 1 1"),
)
PARAMETER_NEGATIVE = Rule(
    "CHA160",
    "warning",
    "Speeds are more than zero, and slices and the numbers of frames not negative.",
    "judgement",
    example=("body_exit_slices -1 0 1", "body_exit_slices 0 0 1"),
)
PARAMETER_WHOLE = Rule(
    "CHA161",
    "warning",
    "The number of a dance frame is a whole number.",
    "judgement",
    example=("arm_dance_frame_id 0 0.5 1", "arm_dance_frame_id 0 0 1"),
)
DANCE_FRAME = Rule(
    "CHA162",
    "error",
    "The parameter arm_dance_frame_id goes with 'arm_playback workspace_dance_frame'.",
    hint="add that option, or take the parameter away",
    example=("arm_playback workspace", "arm_playback workspace_dance_frame"),
)
SPEED_ZERO = Rule(
    "CHA169",
    "error",
    "The speed is more than zero by default.",
    "judgement",
    "1 plays at the animation's own speed",
    example=("speed 0 0 2", "speed 0.5 1 2"),
)
NO_PARAMETERS_FALSE = Rule(
    "CHA164",
    "warning",
    "Where it says 'no parameters' there are none.",
    hint="the parameters count, as for the vendor's converter",
    example=("no parameters\nspeed 0.5 1 2", "speed 0.5 1 2"),
)
NO_PARAMETERS_WORDS = Rule(
    "CHA165",
    "warning",
    "The keywords are 'no parameters', and nothing else.",
    "judgement",
    example=("No Parameters", "no parameters"),
)
PARAMETER_NAMED = Rule(
    "CHA166",
    "note",
    "A parameter has its limits in the file.",
    "judgement",
    "its limits come from the robot; the vendor's converter needs the robot's MoveParamsConfig for it",
    example=("speed\n", "speed 0.5 1 2\n"),
)
PARAMETER_HUGE = Rule(
    "CHA167",
    "error",
    "The default of a parameter is at most a million.",
    "judgement",
    "nothing can be played with it",
    example=("speed 0.5 1e300 1e300", "speed 0.5 1 2"),
)
NO_PARAMETERS_BLANKS = Rule(
    "CHA168",
    "note",
    "One space stands between 'no' and 'parameters'.",
    "reference",
    "the vendor's converter takes anything else for a parameter, and stops",
    example=("no  parameters", "no parameters"),
)

# The columns.
HEADER_MISSING = Rule(
    "CHA170",
    "error",
    "The first line of the third section names the columns.",
    hint="such as 'time body_pos'",
    example=("the first keyframe where the columns belong", "time body_z"),
)
COLUMN_UNKNOWN = Rule(
    "CHA171", "error", "The columns are those of the document.", example=("time body_w", "time body_z")
)
COLUMN_TWICE = Rule(
    "CHA172",
    "error",
    "A column stands once.",
    hint="a group counts as all its columns",
    example=("time body_z body_z", "time body_z body_x"),
)
BODY_EXCLUSIVE = Rule(
    "CHA173",
    "error",
    "The body's position and its centre of mass exclude each other.",
    hint="body_pos or com_pos",
    example=("time body_z com_x", "time body_z body_x"),
)
ORIENTATION_EXCLUSIVE = Rule(
    "CHA174",
    "error",
    "The ways to give an orientation exclude each other.",
    hint="one of quat_wxyz, quat_xyzw, euler_rpy",
    example=("time body_quat_wxyz body_yaw", "time body_quat_wxyz body_z"),
)
ARM_EXCLUSIVE = Rule(
    "CHA175",
    "error",
    "The arm's joint angles and the pose of the hand exclude each other.",
    hint="arm_joints, or hand_pos with an orientation",
    example=("time arm_joints hand_x", "time arm_joints gripper"),
)
LEG_EXCLUSIVE = Rule(
    "CHA176",
    "error",
    "For each leg, joint angles and the foot's position exclude each other.",
    hint="leg_joints or foot_pos, or their groups for single legs",
    example=("time leg_joints fl_x", "time leg_joints body_z"),
)
TIME_AND_FREQUENCY = Rule(
    "CHA177",
    "error",
    "The column time and the option frequency exclude each other.",
    hint="take one of them away",
    example=("frequency 30, and the column time", "frequency 30, and no column time"),
)
TIME_MISSING = Rule(
    "CHA178",
    "error",
    "Either the column time or the option frequency says when the keyframes are.",
    example=("no frequency, and no column time", "frequency 30, and no column time"),
)
TRACK_COLUMNS = Rule(
    "CHA179", "error", "Each controlled track has columns.", example=("controls body arm", "controls body")
)
GRIPPER_MISSING = Rule(
    "CHA180",
    "error",
    "An animation that controls the gripper has the column gripper.",
    example=("controls body gripper", "controls body"),
)
LEG_MISSING = Rule(
    "CHA181",
    "error",
    "An animation that controls the legs has joint angles or a foot's position for each of them.",
    hint="leg_joints or foot_pos, or their groups for single legs",
    example=("time fl_angles fr_angles hl_angles", "time fl_angles fr_angles hl_angles hr_angles"),
)
LEG_INCOMPLETE = Rule(
    "CHA182",
    "error",
    "A leg has all three joint angles, or all three coordinates of its foot.",
    example=("time fl_hx fl_hy fr_angles", "time fl_hx fl_hy fl_kn fr_angles"),
)
QUATERNION_INCOMPLETE = Rule(
    "CHA183",
    "error",
    "A quaternion has four columns.",
    example=("time body_quat_w body_quat_x body_quat_y", "time body_quat_w body_quat_x body_quat_y body_quat_z"),
)
HAND_POSITION_MISSING = Rule(
    "CHA184",
    "warning",
    "The hand's orientation comes with its position.",
    "judgement",
    "add hand_pos: the arm cannot be placed by a direction alone",
    example=("time hand_quat_wxyz", "time hand_pos hand_quat_wxyz"),
)
HAND_INCOMPLETE = Rule(
    "CHA185",
    "warning",
    "The hand's position has x, y and z, its angles have roll, pitch and yaw.",
    "judgement",
    "the robot may take what is missing as 0",
    example=("time hand_x hand_y hand_euler_rpy", "time hand_x hand_y hand_z hand_euler_rpy"),
)
CONTACT_INCOMPLETE = Rule(
    "CHA186",
    "warning",
    "Contacts are given for all four feet, or for none.",
    "judgement",
    "those that are not given are inferred from the legs",
    example=("time leg_joints fl_contact", "time leg_joints contact"),
)
UNCONTROLLED = Rule(
    "CHA187",
    "note",
    "Columns belong to tracks that are controlled.",
    hint="they are passed over when the animation is played",
    example=("time body_z gripper in a move of the body", "time body_z"),
)
HAND_ORIENTATION_MISSING = Rule(
    "CHA188",
    "note",
    "The hand's position comes with its orientation.",
    "judgement",
    example=("time hand_pos", "time hand_pos hand_euler_rpy"),
)

# The keyframes.
NO_KEYFRAMES = Rule(
    "CHA200",
    "error",
    "There are keyframes below the columns.",
    example=("time body_z, and then nothing", "time body_z\n0 0.48\n1 0.44"),
)
ONE_KEYFRAME = Rule(
    "CHA201",
    "warning",
    "There are at least two keyframes.",
    "judgement",
    "a pose to hold takes two equal keyframes, at its beginning and at its end",
    example=("0 0.48\n", "0 0.48\n1 0.44\n"),
)
ROW_SHORT = Rule("CHA202", "error", "A keyframe has a value for each column.", example=("1\n", "1 0.44\n"))
ROW_LONG = Rule(
    "CHA203",
    "error",
    "A keyframe has no more values than there are columns.",
    hint="the vendor's converter passes over further values in silence",
    example=("1 0.44 9", "1 0.44"),
)
NUMBER = Rule(
    "CHA204",
    "error",
    "The values of keyframes are decimal numbers.",
    hint="such as -1.25, 3 or 2e-3; 0x10, 1_000 and a decimal comma are none",
    example=("1 0,44", "1 0.44"),
)
NOT_FINITE = Rule("CHA205", "error", "The values of keyframes are finite.", "judgement", example=("1 nan", "1 0.44"))
GIVEN_UP = Rule(
    "CHA215",
    "error",
    "At most ten thousand keyframes are wrong.",
    "judgement",
    example=("10 001 keyframes with a fault", "10 000 keyframes with a fault"),
)
TIME_NEGATIVE = Rule(
    "CHA206", "error", "Times are not negative.", hint="the animation starts at time 0", example=("-1 0.48", "0 0.48")
)
TIME_START = Rule("CHA207", "error", "The first keyframe is at time 0.", example=("0.5 0.48", "0 0.48"))
TIME_BACK = Rule(
    "CHA208",
    "error",
    "The time of a keyframe is after that of the one before.",
    "judgement",
    example=("0 0.48\n2 0.48\n1 0.44", "0 0.48\n1 0.44"),
)
TIME_REPEATED = Rule(
    "CHA209",
    "error",
    "No two keyframes have one time.",
    "judgement",
    "leave one of them out, or write times with more digits",
    example=("1 0.44\n1 0.45", "1 0.44\n2 0.45"),
)
CONTACT = Rule("CHA210", "error", "Contacts are 1, in stance, or 0, in swing.", example=("1 1 0.5 1", "1 1 0 1"))
QUATERNION_ZERO = Rule(
    "CHA211",
    "error",
    "Quaternions have a direction.",
    "judgement",
    "1 0 0 0 in the order wxyz is no rotation",
    example=("1 0 0 0 0", "1 0 1 0 0"),
)
QUATERNION_UNIT = Rule(
    "CHA212",
    "warning",
    "Quaternions are of length 1; those that are off by up to 10 % are brought to that length.",
    "judgement",
    fixable=True,
    example=("1 0 1.05 0 0", "1 0 1 0 0"),
)
JOINT_LIMIT = Rule(
    "CHA213",
    "warning",
    "Joint angles are within what the robot's joints can do.",
    "judgement",
    "the limits are those of the robot's public description; angles are in radians",
    example=("a knee at 0.5 rad", "a knee at -1.6 rad"),
)
JUMP = Rule(
    "CHA214",
    "warning",
    "Values do not jump from one keyframe to the next.",
    "judgement",
    "the robot moves on all the way between the two",
    example=("0 3.1\n0.1 -3.1", "0 3.1\n0.1 3.2"),
)
VALUE_HUGE = Rule(
    "CHA216",
    "error",
    "The values of keyframes are at most a million.",
    "judgement",
    "positions are in metres, angles in radians: no robot is so large",
    example=("1 1e300", "1 0.44"),
)
MOVE_LONG = Rule(
    "CHA217",
    "error",
    "A move is at most a day long: ten million slices, or hundredths of a second.",
    "judgement",
    "times are in seconds; nothing can be played of a move so long",
    example=("1e300 0.44", "1 0.44"),
)
WIDTH = Rule(
    "CHA218",
    "error",
    "The columns take as many values as the keyframes have.",
    "judgement",
    "a column is missing in this line, or is one too many; a group counts as all its columns, such as body_pos as three",
    example=("time body_z, and keyframes of 4 values", "time body_pos, and keyframes of 4 values"),
)
DEGREES = Rule(
    "CHA219",
    "warning",
    "Angles are in radians.",
    "judgement",
    "multiply them by π/180: 90 degrees are 1.5708. Limits of joints and jumps of angles are not looked at",
    example=("a roll of -30, and a yaw of 45", "a roll of -0.52, and a yaw of 0.79"),
)
METRES = Rule(
    "CHA226",
    "warning",
    "Places are in metres.",
    "judgement",
    "jumps, and what a robot would mind, are not looked at",
    example=("a body at 480", "a body at 0.48"),
)

# Gait cycles.
CYCLE_LEGS = Rule(
    "CHA220",
    "error",
    "A custom gait cycle controls the legs.",
    example=("controls body\ncustom_gait_cycle", "controls legs\ncustom_gait_cycle"),
)
CYCLE_ENDS = Rule(
    "CHA221",
    "error",
    "The first and the last keyframe of a custom gait cycle are the same.",
    hint="the vendor's page on Custom Gait lets the body's x differ; the document does not",
    example=("a knee at -1.7 in the last keyframe, at -1.6 in the first", "a knee at -1.6 in both"),
)
CYCLE_FEET_UP = Rule(
    "CHA222",
    "error",
    "A custom gait cycle has all four feet on the ground at its start and its end.",
    hint="the vendor's page on Custom Gait allows feet in the air; the document does not",
    example=("contacts 1 1 0 1 in the last keyframe", "contacts 1 1 1 1 in the last keyframe"),
)
CYCLE_NO_SWING = Rule(
    "CHA223",
    "error",
    "In a custom gait cycle each foot swings at least once.",
    example=("contacts that are always 1 1 1 1", "contacts of 0 for each foot in some keyframe"),
)
CYCLE_SWINGS = Rule(
    "CHA224",
    "error",
    "In a custom gait cycle no foot swings more than twice.",
    example=("contacts 1 0 1 0 1 0 1 of a foot", "contacts 1 0 1 0 0 0 1 of a foot"),
)
CYCLE_CONTACTS = Rule(
    "CHA225",
    "note",
    "A custom gait cycle says when its feet are on the ground.",
    "judgement",
    "without contacts they are inferred from the feet's heights and speeds, which a robot may do in another way",
    example=("custom_gait_cycle, and no column contact", "custom_gait_cycle, and the column contact"),
)

RULES: tuple[Rule, ...] = tuple(value for value in list(globals().values()) if isinstance(value, Rule))
"""All rules, in the order of their codes."""
