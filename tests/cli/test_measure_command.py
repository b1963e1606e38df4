"""`bodymotion measure`: what it prints and writes is what the library measures."""

from __future__ import annotations

import csv
import json
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner

import bodymotion as bm
from bodymotion.cli.app import app

run = CliRunner()


@pytest.fixture(scope="module")
def measures(examples) -> bm.dynamics.Measures:
    return bm.dynamics.measure(
        bm.load(examples / "biped.wrl"), bm.load(examples / "biped_walk.seq")
    )


@pytest.fixture(scope="module")
def examples(request):
    return request.config.rootpath / "examples"


@pytest.fixture
def measured(examples):
    def work(*arguments, code=0):
        files = [examples / "biped.wrl", examples / "biped_walk.seq"]
        result = run.invoke(app, ["measure", *map(str, [*files, *arguments])])
        assert result.exit_code == code, result.output + result.stderr
        return result

    return work


def same_numbers(found, expected):
    """Compare numbers that may come from NumPy on one side and from a compiled kernel on the other: they differ by rounding."""
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_key_figures_are_those_of_the_library(measured, measures):
    data = json.loads(measured("--json").stdout)
    figures = bm.dynamics.figures(measures)
    assert [one["name"] for one in data["figures"]] == [one.name for one in figures]
    same_numbers(
        [one["value"] for one in data["figures"]], [one.value for one in figures]
    )
    body = measures.body
    assert [joint["name"] for joint in data["joints"]] == [
        joint.name for joint in body.joints
    ]
    for k, joint in enumerate(data["joints"]):
        same_numbers(
            abs(joint["velocity"]), np.abs(measures.joint_velocities[:, k]).max()
        )
        same_numbers(abs(joint["torque"]), np.abs(measures.torques[:, k]).max())
        same_numbers(joint["effort"], measures.effort[k])
        frame = int(np.argmax(np.abs(measures.torques[:, k])))
        assert joint["torque_time"] == measures.times[frame]
        used = (
            np.abs(measures.joint_velocities[:, k]).max()
            / body.joints[k].velocity_upper
        )
        assert joint["velocity_limit_used"] == pytest.approx(used)
    assert [foot["link"] for foot in data["feet"]] == list(measures.contacts.names)
    for k, foot in enumerate(data["feet"]):
        assert foot["time_in_contact"] == measures.contacts.in_contact[:, k].mean()
        assert 4 <= foot["contacts"] <= 8


def test_the_page_has_a_row_for_each(measured, measures):
    lines = measured().stdout.splitlines()
    assert lines[0] == "biped_walk.seq on BIPED"
    for joint in measures.body.joints:
        assert sum(line.split()[:1] == [joint.name] for line in lines) >= 1
    shares = [one for one in bm.dynamics.figures(measures) if one.unit == "share"]
    assert len(shares) == 4
    for one in shares:
        (line,) = (line for line in lines if line.strip().startswith(one.title))
        value, unit = line.strip().removeprefix(one.title).split()[:2]
        assert unit == "%" and float(value) == pytest.approx(100 * one.value, rel=1e-3)
    worst = np.argmax(np.abs(measures.torques).max(axis=0))
    assert any(
        line.split()[:3] == ["Largest", "joint", "torque"]
        and measures.body.joints[worst].name in line
        for line in lines
    )


def test_a_csv_holds_the_very_numbers(measured, measures, tmp_path):
    out = tmp_path / "walk.csv"
    result = measured(
        "--of", "torques,stability_margin", "--of", "zmp,WAIST_GYRO", "-o", out
    )
    assert (result.stdout, result.stderr) == (
        "",
        f"{out}: torques, stability_margin, zmp, WAIST_GYRO\n",
    )
    with out.open(newline="") as file:
        names, *rows = csv.reader(file)
    joints = [f"torques/{joint.name}" for joint in measures.body.joints]
    assert names == [
        "time",
        *joints,
        "stability_margin",
        *[f"zmp/{a}" for a in "xyz"],
        *[f"WAIST_GYRO/{a}" for a in "xyz"],
    ]
    parts = (
        measures.times[:, None],
        measures.torques,
        measures.stability_margin[:, None],
        measures.zmp,
    )
    expected = np.concatenate([*parts, measures.read("WAIST_GYRO").values], axis=1)
    same_numbers(np.array(rows, dtype=float), expected)


def test_all_quantities_in_each_kind_of_file(measured, measures, tmp_path):
    names = bm.dynamics.measurable(measures)
    measured("-o", tmp_path / "all.npz")
    arrays = np.load(tmp_path / "all.npz", allow_pickle=False)
    measured("-o", tmp_path / "all.json")
    data = {one["name"]: one for one in json.loads((tmp_path / "all.json").read_text())}
    assert list(data) == list(names)
    for name in names:
        of = bm.dynamics.series(measures, name)
        same_numbers(arrays[name], of.values)
        assert (
            tuple(arrays[f"{name}.labels"]) == of.labels == tuple(data[name]["labels"])
        )
        assert tuple(arrays[f"{name}.units"]) == of.units
        np.testing.assert_array_equal(arrays[f"{name}.times"], measures.times)
        same_numbers(np.array(data[name]["values"], dtype=float), of.values)
        if of.upper is not None:
            np.testing.assert_array_equal(arrays[f"{name}.upper"], of.upper)


