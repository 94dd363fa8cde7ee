"""What `make verify` compares, on folders of a few bytes."""

import verify

MADE = {"figures/lab/study/a.svg": "<svg/>", "report/lab/study.ipynb": "{}"}
MADE |= {"data/lab/models/seed-0/base/model.safetensors": "weights"}
# Another profile's, a page with times, and what is not finished.
BESIDE = (
    *("figures/recorded/study/a.svg", "data/published/study.csv", "report/lab/index.html"),
    *("report/lab/study.failed.ipynb", "data/lab/verdicts/study/judge.new"),
    *("data/lab/models/seed-0/.base.partial/model.safetensors", "figures/lab/study/.a.svg.new"),
)


def test_a_byte_in_any_file_that_a_profile_made_is_a_difference(tmp_path, monkeypatch):
    for name in (*MADE, *BESIDE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(MADE.get(name, "x"))
    one = verify.made(tmp_path, "lab")
    assert set(one) == set(MADE)
    page, figure, weights = sorted(MADE)[::-1]
    (tmp_path / figure).write_text("<svg>")
    (tmp_path / page).unlink()
    two = verify.made(tmp_path, "lab")
    assert two.keys() == {figure, weights}
    assert verify.differences(one, two) == [f"differs: {figure}", f"only in run 1: {page}"]
    assert verify.differences(two, one)[1] == f"only in run 2: {page}"
    # A run that made nothing proves nothing.
    for runs, status in (([one, one], 0), ([one, two], 1), ([{}, {}], 1)):
        monkeypatch.setattr(verify, "rebuilt", lambda *_, made=[*runs]: made.pop())
        assert verify.main(["lab"]) == status
