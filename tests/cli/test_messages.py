"""What is said where something was asked wrongly, or would be done that nobody wants."""

import json
import os

import pytest

import profiles
from conftest import ROOT, run


@pytest.fixture
def folded(tmp_path):
    path = tmp_path / "p.folded"
    path.write_text("main;a;b 5\nmain;a;c 3\n")
    return path


def test_a_question_without_its_argument_names_what_is_missing(folded):
    assert "function needs NAME" in run("function", folded, code=2, cwd=folded.parent).err


def test_options_are_named_as_they_are_typed(folded):
    assert "did you mean --sort?" in run("top", folded, "--srt", "self", code=2).err
    assert "did you mean --version?" in run("--verion", code=2).err


def test_a_number_is_no_misspelling_of_another(tmp_path):
    path = tmp_path / "s.script"
    path.write_text("app 20798 1.000000: 1 cycles:\n\t401000 f+0x1 (/bin/app)\n\n")
    err = run("top", path, "--pid", "7").err
    assert "did you mean" not in err and "20798" in err


@pytest.mark.parametrize("question", ["top", "tree", "stacks", "summary"])
def test_a_bad_expression_is_an_error_in_every_form(folded, question):
    for form in ([], ["--json"]):
        run(question, folded, "--own", "((", *form, code=2)


def test_two_forms_are_refused(folded):
    assert "two forms" in run("top", folded, "--json", "--format", "csv", code=2).out
    json.loads(run("top", folded, "--json", "--format", "json", code=0).out)


def test_leaks_lists_no_option_that_it_refuses(folded):
    assert "--time" not in run("help", "leaks", "--all", code=0).out.replace("--timeout", "")
    assert "--time A..B" in run("help", "top", "--all", code=0).out


def test_a_flame_graph_replaces_only_flame_graphs(folded):
    svg = folded.parent / "p.svg"
    svg.write_text("<svg/>")
    assert "-o" in run("flamegraph", folded, cwd=folded.parent, code=2).err and svg.read_text() == "<svg/>"
    run("flamegraph", folded, "-o", svg, code=0)
    first = svg.read_bytes()
    run("flamegraph", folded, "--inverted", cwd=folded.parent, code=0)
    assert svg.read_bytes() != first


def test_several_files_without_what_nobody_asked_for(folded):
    """Extension records, processes and images, of which no answer about several files takes notice."""
    path = folded.parent / "x.spaa"
    path.write_text(profiles.text([(["f"], 1)]) + '{"type":"x_note","text":"a"}\n')
    assert "left out" not in run("top", "--by", "source", folded, path, "--event", "cycles", "--verbose").err


def test_a_tree_says_where_callees_are_not_indented(tmp_path, folded):
    assert "not indented" in run("tree", folded, code=0).out
    path = tmp_path / "flat.folded"
    path.write_text("main;a 5\nmain;b 3\n")
    assert "not indented" not in run("tree", path, code=0).out


def test_a_mistaken_question_is_not_told_about_its_input():
    """Notes of reading say nothing of the mistake; --verbose has them."""
    path = os.path.join(ROOT, "tests", "fixtures", "perf_data", "lbr.perf.data")
    assert "note:" in run("top", path, "--verbose", code=0).err
    said = run("top", path, "--event", "nope", code=2)
    assert said.err.startswith("spaa: error: no such event: nope") and "note:" not in said.err and len(said.err) < 200
    assert "note:" in run("top", path, "--event", "nope", "--verbose", code=2).err


def test_a_metric_of_another_event_is_not_the_one_that_was_meant():
    fixtures = os.path.join(ROOT, "tests", "fixtures")
    said = run("top", os.path.join(fixtures, "jemalloc", "map-without-name.heap"), "--metric", "samples", code=2).err
    assert "no such metric: samples" in said and "mean samples" not in said and "live_bytes" in said
    said = run("top", os.path.join(fixtures, "spt", "small.spt"), "--event", "lbr", "--metric", "samples", code=2).err
    assert "samples of event lbr" in said and "--event 'etw_callstack' has it" in said and "mean samples" not in said
