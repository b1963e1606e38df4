"""The elements and attributes of MJCF (MuJoCo 4.0 and what earlier versions had), and names that a model uses and does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from bodymotion.formats.mjcf import rules
from bodymotion.formats.xml.syntax import closest_name

if TYPE_CHECKING:
    from bodymotion.formats.xml.tree import Element

GROUPS = {
    "orientation_of": "axisangle euler quat xyaxes zaxis",
    "passive": "actuatorfrclimited actuatorfrcrange armature damping frictionloss group limited margin range solimpfriction "
    "solimplimit solreffriction solreflimit springyield stiffness user",
    "joint": "*passive actuatorgravcomp axis pos ref springdamper springref type",
    "geom": "*orientation_of adhesion castshadow conaffinity condim contype density fitscale fluidcoef fluidshape "
    "friction fromto gap group "
    "hfield margin mass material mesh pos priority rgba shellinertia size solimp solmix solref surfacevel type user",
    "site": "*orientation_of fromto group material mesh pos rgba size type user",
    "camera": "*orientation_of focal focalpixel fovy ipd mode output pos principal principalpixel projection resolution sensorsize user "
    "orthographic",
    "light": "active ambient attenuation bulbradius castshadow cutoff diffuse dir directional exponent intensity mode pos range "
    "softness specular type",
    "texture": "builtin colorspace embed gridlayout gridsize height hflip mark markrgb nchannel random rgb1 rgb2 type vflip width",
    "material": "emission metallic reflectance rgba roughness shininess specular texrepeat texture texuniform",
    "pair": "adhesion condim friction gap margin solimp solref solreffriction",
    "equal": "active solimp solref",
    "frequent": "delay interp nsample user",
    "forced": "*frequent ctrlrange forcelimited forcerange group",
    "motor": "*forced armature cranklength ctrllimited damping gear",
    "damper": "*forced armature cranklength damping gear kv",
    "dcmotor": "*frequent armature cogging controller cranklength ctrllimited ctrlrange damping gear group inductance input lugre "
    "motorconst nominal resistance saturation thermal",
    "adhesion": "*forced gain",
    "orientation": "*forced dampratio input kp kv",
    "position": "*motor dampratio inheritrange kp kv timeconst",
    "velocity": "*motor kv",
    "intvelocity": "*motor actlimited actrange dampratio inheritrange kp kv",
    "pid": "*motor dampratio ffrange imax inheritrange input ki kp kv posrange slewmax velrange",
    "cylinder": "*motor area bias diameter timeconst",
    "muscle": "*motor force fpmax fvmax lmax lmin range scale timeconst tausmooth vmax",
    "activated": "*motor actdim actearly actlimited actrange dynprm dyntype",
    "general": "*activated biasprm biastype ffrange gainprm gaintype inheritrange input velrange",
    "pulls": "class cranksite joint jointinparent lengthrange name site slidersite tendon",
    "drives": "*pulls refsite",
    "sensor": "*frequent cutoff interval name noise",
    "skin": "face file group inflate material name rgba texcoord vertex",
    "touching": "activelayers conaffinity condim contype friction gap margin passive priority selfcollide solimp solmix solref "
    "internal vertcollide",
    "elastic": "damping elastic2d poisson section sectionsize shear thickness yield young",
}
"""Attributes of several elements; `*` stands for those of another group."""

SENSORS = {
    "site": "touch accelerometer velocimeter gyro force torque magnetometer",
    "site camera": "camprojection",
    "site camera data": "rangefinder",
    "joint": "jointpos jointvel jointactuatorfrc ballquat ballangvel jointlimitpos jointlimitvel jointlimitfrc",
    "tendon": "tendonpos tendonvel tendonactuatorfrc tendonlimitpos tendonlimitvel tendonlimitfrc",
    "actuator": "actuatorpos actuatorvel actuatorfrc",
    "objname objtype refname reftype": "framepos framequat framexaxis frameyaxis framezaxis framelinvel frameangvel",
    "objname objtype": "framelinacc frameangacc",
    "body": "subtreecom subtreelinvel subtreeangmom",
    "objname objtype site enclosed": "insidesite",
    "body1 body2 geom1 geom2": "distance normal fromto",
    "body1 body2 geom1 geom2 data num reduce site subtree1 subtree2": "contact",
    "": "e_potential e_kinetic clock",
    "geom mesh": "tactile",
    "datatype dim needstage objname objtype": "user",
    "instance objname objtype plugin refname reftype": "plugin",
}
"""Sensors by the attributes that they have in addition to those of all sensors."""

GRAMMAR = """\
mujoco: model
  compiler: alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict convexhull coordinate discardvisual \
eulerseq exactmeshinertia fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough savecanonical savecompiled \
saveinertial settotalmass strippath texturedir usethread
    lengthrange: accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit
  option: actuatorgroupdisable apirate ccd_iterations ccd_tolerance collision cone density gravity impratio integrator iterations \
jacobian ls_iterations ls_tolerance magnetic mpr_iterations mpr_tolerance noslip_iterations noslip_tolerance o_friction o_margin \
o_solimp o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance viscosity wind
    flag: actuation autoreset clampctrl constraint contact damper diagexact energy equality eulerdamp filterparent frictionloss \
fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd override passive refsafe sensor sleep speculative spring \
warmstart
  size: memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor nuser_site \
nuser_tendon nuserdata
  statistic: center extent meaninertia meanmass meansize
  visual:
    global: azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight offwidth orthographic realtime
    quality: numquads numslices numstacks offsamples shadowsize
    headlight: active ambient diffuse specular
    map: actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness stiffnessrot torque zfar znear
    scale: actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth forcewidth framelength framewidth \
frustum jointlength jointwidth light selectpoint slidercrank
    rgba: actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint contactforce contactfriction \
contactgap contactpoint contacttorque crankbroken fog force frustum haze inertia joint light rangefinder selectpoint slidercrank
  default: class
    mesh: inertia maxhullvert scale
    texture: *texture
    material: *material
      layer: role texture
    joint: *joint
    geom: *geom
    site: *site
    camera: *camera
    light: *light
    pair: *pair
    equality: *equal
    tendon: *passive material rgba springlength width
    general: *general
    motor: *motor
    position: *position
    velocity: *velocity
    intvelocity: *intvelocity
    orientation: *orientation
    pid: *pid
    damper: *damper
    cylinder: *cylinder
    muscle: *muscle
    adhesion: *adhesion
    dcmotor: *dcmotor
  extension:
    plugin: plugin
      instance: name
        config: key value
  asset:
    mesh: builtin class content_type face file inertia material maxhullvert name normal params refpos refquat scale smoothnormal \
texcoord vertex
      plugin: instance plugin
        config: key value
    hfield: content_type elevation file name ncol nrow size
    skin: *skin
      bone: bindpos bindquat body vertid vertweight
    texture: *texture class content_type file fileback filedown filefront fileleft fileright fileup name
    material: *material class name
      layer: role texture
    model: content_type file name
  worldbody:
  body: *orientation_of childclass fuse gravcomp mocap name pos simple sleep user
    inertial: *orientation_of diaginertia fullinertia mass pos
    joint: *joint class name
    freejoint: align group name
    geom: *geom class name
      plugin: instance plugin
        config: key value
    attach: body frame model prefix
    site: *site class name
    camera: *camera class name target
    light: *light class name target texture
    plugin: instance plugin
      config: key value
    flexcomp: *orientation_of cellcount count dim dof element file flatskin group inertiabox mass material mesh name origin point \
pos radius rgba rigid scale spacing texcoord type
      edge: damping equality solimp solref stiffness
      elasticity: *elastic
      contact: *touching
      pin: grid gridrange id range
      plugin: instance plugin
        config: key value
  frame: *orientation_of childclass name pos
  replicate: *orientation_of count offset prefix sep
  deformable:
    flex: body cellcount dim dof element elemtexcoord flatskin group material name node nodecoord radius rgba texcoord vertex
      contact: *touching
      edge: damping stiffness
      elasticity: *elastic
    skin: *skin
      bone: bindpos bindquat body vertid vertweight
  contact:
    pair: *pair class geom1 geom2 name
    exclude: body1 body2 name
  tendon:
    spatial: *passive class material name rgba springlength width
      site: site
      geom: geom sidesite
      pulley: divisor
    fixed: *passive class name springlength
      joint: coef joint
  equality:
    connect: *equal anchor body1 body2 class name site1 site2
    weld: *equal anchor body1 body2 class name relpose site1 site2 torquescale
    joint: *equal class joint1 joint2 name polycoef
    tendon: *equal class name polycoef tendon1 tendon2
    flex: *equal class flex name
    flexstrain: *equal cell class flex name
    distance: *equal class distance geom1 geom2 name
  actuator:
    general: *general *drives body
    motor: *motor *drives
    position: *position *drives
    velocity: *velocity *drives
    intvelocity: *intvelocity *drives
    orientation: *orientation class joint name refsite site
    pid: *pid *drives
    damper: *damper *drives
    cylinder: *cylinder *drives
    muscle: *muscle *pulls
    adhesion: *adhesion body class name
    dcmotor: *dcmotor *drives
    plugin: *activated *pulls instance plugin
      config: key value
  sensor:
    plugin:
      config: key value
  custom:
    numeric: data name size
    text: data name
    tuple: name
      element: objname objtype prm
  keyframe:
    key: act ctrl mpos mquat name plastic qpos qvel time
