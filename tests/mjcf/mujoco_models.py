"""Two models as MuJoCo compiles them, compared number by number."""

from __future__ import annotations

import mujoco
import numpy as np

__all__ = ["model_differences"]

OBJECTS = {
    "body": (
        "nbody",
        "body_mass body_pos body_quat body_ipos body_gravcomp body_mocapid body_parentid body_jntnum",
    ),
    "joint": (
        "njnt",
        "jnt_type jnt_pos jnt_axis jnt_range jnt_limited jnt_stiffness jnt_margin jnt_actfrcrange jnt_actfrclimited "
        "jnt_actgravcomp jnt_solref jnt_solimp jnt_user",
    ),
    "dof": ("nv", "dof_damping dof_armature dof_frictionloss dof_solref dof_solimp"),
    "geom": (
        "ngeom",
        "geom_type geom_contype geom_conaffinity geom_condim geom_priority geom_friction geom_solmix geom_solref geom_solimp "
        "geom_margin geom_gap geom_fluid geom_user geom_pos geom_bodyid geom_size geom_rgba",
    ),
    "site": ("nsite", "site_pos site_type site_size site_bodyid"),
    "camera": (
        "ncam",
        "cam_pos cam_quat cam_fovy cam_resolution cam_mode cam_targetbodyid cam_intrinsic cam_sensorsize",
    ),
    "light": (
        "nlight",
        "light_pos light_dir light_bodyid light_cutoff light_castshadow",
    ),
    "actuator": (
        "nu",
        "actuator_trntype actuator_dyntype actuator_gaintype actuator_biastype actuator_trnid actuator_ctrllimited "
        "actuator_forcelimited actuator_dynprm actuator_gainprm actuator_biasprm actuator_ctrlrange actuator_forcerange actuator_gear",
    ),
    "tendon": (
        "ntendon",
        "tendon_num tendon_limited tendon_range tendon_stiffness tendon_damping tendon_frictionloss tendon_lengthspring tendon_length0",
    ),
    "equality": (
        "neq",
        "eq_type eq_obj1id eq_obj2id eq_active0 eq_solref eq_solimp eq_data",
    ),
    "sensor": (
        "nsensor",
        "sensor_type sensor_objtype sensor_objid sensor_reftype sensor_refid sensor_noise sensor_cutoff sensor_user",
    ),
    "key": ("nkey", "key_time key_qpos key_qvel key_ctrl"),
    "pair": ("npair", "pair_dim pair_friction pair_solref pair_margin"),
    "exclude": ("nexclude", "exclude_signature"),
    "numeric": ("nnumeric", "numeric_data"),
    "q": ("nq", "qpos0 qpos_spring"),
}
OPTIONS = "timestep gravity wind density viscosity integrator cone solver iterations tolerance disableflags enableflags impratio"


def model_differences(before, after, leave_out=()) -> list[str]:
    """List the fields in which two models differ; things of a kind stand in the same order."""
    found = []
    for kind, (count, names) in OBJECTS.items():
        if getattr(before, count) != getattr(after, count):
            found.append(
                f"{kind}: {getattr(before, count)} and {getattr(after, count)}"
            )
            continue
        for name in names.split():
            one, two = (
                np.asarray(getattr(model, name), dtype=float)
                for model in (before, after)
            )
            if one.shape != two.shape:
                found.append(f"{name}: {one.shape} {two.shape}")
            elif name in ("body_quat", "cam_quat"):
                if (
                    np.abs(np.abs(np.sum(one * two, axis=-1)) - 1.0).max(initial=0.0)
                    > 1e-9
                ):
                    found.append(name)
            elif name not in leave_out and not np.allclose(
                one, two, rtol=1e-6, atol=1e-7
            ):
                found.append(f"{name}: {one.tolist()} {two.tolist()}")
    for name in OPTIONS.split():
        if not np.array_equal(getattr(before.opt, name), getattr(after.opt, name)):
            found.append(
                f"option {name}: {getattr(before.opt, name)} {getattr(after.opt, name)}"
            )
    return found + names_differ(before, after)


def names_differ(before, after) -> list[str]:
    kinds = {
        "joint": ("JOINT", "njnt"),
        "body": ("BODY", "nbody"),
        "actuator": ("ACTUATOR", "nu"),
        "sensor": ("SENSOR", "nsensor"),
        "key": ("KEY", "nkey"),
        "tendon": ("TENDON", "ntendon"),
        "equality": ("EQUALITY", "neq"),
    }
    found = []
    for kind, (word, count) in kinds.items():
        for number in range(min(getattr(before, count), getattr(after, count))):
            named = mujoco.mj_id2name(
                before, getattr(mujoco.mjtObj, f"mjOBJ_{word}"), number
            )
            again = mujoco.mj_id2name(
                after, getattr(mujoco.mjtObj, f"mjOBJ_{word}"), number
            )
            if named and named != again:
                found.append(f"{kind} {named} is {again}")
    return found
