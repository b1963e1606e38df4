"""Music beside a motion.

A sound file, its waveform, tempo, beats and downbeats.

Beats are found from the onsets of the sound (librosa): the tempo from their
autocorrelation, the beats by dynamic programming (Ellis 2007). A piece with a steady
tempo gets an even grid of beats, fitted to all of them, so that it does not drift.
"""

import base64
from dataclasses import dataclass
from functools import cached_property
from os import SEEK_END, PathLike
from pathlib import Path
from typing import TypeVar

import numpy as np

from bodymotion.diagnostics import ShortRepr, WrongUseError
from bodymotion.diagnostics.text import with_article
from bodymotion.extensions import kind_of
from bodymotion.formats.limits import budget_for
from bodymotion.geometry.arrays import Floats, check_memory, median_step
from bodymotion.model.scripts import RobotScript
from bodymotion.system.deferred import need
from bodymotion.system.files import open_file

# Longer pieces [s], and larger files [bytes] on pages, are refused.
MAX_SECONDS = 900.0
MAX_EMBEDDED = 40_000_000
MAX_SAMPLES = (
    100_000_000  # Of all channels: 15 minutes of stereo at 48 kHz are 86 million.
)
STORED_BYTES = 2  # [bytes] Of a sample in an uncompressed recording.
RATE = 22050
HOP = 110
WINDOW = 512
"""[Hz] of the analysis, and samples from one value of the onset strength (5 ms) to the next, and in each."""
# [beats per minute]
MIN_TEMPO = 50.0
MAX_TEMPO = 210.0
USUAL_TEMPO = 120.0
SAME_ONSETS = 0.5  # Twice the tempo is the tempo where onsets repeat so well, relative to the slower one.
LOUDNESS = 30.0
"""The onset strength is that of ln(1 + this × the power in parts of the largest).

Louder drums mark the beats, not hi-hats between them.
"""
MAX_UNEVEN = (
    0.045  # [s] Beats that differ less from an even grid (RMS) have a steady tempo.
)
REACH = 12  # Values of the onset strength to each side of a beat (60 ms) in which its onset is looked for.
SILENCE = 20  # Values of the onset strength before time 0: a sound that begins the piece has its onset after silence, as any other.
MIN_STEADY = 4  # Beats, at least, of which it is known whether their tempo is steady.
Script = TypeVar("Script", bound=RobotScript)
KINDS = (".wav", ".flac", ".ogg", ".mp3")


