"""Data sets of LeRobot 3.0: a sample that lerobot wrote is read, and written again with the same content."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app
from bodymotion.collection import build_catalogue, query, write_lerobot
from bodymotion.diagnostics import losses
from bodymotion.motion import MultiValueSeq, OtherSeq
from sample_files import CORPUS, missing

parquet = pytest.importorskip("pyarrow.parquet")
SAMPLE = CORPUS / "datasets" / "made" / "lerobot_v3_tiny"
DATA, EPISODES = (
    "data/chunk-000/file-000.parquet",
    "meta/episodes/chunk-000/file-000.parquet",
)


@pytest.fixture(scope="module")
def sample():
    if not SAMPLE.exists():
        missing(SAMPLE)
    return bm.open_collection(SAMPLE)


def test_episodes_are_motions(sample):
    table = parquet.read_table(SAMPLE / DATA).to_pydict()
    assert [clip.load().num_frames for clip in sample] == [20, 15, 7]
    start = 20
    motion = sample[1].load()
    state = np.array(table["observation.state"][start : start + 15])
    info = json.loads((SAMPLE / "meta" / "info.json").read_text())
    assert motion.frame_rate == 30 and motion.joint_displacement.part_labels == tuple(
        info["features"]["observation.state"]["names"][7:]
    )
    assert np.array_equal(motion.joint_displacement.values, state[:, 7:])
    assert np.array_equal(
        motion.link_position.values[:, 0], state[:, [0, 1, 2, 6, 3, 4, 5]]
    )
    assert np.array_equal(motion["action"].values, table["action"][start : start + 15])


def test_what_is_written_is_what_lerobot_wrote(sample, tmp_path):
    tasks = [
        row["tasks"][0] for row in parquet.read_table(SAMPLE / EPISODES).to_pylist()
    ]
    write_lerobot(
        [clip.load() for clip in sample],
        tmp_path / "new",
        robot="unitree_g1",
        tasks=tasks,
    )
    for name in ("meta/info.json", "meta/stats.json"):
        ours, theirs = (
            json.loads((folder / name).read_text())
            for folder in (tmp_path / "new", SAMPLE)
        )
        if name == "meta/info.json":
            assert ours == theirs
        else:
            assert set(ours) == set(theirs)
            for feature, found in theirs.items():
                for kind in ("min", "max", "mean", "std", "count"):
                    assert ours[feature][kind] == pytest.approx(
                        found[kind], abs=1e-3 if kind == "std" else 1e-5
                    )
    assert parquet.read_table(tmp_path / "new" / DATA).equals(
        parquet.read_table(SAMPLE / DATA)
    )
    ours, theirs = (
        parquet.read_table(folder / EPISODES) for folder in (tmp_path / "new", SAMPLE)
    )
    assert set(ours.schema.names) == set(theirs.schema.names)
    plain = [
        "episode_index",
        "tasks",
        "length",
        "dataset_from_index",
        "dataset_to_index",
    ]
    assert ours.select(plain).to_pylist() == theirs.select(plain).to_pylist()
    names = [folder / "meta" / "tasks.parquet" for folder in (tmp_path / "new", SAMPLE)]
    assert (
        parquet.read_table(names[0]).to_pydict()
        == parquet.read_table(names[1]).to_pydict()
    )
    pandas = pytest.importorskip("pandas")
    assert pandas.read_parquet(names[0]).equals(pandas.read_parquet(names[1]))
    again = bm.open_collection(tmp_path / "new")
    assert [clip.load() for clip in again] == [clip.load() for clip in sample]
    with pytest.raises(FileExistsError):
        write_lerobot([sample[0].load()], tmp_path / "new")
    with pytest.raises(ValueError, match="motion 1"):
        write_lerobot(
            [sample[0].load(), sample[1].load().resample(50)], tmp_path / "other"
        )
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


def test_a_data_set_in_a_folder(sample, tmp_path):
    """Its episodes are motions of the folder; one that cannot be opened is left out."""
    shutil.copytree(SAMPLE, tmp_path / "deep" / "set")
    bm.save(sample[0].load(), tmp_path / "walk.seq")
    (tmp_path / "old" / "meta").mkdir(parents=True)
    (tmp_path / "old" / "meta" / "info.json").write_text('{"codebase_version": "v2.1"}')
    found = bm.open_collection(tmp_path)
    names = [f"deep/set/episode_{k:06d}" for k in range(3)]
    assert [clip.name for clip in found] == [*names, "walk.seq"]
    assert found.left_out == (str(tmp_path / "old"),)
    assert found[names[1]].load() == sample[1].load()
    assert bm.open_collection(str(found[1]))[0].load() == sample[1].load()
    build_catalogue(found, tmp_path / "catalogue.parquet", workers=1)
    rows = query(tmp_path / "catalogue.parquet", "errors = 0")
    assert [(row["file"], row["num_frames"]) for row in rows] == [
        *zip(names, [20, 15, 7], strict=True),
        ("walk.seq", 20),
    ]


def test_a_faulty_data_set_is_refused(sample, tmp_path):
    for change in (
        {"codebase_version": "v2.1"},
        {"data_path": "../{chunk_index}"},
        {"fps": 0},
        {"fps": 10**400},
        {"features": 1},
    ):
        shutil.copytree(SAMPLE, tmp_path / "set", dirs_exist_ok=True)
        info = json.loads((SAMPLE / "meta" / "info.json").read_text())
        (tmp_path / "set" / "meta" / "info.json").chmod(0o644)
        (tmp_path / "set" / "meta" / "info.json").write_text(json.dumps(info | change))
        with pytest.raises(bm.FormatError):
            bm.open_collection(tmp_path / "set")[0].load()
    shutil.copytree(SAMPLE, tmp_path / "cut")
    (tmp_path / "cut" / DATA).chmod(0o644)
    (tmp_path / "cut" / DATA).write_bytes(b"PAR1")
    with pytest.raises(bm.FormatError):
        bm.open_collection(tmp_path / "cut")[0].load()
    (tmp_path / "cut" / DATA).unlink()
    with pytest.raises(bm.FormatError, match="has no such file"):
        bm.open_collection(tmp_path / "cut")[0].load()


@pytest.mark.parametrize("column", ["episode_index", "length", "data/chunk_index"])
@pytest.mark.parametrize(
    "values", [[[0], [1], [2]], ["0", "1", "2"], [0, None, 2], [0.0, 1.0, float("nan")]]
)
def test_a_damaged_data_set_costs_no_other_motion(sample, tmp_path, column, values):
    shutil.copytree(SAMPLE, tmp_path / "set")
    bm.save(sample[0].load(), tmp_path / "walk.seq")
    table = parquet.read_table(tmp_path / "set" / EPISODES)
    (tmp_path / "set" / EPISODES).chmod(0o644)
    table = table.set_column(table.column_names.index(column), column, [values])
    parquet.write_table(table, tmp_path / "set" / EPISODES)
    found = bm.open_collection(tmp_path)
    assert [clip.name for clip in found] == ["walk.seq"] and found.left_out == (
        str(tmp_path / "set"),
    )


def test_components_of_one_name(tmp_path):
    """One with a name of LeRobot's is refused; of two with another name, the first is written and the other reported."""
    motion = bm.Motion.from_joints(np.zeros((3, 1)), 50, joint_names=["A"])
    one, other = (
        MultiValueSeq(
            content="action",
            timeline=motion.timeline,
            values=np.full((3, 1), value),
            part_labels=("A",),
        )
        for value in (1.0, 2.0)
    )
    lost = write_lerobot(
        [motion.replaced(*motion.components, one, other)], tmp_path / "new"
    )
    assert [problem.rule for problem in lost].count(losses.COMPONENT.code) == 1
    assert (bm.open_collection(tmp_path / "new")[0].load()["action"].values == 1).all()
    for name in ("observation.state", "index"):
        with pytest.raises(ValueError, match=name):
            write_lerobot(
                [motion.replaced(*motion.components, replace(one, content=name))],
                tmp_path / "other",
            )
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_lerobot([motion], tmp_path / "nowhere" / "new")
    nothing = bm.Motion.from_joints(np.zeros((0, 1)), 50, joint_names=["A"])
    write_lerobot([motion, nothing], tmp_path / "empty")
    assert [
        clip.load().num_frames for clip in bm.open_collection(tmp_path / "empty")
    ] == [3, 0]


