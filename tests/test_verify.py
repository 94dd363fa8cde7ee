"""What `make verify` compares, on folders of a few bytes."""

import sys

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))
import verify

FILES = {
    "figures/lab/study/a.svg": "<svg/>",
    "figures/lab/study/a.csv": "n\n1\n",
    "data/lab/models/seed-0/base/model.safetensors": "weights",
    "report/lab/study.ipynb": "{}",
}
# Another profile's, a page with times, and what is not finished.
BESIDE = (
    *("figures/recorded/study/a.svg", "data/published/study.csv", "report/lab/index.html"),
    *("report/lab/study.failed.ipynb", "data/lab/verdicts/study/judge.new"),
    *("data/lab/models/seed-0/.base.partial/model.safetensors", "figures/lab/study/.a.svg.new"),
)


def test_a_byte_in_any_file_that_a_profile_made_is_a_difference_and_nothing_else(tmp_path):
    for name in (*FILES, *BESIDE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(FILES.get(name, "x"))
    one = verify.made(tmp_path, "lab")
    assert set(one) == set(FILES)
    name = next(iter(FILES))
    (tmp_path / name).write_text("<svg>")
    assert verify.differences(one, verify.made(tmp_path, "lab")) == [f"differs: {name}"]
    (tmp_path / name).unlink()
    two = verify.made(tmp_path, "lab")
    assert verify.differences(one, two) == [f"only in run 1: {name}"]
    assert verify.differences(two, one) == [f"only in run 2: {name}"]


def test_the_status_says_whether_all_is_the_same(monkeypatch):
    # A run that made nothing proves nothing.
    for runs, status in (([{"t": 1}, {"t": 1}], 0), ([{"t": 1}, {"t": 2}], 1), ([{}, {}], 1)):
        monkeypatch.setattr(verify, "rebuilt", lambda *_, made=[*runs]: made.pop())
        assert verify.main(["lab"]) == status