@dataclass(frozen=True, eq=False)
class Music(ShortRepr):
    """A piece of music.

    Its file, `samples` (N, C) from -1 to 1 in C channels, and their `rate` [Hz]. It
    begins at time 0.

    Its bars have `beats_per_bar` beats.
    """

    path: Path
    samples: Floats
    rate: int
    beats_per_bar: int = 4

    @property
    def duration(self) -> float:
        """The length [s]."""
        return len(self.samples) / self.rate

    @property
    def tempo(self) -> float:
        """The beats per minute; 0 where there are none."""
        if len(self.beats) > 1:
            return 60.0 / median_step(self.beats)
        return 0.0

    @cached_property
    def beats(self) -> Floats:
        """The times (B,) [s] of the beats.

        Raises
        ------
        ImportError
            When librosa is not installed; the message names the extra.
        """
        librosa = need("librosa", "music", "finding beats")
        strength = self._onsets()
        lag = _beat_lag(
            librosa.autocorrelate(
                strength - strength.mean(), max_size=int(4 * RATE / HOP)
            )
        )
        if not lag:
            return np.zeros(0)
        options = {
            "onset_envelope": strength,
            "sr": RATE,
            "hop_length": HOP,
            "bpm": 60.0 * RATE / HOP / lag,
        }
        frames = librosa.beat.beat_track(
            **options, tightness=400, trim=False, units="frames"
        )[1]
        if len(frames):
            loud = np.flatnonzero(strength > 0.2 * np.quantile(strength[frames], 0.8))
        else:
            loud = frames
        if len(loud):
            near = [
                frame
                for frame in frames
                if loud[0] - lag / 2 <= frame <= loud[-1] + lag / 2
            ]
        else:
            near = []
        # A beat is at the strongest onset near it.
        starts = [max(frame - REACH, 0) for frame in near]
        near = [
            start + int(strength[start : start + 2 * REACH + 1].argmax())
            for start in starts
        ]
        return _steady(np.array(near, dtype=np.float64), lag) * HOP / RATE

    @cached_property
    def downbeats(self) -> Floats:
        """The times (D,) [s] of the first beats of bars.

        Those with the loudest low tones and the largest changes of harmony.
        """
        bar = self.beats_per_bar
        if len(self.beats) < 2 * bar:
            return self.beats[:1]
        librosa = need("librosa", "music", "finding beats")
        frames = np.round(self.beats * RATE / HOP).astype(int)
        low = self._onsets(8, 400.0, 4 * WINDOW)
        loud = np.array(
            [low[max(frame - 6, 0) : frame + 7].max(initial=0.0) for frame in frames]
        )
        tones = librosa.feature.chroma_stft(
            y=self._sound, sr=RATE, hop_length=4 * HOP, n_fft=4096
        )
        spans = librosa.util.sync(
            tones, np.append(frames // 4, tones.shape[1] - 1), pad=False
        )
        change = np.linalg.norm(np.diff(spans, axis=1, prepend=spans[:, :1]), axis=0)[
            : len(frames)
        ]
        accent = loud / max(loud.mean(), 1e-9) + 2.0 * change / max(change.mean(), 1e-9)
        return self.beats[
            int(np.argmax([accent[k::bar].mean() for k in range(bar)])) :: bar
        ]

    @cached_property
    def _sound(self) -> Floats:
        librosa = need("librosa", "music", "finding beats")
        return np.asarray(
            librosa.resample(
                self.samples.mean(axis=1), orig_sr=self.rate, target_sr=RATE
            )
        )

    def _onsets(
        self, bands: int = 40, highest: float = 8000.0, window: int = WINDOW
    ) -> Floats:
        """Return the onset strength at each `HOP`, from frequencies up to the `highest` [Hz] in some bands."""
        librosa = need("librosa", "music", "finding beats")
        options = {
            "hop_length": HOP,
            "n_fft": window,
            "n_mels": bands,
            "fmin": 30.0,
            "fmax": highest,
        }
        sound = np.pad(self._sound, (SILENCE * HOP, 0))
        power = librosa.feature.melspectrogram(y=sound, sr=RATE, **options)
        loudness = np.log1p(LOUDNESS * power / max(float(power.max()), 1e-30))
        return np.asarray(
            librosa.onset.onset_strength(S=loudness, sr=RATE)[SILENCE:],
            dtype=np.float64,
        )

    def levels(self, count: int) -> Floats:
        """Return the largest amplitudes (count,), 0 to 1, of equal parts of the piece."""
        if not len(self.samples):
            return np.zeros(0)
        loud = np.abs(self.samples).max(axis=1)
        starts = np.linspace(0, len(loud), count, endpoint=False).astype(int)
        return np.asarray(
            np.maximum.reduceat(loud, starts) / max(float(loud.max()), 1e-9)
        )

    def data_url(self) -> str:
        """Return the file as an address that a page contains.

        WrongUseError when it is too large.
        """
        with open_file(self.path) as stream:
            size = stream.seek(0, SEEK_END)
            if size > MAX_EMBEDDED:
                raise WrongUseError(
                    f"{self.path}: {size} bytes, and a page takes {MAX_EMBEDDED}; "
                    "convert it to mp3"
                )
            stream.seek(0)
            content = base64.b64encode(stream.read()).decode()
        return f"data:audio/{self.path.suffix[1:].lower()};base64,{content}"

    def snap(self, dance: Script) -> Script:
        """Return a dance with the tempo of the music, and its moves at beats.

        Raises
        ------
        WrongUseError
            When no beats were found, or the script is no dance.
        """
        kind = kind_of(dance)
        snap = None if kind is None else kind.function("snap")
        if snap is None:
            name = with_article(type(dance).__name__)
            raise WrongUseError(f"expected a dance, got {name}, which has no moves")
        snapped: Script = snap(dance, self)
        return snapped


def load_music(path: str | PathLike[str], beats_per_bar: int = 4) -> Music:
    """Read a sound file: wav, flac, ogg or mp3.

    Raises
    ------
    ImportError
        When soundfile is not installed; the message names the extra.
    WrongUseError
        When it cannot be read, is longer than 15 minutes, or bars have no beat.
    FormatError
        When it unpacks to more than 100 times its size (FMT010).
    OSError
        When there is no such file; MemoryError when it does not fit into memory.
    """
    file = Path(path)
    sound = need("soundfile", "music", "reading music")
    if beats_per_bar < 1:
        raise WrongUseError(f"{beats_per_bar} beats in a bar; expected one or more")
    try:
        with open_file(file) as stream, sound.SoundFile(stream) as opened:
            if opened.frames > MAX_SECONDS * opened.samplerate:
                seconds = opened.frames / opened.samplerate
                raise WrongUseError(
                    f"{file}: {seconds:.0f} s of music; at most {MAX_SECONDS:g} s are "
                    "read"
                )
            num_samples = opened.frames * opened.channels
            with budget_for(file) as budget:
                budget.take_bytes(STORED_BYTES * num_samples)
            if num_samples > MAX_SAMPLES:
                raise WrongUseError(
                    f"{file}: {num_samples} samples in all channels; at most "
                    f"{MAX_SAMPLES} are read"
                )
            check_memory(8 * num_samples, f"the music {file}")
            samples = opened.read(dtype="float32", always_2d=True)
            return Music(
                file,
                np.nan_to_num(samples[:, :2]),
                int(opened.samplerate),
                beats_per_bar,
            )
    except (sound.SoundFileError, TypeError):
        raise WrongUseError(
            f"{file} is not music that can be read: expected {', '.join(KINDS)}"
        ) from None


def _beat_lag(repeats: Floats) -> float:
    """Return the distance of beats [values of the onset strength], from the autocorrelation (L,) of these.

    0 without onsets.
    """
    lags = np.arange(1, len(repeats))
    tempos = 60.0 * RATE / HOP / lags
    if not repeats[0] > 0:
        return 0.0
    weight = np.exp(-0.5 * np.log2(tempos / USUAL_TEMPO) ** 2) * (
        (tempos >= MIN_TEMPO) & (tempos <= MAX_TEMPO)
    )
    lag = 1 + int(np.argmax(repeats[1:] * weight))
    while 60.0 * RATE / HOP / (lag / 2) <= MAX_TEMPO:
        first = int(0.48 * lag)
        half = first + int(np.argmax(repeats[first : int(0.52 * lag) + 2]))
        if repeats[half] < SAME_ONSETS * repeats[lag]:
            break
        lag = half
    return float(lag)


def _steady(beats: Floats, lag: float) -> Floats:
    """Return an even grid through beats (B,) of a steady tempo.

    Others as they are. A line is fitted twice, without outliers.
    """
    if len(beats) < MIN_STEADY:
        return beats
    number = np.concatenate(
        [[0.0], np.cumsum(np.maximum(np.round(np.diff(beats) / lag), 1.0))]
    )
    kept = np.ones(len(beats), dtype=bool)
    for _ in range(3):
        line = np.polyfit(number[kept], beats[kept], 1)
        apart = np.abs(beats - np.polyval(line, number))
        kept = apart <= max(3.0 * float(np.median(apart)), 2.0)
    uneven = float(np.sqrt(np.mean(apart[kept] ** 2))) * HOP / RATE
    if uneven > MAX_UNEVEN or kept.mean() < 0.8:
        return beats
    return np.asarray(np.polyval(line, np.arange(number[-1] + 1)))
