"""What the tests of streams share."""

import pytest

from onkel.streams.block import StreamError, concatenate, dense


def contents(stream):
    """All rows and labels."""
    block = concatenate(stream)
    return dense(block.rows).tolist(), block.labels.tolist()


def complaint(stream):
    """What is said of a stream that cannot be read to its end."""
    with pytest.raises(StreamError) as caught:
        list(stream)
    return str(caught.value)