def changed(tmp_path, **features):
    """Copy the sample with other features, and return its folder."""
    shutil.copytree(SAMPLE, tmp_path / "set")
    path = tmp_path / "set" / "meta" / "info.json"
    info = json.loads(path.read_text())
    info["fps"] = features.pop("fps", info["fps"])
    for name, change in features.items():
        info["features"][name.replace("_", ".")] |= change
    path.chmod(0o644)
    path.write_text(json.dumps(info))
    return tmp_path / "set"


@pytest.mark.parametrize(
    "change", [lambda names: names[1:], lambda names: [*names, "more"]]
)
def test_a_wrong_number_of_names_is_an_error(sample, tmp_path, change):
    names = json.loads((SAMPLE / "meta" / "info.json").read_text())["features"][
        "observation.state"
    ]["names"]
    folder = changed(tmp_path, observation_state={"names": change(names)})
    with pytest.raises(
        bm.FormatError,
        match=f"FMT007 observation.state has {len(change(names))} names for",
    ):
        bm.open_collection(folder)[0].load()


@pytest.mark.parametrize("names", [None, "HIP", {"motors": 3}])
def test_features_without_names_are_left_out(sample, tmp_path, names):
    folder = changed(tmp_path, observation_state={"names": names})
    motion = bm.open_collection(folder)[0].load()
    assert [one.content for one in motion.components] == [
        "action"
    ] and motion.num_frames == 20
    assert [(one.rule, one.severity) for one in motion.problems] == [("FMT007", "note")]
    answer = CliRunner().invoke(app, ["info", str(folder / "episode_000000")])
    assert (
        answer.exit_code == 0
        and "FMT007 observation.state has no list of names" in answer.output
    )
    shutil.rmtree(folder)
    folder = changed(
        tmp_path, observation_state={"names": names}, action={"names": names}
    )
    with pytest.raises(bm.FormatError, match="FMT007"):
        bm.open_collection(folder)[0].load()