def test_a_parquet_file(measured, measures, tmp_path):
    polars = pytest.importorskip("polars")
    measured("--of", "power", "-o", tmp_path / "walk.parquet")
    table = polars.read_parquet(tmp_path / "walk.parquet")
    same_numbers(table["power/R_KNEE"].to_numpy(), measures.power[:, 3])


def test_sensors_with_times_of_their_own(measured, measures, tmp_path):
    result = measured(
        "--of", "WAIST_GYRO,CHEST_SCANNER", "-o", tmp_path / "two.csv", code=1
    )
    assert "other times" in result.stderr
    assert not list(tmp_path.iterdir())
    measured(
        "--of",
        "WAIST_GYRO,CHEST_SCANNER",
        "--scenery",
        "ground",
        "-o",
        tmp_path / "two.npz",
    )
    arrays = np.load(tmp_path / "two.npz", allow_pickle=False)
    under = np.eye(4)
    under[2, 3] = measures.ground[0] - 0.5
    reading = measures.read(
        "CHEST_SCANNER", [bm.shapes.Shape(bm.shapes.Box((1000.0, 1000.0, 1.0)), under)]
    )
    np.testing.assert_allclose(arrays["CHEST_SCANNER"], reading.values)
    np.testing.assert_array_equal(arrays["CHEST_SCANNER.times"], reading.times)
    np.testing.assert_array_equal(arrays["CHEST_SCANNER.saturated"], reading.saturated)
    result = measured("--of", "CHEST_SCANNER", "--scenery", "ground")
    assert "RangeSensor CHEST_SCANNER" in result.stdout and result.stderr == ""
    assert (
        "CHEST_SCANNER: no object in range" in measured("--of", "CHEST_SCANNER").stderr
    )


def test_pictures(examples, tmp_path, monkeypatch):
    """Of a robot with a small camera that looks at another robot."""
    body = bm.load(examples / "biped.wrl")
    eye = next(
        device for device in body.devices if isinstance(device, bm.model.VisionSensor)
    )
    small = bm.model.VisionSensor(
        name="EYE",
        link=eye.link,
        pose=eye.pose,
        type="COLOR_DEPTH",
        width=32,
        height=24,
        frame_rate=5.0,
    )
    bm.save(
        bm.Body(
            name=body.name, links=body.links, devices=(small,), root_pose=body.root_pose
        ),
        tmp_path / "seer.wrl",
    )
    arguments = [
        tmp_path / "seer.wrl",
        examples / "biped_walk.seq",
        "--of",
        "EYE",
        "--scenery",
        "ground",
    ]
    monkeypatch.setattr("bodymotion.cli.measure_output.LARGE_FILE", 1000)
    result = run.invoke(
        app, ["measure", *map(str, arguments), "-o", str(tmp_path / "seen.npz")]
    )
    assert result.exit_code == 0 and result.stderr.splitlines()[-1].endswith(
        "seen.npz: EYE (0 MB)"
    ), result.stderr
    with zipfile.ZipFile(tmp_path / "seen.npz") as archive:
        assert {one.compress_type for one in archive.infolist()} == {
            zipfile.ZIP_DEFLATED
        }
    arrays = np.load(tmp_path / "seen.npz", allow_pickle=False)
    assert arrays["EYE.color"].shape == (51, 24, 32, 3)
    assert arrays["EYE.depth"].shape == (51, 24, 32)
    assert np.isfinite(arrays["EYE.depth"]).any()
    shown = run.invoke(app, ["measure", *map(str, arguments)])
    assert "51 frames of 32 × 24, COLOR_DEPTH" in shown.stdout
    refused = run.invoke(
        app, ["measure", *map(str, arguments), "-o", str(tmp_path / "seen.csv")]
    )
    assert refused.exit_code == 1 and "write an .npz" in refused.stderr


def test_the_list(measured, measures):
    data = json.loads(measured("--list", "--json").stdout)
    assert [one["name"] for one in data["quantities"]] == list(
        bm.dynamics.measurable(measures)
    )
    assert [one["name"] for one in data["sensors"]] == [
        device.name for device in measures.body.devices
    ]
    lines = measured("--list").stdout.splitlines()
    assert any(
        line.split()[:1] == ["torques"] and line.endswith("32 joints") for line in lines
    )


