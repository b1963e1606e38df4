"""The rules of Spot animation files.

An error is something that the vendor's document forbids, or that cannot be played.
Rules whose `source` is "reference" are those of the vendor's converter.
"""

from bodymotion.diagnostics import document, judgement, reference

# The text.
BOM = judgement.warning(
    "CHA102",
    "The file begins with its first keyword, without a byte order mark.",
    "the vendor's converter reads the mark as a part of the first keyword and ignores "
    "that option; save the file as UTF-8 without BOM",
    fixable=True,
    example=("a byte order mark before 'controls'", "controls body"),
)
CONTROL = document.error(
    "CHA104",
    "The text has no control characters except tabs and line ends.",
    "the file is damaged, or is not text",
    example=("bpm 12\x000", "bpm 120"),
)
BLANKS = document.warning(
    "CHA105",
    "Words are separated by spaces and tabs.",
    "web pages and word processors use such characters; replace it by a space",
    fixable=True,
    example=("bpm\xa0120", "bpm 120"),
)
TOO_LONG = judgement.error(
    "CHA106",
    "Options and parameters take at most 5000 lines.",
    "the three sections, options, parameters and keyframes, are separated by blank "
    "lines",
    example=(
        "5000 lines of comments before the end of the options",
        "4000 lines of comments",
    ),
)
NO_TEXT = document.error(
    "CHA108",
    "The file is text.",
    "it may be an image, an archive, or text in another encoding; animation files are "
    "UTF-8",
    example=("a .png called move.cha", "a text"),
)

# The sections.
LEADING_BLANK = judgement.warning(
    "CHA110",
    "The options begin in the first line.",
    "the vendor's converter ends the options at the blank line; remove it",
    fixable=True,
    example=("\ncontrols body", "controls body"),
)
BLANK_LINES = document.error(
    "CHA111",
    "There is exactly one blank line between two sections.",
    "the vendor's converter reads a second blank line as an empty section; remove it",
    fixable=True,
    example=("bpm 120\n\n\nspeed 0.5 1 2", "bpm 120\n\nspeed 0.5 1 2"),
)
COMMENT_SECTION = document.error(
    "CHA112",
    "Comments are within one of the three sections. They are not a section of their "
    "own.",
    "remove the blank line before or after the comment",
    fixable=True,
    example=(
        "bpm 120\n\n# parameters\n\nspeed 0.5 1 2",
        "bpm 120\n\n# parameters\nspeed 0.5 1 2",
    ),
)
OPTIONS_MISSING = document.error(
    "CHA113",
    "The first section contains the options.",
    "begin with the option 'controls' and its tracks",
    example=("no parameters in the first line", "controls body\n\nno parameters"),
)
PARAMETERS_MISSING = document.error(
    "CHA114",
    "The second section contains the parameters.",
    "write 'no parameters' and a blank line",
    fixable=True,
    example=(
        "controls body\n\ntime body_z",
        "controls body\n\nno parameters\n\ntime body_z",
    ),
)
BODY_MISSING = document.error(
    "CHA115",
    "The third section contains the columns and the keyframes.",
    "after a blank line: a line of columns, such as 'time body_pos', and a line for "
    "each keyframe",
    example=(
        "no parameters, and then nothing",
        "no parameters\n\ntime body_z\n0 0.48\n1 0.44",
    ),
)
SECTIONS = document.error(
    "CHA116",
    "There are three sections, without blank lines inside a section.",
    "the vendor's converter starts the next section at a blank line; remove it",
    example=("extendable\n\nbpm 120", "extendable\nbpm 120"),
)
BLANK_MISSING = document.error(
    "CHA117",
    "There is a blank line between two sections.",
    "write a blank line before this one",
    fixable=True,
    example=("bpm 120\nspeed 0.5 1 2", "bpm 120\n\nspeed 0.5 1 2"),
)