def test_time_stamps_that_contradict_the_rate_are_reported(sample, tmp_path):
    assert not any(clip.load().problems for clip in sample)
    folder = changed(tmp_path, fps=10)
    clips = bm.open_collection(folder)
    reason = "frame 1 of episode 1 is 0.0333333 s after frame 0 by its time stamp, but 0.1 s by fps 10, which is used"
    assert clips[1].load().frame_rate == 10 and [
        one.message for one in clips[1].load().problems
    ] == [reason]
    assert (
        f"FMT008 {reason}"
        in CliRunner().invoke(app, ["check", str(folder / "episode_000001")]).output
    )
    build_catalogue(clips, tmp_path / "catalogue.parquet", workers=1)
    assert len(query(tmp_path / "catalogue.parquet", "warnings > 0")) == 3


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_not_finite_are_a_loss(tmp_path):
    """Statistics are those of the finite numbers, and valid JSON."""
    values = np.arange(24.0).reshape(2, 4, 3)
    values[0, 1, 0], values[0, 2, 0], values[1, :, 1], values[:, :, 2] = (
        np.nan,
        np.inf,
        np.nan,
        1e300,
    )
    motions = [
        bm.Motion.from_joints(one, 50, joint_names=["A", "B", "C"]) for one in values
    ]
    lost = write_lerobot(motions, tmp_path / "set")
    assert [(one.severity, one.message) for one in lost if one.rule == "LOSS002"] == [
        ("warning", "numbers of observation.state that are not finite: 6"),
        ("warning", "numbers of observation.state that are not finite: 8"),
    ]
    text = (tmp_path / "set" / "meta" / "stats.json").read_text()
    found = json.loads(text, parse_constant=pytest.fail)["observation.state"]
    assert (
        found["min"] == [0, 1, 0]
        and found["max"] == [21, 10, 0]
        and found["mean"][1] == 5.5
    )
    state = bm.open_collection(tmp_path / "set")[0].load().joint_displacement.values
    assert np.isnan(state[1, 0]) and np.isinf(state[:, 2]).all()


def test_the_first_difference_is_named(tmp_path):
    def one(*names, rate=50.0, **more):
        return bm.Motion.from_joints(
            np.zeros((4, len(names))), rate, joint_names=names, **more
        )

    pose, late = [0, 0, 0, 1, 0, 0, 0], {"rate": None, "times": [3.0, 3.1, 3.2, 3.3]}
    for second, reason in (
        (one("a", "b"), "has a in column 0 of observation.state, but motion 0 has A"),
        (one("A"), "has nothing in column 1 of observation.state, but motion 0 has B"),
        (
            one("A", "B", root=pose),
            "has root_x in column 0 of observation.state, but motion 0 has A",
        ),
        (
            one("A", "B", **late),
            "has 4 frames with time stamps from 3 s to 3.3 s, but motion 0 has 50 Hz; `convert --rate` resamples",
        ),
        (bm.Motion.from_link_poses([[pose]] * 4, 50), "has no joints"),
        (
            bm.Motion.from_joints(np.zeros((4, 2)), 50),
            "has no names of joints; `convert --body` names them",
        ),
    ):
        with pytest.raises(ValueError) as raised:
            write_lerobot([one("A", "B"), second], tmp_path / "set", tasks=["x", "y"])
        assert str(raised.value) == f"motion 1 (y) {reason}"
    with pytest.raises(
        ValueError,
        match=r"motion 0 has 4 frames with time stamps .*, but needs a whole number",
    ):
        write_lerobot([one("A", **late)], tmp_path / "set")


