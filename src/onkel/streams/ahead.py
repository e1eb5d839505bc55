"""Read the next blocks while the present one is learned."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from onkel.streams.block import Block


def read_ahead(stream: Iterable[Block], blocks: int = 2) -> Iterator[Block]:
    """The same blocks, of which up to `blocks` are read by a thread before they are asked for.

    Errors of the reader come where its block would have come. The thread ends with the stream, or when the iterator is
    closed; that waits for the block it is at.

    Examples
    --------
    >>> from onkel.streams import rings
    >>> [len(block.labels) for block in read_ahead(rings(rows=5000))]
    [4096, 904]
    """
    source = iter(stream)
    coming: deque[Future[Block | None]] = deque()
    with ThreadPoolExecutor(1, "onkel-reader") as reader:
        try:
            coming.extend(reader.submit(next, source, None) for _ in range(blocks))
            while (block := coming.popleft().result()) is not None:
                coming.append(reader.submit(next, source, None))
                yield block
        finally:
            for future in coming:
                future.cancel()
            reader.submit(getattr(source, "close", lambda: None)).result()
