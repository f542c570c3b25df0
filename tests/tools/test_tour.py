"""The tour runs, tells the truth about what it saw, and fails where it should."""

import math

import pytest
import torch
from typer.testing import CliRunner

import minicompiler
from minicompiler.tools import tour
from minicompiler.tools.cli import app
from minicompiler.tools.gpt import GPT, Shape


def test_sums_are_written_with_the_answer_backwards():
    text = tour.write_sums(torch.tensor([123_456, 999_001, 7]))
    lines = ["".join(tour.ALPHABET[c] for c in row) for row in text.tolist()]
    assert lines == ["123+456=9750", "999+001=0001", "000+007=7000"]
    assert tour.readable(text[:2]) == "123+456=0579   999+001=1000"


def test_held_out_sums_are_never_trained_on():
    sums = tour.Sums(seed=3, held_out=1000)
    trained = torch.zeros(1_000_000, dtype=torch.bool)
    trained[sums.train] = True
    held = [int("".join(str(c) for c in row[:3] + row[4:7])) for row in sums.held_out.tolist()]
    assert len(set(held)) == 1000 and not trained[held].any()
    # the front follows once all sums are used
    assert torch.equal(sums.batch(999, 1000), sums.batch(0, 1000))


def test_a_character_sees_only_what_came_before():
    torch.manual_seed(0)
    model = GPT(Shape(vocabulary=12, context=11, layers=2, heads=2, channels=16))
    text = torch.randint(0, 12, (2, 11))
    changed = text.clone()
    changed[:, 6:] = (changed[:, 6:] + 1) % 12
    assert torch.equal(model(text)[:, :6], model(changed)[:, :6])
    assert not torch.equal(model(text)[:, 6:], model(changed)[:, 6:])


def test_accuracy_counts_whole_answers():
    sums = tour.write_sums(torch.tensor([123_456, 7]))

    def model(text):  # knows the first of the two sums by heart
        return torch.nn.functional.one_hot(sums[:1, 1 : text.shape[1] + 1].expand(2, -1), 12)

    assert tour.accuracy(model, sums) == 0.5


def run(tmp_path, *arguments):
    out = tmp_path / "curves.png"
    small = ["--steps", "2", "--batch", "8", "--out", str(out)]
    done = CliRunner().invoke(app, ["tour", *small, *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output, out


def test_a_short_tour(tmp_path):
    code, said, out = run(tmp_path, "--compiler", "identity", "--wanted", "0")
    assert code == 0, said
    assert out.read_bytes().startswith(b"\x89PNG")
    assert "what the compiler made" in said and "loss by step" in said
    assert "differ by at most 0.0e+00" in said.replace("\n", " ")


def test_without_a_terminal_it_speaks_in_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(tour, "TOLD", 1)
    _, said, _ = run(tmp_path, "--compiler", "identity", "--wanted", "0")
    assert "step 1 of 2: eager loss" in said and "step 2 of 2: eager loss" in said


def test_too_few_steps_fail(tmp_path):
    code, said, _ = run(tmp_path, "--compiler", "identity")
    assert code == 1 and "the tour failed: eager: 0.0% right" in said


@pytest.mark.parametrize("fault", [2e-3, math.nan])
def test_losses_that_part_fail(tmp_path, monkeypatch, fault):
    wrong = (lambda loss: lambda model, text: loss(model, text) * (1 + fault), dict)
    monkeypatch.setattr(tour, "compiler_named", lambda name: wrong)
    code, said, _ = run(tmp_path, "--wanted", "0")
    assert code == 1 and "steps differ by more than 0.001" in said.replace("\n", " ")


def test_a_watched_loss_is_counted(tmp_path, monkeypatch):
    small = ["--watched", "--wanted", "0"]
    code, said, _ = run(tmp_path, "--compiler", "identity", *small)
    assert code == 0, said
    forgets = (lambda watched: tour.loss_of, dict)
    monkeypatch.setattr(tour, "compiler_named", lambda name: forgets)
    code, said, _ = run(tmp_path, *small)
    assert code == 1 and "compiled, [] sums were counted, eagerly [8, 8]" in said


def test_what_it_draws_with_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(tour, "find_spec", lambda name: name != "plotext")
    code, said, _ = run(tmp_path, "--compiler", "identity")
    assert code == 2 and "pip install 'minicompiler[tour]'" in said.replace("\n", " ")


def test_nothing_compiled_fails(tmp_path, monkeypatch):
    kept = (lambda loss: loss, lambda: {"kernels": 0, "reasons": ["because [of] this"]})
    monkeypatch.setattr(tour, "compiler_named", lambda name: kept)
    code, said, _ = run(tmp_path, "--wanted", "0")
    assert code == 1 and "nothing was compiled" in said and "break: because [of] this" in said


@pytest.mark.slow
def test_the_compiler_itself(tmp_path):
    minicompiler.reset()  # the counts of what ran before in this process
    code, said, _ = run(tmp_path, "--wanted", "0")
    assert code == 0, said
    assert "1 frames, 1 graphs, 0 breaks" in said and "0 operators left to torch" in said


def test_what_cannot_be_done_is_said_before_training(tmp_path):
    code, said, _ = run(tmp_path, "--out", str(tmp_path / "absent" / "curves.png"))
    assert code == 2 and "there is no folder" in said
    assert run(tmp_path, "--steps", "0")[0] == 2