def test_data_sets_at_an_address_are_left_out(sample, tmp_path):
    """They are named."""
    archive = shutil.make_archive(
        str(tmp_path / "sets"), "zip", SAMPLE.parent, SAMPLE.name
    )
    found = bm.open_collection(archive)
    assert len(found) == 0 and found.left_out == (f"zip://{SAMPLE.name}::{archive}",)
    answer = CliRunner().invoke(app, ["info", archive])
    assert (
        "1 collection left out, to be named by itself, a data set in a local folder: zip://"
        in answer.output
    )


def test_the_command_writes_one_data_set(examples, tmp_path, monkeypatch):
    """Motions of any format, at one rate, with the names of the model, are those that the library writes; all losses are reported."""
    monkeypatch.chdir(tmp_path)
    body, walk = (
        bm.load_body(examples / "biped.wrl"),
        bm.load_motion(examples / "biped_walk.seq"),
    )
    Path("motions/deep").mkdir(parents=True)
    shutil.copy(examples / "biped.wrl", "motions/model.wrl")
    bm.save(walk[0:120], "motions/b.walk.seq")
    bm.save(walk[300:350], "motions/deep/a.parquet", body=body)
    command = [
        "convert",
        "motions",
        "set",
        "--to",
        "lerobot",
        "--body",
        "motions/model.wrl",
        "--rate",
        "50",
    ]
    strict = ["--strict-losses", "--workers", "1"]
    answer = CliRunner().invoke(app, [*command, *strict])
    assert answer.exit_code == 3, answer.output
    assert (
        "LOSS007 ×2" in answer.output
        and "'ZMP'" in answer.output
        and "set: 2 episodes written" in answer.output
    )
    names = [joint.name for joint in body.joints]
    motions = [one.resample(50, "linear") for one in (walk[0:120], walk[300:350])]
    motions = [
        bm.Motion.from_joints(
            one.joint_displacement.values,
            50,
            root=one.link_position.values[:, 0],
            joint_names=names,
            zmp=one.zmp.values,
        )
        for one in motions
    ]
    lost = write_lerobot(motions, "other", tasks=["b.walk", "deep/a"])
    assert [(problem.rule, problem.count) for problem in lost] == [
        ("LOSS007", 2),
        ("LOSS012", 2),
    ]
    for name in (DATA, "meta/tasks.parquet"):
        assert parquet.read_table(f"set/{name}").equals(
            parquet.read_table(f"other/{name}")
        )
    assert json.loads(Path("set/meta/info.json").read_text()) == json.loads(
        Path("other/meta/info.json").read_text()
    )