# The options.
CONTROLS_MISSING = document.error(
    "CHA120",
    "An animation controls one or more tracks.",
    "write 'controls' and one or more of legs, body, arm, gripper; in a .cap, "
    "'controls_body: true' and the like",
    example=("control body", "controls body"),
)
CONTROLS_EMPTY = document.error(
    "CHA121",
    "One or more tracks follow 'controls'.",
    "one or more of legs, body, arm, gripper",
    example=("controls\n", "controls body\n"),
)
CONTROLS_TRACK = document.error(
    "CHA122",
    "The tracks are legs, body, arm and gripper.",
    "the vendor's converter ignores other names",
    example=("controls body head", "controls body"),
)
CONTROLS_TWICE = judgement.warning(
    "CHA123", "A track is named once.", example=("controls body body", "controls body")
)
OPTION_UNKNOWN = document.error(
    "CHA124",
    "Options have names that the document defines.",
    "the vendor's converter ignores other options without a message",
    example=("extendible", "extendable"),
)
OPTION_CASE = judgement.warning(
    "CHA125",
    "Options are written in lower case.",
    "the line is ignored, as by the vendor's converter",
    example=("BPM 120", "bpm 120"),
)
OPTION_TWICE = judgement.warning(
    "CHA126",
    "An option is given once.",
    "the last one is used, as by the vendor's converter",
    example=("bpm 120\nbpm 120", "bpm 120"),
)
OPTION_VALUE_MISSING = document.error(
    "CHA127", "An option has all its values.", example=("bpm\n", "bpm 120\n")
)
OPTION_VALUE_EXTRA = document.error(
    "CHA128",
    "An option has no more values than it takes.",
    "the vendor's converter ignores further words without a message",
    example=("extendable 3", "extendable"),
)
OPTION_NUMBER = document.error(
    "CHA129",
    "The values of bpm, frequency and timing_adjustability are finite decimal numbers.",
    example=("bpm fast", "bpm 120"),
)
BPM_POSITIVE = judgement.error(
    "CHA130",
    "The beats per minute are greater than 0.",
    "without 'bpm' the animation plays at its own speed",
    example=("bpm 0", "bpm 120"),
)
BPM_WHOLE = reference.note(
    "CHA131",
    "The beats per minute are a whole number without a point or an exponent.",
    "the vendor's converter only reads whole numbers",
    example=("bpm 98.5", "bpm 120"),
)
COLOR_COUNT = document.error(
    "CHA133",
    "Three numbers follow 'display_rgb': red, green and blue.",
    example=("display_rgb 1 2\n", "display_rgb 1 2 3\n"),
)
COLOR_RANGE = document.error(
    "CHA134",
    "Red, green and blue are whole numbers from 0 to 255.",
    example=("display_rgb 1 2 256", "display_rgb 1 2 3"),
)
ADJUSTABILITY_RANGE = document.error(
    "CHA135",
    "The timing adjustability is between -1 and 1.",
    "1: drastic adjustment, 0: some, -1: none",
    example=("timing_adjustability 1.5", "timing_adjustability 0.5"),
)
PLAYBACK = document.error(
    "CHA136",
    "The arm playback is jointspace, workspace or workspace_dance_frame.",
    "the vendor's converter ignores other values",
    example=("arm_playback worldspace", "arm_playback workspace"),
)
ARM_CONTRADICTION = judgement.error(
    "CHA137",
    "An animation that requires the arm, or controls nothing else, does not prohibit "
    "it.",
    "remove 'arm_prohibited': no robot can load the animation",
    example=("arm_required\narm_prohibited", "arm_required"),
)
ARM_PROHIBITED_USED = judgement.warning(
    "CHA138",
    "An animation that moves the arm or the gripper does not prohibit an arm.",
    example=("controls body gripper\narm_prohibited", "controls body gripper"),
)
NEUTRAL_START = document.error(
    "CHA139",
    "An animation with a neutral start controls the body, but not the legs.",
    "the columns of controlled legs define the start",
    example=("controls legs body\nneutral_start", "controls legs body"),
)
DESCRIPTION_CUT = document.warning(
    "CHA140",
    "A description contains neither # nor //, which begin a comment.",
    "write addresses of web pages without http://",
    example=("description see http://a.b", "description see a.b"),
)
CONVERTER_ONLY = reference.note(
    "CHA141",
    "Options have names that the document defines. The vendor's converter knows two "
    "more.",
    example=("precise_timing", "extendable"),
)
OPTION_IDLE = judgement.note(
    "CHA142",
    "An option for a track belongs to a track that is controlled.",
    "the option has no effect",
    example=(
        "arm_playback workspace in a move without the arm",
        "the same in a move with the arm",
    ),
)
TIMING_TWICE = judgement.warning(
    "CHA143",
    "The timing adjustability is given once.",
    "precise_timing means timing_adjustability -1",
    example=("timing_adjustability 0.5\nprecise_timing", "timing_adjustability 0.5"),
)
NEUTRAL_START_COLUMNS = document.warning(
    "CHA144",
    "An animation with a neutral start has no columns of legs.",
    "the legs are not controlled, so their columns are ignored",
    example=(
        "neutral_start, and the column fl_x",
        "neutral_start, and no column of legs",
    ),
)

