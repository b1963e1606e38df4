"""Joint columns with names go by name, matched against a body when there is one: a motion in another order is the same motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion import dynamics, editing
from bodymotion.cli.app import app
from bodymotion.formats.registry import load_together
from bodymotion.model.body import Body, by_position, fit_problems
from bodymotion.motion import Motion
from bodymotion.plots import subject_of
from bodymotion.scene.loading import load_scene

BIPED = Path(__file__).resolve().parent.parent / "examples" / "biped.wrl"


@pytest.fixture(scope="module")
def body() -> Body:
    return bm.load(BIPED)


def motion_of(body: Body, names: bool = True) -> Motion:
    q = np.random.default_rng(5).normal(0, 0.3, (6, body.num_joints))
    labels = tuple(joint.name for joint in body.joints) if names else ()
    root = np.random.default_rng(6).normal(0, 1, (6, 7))
    root[:, 3:] /= np.linalg.norm(root[:, 3:], axis=1, keepdims=True)
    return Motion.from_joints(q, 100, root=root, joint_names=labels)


def reordered(
    motion: Motion, order: np.ndarray | slice = slice(None, None, -1)
) -> Motion:
    joints = motion.joint_displacement
    labels = tuple(np.array(joints.part_labels)[order].tolist())
    other = replace(joints, values=joints.values[:, order], part_labels=labels)
    return motion.replaced(*(other if c is joints else c for c in motion.components))


def relabelled(motion: Motion, labels: tuple[str, ...]) -> Motion:
    joints = motion.joint_displacement
    return motion.replaced(
        *(
            replace(c, part_labels=labels) if c is joints else c
            for c in motion.components
        )
    )


def test_values_of_joints_in_any_order(body):
    motion = motion_of(body)
    q = motion.joint_displacement.values
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(body.num_joints)
        component = reordered(motion, order).joint_displacement
        assert np.array_equal(body.joint_values(component), q)
        assert np.array_equal(component.values[:, body.joint_columns(component)], q)
    assert np.array_equal(body.link_poses(reordered(motion)), body.link_poses(motion))


def test_names_of_links_are_names_of_their_joints(body):
    other = replace(
        body,
        links=tuple(replace(link, name=f"{link.name}_LINK") for link in body.links),
    )
    motion = motion_of(body)
    by_link = relabelled(motion, tuple(other.links[i].name for i in other.joint_links))
    assert np.array_equal(
        other.joint_values(reordered(by_link).joint_displacement),
        motion.joint_displacement.values,
    )


def test_names_match_up_to_capitals_and_separators(body):
    motion = motion_of(body)
    other = [
        joint.name.lower().replace("_", sign)
        for joint, sign in zip(body.joints, " .-_" * 20, strict=False)
    ]
    assert np.array_equal(
        body.joint_values(relabelled(motion, tuple(other)).joint_displacement),
        body.joint_values(motion.joint_displacement),
    )


def test_columns_named_by_ids_are_joints_of_these_ids(body):
    motion = motion_of(body)
    ids = relabelled(motion, tuple(f"joint_{k}" for k in range(body.num_joints)))
    assert np.array_equal(
        body.joint_values(reordered(ids).joint_displacement),
        motion.joint_displacement.values,
    )


def test_joints_are_read_by_position_where_one_side_has_no_names(body):
    motion = motion_of(body, names=False)
    bare = replace(
        body,
        links=tuple(
            replace(one, name="", joint=replace(one.joint, name=""))
            for one in body.links
        ),
    )
    for robot, labels in (
        (body, ()),
        (bare, tuple(f"channel {k}" for k in range(body.num_joints))),
    ):
        said = relabelled(motion, labels)
        assert np.array_equal(
            robot.joint_values(said.joint_displacement),
            motion.joint_displacement.values,
        )


def test_names_that_are_no_joints_are_refused_everywhere_unless_by_position(
    body, tmp_path
):
    """All, or most of them: the message counts the names that match, and has the first of both sides that do not."""
    names = [joint.name for joint in body.joints]
    count = len(names)
    path = tmp_path / "strange.csv"
    for labels, matching in (
        (tuple(f"channel {k}" for k in range(count)), 0),
        (tuple(f"channel {k}" for k in range(count - 3)) + tuple(names[-3:]), 3),
    ):
        motion = relabelled(motion_of(body), labels)
        bm.save(motion, path)
        with pytest.raises(
            ValueError,
            match=f"{matching} of {count} joint names .*{labels[0]}.*{names[0]}",
        ):
            body.joint_values(motion.joint_displacement)
        for source in (motion, path):
            for use in (
                load_scene,
                subject_of,
                lambda *of, **how: dynamics.measure(*load_together(of, **how)),
            ):
                with pytest.raises(
                    ValueError, match=f"{matching} of {count} joint names"
                ):
                    use(body, source)
                use(body, source, by_position=True)
            refused = {problem.rule for problem in bm.check(source, body=body).errors}
            assert refused & {"MOT201", "TAB101"}
            assert not {
                problem.rule
                for problem in bm.check(source, body=body, by_position=True).problems
            } & {
                "MOT201",
                "TAB101",
            }
        for change in (
            lambda m: editing.mirror(m, body),
            lambda m: editing.unwrap(m, body),
        ):
            with pytest.raises(ValueError, match=f"{matching} of {count}"):
                change(motion)
    assert by_position(motion, body).joint_displacement.part_labels == tuple(names)


def test_a_similar_name_is_proposed(body):
    names = [joint.name for joint in body.joints]
    with pytest.raises(ValueError, match=f"did you mean {names[3]} for {names[3]}X"):
        body.joint_values(
            relabelled(
                motion_of(body), (*names[:3], f"{names[3]}X", *names[4:])
            ).joint_displacement
        )
    with pytest.raises(ValueError, match=f"two columns .* are the joint {names[1]}"):
        body.link_poses(relabelled(motion_of(body), (names[1], names[1], *names[2:])))


def test_names_that_match_are_used_and_the_rest_is_reported(body, tmp_path):
    """Two joints without a column stay at 0, and two columns of no joint are left out."""
    names = [joint.name for joint in body.joints]
    strange = ("lamp brightness", "gripper pressure")
    motion = relabelled(motion_of(body), (*strange, *names[2:]))
    expected = motion_of(body).joint_displacement.values.copy()
    expected[:, :2] = 0
    assert np.array_equal(body.joint_values(motion.joint_displacement), expected)
    found = {p.rule: p.data["names"] for p in fit_problems(motion, body)}
    assert found == {"MOT222": [*strange], "MOT223": names[:2]}
    assert {"MOT222", "MOT223"} <= {
        p.rule for p in bm.check(motion, body=body).problems
    }
    # A table with the same columns is read the same.
    path = tmp_path / "walk.csv"
    bm.save(motion, path)
    table = bm.load_motion(path, body=body)
    assert np.array_equal(body.joint_values(table.joint_displacement), expected)
    assert {"MOT222", "TAB102"} <= {problem.rule for problem in table.problems}
    # Commands print it.
    model, walk = tmp_path / "robot.wrl", tmp_path / "walk.seq"
    bm.save(body, model)
    bm.save(motion, walk)
    for command in (("plot", "-o", tmp_path / "a.svg"), ("measure",)):
        words = [*command, str(model), str(walk)]
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == 0, result.output
        assert "MOT222" in result.stderr and "MOT223" in result.stderr


def test_by_position_is_proposed_only_where_it_can_be_right(body):
    count = body.num_joints
    for extra, proposed in ((0, True), (3, False)):
        motion = bm.Motion.from_joints(
            np.zeros((4, count + extra)),
            50,
            joint_names=[f"channel {k}" for k in range(count + extra)],
        )
        with pytest.raises(ValueError, match="joint names match") as caught:
            body.joint_values(motion.joint_displacement)
        assert ("--by-position" in str(caught.value)) == proposed


def test_joints_without_a_column_are_named(body):
    names = [joint.name for joint in body.joints]
    few = reordered(motion_of(body), np.arange(body.num_joints - 1, 1, -1))
    nameless = relabelled(few, ())
    with pytest.raises(
        ValueError,
        match=f"has {body.num_joints}: there is none for {names[-2]}, {names[-1]}\\.",
    ):
        body.link_poses(nameless)
    (problem,) = fit_problems(few, body)
    assert problem.rule == "MOT223"
    assert problem.data["names"] == names[:2]


def test_a_placeholder_needs_no_column(body):
    links = [
        replace(link, joint=replace(link.joint, id=link.joint.id + (link.joint.id > 2)))
        for link in body.links
    ]
    gap = replace(body, links=tuple(links))
    assert gap.num_joints == body.num_joints + 1
    assert gap.joint_links[3] == -1
    motion = motion_of(body)
    for one in (motion, reordered(motion)):
        assert np.array_equal(gap.link_poses(one), body.link_poses(motion))
        back = reordered(editing.mirror(editing.mirror(one, gap), gap), slice(None))
        assert np.allclose(
            back.joint_displacement.values, one.joint_displacement.values, atol=1e-15
        )


def test_changes_with_a_body_go_by_name(body):
    motion = motion_of(body)
    mixed = reordered(motion)
    filled = editing.fill_link_poses(mixed, body)
    assert np.array_equal(
        filled.link_position.values,
        editing.fill_link_poses(motion, body).link_position.values,
    )
    assert np.allclose(filled.link_position.values, body.link_poses(motion), atol=1e-12)
    assert editing.mirror(mixed, body) == reordered(editing.mirror(motion, body))
    far = replace(
        motion.joint_displacement,
        values=7 * motion.joint_displacement.values.cumsum(axis=0),
    )
    wound = motion.replaced(far)
    assert editing.unwrap(reordered(wound), body) == reordered(
        editing.unwrap(wound, body)
    )
    recovered, residual = editing.recover_joints(filled, body)
    joints = recovered.joint_displacement
    assert residual.distance < 1e-9
    assert joints.part_labels == motion.joint_displacement.part_labels
    assert np.allclose(joints.values, motion.joint_displacement.values, atol=1e-9)


def test_the_viewer_shows_joints_by_name(body):
    from bodymotion.scene.scene import make_scene

    motion = motion_of(body)
    for shown in (motion, reordered(motion)):
        assert np.array_equal(
            make_scene(body, shown).q, motion.joint_displacement.values
        )
    filled = editing.fill_link_poses(reordered(motion), body)
    assert np.array_equal(make_scene(body, filled).q, motion.joint_displacement.values)


@pytest.mark.parametrize("names", [True, False])
def test_what_is_written_with_a_body_is_in_order_of_joint_id(body, tmp_path, names):
    motion = motion_of(body, names)
    q = motion.joint_displacement.values
    for given in (motion, reordered(motion) if names else motion):
        bm.save(given, tmp_path / "a.pos", body=body)
        assert np.array_equal(bm.load(tmp_path / "a.pos").joint_displacement.values, q)
        bm.save(given, tmp_path / "a.npz", body=body, layout="beyondmimic")
        with np.load(tmp_path / "a.npz") as arrays:
            assert np.array_equal(arrays["joint_pos"], q.astype(np.float32))
            assert np.allclose(
                arrays["body_pos_w"], body.link_poses(motion)[..., :3], atol=1e-6
            )
        bm.save(given, tmp_path / "a.npz", body=body)
        assert np.array_equal(bm.load(tmp_path / "a.npz").joint_displacement.values, q)
        bm.save(given, tmp_path / "a.csv", body=body)
        assert np.array_equal(bm.load(tmp_path / "a.csv").joint_displacement.values, q)
        bm.save(given, tmp_path / "b.csv", body=body, layout="unitree")
        assert np.array_equal(
            bm.load(tmp_path / "b.csv", layout="unitree").joint_displacement.values, q
        )


def test_files_without_names_need_all_joints_of_the_body(body, tmp_path):
    few = reordered(motion_of(body), np.arange(3, 0, -1))
    for name, layout in (
        ("a.pos", {}),
        ("a.csv", {"layout": "unitree"}),
        ("a.npz", {"layout": "beyondmimic"}),
    ):
        with pytest.raises(
            ValueError, match=f"there is none for {body.joints[0].name}, "
        ):
            bm.save(few, tmp_path / name, body=body, **layout)
        assert not (tmp_path / name).exists()
    bm.save(few, tmp_path / "a.csv", body=body)
    assert bm.load(tmp_path / "a.csv").joint_displacement.part_labels == tuple(
        j.name for j in body.joints[1:4]
    )


@pytest.mark.parametrize("blend", [0.0, 0.03])
def test_motions_are_joined_by_name(body, blend):
    first, second = (
        editing.fill_link_poses(motion_of(body), body),
        editing.fill_link_poses(motion_of(body), body),
    )
    names = tuple(link.name for link in body.links)
    first, second = (
        m.replaced(
            *(
                replace(c, part_labels=names) if c is m.link_position else c
                for c in m.components
            )
        )
        for m in (first, editing.reverse(second))
    )
    together = editing.join(first, second, blend=blend)
    links = second.link_position
    turned = replace(links, values=links.values[:, ::-1], part_labels=names[::-1])
    mixed = reordered(
        second.replaced(*(turned if c is links else c for c in second.components))
    )
    assert editing.join(first, mixed, blend=blend) == together
    assert editing.join(reordered(first), second, blend=blend) == reordered(together)


def test_motions_of_which_one_has_no_names_are_joined_by_position(body):
    named, bare = motion_of(body), motion_of(body, names=False)
    assert (
        editing.join(named, bare)
        == editing.join(named, named)
        == editing.join(bare, named)
    )
    assert editing.join(bare, bare).joint_displacement.part_labels == ()
    assert editing.join(bare, named, reordered(named)) == editing.join(
        named, named, named
    )


def test_motions_with_other_names_are_not_joined(body):
    motion = motion_of(body)
    names = motion.joint_displacement.part_labels
    with pytest.raises(
        ValueError,
        match=f"{names[0]}\\W+only in the first and \\W*TAIL\\W+only in the second",
    ):
        editing.join(motion, relabelled(motion, ("TAIL", *names[1:])))
    with pytest.raises(ValueError, match="not unique"):
        one = relabelled(motion, ("A", "A", *names[2:]))
        editing.join(one, relabelled(motion, ("A", names[2], "A", *names[3:])))


def test_a_table_in_another_order_goes_through_the_commands_by_name(body, tmp_path):
    motion = motion_of(body)
    plain, mixed = tmp_path / "plain.seq", tmp_path / "mixed.seq"
    bm.save(motion, plain)
    bm.save(reordered(motion), tmp_path / "mixed.csv")
    command("convert", tmp_path / "mixed.csv", mixed)
    assert bm.load(mixed).joint_displacement.part_labels[0] == body.joints[-1].name
    for source in (plain, mixed):
        command(
            "edit",
            source,
            source.with_suffix(".links.seq"),
            "--fill-links",
            "--body",
            BIPED,
        )
        command("convert", source, source.with_suffix(".pos"), "--body", BIPED)
    links = [
        bm.load(path.with_suffix(".links.seq")).link_position for path in (plain, mixed)
    ]
    assert links[0] == links[1]
    assert np.array_equal(
        bm.load(tmp_path / "mixed.pos").joint_displacement.values,
        bm.load(plain).joint_displacement.values,
    )


def command(*arguments: object, code: int = 0) -> None:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
