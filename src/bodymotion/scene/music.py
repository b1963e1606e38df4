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
from bodymotion.geometry.arrays import Floats, Indices, check_memory, median_step
from bodymotion.model.scripts import RobotScript
from bodymotion.system.deferred import need
from bodymotion.system.files import open_file

# [s] Longer pieces are refused.
MAX_SECONDS = 900.0
# [bytes] Larger files are refused on pages.
MAX_EMBEDDED = 40_000_000
# Of all channels: 15 minutes of stereo at 48 kHz are 86 million.
MAX_SAMPLES = 100_000_000
# [bytes] Of a sample in an uncompressed recording.
STORED_BYTES = 2
# [Hz] Of the sound that is analysed.
RATE = 22050
# Samples from one value of the onset strength to the next (5 ms).
HOP = 110
# Samples in each value of the onset strength.
WINDOW = 512
# [beats per minute]
MIN_TEMPO = 50.0
# [beats per minute]
MAX_TEMPO = 210.0
# [beats per minute] The middle of the weights of tempos.
USUAL_TEMPO = 120.0
# Onsets that repeat so well at twice the tempo, relative to it, have that tempo.
SAME_ONSETS = 0.5
# The onset strength is that of ln(1 + this × the power in parts of the largest). Louder
# drums mark the beats, not hi-hats between them.
LOUDNESS = 30.0
# How even the beats of librosa's search are; its default is 100.
TIGHTNESS = 400
# Of the strength of most beats: what is softer is before or after the piece.
LOUD_SHARE = 0.2
# [s] Beats that differ less from an even grid (RMS) have a steady tempo.
MAX_UNEVEN = 0.045
# Values of the onset strength within which a beat is never an outlier of the grid.
MAX_OUTLIER = 2.0
# Share of the beats of a steady tempo that are no outliers.
MIN_ON_GRID = 0.8
# Fits of the grid: each leaves out the outliers of the one before.
NUM_FITS = 3
# Values of the onset strength to each side of a beat (60 ms) with its onset.
REACH = 12
# Values of the onset strength before time 0. A sound that begins the piece has its
# onset after silence, as any other.
SILENCE = 20
# Beats, at least, of which it is known whether their tempo is steady.
MIN_STEADY = 4
# Bands of frequencies of the low tones.
LOW_BANDS = 8
# [Hz] The highest low tone: drums and basses.
LOW_TONES = 400.0
# Values of the onset strength to each side of a beat (30 ms) with its low tone.
LOW_REACH = 6
# Weight of a change of harmony; that of a loud low tone is 1.
CHANGE_WEIGHT = 2.0
Script = TypeVar("Script", bound=RobotScript)
# Extensions of sound files.
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
        # Four seconds: more than three beats of the slowest tempo.
        max_lag = int(4 * RATE / HOP)
        # The mean of the strength would correlate at any lag.
        lag = _beat_lag(
            librosa.autocorrelate(strength - strength.mean(), max_size=max_lag)
        )
        if not lag:
            return np.zeros(0)
        _, frames = librosa.beat.beat_track(
            onset_envelope=strength,
            sr=RATE,
            hop_length=HOP,
            # lag is in values of the onset strength, `HOP` samples each.
            bpm=60.0 * RATE / HOP / lag,
            tightness=TIGHTNESS,
            trim=False,
            units="frames",
        )
        frames = _within_piece(frames, strength, lag)
        # A beat is at the strongest onset near it.
        for k, frame in enumerate(frames):
            start = max(frame - REACH, 0)
            nearby = strength[start : start + 2 * REACH + 1]
            frames[k] = start + int(nearby.argmax())
        return _steady(np.array(frames, dtype=np.float64), lag) * HOP / RATE

    @cached_property
    def downbeats(self) -> Floats:
        """The times (D,) [s] of the first beats of bars.

        Those with the loudest low tones and the largest changes of harmony.
        """
        bar = self.beats_per_bar
        if len(self.beats) < 2 * bar:
            return self.beats[:1]
        frames = np.round(self.beats * RATE / HOP).astype(int)
        low_tones = self._low_tones(frames)
        changes = self._harmony_changes(frames)
        # Relative to their means, so that the weight of harmony is one number.
        accents = low_tones / max(low_tones.mean(), 1e-9)
        accents += CHANGE_WEIGHT * changes / max(changes.mean(), 1e-9)
        # The first beat of bars is the one of `bar` phases with the strongest accents.
        means = [accents[first::bar].mean() for first in range(bar)]
        return self.beats[int(np.argmax(means)) :: bar]

    def _low_tones(self, frames: Indices) -> Floats:
        """Return the onset strength (B,) of low tones at beats (B,)."""
        strength = self._onsets(LOW_BANDS, LOW_TONES, 4 * WINDOW)
        largest = []
        for frame in frames:
            nearby = strength[max(frame - LOW_REACH, 0) : frame + LOW_REACH + 1]
            largest.append(nearby.max(initial=0.0))
        return np.array(largest)

    def _harmony_changes(self, frames: Indices) -> Floats:
        """Return how much the tones change (B,) from beat to beat, for beats (B,)."""
        librosa = need("librosa", "music", "finding beats")
        tones = librosa.feature.chroma_stft(
            y=self._sound, sr=RATE, hop_length=4 * HOP, n_fft=4096
        )
        ends = np.append(frames // 4, tones.shape[1] - 1)
        spans = librosa.util.sync(tones, ends, pad=False)
        steps = np.diff(spans, axis=1, prepend=spans[:, :1])
        return np.asarray(np.linalg.norm(steps, axis=0)[: len(frames)])

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
        """Return the onset strength at each `HOP`.

        It is that of frequencies up to the `highest` [Hz] in some bands.
        """
        librosa = need("librosa", "music", "finding beats")
        power = librosa.feature.melspectrogram(
            y=np.pad(self._sound, (SILENCE * HOP, 0)),
            sr=RATE,
            hop_length=HOP,
            n_fft=window,
            n_mels=bands,
            fmin=30.0,
            fmax=highest,
        )
        # Relative to the loudest moment: quiet recordings have the same onsets.
        loudness = np.log1p(LOUDNESS * power / max(float(power.max()), 1e-30))
        strength = librosa.onset.onset_strength(S=loudness, sr=RATE)
        return np.asarray(strength[SILENCE:], dtype=np.float64)

    def levels(self, count: int) -> Floats:
        """Return the largest amplitudes (count,), 0 to 1, of equal parts."""
        if not len(self.samples):
            return np.zeros(0)
        loud = np.abs(self.samples).max(axis=1)
        starts = np.linspace(0, len(loud), count, endpoint=False).astype(int)
        levels = np.maximum.reduceat(loud, starts)
        return np.asarray(levels / max(float(loud.max()), 1e-9))

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


def _within_piece(frames: Indices, strength: Floats, lag: float) -> list[int]:
    """Return the frames of beats between the first and the last loud onset."""
    if not len(frames):
        return []
    # The strength of most beats, not of the few loudest.
    typical = np.quantile(strength[frames], 0.8)
    loud = np.flatnonzero(strength > LOUD_SHARE * typical)
    if not len(loud):
        return []
    # A beat may be half a beat before its loud onset.
    first = loud[0] - lag / 2
    last = loud[-1] + lag / 2
    return [frame for frame in frames if first <= frame <= last]


def _beat_lag(repeats: Floats) -> float:
    """Return the distance of beats from the autocorrelation (L,) of onset strengths.

    It is in values of the onset strength; 0 without onsets.
    """
    lags = np.arange(1, len(repeats))
    tempos = 60.0 * RATE / HOP / lags
    if not repeats[0] > 0:
        return 0.0
    # A bell over octaves around the usual tempo: σ is one octave.
    weights = np.exp(-0.5 * np.log2(tempos / USUAL_TEMPO) ** 2)
    weights *= (tempos >= MIN_TEMPO) & (tempos <= MAX_TEMPO)
    lag = 1 + int(np.argmax(repeats[1:] * weights))
    # Onsets may repeat at a multiple of the beat, too: halve it while they repeat well.
    while 60.0 * RATE / HOP / (lag / 2) <= MAX_TEMPO:
        # ± 4 %: the half lag is not a whole number of values.
        start = int(0.48 * lag)
        half = start + int(np.argmax(repeats[start : int(0.52 * lag) + 2]))
        if repeats[half] < SAME_ONSETS * repeats[lag]:
            break
        lag = half
    return float(lag)


def _steady(beats: Floats, lag: float) -> Floats:
    """Return an even grid through beats (B,) of a steady tempo; others as they are."""
    if len(beats) < MIN_STEADY:
        return beats
    # Between two beats there may be beats that were not found.
    steps = np.maximum(np.round(np.diff(beats) / lag), 1.0)
    numbers = np.concatenate([[0.0], np.cumsum(steps)])
    is_on_grid = np.ones(len(beats), dtype=bool)
    for _ in range(NUM_FITS):
        line = np.polyfit(numbers[is_on_grid], beats[is_on_grid], 1)
        errors = np.abs(beats - np.polyval(line, numbers))
        is_on_grid = errors <= max(3.0 * float(np.median(errors)), MAX_OUTLIER)
    # Root mean square of the beats on the grid, in seconds.
    uneven = float(np.sqrt(np.mean(errors[is_on_grid] ** 2))) * HOP / RATE
    if uneven > MAX_UNEVEN or is_on_grid.mean() < MIN_ON_GRID:
        return beats
    return np.asarray(np.polyval(line, np.arange(numbers[-1] + 1)))
