"""The plan of a command for many files: each file, and that of its result."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import click

from bodymotion import __version__
from bodymotion.cli.output import ONE, print_message
from bodymotion.diagnostics import WrongUseError
from bodymotion.diagnostics.text import counted, listed

if TYPE_CHECKING:
    from bodymotion.collection import Clip

Input: TypeAlias = "Path | Clip"
"""A file, or a motion at an address, in an archive or in a data set."""
MAX_LEFT_OUT = 20
"""Names of files left out that a message lists."""
MAX_CHANGED = 5
"""Names that cannot be those of files, of which a message lists so many."""
MAX_NAME = 256
"""Characters of a word that may name a file; Linux allows 255 in a name."""
FLAGS_WITHOUT_EFFECT = ("--resume", "--strict-losses")
OPTIONS_WITHOUT_EFFECT = ("--workers", "--table", "--time-limit", "--cluster")
"""Options with a value that change no result."""


@dataclass(frozen=True)
class ManyFiles:
    """How a command handles many files.

    `models` is the number of arguments before the motions, which are for all of them,
    -1 for one after the motions; `target` what names the
    result: the last argument, an option, or nothing; `suffix` the extension of results,
    by default that of the input. `of_models`: whether models in a folder are used, too;
    `single`: options that name files of one run.
    """

    models: int = 0
    target: str = ""
    suffix: str = ""
    of_models: bool = False
    single: tuple[str, ...] = ()


MANY_FILES = {
    "info": ManyFiles(of_models=True),
    "check": ManyFiles(of_models=True),
    "measure": ManyFiles(1, "output", ".csv"),
    "convert": ManyFiles(0, "argument", of_models=True),
    "retime": ManyFiles(0, "argument"),
    "edit": ManyFiles(0, "argument"),
    "balance": ManyFiles(1, "output", ".seq"),
    "retarget": ManyFiles(-1, "output", ".seq"),
    "simulate": ManyFiles(
        1, "output", ".seq", single=("sensors", "contacts", "cameras")
    ),
    "render": ManyFiles(1, "output", ".mp4"),
    "report": ManyFiles(1, "output", ".html"),
}
"""The commands for many files.