# The parameters.
PARAMETER_UNKNOWN = document.error(
    "CHA150",
    "Parameters have names that the document defines.",
    example=("sped 0.5 1 2", "speed 0.5 1 2"),
)
PARAMETER_CASE = judgement.warning(
    "CHA151",
    "Parameters are written in lower case.",
    "it is read in lower case, as by the vendor's converter",
    example=("Speed 0.5 1 2", "speed 0.5 1 2"),
)
PARAMETER_TWICE = judgement.warning(
    "CHA152",
    "A parameter is given once.",
    "the last one is used",
    example=("speed 0.5 1 2\nspeed 0.5 1 2", "speed 0.5 1 2"),
)
PARAMETER_VALUES = document.error(
    "CHA153",
    "A parameter has three values, minimum, default and maximum, or none.",
    example=("speed 0.5 1\n", "speed 0.5 1 2\n"),
)
PARAMETER_NUMBER = document.error(
    "CHA154",
    "The values of parameters are finite decimal numbers.",
    example=("speed low 1 2", "speed 0.5 1 2"),
)
PARAMETER_ORDER = document.error(
    "CHA155",
    "The minimum of a parameter is not greater than its maximum.",
    "the order is minimum, default, maximum",
    example=("speed 2 1 0.5", "speed 0.5 1 2"),
)
PARAMETER_DEFAULT = document.error(
    "CHA156",
    "The default of a parameter is between its minimum and its maximum.",
    "the order is minimum, default, maximum",
    example=("speed 0.5 3 2", "speed 0.5 1 2"),
)
PARAMETER_TRACK = document.error(
    "CHA157",
    "The tracks that a parameter needs are controlled.",
    example=(
        "gripper_offset -1 0 1 in a move without the gripper",
        "the same in a move with the gripper",
    ),
)
STIFFNESS_RANGE = document.error(
    "CHA158",
    "The body tracking stiffness is between 1 and 11.",
    example=("body_tracking_stiffness 1 5 12", "body_tracking_stiffness 1 5 11"),
)
FRACTION_RANGE = document.error(
    "CHA159",
    "The gripper strength fraction is between 0 and 1.",
    example=("gripper_strength_fraction 0 1 1.5", "gripper_strength_fraction 0 1 1"),
)
PARAMETER_NEGATIVE = judgement.warning(
    "CHA160",
    "Speeds are greater than 0. Slices and frame numbers are not negative.",
    example=("body_exit_slices -1 0 1", "body_exit_slices 0 0 1"),
)
PARAMETER_WHOLE = judgement.warning(
    "CHA161",
    "The number of a dance frame is a whole number.",
    example=("arm_dance_frame_id 0 0.5 1", "arm_dance_frame_id 0 0 1"),
)
DANCE_FRAME = document.error(
    "CHA162",
    "An animation with the parameter arm_dance_frame_id has the option 'arm_playback "
    "workspace_dance_frame'.",
    "add the option, or remove the parameter",
    example=("arm_playback workspace", "arm_playback workspace_dance_frame"),
)
SPEED_ZERO = judgement.error(
    "CHA169",
    "The default speed is greater than 0.",
    "1 is the animation's own speed",
    example=("speed 0 0 2", "speed 0.5 1 2"),
)
NO_PARAMETERS_FALSE = document.warning(
    "CHA164",
    "A file with 'no parameters' has no parameters.",
    "the parameters are used, as by the vendor's converter",
    example=("no parameters\nspeed 0.5 1 2", "speed 0.5 1 2"),
)
NO_PARAMETERS_WORDS = judgement.warning(
    "CHA165",
    "The line for no parameters is exactly 'no parameters'.",
    example=("No Parameters", "no parameters"),
)
PARAMETER_NAMED = judgement.note(
    "CHA166",
    "A parameter has its limits in the file.",
    "the limits come from the robot; the vendor's converter needs the robot's "
    "MoveParamsConfig",
    example=("speed\n", "speed 0.5 1 2\n"),
)
PARAMETER_HUGE = judgement.error(
    "CHA167",
    "The default of a parameter is at most 1 000 000.",
    "the animation cannot be played with it",
    example=("speed 0.5 1e300 1e300", "speed 0.5 1 2"),
)
NO_PARAMETERS_BLANKS = reference.note(
    "CHA168",
    "There is one space between 'no' and 'parameters'.",
    "the vendor's converter reads anything else as a parameter and stops",
    example=("no  parameters", "no parameters"),
)

