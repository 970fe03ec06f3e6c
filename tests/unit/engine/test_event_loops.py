"""Event loops of asynchronous requests: in a thread behind the mailbox of a worker, and stepped under a clock."""

from __future__ import annotations

import asyncio
import threading

from wiesel.core.clock import ManualClock
from wiesel.engine.local.event_loop import SteppedEventLoop
from wiesel.engine.spark import event_loop
from wiesel.engine.spark.event_loop import EventLoopThread
from wiesel.engine.spark.worker import Mailbox

WAIT_S = 100.0


def started(mailbox, calls):
    return EventLoopThread(lambda: calls.append(threading.current_thread()), lambda call: mailbox.put("wake", call))


def test_a_thread_wakes_the_mailbox_once_until_it_has_looked():
    mailbox, calls = Mailbox(), []
    loop = started(mailbox, calls)

    async def request(last):
        loop.wake()
        loop.wake()
        last.set()

    for _ in range(2):
        done = threading.Event()
        loop.submit(lambda running, done=done: running.create_task(request(done)))
        assert done.wait(WAIT_S)
        kind, call = mailbox.take(WAIT_S)
        assert (kind, mailbox.empty) == ("wake", True)
        call()
    loop.close()
    assert calls == [threading.current_thread()] * 2


def test_closing_the_thread_cancels_what_runs(monkeypatch):
    monkeypatch.setattr(event_loop, "_END_S", WAIT_S)  # a busy machine may take longer than a worker waits
    mailbox, over = Mailbox(), []
    loop = started(mailbox, [])
    begun = threading.Event()

    async def request():
        begun.set()
        try:
            await asyncio.sleep(3600)
        finally:
            over.append(asyncio.get_running_loop().is_running())

    loop.submit(lambda running: over.append(running.create_task(request())))
    assert begun.wait(WAIT_S)
    loop.close()
    loop.close()
    assert over[0].cancelled() and over[1] is True
    assert not any(t.name == "wiesel-requests" and t.is_alive() for t in threading.enumerate())


def test_rows_that_are_not_wanted_stay_in_order_and_keep_their_room():
    mailbox = Mailbox()
    mailbox.put_row(b"1")
    mailbox.put("control", "stop")
    mailbox.put_row(b"2")
    mailbox.put("end")
    assert mailbox.take(0, rows=False) == ("control", "stop")
    assert mailbox.take(0, rows=False) == ("end", None)
    assert mailbox.take(0.001, rows=False) is None
    third = threading.Thread(target=mailbox.put_row, args=(b"3",), daemon=True)
    third.start()
    third.join(0.05)
    assert third.is_alive()  # two rows are all there is room for
    assert [mailbox.take(WAIT_S) for _ in range(3)] == [("row", b"1"), ("row", b"2"), ("row", b"3")]
    third.join(WAIT_S)


class Requests:
    """A stepped loop and what is posted to its task."""

    def __init__(self):
        self.clock = ManualClock(0)
        self.posted, self.results = [], []
        self.loop = SteppedEventLoop(self.clock.now_ms, lambda: None, self.posted.append)

    def begin(self, coroutine):
        async def run():
            self.results.append(await coroutine)
            self.loop.wake()

        self.loop.submit(lambda loop: loop.create_task(run()))

    def settle(self):
        while self.loop.ready:
            self.loop.step()


def test_a_stepped_loop_does_what_is_due_and_nothing_before():
    requests = Requests()
    requests.begin(asyncio.sleep(0.02, "late"))
    requests.begin(asyncio.sleep(0.01, "early"))
    requests.begin(asyncio.sleep(0, "now"))
    requests.settle()
    assert (requests.results, requests.loop.next_deadline_ms()) == (["now"], 10)
    requests.clock.set(10)
    assert requests.loop.ready
    requests.settle()
    assert (requests.results, requests.loop.next_deadline_ms(), requests.loop.ready) == (["now", "early"], 20, False)
    requests.clock.set(500)
    requests.settle()
    assert (requests.results, requests.loop.next_deadline_ms()) == (["now", "early", "late"], None)
    assert len(requests.posted) == 1  # nobody has looked in between
    requests.loop.close()
    requests.loop.close()
    assert not requests.loop.ready


def test_a_timer_that_was_given_up_is_waited_for_by_nobody():
    requests = Requests()
    requests.begin(asyncio.wait_for(asyncio.sleep(0.01, "in time"), 5))
    requests.settle()
    requests.clock.set(10)
    requests.settle()
    assert (requests.results, requests.loop.next_deadline_ms()) == (["in time"], None)
    requests.loop.close()


def test_it_runs_where_the_thread_runs_another_loop():
    async def in_a_notebook():
        requests = Requests()
        requests.begin(asyncio.sleep(0, "done"))
        requests.settle()
        requests.loop.close()
        assert asyncio.get_running_loop().is_running()
        return requests.results

    assert asyncio.run(in_a_notebook()) == ["done"]


def test_it_says_when_it_waits_for_a_thread_and_sees_the_end_of_it():
    requests = Requests()
    go = threading.Event()
    requests.begin(asyncio.to_thread(go.wait, WAIT_S))
    requests.settle()
    assert requests.loop.waits_outside
    go.set()
    while not requests.results:
        requests.loop.wait_outside(WAIT_S)
        requests.settle()
    assert (requests.results, requests.loop.waits_outside) == ([True], False)
    requests.loop.close()
