"""What compiles, and when."""

import ctypes
import signal
from contextlib import contextmanager

import numba
import numpy as np
import pytest

from onkel.core.chains import chain
from onkel.core.numba_internals import pipeline
from onkel.core.rows import all_finite
from onkel.core.verbs import entry_point

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")  # type: ignore[attr-defined]


@contextmanager
def interrupted():
    """Ctrl-C is pressed while LLVM compiles, and Python hears of it where LLVM calls it."""
    library = pipeline.JITCodeLibrary
    finish = library._finalize_final_module

    def finish_slowly(own):
        ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
        finish(own)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
    library._finalize_final_module = finish_slowly
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        library._finalize_final_module = finish
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_while_an_entry_point_compiles_is_heeded_when_it_is_compiled():
    all_finite(np.zeros(1))  # after which tricks have been tried

    @entry_point
    def doubled(number):
        return 2 * number

    with interrupted():
        doubled(1.0)
    assert len(doubled.dispatcher.overloads) == 1
    assert doubled(1.0) == 2.0


def test_an_interrupt_while_a_chain_compiles_is_heeded():
    row, target, more = np.zeros(2), np.zeros(1), [np.ones(2, np.float32)] * 3  # a chain that no other test makes
    calls = [(all_finite, given) for given in (row, *more)]
    answers = lambda: "done", lambda *_: "not done"
    assert chain(row, target, calls[:2], *answers)((3.0, 4.0), 0.5) == "done"
    with interrupted():
        chain(row, target, calls, *answers)
    assert chain(row, target, calls, *answers)((3.0, 4.0), 0.5) == "done"