# The columns.
HEADER_MISSING = document.error(
    "CHA170",
    "The first line of the third section names the columns.",
    "such as 'time body_pos'",
    example=("the first keyframe where the columns belong", "time body_z"),
)
COLUMN_UNKNOWN = document.error(
    "CHA171",
    "Columns have names that the document defines.",
    example=("time body_w", "time body_z"),
)
COLUMN_TWICE = document.error(
    "CHA172",
    "A column is given once.",
    "a group counts as all its columns",
    example=("time body_z body_z", "time body_z body_x"),
)
BODY_EXCLUSIVE = document.error(
    "CHA173",
    "The body's position and its centre of mass exclude each other.",
    "body_pos or com_pos",
    example=("time body_z com_x", "time body_z body_x"),
)
ORIENTATION_EXCLUSIVE = document.error(
    "CHA174",
    "Different representations of an orientation exclude each other.",
    "one of quat_wxyz, quat_xyzw, euler_rpy",
    example=("time body_quat_wxyz body_yaw", "time body_quat_wxyz body_z"),
)
ARM_EXCLUSIVE = document.error(
    "CHA175",
    "The arm's joint angles and the pose of the hand exclude each other.",
    "arm_joints, or hand_pos with an orientation",
    example=("time arm_joints hand_x", "time arm_joints gripper"),
)
LEG_EXCLUSIVE = document.error(
    "CHA176",
    "For each leg, joint angles and the foot's position exclude each other.",
    "leg_joints or foot_pos, or their groups for single legs",
    example=("time leg_joints fl_x", "time leg_joints body_z"),
)
TIME_AND_FREQUENCY = document.error(
    "CHA177",
    "The column time and the option frequency exclude each other.",
    "remove one of them",
    example=("frequency 30, and the column time", "frequency 30, and no column time"),
)
TIME_MISSING = document.error(
    "CHA178",
    "The times of keyframes come from the column time or from the option frequency.",
    example=("no frequency, and no column time", "frequency 30, and no column time"),
)
TRACK_COLUMNS = document.error(
    "CHA179",
    "Each controlled track has columns.",
    example=("controls body arm", "controls body"),
)
GRIPPER_MISSING = document.error(
    "CHA180",
    "An animation that controls the gripper has the column gripper.",
    example=("controls body gripper", "controls body"),
)
LEG_MISSING = document.error(
    "CHA181",
    "An animation that controls the legs has joint angles or a foot's position for "
    "each of them.",
    "leg_joints or foot_pos, or their groups for single legs",
    example=(
        "time fl_angles fr_angles hl_angles",
        "time fl_angles fr_angles hl_angles hr_angles",
    ),
)
LEG_INCOMPLETE = document.error(
    "CHA182",
    "A leg has all three joint angles, or all three coordinates of its foot.",
    example=("time fl_hx fl_hy fr_angles", "time fl_hx fl_hy fl_kn fr_angles"),
)
QUATERNION_INCOMPLETE = document.error(
    "CHA183",
    "A quaternion has four columns.",
    example=(
        "time body_quat_w body_quat_x body_quat_y",
        "time body_quat_w body_quat_x body_quat_y body_quat_z",
    ),
)
HAND_POSITION_MISSING = judgement.warning(
    "CHA184",
    "The orientation of the hand comes with its position.",
    "add hand_pos; an orientation alone does not define the arm",
    example=("time hand_quat_wxyz", "time hand_pos hand_quat_wxyz"),
)
HAND_INCOMPLETE = judgement.warning(
    "CHA185",
    "The position of the hand has x, y and z. Its angles have roll, pitch and yaw.",
    "the robot may use 0 for a missing value",
    example=(
        "time hand_x hand_y hand_euler_rpy",
        "time hand_x hand_y hand_z hand_euler_rpy",
    ),
)
CONTACT_INCOMPLETE = judgement.warning(
    "CHA186",
    "Contacts are given for all four feet, or for none.",
    "missing contacts are inferred from the legs",
    example=("time leg_joints fl_contact", "time leg_joints contact"),
)
UNCONTROLLED = document.note(
    "CHA187",
    "Columns belong to tracks that are controlled.",
    "these columns are ignored when the animation is played",
    example=("time body_z gripper in a move of the body", "time body_z"),
)
HAND_ORIENTATION_MISSING = judgement.note(
    "CHA188",
    "The position of the hand comes with its orientation.",
    example=("time hand_pos", "time hand_pos hand_euler_rpy"),
)