"""
"""Elements, indented below the ones that hold them, with their attributes."""

CONTAINERS = ("worldbody", "body", "frame", "replicate")
"""Elements that have the content of a `<body>`, one another included."""


@dataclass
class Content:
    """What an element may have: attributes, and elements by their names; None where its elements are not checked."""

    attributes: frozenset[str]
    elements: dict[str, Content] | None = field(default_factory=dict)


@cache
def vocabulary() -> Mapping[str, Content]:
    """Return what `<mujoco>` and `<mujocoinclude>` may have, by these names."""
    top: dict[str, Content] = {}
    stack: list[dict[str, Content]] = [top]
    for line in GRAMMAR.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name, _, attributes = line.strip().partition(":")
        content = Content(frozenset(_expanded(attributes)))
        del stack[depth + 1 :]
        stack[depth][name] = content
        assert content.elements is not None
        stack.append(content.elements)
    root = top["mujoco"].elements
    assert root is not None and root["sensor"].elements is not None and root["default"].elements is not None
    for more, names in SENSORS.items():
        for name in names.split():
            known = root["sensor"].elements.setdefault(name, Content(frozenset()))
            known.attributes = frozenset(_expanded(f"*sensor {more}"))
    root["default"].elements["default"] = root["default"]
    in_body = root["body"].elements
    assert in_body is not None
    for name in CONTAINERS:
        root[name].elements = in_body
        if name != "worldbody":
            in_body[name] = root.pop(name)
    # MuJoCo 4 does not have it any more; its content is not checked.
    in_body["composite"] = Content(frozenset(), None)
    return top | {"mujocoinclude": top["mujoco"]}


def _expanded(text: str) -> set[str]:
    found: set[str] = set()
    for content in text.split():
        found |= _expanded(GROUPS[content[1:]]) if content.startswith("*") else {content}
    return found


def check_names(root: Element) -> None:
    """Report the elements and attributes of a model that MJCF does not have; what is in such an element is not looked at."""
    for element, name, content in _unknown(root):
        _report_name(element, name, content)


def _unknown(root: Element) -> Iterator[tuple[Element, str | Element, Content]]:
    """Return what is unknown: the element that has it, an attribute's name or an element, and what may be there."""
    stack: list[tuple[Element, Content]] = [(root, vocabulary()[root.name])]
    while stack:
        element, content = stack.pop()
        if content.elements is None:
            continue
        for name in element.attributes:
            if name not in content.attributes and not name.startswith(("xmlns", "xml:")):
                yield element, name, content
        inside: list[tuple[Element, Content]] = []
        for child in element.children:
            known = content.elements.get(child.name)
            if known is not None:
                inside.append((child, known))
            elif child.name != "include":
                yield element, child, content
        stack += reversed(inside)


def _report_name(element: Element, unknown: str | Element, content: Content) -> None:
    assert content.elements is not None
    found = None if element.document is None else element.document.found
    full = found is not None and (found.is_full(rules.FOREIGN) or found.is_full(rules.MISSPELT))
    if isinstance(unknown, str):
        meant = None if full else closest_name(unknown, content.attributes - element.attributes.keys())
        message, shown = f"<{element.name}> has no attribute {unknown!r:.60}", f"'{meant}'"
        at, name = element, unknown
    else:
        meant = None if full else closest_name(unknown.name, content.elements)
        message, shown = f"<{element.name}> has no element <{unknown.name:.60}>", f"<{meant}>"
        at, name = unknown, ""
    if meant is None:
        at.report(rules.FOREIGN, message, name)
    else:
        at.report(rules.MISSPELT, f"{message}: did you mean {shown}?", name)


NOT_READ = ("composite", "flexcomp", "replicate", "attach", "plugin")
"""Elements of a body that are not read; MuJoCo makes bodies of them."""

OF_KIND = {
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("body", "body1", "body2", "target"), "body"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(("site", "site1", "site2", "refsite", "sidesite", "slidersite", "cranksite"), "site"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    **{kind: kind for kind in ("actuator", "camera", "mesh", "hfield", "texture", "material", "plugin", "flex")},
    "instance": "plugin",
}
"""By attribute, the kind of object that it names."""
DRIVEN = ("joint", "jointinparent", "tendon", "site", "refsite", "cranksite", "slidersite", "body")
"""The attributes of an actuator that name what it drives."""

MAX_SPELLING_NAMES = 2_000
"""Among more names no similar one is searched for."""


def is_motor(element: Element) -> bool:
    """Return whether an actuator drives a joint."""
    return "joint" in element.attributes or "jointinparent" in element.attributes


def check_actuators(root: Element) -> None:
    """Report actuators that drive something that does not exist; the body can be read all the same."""
    actuators = [element for section in root.all("actuator") for element in section.children]
    if not actuators:
        return
    names: dict[str, set[str]] = {"joint": set(), "site": set(), "body": set()}
    for world in root.all("worldbody"):
        for element in world.every():
            if element.name in NOT_READ:
                # MuJoCo makes bodies of it, with names that are not in the file.
                return
            kind = "joint" if element.name == "freejoint" else element.name
            if kind in names:
                names[kind].add(element.get("name"))
    names["tendon"] = {element.get("name") for section in root.all("tendon") for element in section.children}
    for element in actuators:
        for attribute in DRIVEN:
            kind, name = OF_KIND[attribute], element.get(attribute)
            if not name or name in names[kind]:
                continue
            known = names[kind] - {""}
            other = closest_name(name, sorted(known)) if len(known) <= MAX_SPELLING_NAMES else None
            message = f"<{element.name:.60}> drives the {kind} {name!r:.60}, which does not exist"
            hint = None if other is None else f"did you mean {other!r:.60}?"
            element.report(rules.REFERENCE, message, attribute, hint=hint)