def test_a_data_set_is_written_whole_or_not_at_all(examples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("motions").mkdir()
    walk = bm.Motion.from_joints(np.zeros((9, 2)), 50, joint_names=["HIP", "KNEE"])
    for name, motion in {"a": walk, "b": walk.resample(60, "after")}.items():
        bm.save(motion, f"motions/{name}.seq")

    def refused(code: int, *options: str) -> str:
        command = [
            "convert",
            "motions",
            "set",
            "--to",
            "lerobot",
            "--workers",
            "1",
            *options,
        ]
        answer = CliRunner().invoke(app, command)
        assert answer.exit_code == code, answer.output
        assert [path.name for path in tmp_path.iterdir()] == ["motions"]
        return answer.output

    reason = "motion 1 (b) has 11 frames at 60 Hz, but motion 0 has 50 Hz"
    assert reason in refused(1)
    assert "motion 0 (a) has 6 frames at 33.3 Hz, but needs a whole number" in refused(
        1, "--rate", "33.3"
    )
    for option in ("--resume", "--suffix=.csv", "--table=a.jsonl"):
        assert "cannot be used with" in refused(2, option)
    Path("motions/c.seq").write_text("type: [")
    assert "set: not written" in refused(1, "--rate", "50")
    Path("motions/c.seq").unlink()
    with mock.patch("bodymotion.collection.map_files", side_effect=KeyboardInterrupt):
        assert "interrupted after 0 of 2 files\n" in refused(130)
    assert (
        CliRunner()
        .invoke(app, ["convert", "motions/a.seq", "motions", "--to", "lerobot"])
        .exit_code
        == 2
    )
    assert (
        CliRunner()
        .invoke(app, ["convert", "motions/a.seq", "set", "--to", "lerobot"])
        .exit_code
        == 0
    )
    assert bm.open_collection("set")[0].load().joint_displacement.part_labels == (
        "HIP",
        "KNEE",
    )
    bm.save(
        walk.replaced(*walk.components, OtherSeq(type="MoodSeq", content="Face")),
        "motions/b\udcff.seq",
    )
    Path("motions/b.seq").unlink()
    command = ["convert", "motions", "two", "--to", "lerobot", "--workers", "1"]
    answer = CliRunner().invoke(app, [*command, "--strict-losses"])
    assert (
        answer.exit_code == 3
        and "parts" not in answer.output
        and "b\\udcff.seq" in answer.output
    ), answer.output
    assert parquet.read_table("two/meta/tasks.parquet").column(1).to_pylist() == [
        "a",
        "b\\udcff",
    ]


@pytest.mark.skipif(
    "LEROBOT_PYTHON" not in os.environ,
    reason="needs lerobot's own environment: make accept-lerobot",
)
def test_lerobot_reads_what_is_written(examples, tmp_path):
    """Names, values, rate, tasks and the frames of each episode."""
    body, walk = bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")
    names = [joint.name for joint in body.joints]
    motions = [
        bm.Motion.from_joints(
            one.joint_displacement.values,
            100,
            root=one.link_position.values[:, 0],
            joint_names=names,
        )
        for one in (walk[0:120], walk[300:350])
    ]
    write_lerobot(motions, tmp_path / "set", robot="biped", tasks=["walk", "stop"])
    reader = Path(__file__).with_name("lerobot_reader.py")
    subprocess.run(
        [os.environ["LEROBOT_PYTHON"], reader, tmp_path / "set", tmp_path / "read.npz"],
        check=True,
    )
    with np.load(tmp_path / "read.npz") as read:
        assert read["fps"] == 100 and list(read["names"][7:]) == names
        assert (
            list(read["episode_index"]) == [0] * 120 + [1] * 50
            and list(read["task"]) == ["walk"] * 120 + ["stop"] * 50
        )
        state = np.concatenate(
            [
                np.hstack(
                    [
                        m.link_position.values[:, 0][:, [0, 1, 2, 4, 5, 6, 3]],
                        m.joint_displacement.values,
                    ]
                )
                for m in motions
            ]
        )
        assert np.array_equal(read["observation/state"], state.astype(np.float32))


@pytest.mark.parametrize(
    "nest",
    [
        lambda names: [names],
        lambda names: [names[:9], names[9:]],
        lambda names: {"motors": [names]},
        lambda names: {"root": names[:7], "joints": names[7:]},
        lambda names: {name: k for k, name in reversed([*enumerate(names)])},
    ],
)
def test_names_in_lists_and_mappings(sample, tmp_path, nest):
    """Lists in a list and in a mapping are read in their order, a mapping to columns in that of the columns."""
    names = json.loads((SAMPLE / "meta" / "info.json").read_text())["features"][
        "observation.state"
    ]["names"]
    folder = changed(tmp_path, observation_state={"names": nest(names)})
    assert bm.open_collection(folder)[0].load() == sample[0].load()


@pytest.mark.parametrize("names", [{"a": 0, "b": 0}, {"a": 1, "b": 2}, [[[[["a"]]]]]])
def test_names_that_are_no_list(sample, tmp_path, names):
    folder = changed(tmp_path, observation_state={"names": names})
    motion = bm.open_collection(folder)[0].load()
    assert [one.rule for one in motion.problems] == ["FMT007"]


def test_nested_names_of_strangers(strangers):
    (clip,) = bm.open_collection(strangers / "14/ds_nested")
    motion = clip.load()
    assert motion.joint_displacement.num_parts == 32 and not motion.problems
    assert motion.joint_displacement.part_labels[0] == "R_HIP_YAW"
    assert motion.link_position.values.shape[1:] == (1, 7)
