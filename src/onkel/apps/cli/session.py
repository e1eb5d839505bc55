"""A run under way: from the first row, or from a checkpoint, to its report."""

import argparse
import copy
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import chain, islice
from typing import IO, Any, cast

import numpy as np

from onkel.apps.cli.checkpoints import (
    Checkpoint,
    Interrupts,
    NoInterrupts,
    Place,
    Stopped,
    packed_rows,
    unpacked_rows,
    whole,
)
from onkel.apps.cli.display import Display
from onkel.apps.cli.feeding import Feed
from onkel.apps.cli.trail import Digests, Trail, checked, differences
from onkel.apps.cli.writing import WholeFile, is_special, size_on_disk
from onkel.apps.report.history import History
from onkel.core.ranges import COUNT, refuse, violation
from onkel.core.terminal import complain
from onkel.core.trees import nbytes
from onkel.evaluation.prequential import Tally, prequential
from onkel.files.model_file import Stored, save_model
from onkel.recipes import Learner
from onkel.streams import STREAMS, StreamError

UNTESTED = ("curve", "log_loss", "calibration_error", "reliability", "coverage", "interval_width")


class AnotherStreamError(StreamError):
    """Rows, or ways to learn them, that are not those of a checkpoint."""


class Session:
    """A learner at work, its errors so far and its place in the stream."""

    def __init__(self, options: argparse.Namespace, feed: Feed, work: Stored) -> None:
        self.options, self.feed, self.work, self.online = options, feed, work, work.online
        self.tally = Tally(work.answers)
        self.place, self.figures = Place(), dict[str, Any]()
        self.history = History(self.online) if options.report or options.plots else None
        self.waiting: deque[tuple[Any, ...]] = deque()
        self.now, self.trail, self.between = self.place, Trail(), False
        self.scores_file: IO[str] | None = None
        self.scores_size: int | None = 0  # bytes that a checkpoint counts on; None: it was written without scores
        self.notes = list[str]()
        self.known: dict[str, Digests] | None = None
        if "progress" in work.extra:
            self._go_on(work.extra["progress"], options.resume)

    def _go_on(self, progress: Any, path: str) -> None:
        """Take over what a checkpoint holds; it must be of the same stream."""
        with whole(path):
            self.now = self.place = Place(*progress["place"])
            refuse(violation(self.place._asdict(), {"passes": COUNT, "rows": COUNT}).format("its place"))
            self.known = checked(progress.get("rows"))
            other = differences(progress["stream"], self.stream(), self.known is not None, self._more_may_come())
            self.tally.restore(progress["tally"])
            self.waiting.extend(unpacked_rows(progress["waiting"]))
            seen, self.scores_size = progress["history"], progress["scores"]
            refuse(violation({"scores": self.scores_size or 0}, {"scores": COUNT}).format("its place"))
            if seen is not None and self.history is not None:
                self.history.restore(seen)
        if other:
            self._differs("; ".join(other))
        if self.options.scores and self.scores_size is None:
            raise ValueError(f"{path} was written without --scores: those of its {self.tally.rows:,} rows are lost.")
        if self.history is not None and seen is None:
            of = f"speed and weights are those after its {self.tally.rows:,} rows"
            self.notes.append(f"{path} was written without --report or --plots: {of}.")

    def _differs(self, what: str) -> None:
        """Refuse another stream than that of the checkpoint, or only say so to those who mean it."""
        said = f"{self.options.resume} is a checkpoint of another stream: {what}"
        if not self.options.force:
            raise AnotherStreamError(f"{said}; --force goes on all the same.")
        complain(f"{said}.")

    def _more_may_come(self) -> bool:
        """Whether rows may have been added since: they are learned in the order of the file, in the first pass."""
        return self.place.passes == 0 and self.options.order is None and self.options.permutation is None

    def stream(self) -> dict[str, Any]:
        """What makes two streams the same, as far as it can be known without comparing their rows."""
        given = self.options
        made_up = given.data is None or given.data in STREAMS
        return {
            "DATA": (given.data or "drifting", given.seed) if made_up else self.feed.rows,
            "features": None if self.work.columns.grows else self.work.columns.width,
            "--order": given.order,
            "--permutation": given.permutation,
            "--limit": given.limit,
            "--evaluate": (given.evaluate, {"blocks": given.block, "delayed": given.delay}.get(given.evaluate)),
        }

    @property
    def classes(self) -> Any:
        """Sorted labels so far, or None for a regression."""
        return self.work.answers.classes

    def learn(self, scores_file: IO[str] | None) -> None:
        """Learn all rows that are left, in as many passes as are wanted."""
        self.scores_file = scores_file
        with ExitStack() as stack, spoken(self.feed.source):
            quiet = self.options.quiet or self.options.to_standard_output
            display = stack.enter_context(Display(self.feed.rows, quiet))
            interrupts = stack.enter_context(self._interrupts())
            checkpoint = Checkpoint(self.options.checkpoint, self.options.every, self._save, interrupts)
            try:
                self._first_pass(display, checkpoint, interrupts)
                self._further_passes(checkpoint)
            except Stopped as stopped:
                if not str(stopped):  # while rows were waited for
                    checkpoint.stop(self.now)
                raise
            except (StreamError, OSError):
                if self.between and self.now != self.place:
                    checkpoint.leave(self.now)  # nothing that was learned is lost where the data fail
                raise

    @contextmanager
    def _waiting(self, idle: Callable[[], AbstractContextManager[Any]] = nullcontext) -> Iterator[None]:
        """While rows are waited for, all before are learned and counted; what fails then is the data."""
        self.between = True
        with idle():
            yield
        self.between = False

    def _interrupts(self) -> Interrupts:
        """What Ctrl-C does: where something is to be left behind, it waits until that is whole."""
        return Interrupts() if self.options.checkpoint or self.options.save else NoInterrupts()

    def save(self, path: str | None) -> None:
        """Write the model, if that is wanted."""
        if path is not None:
            with WholeFile(path, binary=True) if is_special(path) else nullcontext(path) as target:
                save_model(target, self.online, self.work.answers, self.work.columns)

    def _save(self, path: str, place: Place) -> None:
        progress = {
            "place": tuple(place), "tally": self.tally.state(), "stream": self.stream(),
            "waiting": packed_rows(self.waiting), "history": None if self.history is None else self.history.state(),
            "scores": None if self.scores_file is None else size_on_disk(self.scores_file),
            "rows": self.trail.known_at(place.rows),
        }  # fmt: skip
        save_model(path, self.online, self.work.answers, self.work.columns, {"progress": progress})

    def _first_pass(self, display: Display, checkpoint: Checkpoint, interrupts: Interrupts) -> None:
        """Predict and learn; of a pass that is over, only the figures are left."""
        over = self.place.passes > 0
        pairs = iter(()) if over else self._pairs(self.place.rows, interrupts.idle, self.known)
        first = [*islice(pairs, 1)]
        if first:
            self.online.prepare(first[0][0])  # before the clock starts

        def watch(tally: Tally, targets: Any, scores: Any) -> None:
            display.update(tally)
            if self.history is not None:
                self.history.update(tally, targets, scores)
            if self.scores_file is not None:
                np.savetxt(self.scores_file, self.work.answers.ordered(scores), fmt="%.17g")
            self._passed(len(targets), Place(0, tally.rows), checkpoint)

        blocks = chain(first, pairs)
        self.figures = prequential(
            self.online, blocks if self.history is None else self.history.seen(blocks),
            mode=self.options.evaluate, delay=self.options.delay, watch=watch, tally=self.tally,
            waiting=self.waiting,
        )  # fmt: skip
        if self.scores_file is not None:
            self.scores_file.flush()  # a full disk is found before any other file has its name
        if not over:
            self._ended(self.tally.rows)

    def _further_passes(self, checkpoint: Checkpoint) -> None:
        for done in range(max(1, self.place.passes), self.options.epochs):
            resumed = done == self.place.passes
            at = self.place.rows if resumed else 0
            for rows, targets, *weights in self._pairs(at, nullcontext, self.known if resumed else None):
                self.online.learn(rows, targets, *weights)
                at += len(targets)
                self._passed(len(targets), Place(done, at), checkpoint)
            self._ended(at)

    def _pairs(self, first: int, idle: Callable[[], AbstractContextManager[Any]], known: Any) -> Any:
        """Rows and targets of one pass, from a row on, those before it held against what is known of them."""
        self.trail = Trail(known, self._differs)
        return self.feed.pairs(self.work, first, partial(self._waiting, idle), self.trail)

    def _passed(self, rows: int, place: Place, checkpoint: Checkpoint) -> None:
        self.now = place
        checkpoint.passed(rows, place)

    def _ended(self, rows: int) -> None:
        """Refuse to call a run whole whose data became shorter while it was read."""
        if self.feed.rows is not None and rows < self.feed.rows:
            self.between = True
            raise StreamError(f"{self.feed.source}: it ended after {rows:,} rows, and had {self.feed.rows:,} before.")

    def report(self) -> dict[str, Any]:
        """Learner, figures and, if there is one, the errors on the test file."""
        learner, online, columns = cast(Learner, self.online.learner), self.online, self.work.columns
        report = {"learner": learner.name, "parameters": plain(learner.get_params()), **self.figures}
        report |= {"task": online.task, "model_bytes": nbytes(online.model), "rows_learned": online.rows_learned}
        guessed = self.feed.guessed.removeprefix(f"{self.feed.source}: ")
        report |= {"task_guessed": guessed} if guessed else {}
        report |= {} if self.classes is None else {"classes": self.classes.tolist()}
        report |= {} if columns.names is None else {"feature_names": columns.names}
        report |= {} if self.history is None else self.history.report()
        return report if self.feed.test is None else {**report, "test": self._tested()}

    def _tested(self) -> dict[str, Any]:
        """Errors of the frozen model on other rows, whose labels are counted as `onkel predict` gives them."""
        tally = Tally(copy.deepcopy(self.work.answers), ties="first")
        for rows, targets in self.feed.test_pairs(self.work):
            tally.update(targets, self.online.score(rows))
        return {key: value for key, value in tally.report().items() if key not in UNTESTED}


@contextmanager
def spoken(source: str) -> Iterator[None]:
    """Put the name of the data before what is wrong with it."""
    try:
        yield
    except StreamError:
        raise
    except ValueError as error:
        raise StreamError(f"{source}: {error}") from None


def plain(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as JSON can hold them."""
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in params.items()}