# The keyframes.
NO_KEYFRAMES = document.error(
    "CHA200",
    "There are keyframes below the columns.",
    example=("time body_z, and then nothing", "time body_z\n0 0.48\n1 0.44"),
)
ONE_KEYFRAME = judgement.warning(
    "CHA201",
    "There are at least two keyframes.",
    "to hold a pose, use two equal keyframes, at its beginning and at its end",
    example=("0 0.48\n", "0 0.48\n1 0.44\n"),
)
ROW_SHORT = document.error(
    "CHA202", "A keyframe has a value for each column.", example=("1\n", "1 0.44\n")
)
ROW_LONG = document.error(
    "CHA203",
    "A keyframe has no more values than there are columns.",
    "the vendor's converter ignores further values without a message",
    example=("1 0.44 9", "1 0.44"),
)
NUMBER = document.error(
    "CHA204",
    "The values of keyframes are decimal numbers.",
    "such as -1.25, 3 or 2e-3, not 0x10, 1_000 or a decimal comma",
    example=("1 0,44", "1 0.44"),
)
GIVEN_UP = judgement.error(
    "CHA215",
    "At most 10 000 keyframes are faulty.",
    example=("10 001 keyframes with a fault", "10 000 keyframes with a fault"),
)
TIME_NEGATIVE = document.error(
    "CHA206",
    "Times are not negative.",
    "the animation starts at time 0",
    example=("-1 0.48", "0 0.48"),
)
TIME_START = document.error(
    "CHA207", "The first keyframe is at time 0.", example=("0.5 0.48", "0 0.48")
)
CONTACT = document.error(
    "CHA210", "Contacts are 1 (stance) or 0 (swing).", example=("1 1 0.5 1", "1 1 0 1")
)
QUATERNION_ZERO = judgement.error(
    "CHA211",
    "Quaternions are not 0.",
    "1 0 0 0 in the order wxyz is the identity",
    example=("1 0 0 0 0", "1 0 1 0 0"),
)
JOINT_LIMIT = judgement.warning(
    "CHA213",
    "Joint angles are within the limits of the robot.",
    "the limits are those of the robot's public description, in radians",
    example=("a knee at 0.5 rad", "a knee at -1.6 rad"),
)
JUMP = judgement.warning(
    "CHA214",
    "Values do not jump from one keyframe to the next.",
    "the robot moves through all poses in between",
    example=("0 3.1\n0.1 -3.1", "0 3.1\n0.1 3.2"),
)
VALUE_HUGE = judgement.error(
    "CHA216",
    "The values of keyframes are at most 1 000 000.",
    "positions are in metres, angles in radians",
    example=("1 1e300", "1 0.44"),
)
MOVE_LONG = judgement.error(
    "CHA217",
    "A move has at most 10 000 000 slices or hundredths of a second, about a day.",
    "times are in seconds; a longer move cannot be played",
    example=("1e300 0.44", "1 0.44"),
)
WIDTH = judgement.error(
    "CHA218",
    "The number of columns is that of the values of each keyframe.",
    "this line has a column too few or too many; a group counts as all its columns, "
    "body_pos as three",
    example=(
        "time body_z, and keyframes of 4 values",
        "time body_pos, and keyframes of 4 values",
    ),
)
DEGREES = judgement.warning(
    "CHA219",
    "Angles are in radians.",
    "multiply them by π/180: 90 degrees are 1.5708. Joint limits and jumps of angles "
    "are not checked",
    example=("a roll of -30, and a yaw of 45", "a roll of -0.52, and a yaw of 0.79"),
)
METRES = judgement.warning(
    "CHA226",
    "Positions are in metres.",
    "jumps of positions and the motion that is played are not checked",
    example=("a body at 480", "a body at 0.48"),
)

