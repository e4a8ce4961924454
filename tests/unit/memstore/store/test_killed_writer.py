"""A process that is killed in the middle of its writes loses nothing that it acknowledged."""

import subprocess
import sys
from pathlib import Path

from tests.unit.memstore.room import open_room

from graft_memstore.upkeep.check import check_profile

REPOSITORY = Path(__file__).parents[4]
ACKNOWLEDGED_BEFORE_KILL = 25


def test_a_killed_writer_leaves_every_acknowledged_note_and_a_whole_file(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_writer.py")
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={"PYTHONPATH": str(REPOSITORY)},
    ) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(ACKNOWLEDGED_BEFORE_KILL)]
        process.kill()
        acknowledged += process.stdout.readlines()
        process.wait(20)
    # The last line may have been cut off in the middle.
    ids = [line.strip() for line in acknowledged if line.endswith("\n")]

    with open_room(tmp_path, watched=False) as room:
        titles = [room.note(note_id).title for note_id in ids]
        findings = check_profile(room.profile, "", "")

    assert titles == [f"note {number}" for number in range(len(ids))]
    assert [each for each in findings if not each.ok] == []