def test_extremes_of_what_was_asked_for(measured, measures):
    (one,) = json.loads(measured("--of", "joint_velocities", "--json").stdout)[
        "quantities"
    ]
    columns = {column["label"]: column for column in one["columns"]}
    knee = measures.joint_velocities[:, 3]
    assert columns["R_KNEE"]["highest"] == knee.max()
    assert columns["R_KNEE"]["highest_time"] == measures.times[np.argmax(knee)]
    joint = measures.body.joints[3]
    used = max(knee.max() / joint.velocity_upper, knee.min() / joint.velocity_lower)
    assert columns["R_KNEE"]["limit_used"] == pytest.approx(used)


def test_options_go_to_the_library(measured, measures):
    central = bm.dynamics.measure(
        measures.body,
        measures.motion,
        derivative="central",
        feet=["R_ANKLE_ROLL"],
        ground=-0.1,
    )
    data = json.loads(
        measured(
            "--json",
            "--derivative",
            "central",
            "--feet",
            "R_ANKLE_ROLL",
            "--ground",
            "-0.1",
        ).stdout
    )
    assert [foot["link"] for foot in data["feet"]] == ["R_ANKLE_ROLL"]
    assert data["joints"][3]["velocity"] in central.joint_velocities[:, 3]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--of", "speed"], 2, "unknown quantity or sensor 'speed'"),
        (["-o", "walk.xyz"], 2, "does not end in .csv"),
        (["--feet", "TOE"], 2, "no link 'TOE'"),
        (["--list", "--of", "zmp"], 2, "cannot be combined with --of"),
        (["--scenery", "nowhere.wrl", "--of", "HEAD_CAMERA"], 1, "nowhere.wrl"),
    ],
)
def test_wrong_use_is_said(measured, arguments, code, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = measured(*arguments, code=code)
    assert words in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


def test_files_in_the_wrong_places(examples):
    files = [str(examples / "biped_walk.seq"), str(examples / "biped.wrl")]
    result = run.invoke(app, ["measure", *files])
    assert result.exit_code == 2 and "not a model" in result.stderr


def test_an_animation_is_played_and_measured(examples):
    result = run.invoke(app, ["measure", str(examples / "trot.cha"), "--json"])
    assert result.exit_code == 0, result.output
    motion = bm.play(bm.load(examples / "trot.cha"))
    expected = bm.dynamics.figures(bm.dynamics.measure(bm.spot.body(arm=False), motion))
    data = json.loads(result.stdout)
    assert [one["value"] for one in data["figures"]] == [one.value for one in expected]
    alone = run.invoke(app, ["measure", str(examples / "biped.wrl")])
    assert alone.exit_code == 2 and "needs a motion" in " ".join(alone.stderr.split())


@pytest.fixture
def spoilt(examples, measures, tmp_path):
    def measure(number, *arguments, frames=slice(10, 12), root=True):
        q = np.array(measures.joint_displacements)
        q[frames, 3] = number
        path = tmp_path / "spoilt.npz"
        bm.save(
            bm.Motion.from_joints(q, 100, root=measures.root_poses if root else None),
            path,
        )
        return run.invoke(
            app, ["measure", str(examples / "biped.wrl"), str(path), *arguments]
        )

    return measure


def test_problems_of_the_measures_are_told(spoilt):
    result = spoilt(np.nan)
    assert (
        result.exit_code == 0
        and "MEAS103 2 of 1001 frames" in result.stderr
        and "R_KNEE" in result.stderr
    )
    result = spoilt(0.5, "--json", root=False)
    assert "MEAS101" in result.stderr and "MEAS101" in [
        one["rule"] for one in json.loads(result.stdout)["problems"]
    ]
    assert "MEAS101" not in spoilt(0.5, "--no-on-feet", root=False).stderr
    assert [line.split()[1] for line in spoilt(0.5).stderr.splitlines()[::2]] == [
        "NPZ105"
    ], "joints have no names"


def test_a_column_without_numbers_and_numbers_that_are_huge(spoilt):
    assert spoilt(np.nan, frames=slice(None)).exit_code == 0
    result = spoilt(1e300)
    assert result.exit_code == 0 and "Warning" not in result.stderr
    assert max(map(len, result.stdout.split())) < 40


def test_library_command_plots_and_reports_have_the_same_figures_where_the_root_follows_the_feet(
    examples, measures, tmp_path
):
    from bodymotion.plots import subject_of

    motion = bm.Motion.from_joints(measures.joint_displacements, 100)
    bm.save(motion, tmp_path / "alone.npz")
    files = [str(examples / "biped.wrl"), str(tmp_path / "alone.npz")]
    expected = bm.dynamics.figures(bm.dynamics.measure(measures.body, motion))
    assert {one.name: one.value for one in expected}["path_length"] > 1
    data = json.loads(run.invoke(app, ["measure", *files, "--json"]).stdout)
    values = pytest.approx(
        [one.value for one in expected], rel=1e-12, abs=1e-12
    )  # kernels begin to be compiled after many calls
    assert [one["value"] for one in data["figures"]] == values
    subject = subject_of(*files)
    assert [one.value for one in bm.dynamics.figures(subject.measures)] == values
    assert any("follows the feet" in note for note in subject.notes)