# Gait cycles.
CYCLE_LEGS = document.error(
    "CHA220",
    "A custom gait cycle controls the legs.",
    example=("controls body\ncustom_gait_cycle", "controls legs\ncustom_gait_cycle"),
)
CYCLE_ENDS = document.error(
    "CHA221",
    "The first and the last keyframe of a custom gait cycle are the same.",
    "the vendor's page on Custom Gait lets the body's x differ; the document does not",
    example=(
        "a knee at -1.7 in the last keyframe, at -1.6 in the first",
        "a knee at -1.6 in both",
    ),
)
CYCLE_FEET_UP = document.error(
    "CHA222",
    "A custom gait cycle has all four feet on the ground at its start and its end.",
    "the vendor's page on Custom Gait allows feet in the air; the document does not",
    example=(
        "contacts 1 1 0 1 in the last keyframe",
        "contacts 1 1 1 1 in the last keyframe",
    ),
)
CYCLE_NO_SWING = document.error(
    "CHA223",
    "In a custom gait cycle each foot swings at least once.",
    example=(
        "contacts that are always 1 1 1 1",
        "contacts of 0 for each foot in some keyframe",
    ),
)
CYCLE_SWINGS = document.error(
    "CHA224",
    "In a custom gait cycle no foot swings more than twice.",
    example=("contacts 1 0 1 0 1 0 1 of a foot", "contacts 1 0 1 0 0 0 1 of a foot"),
)
CYCLE_CONTACTS = judgement.note(
    "CHA225",
    "A custom gait cycle has the contacts of its feet.",
    "without contacts they are inferred from heights and speeds of the feet; a robot "
    "may infer others",
    example=(
        "custom_gait_cycle, and no column contact",
        "custom_gait_cycle, and the column contact",
    ),
)

RETIRED = {
    "CHA101": "FMT002",
    "CHA103": "FMT011",
    "CHA107": "FMT009",
    "CHA132": "MOT106",
    "CHA205": "MOT101",
    "CHA208": "MOT105",
    "CHA209": "MOT105",
    "CHA212": "MOT102",
}

OF_CYCLES = (
    CYCLE_LEGS,
    CYCLE_ENDS,
    CYCLE_FEET_UP,
    CYCLE_NO_SWING,
    CYCLE_SWINGS,
    CYCLE_CONTACTS,
)
