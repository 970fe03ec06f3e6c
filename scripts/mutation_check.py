"""Takes each guard of the engine's promises out of a copy of the project, one at a time, and shows that a named test then fails.

usage: mutation_check.py [NAME...]    only the guards whose names contain one of the words

A mutant that survives fails the run, as does a guard whose text is not in its file any more, or a test that fails without any mutant.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("src", "tests", "pyproject.toml")
LIMIT_S = 900
TESTS_FAILED = 1


@dataclass(frozen=True)
class Mutant:
    """A guard that is taken out.

    Attributes:
        name: What is missing without it.
        file: The file, below ``src/wiesel``.
        guard: The text of the guard, which is there once.
        instead: What takes its place.
        tests: Tests of which at least one must fail.
    """

    name: str
    file: str
    guard: str
    instead: str
    tests: tuple[str, ...]


IO = "tests/unit/checkpoint/test_file_io.py"
DURABLE = "tests/unit/checkpoint/test_durability.py"
HYGIENE = "tests/faults/test_checkpoint_hygiene.py"
FENCING = "tests/faults/test_fencing.py"
COMMITS = "tests/unit/engine/test_sink_commits.py"
COORDINATOR = "tests/unit/checkpoint/test_coordinator.py"
GATE = "tests/unit/runtime/test_input_gate.py"
OVERTAKING = "tests/unit/runtime/test_overtaking.py"
SINK = "tests/unit/connectors/test_file_sink.py"
OUTAGES = "tests/unit/engine/test_storage_outages.py"
STOPS = "tests/unit/engine/test_failed_stops.py"
FLOW = "tests/unit/runtime/test_flow.py"
FAILOVER = "tests/unit/engine/test_failover.py"
ROCKSDB = "tests/unit/state/test_rocksdb.py"
SNAPSHOTS = "tests/unit/state/test_snapshots.py"
TTL = "tests/unit/state/test_ttl.py"
SCHEDULES = "tests/sim/test_schedules.py::test_every_kind_of_fault_hits"

MUTANTS = (
    Mutant(
        "fence: a newer attempt stops an older one",
        "checkpoint/store.py",
        "        if newest > mine:\n            raise",
        "        if False:\n            raise",
        (FENCING, HYGIENE),
    ),
    Mutant(
        "fence: a second look after the metadata is written",
        "checkpoint/store.py",
        "        # one may be committed. A later one finds the checkpoint.\n        self.check_fence(checkpoint.attempt)",
        "        # one may be committed. A later one finds the checkpoint.",
        (f"{HYGIENE}::test_master_that_is_superseded_while_it_publishes_must_not_commit",),
    ),
    Mutant(
        "fence: a look before sinks commit",
        "engine/sink_commits.py",
        "            commits.port.check_fence(commits.attempt)\n",
        "",
        (FENCING,),
    ),
    Mutant(
        "fence: a look before checkpoints are deleted",
        "checkpoint/store.py",
        "        self.check_fence()\n        self.delete(checkpoint, keep)",
        "        self.delete(checkpoint, keep)",
        (FENCING, HYGIENE),
    ),
    Mutant(
        "fence: a replaced master does not take the job back",
        "checkpoint/store.py",
        "            if newest > self._attempt and self._io.read(self._announcement(newest)) != self._who:",
        "            if False:",
        (FENCING,),
    ),
    Mutant(
        "own announcements whose answer was lost do not fence",
        "checkpoint/store.py",
        " and self._io.read(self._announcement(newest)) != self._who:",
        ":",
        (OUTAGES,),
    ),
    Mutant(
        "a file is created once",
        "checkpoint/file_io.py",
        "os.link(self._full(temporary), full)",
        "os.replace(self._full(temporary), full); self._full(temporary).touch()",
        (f"{IO}::test_local_directories",),
    ),
    Mutant("fsync of state files and metadata", "checkpoint/file_io.py", "                os.fsync(file.fileno())\n", "", (DURABLE,)),
    Mutant(
        "fsync of the folder after a file was created",
        "checkpoint/file_io.py",
        "        sync_folder(full.parent)\n        return created",
        "        return created",
        (DURABLE,),
    ),
    Mutant("fsync above new folders", "core/folders.py", "        sync_folder(path.parent)\n", "", (DURABLE,)),
    Mutant("fsync of what came from a socket", "connectors/write_ahead_log.py", "        os.fsync(stream.fileno())\n", "", (DURABLE,)),
    Mutant("fsync of the folder of such logs", "connectors/write_ahead_log.py", "        sync_folder(self._folder)\n", "", (DURABLE,)),
    Mutant(
        "fsync of part files",
        "connectors/filesystem/file_systems.py",
        "        os.fsync(stream.fileno())\n",
        "        pass\n",
        (DURABLE,),
    ),
    Mutant(
        "fsync of folders with visible files",
        "connectors/filesystem/parts.py",
        "        files.sync_folder(folder)\n",
        "        pass\n",
        (DURABLE,),
    ),
    Mutant(
        "checksums of state files",
        "checkpoint/store.py",
        "if len(data) != file.size or crc32(data) != file.crc32:",
        "if len(data) != file.size:",
        (HYGIENE,),
    ),
    Mutant(
        "checksums of metadata",
        "checkpoint/metadata.py",
        "if size != len(text) or checksum != zlib.crc32(text):",
        "if size != len(text):",
        (HYGIENE,),
    ),
    Mutant(
        "checksums within state files",
        "state/changelog.py",
        "crc32(view[at : at + _SECTION_HEAD.size])) != wanted:",
        "crc32(view[at : at + _SECTION_HEAD.size])) < 0:",
        (f"{SNAPSHOTS}::test_damaged_files_are_noticed",),
    ),
    Mutant(
        "checksums of copies on the host",
        "checkpoint/local_copies.py",
        "        if len(data) == file.size and crc32(data) == file.crc32:\n",
        "        if True:\n",
        ("tests/unit/checkpoint/test_local_copies.py::test_a_damaged_copy_is_not_believed",),
    ),
    Mutant(
        "what a failed checkpoint did not write is in the next one",
        "state/snapshots.py",
        "        link = self._previous\n        while link is not None and link._files is None and (",
        "        link = None\n        while link is not None and link._files is None and (",
        (f"{SNAPSHOTS}::test_a_failed_checkpoint_loses_nothing",),
    ),
    Mutant(
        "what is written anew goes on from a savepoint",
        "state/tracked.py",
        " and not handle.meta.get(\"savepoint\") for handle in keyed):",
        " for handle in keyed):",
        (f"{SNAPSHOTS}::test_checkpoints_do_not_depend_on_a_savepoint",),
    ),
    Mutant(
        "state of another maximum parallelism is refused",
        "state/tracked.py",
        "        if meta.get(\"max_parallelism\", self._range.max_parallelism) != self._range.max_parallelism:\n",
        "        if False:\n",
        (f"{SNAPSHOTS}::test_another_max_parallelism_is_refused",),
    ),
    Mutant(
        "lmdb: a snapshot whose map was moved is not read",
        "state/lmdb_env.py",
        "            if transaction is not None and snapshot.map_bytes != self.map_bytes:\n",
        "            if False:\n",
        ("tests/unit/state/test_lmdb.py::test_the_map_grows_and_ends_snapshots_only_then",),
    ),
    Mutant(
        "a savepoint takes no other one's place",
        "checkpoint/savepoint.py",
        "        if not self._io.create(METADATA, encode_metadata(whole, job, key)):\n",
        "        if self._io.write(METADATA, [encode_metadata(whole, job, key)]):\n",
        (f"{HYGIENE}::test_a_savepoint_never_takes_the_place_of_another",),
    ),
    Mutant(
        "an older checkpoint takes the place of a damaged one",
        "checkpoint/store.py",
        "                return self.load(checkpoint_id)\n",
        "                return self.load_metadata(checkpoint_id)\n",
        (HYGIENE,),
    ),
    Mutant(
        "files that other checkpoints need are not deleted",
        "checkpoint/store.py",
        "for name in state_file_names(checkpoint) - needed:",
        "for name in state_file_names(checkpoint):",
        (f"{HYGIENE}::test_discard_keeps_what_another_checkpoint_names",),
    ),
    Mutant(
        "a failing storage is asked again",
        "checkpoint/retries.py",
        "for delay_s in (*DELAYS_S, None):",
        "for delay_s in (None,):",
        ("tests/unit/checkpoint/test_retries.py",),
    ),
    Mutant(
        "nothing is left of a file that did not fit on the disk",
        "checkpoint/file_io.py",
        "                full.unlink(missing_ok=True)\n            raise",
        "                pass\n            raise",
        ("tests/unit/checkpoint/test_retries.py",),
    ),
    Mutant(
        "a storage that is down at a restart costs an attempt only",
        "engine/job_master.py",
        "        except CheckpointStorageError as error:\n",
        "        except ZeroDivisionError as error:\n",
        (OUTAGES,),
    ),
    Mutant(
        "region: messages of its older attempts do not count",
        "engine/job_master.py",
        "if self.attempt is not None and self.attempt.hears(attempt, message.task):",
        "if self.attempt is not None:",
        (FAILOVER,),
    ),
    Mutant(
        "region: the checkpoint under way ends with it",
        "engine/job_attempt.py",
        '        self._act(self.coordinator.region_failed("tasks have failed"))\n',
        "",
        (FAILOVER,),
    ),
    Mutant(
        "region: what is being published is waited for",
        "checkpoint/coordinator.py",
        "        if self._pending is None or self._pending.publishing:\n            return []\n        failures = self._failures\n",
        "        if self._pending is None:\n            return []\n        failures = self._failures\n",
        (FAILOVER,),
    ),
    Mutant(
        "region: commits of the others stay valid",
        "engine/recovery.py",
        "        if attempt >= self._since:\n",
        "        if False:\n",
        (FAILOVER,),
    ),
    Mutant(
        "region: it does not begin when the whole job has",
        "engine/recovery.py",
        "            if since != self._since:\n",
        "            if False:\n",
        (FAILOVER,),
    ),
    Mutant(
        "region: the job does not finish while it restarts",
        "engine/job_attempt.py",
        "        if any(region.failure is not None for region in self.regions):\n            return  # also",
        "        if False:\n            return  # also",
        (FAILOVER,),
    ),
    Mutant(
        "region: what the others have written is not swept",
        "checkpoint/store.py",
        "    return vertices is None or (vertex.isdigit() and int(vertex) in vertices)\n",
        "    return True\n",
        (FAILOVER,),
    ),
    Mutant(
        "a checkpoint needs all acknowledgements",
        "checkpoint/coordinator.py",
        "if pending is None or pending.waiting or pending.publishing:",
        "if pending is None or pending.publishing:",
        (COORDINATOR,),
    ),
    Mutant(
        "late acknowledgements have no effect",
        "checkpoint/coordinator.py",
        "if pending is None or message.checkpoint_id != pending.checkpoint_id or message.task not in pending.waiting:",
        "if pending is None or message.task not in pending.waiting:",
        (COORDINATOR,),
    ),
    Mutant(
        "what a task ended with is no substitute for its lost acknowledgement",
        "checkpoint/coordinator.py",
        " and message.epoch < pending.checkpoint_id:",
        ":",
        (COORDINATOR,),
    ),
    Mutant(
        "committables of a checkpoint that was given up are handed out again",
        "runtime/operators/sink.py",
        "            self._handed_out.append((checkpoint_id, prepared))\n",
        "            self._handed_out = [(checkpoint_id, prepared)]\n",
        (SCHEDULES,),
    ),
    Mutant(
        "a failed commit fails the attempt",
        "engine/sink_commits.py",
        "                commits.failed(error)\n                return\n",
        "                pass\n",
        (SCHEDULES, COMMITS),
    ),
    Mutant(
        "what is not known to be committed stays in checkpoints",
        "checkpoint/coordinator.py",
        "        tasks = with_uncommitted(tasks, pending.checkpoint_id, self._uncommitted())\n",
        "",
        (COORDINATOR, COMMITS),
    ),
    Mutant(
        "what a task hands out again is taken once",
        "checkpoint/committables.py",
        " if n > newest for each in values]",
        " for each in values]",
        (COORDINATOR,),
    ),
    Mutant(
        "the job ends when all is committed",
        "engine/job_attempt.py",
        "if self._last is not None and not self.ended and self._commits.all_committed:",
        "if self._last is not None and not self.ended:",
        (COMMITS,),
    ),
    Mutant(
        "committables of a finished task go into one checkpoint",
        "checkpoint/coordinator.py",
        "snapshot if task not in self._reported_final else _without_committables(snapshot)",
        "snapshot",
        (COORDINATOR,),
    ),
    Mutant(
        "more failed checkpoints than are tolerated fail the attempt",
        "checkpoint/coordinator.py",
        "if pending.final or self._failures > self.settings.tolerable_failures:",
        "if pending.final:",
        (COORDINATOR,),
    ),
    Mutant(
        "alignment: what comes behind a barrier waits",
        "runtime/input_gate.py",
        "        if channel in self._arrived and self._exactly_once:\n            self._hold(channel, buffer)\n            return\n"
        "        self._took(channel, buffer)\n        yield from self._handle(channel, buffer)\n        while",
        "        self._took(channel, buffer)\n        yield from self._handle(channel, buffer)\n        while",
        (GATE,),
    ),
    Mutant(
        "limits: a buffer that was interrupted waits for room",
        "runtime/input_gate.py",
        "while self._interruptions == interruptions and self._backlog",
        "while self._backlog",
        (GATE,),
    ),
    Mutant(
        "limits: bursts are no rate",
        "runtime/flow.py",
        "int(min(rates) * self._target_s",
        "int(rates[0] * self._target_s",
        (FLOW,),
    ),
    Mutant(
        "overtaking: what comes before the barriers is recorded",
        "runtime/input_gate.py",
        "            self._recording.see(channel, buffer)\n            yield from self._recorded_if_all()\n\n    def work_off",
        "            yield from self._recorded_if_all()\n\n    def work_off",
        (OVERTAKING,),
    ),
    Mutant(
        "buffers that are lost or come twice are noticed",
        "runtime/input_gate.py",
        "invariant(buffer.sequence == expected & 0xFFFFFFFF,",
        "invariant(True,",
        (GATE,),
    ),
    Mutant(
        "what was committed already is not committed again",
        "connectors/filesystem/parts.py",
        "        if record.knows(part.target):\n            return False\n",
        "",
        (SINK,),
    ),
    Mutant(
        "a visible file is never overwritten",
        "connectors/filesystem/parts.py",
        "    if there is not None:\n",
        "    if False:\n",
        (SINK,),
    ),
    Mutant(
        "part files that lost data are not made visible",
        "connectors/filesystem/parts.py",
        "    if size != part.size:\n",
        "    if False:\n",
        (SINK,),
    ),
    Mutant(
        "a part that goes on is cut back to what the checkpoint holds",
        "connectors/filesystem/sink_writer.py",
        "files.copy_prefix(source, self.path, part.length)",
        "files.copy_prefix(source, self.path, files.size(source) or 0)",
        (SINK,),
    ),
    Mutant(
        "rocksdb: what is in the cache is in a checkpoint",
        "state/rocksdb.py",
        "        self.flush()\n        return 0, []",
        "        return 0, []",
        (ROCKSDB,),
    ),
    Mutant(
        "rocksdb: nothing is stored anew only if nothing was written",
        "state/rocksdb.py",
        "None if last is None or last[0] != sequence else last[1]",
        "None if last is None else last[1]",
        (ROCKSDB,),
    ),
    Mutant(
        "rocksdb: the list of files goes with every checkpoint",
        "state/rocksdb.py",
        "            tables = {name: file for name, file in found.items() if name.endswith(\".sst\")}",
        "            tables = dict(found)",
        (ROCKSDB,),
    ),
    Mutant(
        "rocksdb: key groups of others are removed at a restore",
        "state/rocksdb.py",
        "            self._environment.remove_ranges(foreign)\n",
        "            pass\n",
        (ROCKSDB,),
    ),
    Mutant(
        "rocksdb: states of other subtasks get their own numbers here",
        "state/rocksdb.py",
        "key[:2] + numbers[state_id_of(key)] + key[4:]",
        "key",
        (ROCKSDB,),
    ),
    Mutant(
        "rocksdb: pieces of lists get new numbers after a restore",
        "state/rocksdb.py",
        "        self._number = native[\"number\"]\n",
        "",
        (ROCKSDB,),
    ),
    Mutant(
        "rocksdb: and numbers that no other subtask has given",
        "state/rocksdb.py",
        "        self._number = max(self._number, native[\"number\"])\n",
        "",
        (ROCKSDB,),
    ),
    Mutant(
        "rocksdb: files of a snapshot that is not claimed are stored anew",
        "state/rocksdb.py",
        "        if not handle.meta.get(\"savepoint\"):\n            self._stored",
        "        if True:\n            self._stored",
        (ROCKSDB,),
    ),
    Mutant(
        "state that expires is not shown",
        "state/ttl.py",
        "        if accessed_ms <= self._expired_before():\n            self._table.remove(key, namespace)",
        "        if False:\n            self._table.remove(key, namespace)",
        (TTL,),
    ),
    Mutant(
        "a task goes on when the savepoint to stop with has failed",
        "runtime/task.py",
        "            self._resume()\n",
        "            pass\n",
        (f"{STOPS}::test_the_job_runs_on_and_can_be_stopped_later",),
    ),
    Mutant(
        "what comes to a task that has stopped is kept until it goes on",
        "runtime/task.py",
        "            self.gate.suspended = True\n",
        "",
        (STOPS,),
    ),
    Mutant(
        "barriers of a checkpoint that was given up are left out",
        "runtime/input_gate.py",
        "        self._last_done = max(self._last_done, checkpoint_id)\n",
        "",
        (STOPS,),
    ),
    Mutant(
        "a failed stop is no failure of the job",
        "checkpoint/coordinator.py",
        "            if pending.savepoint.drain and pending.triggered:\n",
        "            if pending.savepoint.stop:\n",
        (STOPS,),
    ),
    Mutant(
        "what waits before a slow task is limited by its service rate",
        "runtime/flow.py",
        "            wider = allowed if wider is None else min(wider, allowed)\n",
        "",
        (FLOW,),
    ),
    Mutant(
        "a producer waits when more is on its way than may be",
        "runtime/record_writer.py",
        "any(self._channels[i].sent - taken > window for i, (taken, window) in self._limits.items())",
        "False",
        (FLOW,),
    ),
)


def make_copy(folder: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        else:
            shutil.copy(source, folder / name)


def run_tests(folder: Path, tests: tuple[str, ...]) -> tuple[int, str]:
    """Return pytest's exit code and output."""
    options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", f"--timeout={LIMIT_S}", "--hypothesis-profile=mutants"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    paths = os.pathsep.join([str(folder / "src"), str(folder)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def trial(folder: Path, mutant: Mutant) -> str | None:
    """Run the tests without the guard; return what is wrong, None if a test has failed as it should."""
    path = folder / "src" / "wiesel" / mutant.file
    whole = path.read_text()
    if whole.count(mutant.guard) != 1:
        return f"its text is {whole.count(mutant.guard)} times in {mutant.file}: describe the guard anew"
    path.write_text(whole.replace(mutant.guard, mutant.instead))
    try:
        code, output = run_tests(folder, mutant.tests)
    finally:
        path.write_text(whole)
    if code == TESTS_FAILED:
        return None
    return "SURVIVED" if code == 0 else f"the tests could not run:\n{output[-2000:]}"


def main(words: list[str]) -> int:
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="wiesel-mutants-") as name:
        folder = Path(name)
        make_copy(folder)
        files = {test for m in chosen for test in m.tests if "::" not in test}
        tests = tuple(sorted(files | {test for m in chosen for test in m.tests if test.partition("::")[0] not in files}))
        code, output = run_tests(folder, tests)
        if code != 0:
            print(f"the tests fail without any mutant:\n{output[-3000:]}")
            return 1
        wrong = 0
        for mutant in chosen:
            began_s = time.monotonic()
            problem = trial(folder, mutant)
            wrong += problem is not None
            print(f"{problem or 'noticed'}: {mutant.name} ({time.monotonic() - began_s:.0f} s)", flush=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} mutants were noticed")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