`check` summarizes them by itself, except for a table.
"""


class Run(NamedTuple):
    """An input of a plan, and the file of its result, if it has one."""

    source: Input
    result: Path | None


class Found(NamedTuple):
    """The inputs of a plan.

    Attributes
    ----------
    given:
        The files and folders on the command line.
    files:
        The files that these stand for.
    clips:
        The motions of collections.
    addresses:
        The collection of each clip, as it is on the command line.
    """

    given: Sequence[Path]
    files: Sequence[Path]
    clips: "Sequence[Clip]"
    addresses: Sequence[str]


@dataclass(frozen=True)
class Plan:
    """What is done with each file.

    Attributes
    ----------
    name, options, models:
        Of the command line: the command, the words of options, the models.
    find_command:
        Returns the command by its name, in a worker, too.
    inputs:
        Files, folders, patterns; addresses and archives as texts.
    folder:
        That of the results.
    suffix:
        The extension of the results; empty for that of the input.
    mark:
        The object of the context of each run: `PART` where the results are parts of
        one.
    file:
        The result of the only run, where it is a file by its name.
    """

    name: str
    find_command: Callable[[str], click.Command]
    options: tuple[str, ...]
    models: tuple[Path, ...]
    inputs: tuple[Path | str, ...]
    folder: Path | None
    suffix: str
    mark: str = ONE
    file: Path | None = None

    def runs(self) -> Iterator[Run]:
        """Yield the files, each with that of its result.

        Two files with the same name keep their extensions in it.
        """
        found = self._find_inputs()
        sources: list[Input] = [*found.files, *found.clips]
        # No folder: nothing is written, or all that is written is the one file.
        if self.folder is None or self.file is not None:
            for source in sources:
                yield Run(source, self.file)
            return
        files = self._paths_of_files(found)
        paths = [*files.values(), *self._paths_of_clips(found)]
        sources = [*files, *found.clips]
        yield from map(Run, sources, self._name_results(sources, paths))

    def _find_inputs(self) -> Found:
        """Return the files and motions, and report what is left out."""
        from bodymotion.collection import find_files, open_collection

        unknown: list[str] = []

        def report(path: Path, folder: Path | None) -> None:
            if folder is None:
                unknown.append(str(path))
            else:
                print_message(
                    f"bodymotion {self.name}: {path} is a link that leads out of "
                    f"{folder}: left out"
                )

        given = [source for source in self.inputs if isinstance(source, Path)]
        # A data set or another common result holds motions only.
        takes_models = MANY_FILES[self.name].of_models and self.mark == ONE
        files = list(find_files(given, report, takes_models))
        clips: list[Clip] = []
        addresses: list[str] = []
        for address in self.inputs:
            if isinstance(address, str):
                collection = open_collection(address)
                clips += collection
                addresses += [address] * len(collection)
                unknown += collection.left_out
        report_left_out(self.name, unknown)
        return Found(given, files, clips, addresses)

    def _paths_of_files(self, found: Found) -> dict[Path, Path]:
        """Return the path below the folder of each file that is no result of a run.

        Raises
        ------
        WrongUseError
            When a folder that is given is that of the results, or in it.
        """
        from bodymotion.collection import root_of

        assert self.folder is not None
        if not found.given:
            return {}
        root = root_of(found.given, list(found.files))
        # Links stay as they are.
        folder = Path(os.path.abspath(self.folder))  # noqa: PTH100
        # By real paths: a link to the folder of the results would read results as
        # inputs.
        real_folder = os.path.realpath(folder)
        for path in found.given:
            if path.is_dir() and Path(os.path.realpath(path)).is_relative_to(
                real_folder
            ):
                raise WrongUseError(
                    f"{path} is the folder of the results, or in it; choose another "
                    "folder for them"
                )
        # Results of an earlier run are no inputs, where the folder is below the common
        # one.
        results_are_below = folder != root and folder.is_relative_to(root)
        paths = {}
        for path in found.files:
            whole = Path(os.path.abspath(path))  # noqa: PTH100
            if not (results_are_below and whole.is_relative_to(folder)):
                paths[path] = whole.relative_to(root)
        return paths

    def _paths_of_clips(self, found: Found) -> list[Path]:
        """Return a path below the folder of the results for each collected motion.

        Report names that no file can have.
        """
        from bodymotion.collection.inputs import plain_path

        paths = []
        changed: list[str] = []
        for clip, address in zip(found.clips, found.addresses, strict=True):
            path = Path(plain_path(clip.file_name))
            if str(path) != clip.file_name:
                changed.append(clip.file_name)
            # The results of one collection are in the folder itself, as those of a
            # folder are.
            if len(self.inputs) > 1:
                path = _folder_of(clip, address) / path
            paths.append(path)
        if changed:
            print_message(
                f"bodymotion {self.name}: {counted(len(changed), 'name')} changed in "
                "the results, as not every system has files of such names: "
                f"{listed(changed, MAX_CHANGED)}"
            )
        return paths

    def _name_results(
        self, sources: Sequence[Input], paths: Sequence[Path]
    ) -> list[Path]:
        """Return the files of the results, each with another name.

        `paths` are those of the inputs below their folder.
        """
        from bodymotion.system.files import check_not_read

        assert self.folder is not None
        # walk.csv and walk.seq both become walk.mp4: both then keep their extensions.
        endings = [
            self.suffix or _written_as(source, path)
            for source, path in zip(sources, paths, strict=True)
        ]
        names = [
            path.with_suffix(ending)
            for path, ending in zip(paths, endings, strict=True)
        ]
        counts = Counter(names)
        # Names of which there is only one stay as they are, and no numbered one may
        # take them.
        used = {name for name, count in counts.items() if count == 1}
        results = []
        for source, path, ending, name in zip(
            sources, paths, endings, names, strict=True
        ):
            if counts[name] > 1:
                name = _unused_name(path, ending, used)
                used.add(name)
            result = self.folder / name
            check_not_read(result, [source] if isinstance(source, Path) else [])
            results.append(result)
        return results

    @property
    def run(self) -> str:
        """A short text for what is done, by which `--resume` knows it again.

        A hash of command line, version, and the state of the files in it.
        """
        from hashlib import sha256

        words = [
            __version__,
            self.name,
            *self.options,
            *map(str, self.models),
            str(self.folder),
            self.suffix,
        ]
        states = []
        # An option without effect on the results, with its value behind `=` or as the
        # next word, does not make a run another one.
        for previous, word in pairwise(["", *words]):
            flag, _, _ = word.partition("=")
            is_value = previous in OPTIONS_WITHOUT_EFFECT
            if is_value or flag in (*FLAGS_WITHOUT_EFFECT, *OPTIONS_WITHOUT_EFFECT):
                continue
            # A word may be the name of a file, such as a table of gains: its state
            # counts, too.
            states.append((word, _file_state(word)))
        return sha256(repr(states).encode()).hexdigest()[:12]

    def args(self, run: Run) -> list[str]:
        """Return the command line for one file."""
        many = MANY_FILES[self.name]
        # The models come before the input, except for `retarget`, whose model is the
        # target.
        files = [*map(str, self.models), str(run.source)]
        if many.models < 0:
            files = [str(run.source), *map(str, self.models)]
        # `--` ends the options: the name of a file may begin with a dash.
        if run.result is None:
            return [*self.options, "--", *files]
        if many.target == "argument":
            return [*self.options, "--", *files, str(run.result)]
        return [*self.options, f"--output={run.result}", "--", *files]


def report_left_out(name: str, left_out: Sequence[str]) -> None:
    """Print what of a folder a command leaves out."""
    from bodymotion.collection.inputs import is_collection

    # Two reasons, with a message each.
    collections = [path for path in left_out if is_collection(path)]
    unknown = [path for path in left_out if not is_collection(path)]
    for paths, kind, reason in (
        (unknown, "file", "of no known format"),
        (
            collections,
            "collection",
            "to be named by itself, a data set in a local folder",
        ),
    ):
        if paths:
            print_message(
                f"bodymotion {name}: {counted(len(paths), kind)} left out, {reason}: "
                f"{listed(paths, MAX_LEFT_OUT)}"
            )


def _folder_of(clip: "Clip", address: str) -> Path:
    """Return the folder for the results of a collection among others."""
    # s3://bucket/walks becomes bucket/walks; the address of one file becomes its
    # folder.
    folder = PurePosixPath(address.rpartition("://")[2])
    if folder.name == PurePosixPath(clip.name).name:
        folder = folder.parent
    # A pattern and the root of the file system are no names of folders.
    names = [
        name
        for name in folder.parts
        if name not in ("/", "..") and not set("*?[") & set(name)
    ]
    return Path(*names)


def _written_as(source: Input, path: Path) -> str:
    """Return the extension of the result of an input.

    Its own, or that of a format that can be written and holds the same.
    """
    from bodymotion.collection.inputs import format_of
    from bodymotion.formats.registry import FORMATS

    origin = format_of(source if isinstance(source, Path) else path)
    if origin is None:
        return path.suffix
    if origin.write is not None and path.suffix.lower() in origin.extensions:
        return path.suffix
    # Its own format with another extension, or the first one that holds the same kind
    # of value.
    for row in (origin, *FORMATS):
        if row.write is not None and row.holds == origin.holds:
            return row.extensions[0]
    return origin.extensions[0]


def _unused_name(path: Path, ending: str, used: set[Path]) -> Path:
    """Return a name for the result of one of several inputs with the same name.

    `walk.seq.csv`, and `walk.seq_2.csv` where the inputs differ only in characters
    that no file name has.
    """
    name = path.with_name(f"{path.name}{ending}")
    # walk.csv becomes walk.csv.mp4; where that is used, walk.csv_2.mp4.
    number = 2
    while name in used:
        name = path.with_name(f"{path.name}_{number}{ending}")
        number += 1
    return name


def _file_state(word: str) -> tuple[int, int] | None:
    """Return the size and time of the file that a word names, if any."""
    # A longer word is no name of a file, and asking for one raises OSError.
    if len(word) >= MAX_NAME or not Path(word).is_file():
        return None
    state = Path(word).stat()
    return state.st_size, state.st_mtime_ns
