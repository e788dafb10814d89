#!/usr/bin/env python3
"""Writes the pages that say what the tables of the sources say: docs/commands.md, docs/formats.md,
docs/diagnostics.md, docs/json.md and the manual pages of docs/man.

    tools/gen_docs.py build/spaa            write them
    tools/gen_docs.py --check build/spaa    say which are out of date; exit 1 if any is

Commands and options come from `spaa help`, formats from `spaa formats --json`, diagnostics from
src/base/diag.def, members of JSON from `spaa help --json`.
"""

import email.utils
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATED = "<!-- Written by tools/gen_docs.py. Do not edit. -->\n\n"

SEVERITIES = {
    "FATAL": ("fatal", "nothing could be done"),
    "ERROR": ("error", "the command or call failed; in a report of `spaa validate`: the file is invalid"),
    "LOSS": ("data-loss", "part of the input could not be used; the answer is about the rest"),
    "WARNING": ("warning", "the answer holds, but look at this"),
    "INFO": ("info", "good to know"),
}


# ---- the tables ----


def ask(binary, *args):
    done = subprocess.run([binary, *args], capture_output=True, text=True, check=True, encoding="utf-8")
    return done.stdout


def parse_command(text):
    """The output of `spaa help COMMAND --all`: title line, usage, titled lists of options, examples."""
    lines = text.splitlines()
    name, title = re.fullmatch(r"spaa (\S+) — (.*)", lines[0]).groups()
    usage = next(line for line in lines if line.startswith("usage: ")).removeprefix("usage: ")
    sections, here = {}, None
    for line in lines[3:]:
        if line and not line.startswith(" "):
            here = sections.setdefault(line, [])
        elif line.strip():
            here.append(line)
    examples = [line.strip() for line in sections.pop("examples", [])]
    own = sections.pop("options of one format", [])  # these stand with their formats
    return {"name": name, "title": title, "usage": usage, "examples": examples, "own": bool(own),
            "sections": {key: parse_options(value) for key, value in sections.items()}}


def parse_options(lines):
    """[(letter or "", long name, value or "", help)]"""
    options = []
    for line in lines:
        m = re.match(r"  (?:-(\w), |    )--(\S+)((?: \S+)?)(?:\s{2,}(.*)|\s(?=\S)(.*))?$", line)
        if m:
            options.append([m[1] or "", m[2], m[3].strip(), m[4] or m[5] or ""])
        else:
            options[-1][3] = line.strip()
    return [tuple(o) for o in options]


def read_commands(binary):
    overview = ask(binary, "help")
    names = re.findall(r"^  (\w+)\s{2,}\S", overview, re.M)
    exits = " ".join(re.search(r"^exit: (.*(?:\n +.*)*)$", overview, re.M)[1].split())
    return {
        "about": overview.splitlines()[0].split(" — ")[1],
        "commands": [parse_command(ask(binary, "help", name, "--all")) for name in names if name != "usage"],
        "exits": re.findall(r"(\d) ([^,]+)", exits),
        "version": ask(binary, "--version").split()[-1],
    }


def all_sections(commands):
    """Every section with all its options, in the order of their first appearance."""
    found = {}
    for command in commands:
        for title, options in command["sections"].items():
            have = found.setdefault(title, [])
            have += [o for o in options if o not in have]
    general = found.pop("general", None)
    if general:
        found["general"] = general
    return found


def read_diagnostics():
    with open(os.path.join(ROOT, "src", "base", "diag.def"), encoding="utf-8") as f:
        text = f.read()
    string = r'"((?:[^"\\]|\\.)*)"'
    token = re.compile(r"/\*(.*?)\*/|SPAA_DIAG\(\s*(\w+),\s*(\w+),\s*" + string + r",\s*" + string + r"\s*\)", re.S)
    groups = []
    for m in token.finditer(text):
        if m[1] is not None:
            groups.append((" ".join(m[1].replace("*", " ").split()), []))
        else:
            groups[-1][1].append((m[2], m[3], m[4].replace('\\"', '"'), m[5].replace('\\"', '"')))
    return [(title, rows) for title, rows in groups if rows]


def sentence(title):
    title = title[0].upper() + title[1:]
    return title if title.endswith("…") else title + "."


# ---- Markdown ----


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;") or " "


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def option_text(option):
    letter, name, value, _ = option
    return (f"-{letter}, " if letter else "") + f"--{name}" + (f" {value}" if value else "")


def section_words(title, options, whole):
    link = f"[{title}](#{title.replace(' ', '-')})"
    if len(options) == len(whole):
        return link
    return link + " (" + ", ".join(f"`--{o[1]}`" for o in options) + ")"


def commands_md(data):
    sections = all_sections(data["commands"])
    out = [GENERATED, "# Commands\n\n`spaa COMMAND [FILE…] [options]`; `spaa FILE` is `spaa summary FILE`. Views take "
           "`./perf.data` where no file is named. Every command finds the format of its input by content, through zstd "
           "and gzip, and reads standard input for `-`. `spaa help COMMAND` shows the same as this page.\n\n"
           "Data goes to standard output, everything else to standard error. Exit codes: "
           + ", ".join(f"{code} {text}" for code, text in data["exits"]) + ".\n"]
    for c in data["commands"]:
        out.append(f"\n## spaa {c['name']}\n\n{sentence(c['title'])}\n\n`{c['usage']}`\n")
        words = [section_words(t, o, sections[t]) for t, o in c["sections"].items()]
        words += ["[those of the formats](formats.md)"] if c["own"] else []
        out.append("\nOptions: " + ", ".join(words) + ".\n")
        out.append("\n```sh\n" + "\n".join(c["examples"]) + "\n```\n")
    out.append("\n# Options\n")
    for title, options in sections.items():
        rows = [(f"`{cell(option_text(o))}`", cell(o[3])) for o in options]
        out.append(f"\n## {title}\n\n" + table(["option", "what it does"], rows))
    return "".join(out)


LENGTH = """
## How long a text may get

Formats that spell out every stack, sample or level can make gigabytes of a kilobyte: of a count of a billion, or of one long
name that stands in a stack ten thousand times. More than 64 MiB, before compression, that are also a hundred times
what the profile holds – each name, stack and sample once – are only written with `--expand`; `convert`, `merge`
and `symbolize` have it. Without it they end with SPAA-E036, and nothing is written: no file, nothing on standard output but where the
text only turns out to be so long when much of it has gone there. An original that is given back is not concerned. SPAA says each stack
once, and a name once for each of its rows. A file in which names that frames, stacks and labels share would take more than 512 MiB and
a hundred times what it holds where each row has its own is not read (SPAA-E007), nor are more than 256 MiB of source lines made of a file and
its lines (SPAA-L300). The names of one stack may have 512 MiB together in such formats, `--expand` or not (SPAA-E007).
"""

ORIGINALS = """
## The original: `--lossless`

`spaa convert IN --lossless -o OUT.spaa` keeps the bytes of the input beside what they mean, of every format and of those
that are only read too, and all samples. `spaa convert OUT.spaa --lossless --to FORMAT -o BACK` gives them back.

```sh
spaa convert demo/orders-1.perf.data.zst --lossless --no-symbols -o orders.spaa
spaa symbolize orders.spaa --symfs demo/symfs --kallsyms demo/kallsyms -o named.spaa # names do not matter
spaa convert named.spaa --lossless --to perf-data -o orders.perf.data
```

- The bytes are those after decompression, with all that stands around a text. They are compressed (zstd, level 9) and stand
  last in the file as `x_original` records, in lines of less than 1 MiB, with their size, their digest (XXH3-128) and how they
  were read. Neither writing nor reading them takes memory: a temporary file in `TMPDIR` holds them.
- Beside them stands a digest of what was read: events, threads, stacks, contexts, weights, samples, windows. While the profile has
  it, the bytes are given; once a weight was edited, the format is rendered from the stacks, which is said. A format without a writer
  is an error then (exit 3). Names count where the format stores them (for frames with an address: until symbols were added),
  not where they come from the files of a machine: `spaa symbolize` changes nothing. Of an address, what counts is where it is in its page.
- Without `--lossless`, too, the bytes are what is written in the format of an original; not by `spaa symbolize`,
  and not where an event, a metric or an option of the format asks for something else.
- SPAA is the only target that keeps an original, and an original comes back in its own format only; anything else, or
  a filter, is refused with `--lossless` (exit 2). SPAA as input keeps the original that it has. What is
  filtered, merged or made coarser (`--frames`, `--group-by` of SPAA) has none, with a note.
- Of a recording of several files (`perf record --threads`) each is kept under its name. They come back into a folder, `-o FOLDER`,
  which must not be there. Only the files that are read are kept: `data`, `data.0`, `data.1`, …, not copies of `/proc/kcore`.
- **Recordings of `perf record --call-graph dwarf` hold copies of stack memory.** Whatever the process had on its stacks, keys and
  passwords too, is in such an original; a note says so when one is kept. A conversion of the recording without `--lossless` has none of it
  (but for `--samples --stack-bytes`). SPAA that has an original keeps it when it is converted to SPAA again: to give a file
  away without it, leave those lines out: `grep -v '^{"type":"x_original"'`.
- It is the content that comes back, decompressed: of `x.pb.gz` the bytes of `gzip -dc`, not the compressed file.
- A damaged original is an error (exit 3), and nothing is written; without `--lossless` the format is rendered, with a note.
- Layers of `--lossless` that older versions wrote (`x_dtrace_text`, `x_spt_records`, …) are carried along as records of unknown
  types; convert the recording again.
"""


def formats_md(formats):
    def mark(x):
        return "yes" if x else "–"

    rows = [(f"[`{f['name']}`](#{f['name']})", f["title"], mark(f["read"]), mark(f["write"]), mark(f["validate"]),
             " ".join(f"`.{e}`" for e in f["extensions"].split()), cell(f["comes_back"])) for f in formats]
    out = [GENERATED, "# Formats\n\nThe format of an input is found by its content, never by its name; `--from FORMAT` "
           "overrules that. The format of an output is that of its extension, or `--to FORMAT`. Any input may be "
           "compressed with zstd or gzip; an output is when its name ends in `.zst` or `.gz`. `spaa formats` prints "
           "this table, `spaa formats NAME` one format.\n\n"
           "A format is taken only when nearly all of what is seen of the input is of it (64 KiB, and the first line "
           "whole); otherwise the format is unknown (SPAA-E005), and the hint names the nearest one and the `--from` "
           "that reads the input as that. Folded stacks need 95 % lines of a stack and a number, and frames in one of "
           "them: a semicolon between names, a mark like `_[k]`, or a comment that names the event (`# event: "
           "cycles`). A list like `main 5` is read with `--from folded`. Text may begin with a byte order mark, be in "
           "UTF-16 with a mark or without, and be quoted as in mail and issues (`> ` before every line), also several times: the "
           "marks are taken away, which is said as SPAA-W311.\n\n",
           table(["name", "what it is", "read", "write", "validate", "extensions", "what comes back without `--lossless`"],
                 rows), LENGTH + ORIGINALS]
    for f in formats:
        out.append(f"\n## {f['name']}\n\n{f['title']}.")
        if not f["options"]:
            out.append(" It has no options of its own.\n")
            continue
        out.append(" Options of its own:\n\n")
        rows = [(f"`--{o['name']}" + (f" {o['value']}`" if o["value"] else "`"),
                 "reading and writing" if o["read"] and o["write"] else "reading" if o["read"] else "writing",
                 cell(o["help"])) for o in f["options"]]
        out.append(table(["option", "when", "what it does"], rows))
    return "".join(out)


def diagnostics_md(groups):
    out = [GENERATED, "# Diagnostics\n\nWhat `spaa` says about an input besides the answer: one line each on standard "
           "error, objects in the `diagnostics` (or `findings`) of JSON answers, `struct spaa_diagnostic` in C. A code "
           "keeps its meaning for ever. At most ten messages of one code are shown, the others are counted. What makes "
           "a SPAA file invalid is explained in [validation.md](validation.md). The letter of a code is its severity:\n\n",
           table(["letter", "severity", "meaning"],
                 [(f"`{key[0]}`", name, text) for key, (name, text) in SEVERITIES.items()])]
    for title, rows in groups:
        out.append(f"\n## {title}\n\n" + table(
            ["code", "severity", "what", "what to do"],
            [(f"`SPAA-{code}`", SEVERITIES[severity][0], cell(what), cell(hint)) for code, severity, what, hint in rows]))
    return "".join(out)


JSON_HEAD = """# JSON answers

What the answers of questions are made of, from their declarations (`spaa help --json`): the same that tables, CSV and SQL
(`ask_top`, …, in [query.md](query.md)) show. A member `profile.event` is `event` in the object `profile`; members of tables
are those of each object in the list. A schema's number goes up when a member changes or goes.

- *weight*: exact, in the unit of the answer; null where values must not be added. *percent*, and numbers called so: two
  decimals, of `whole` unless it says otherwise; null where that is 0. *ns*: nanoseconds. *handle*: what other commands take.
- Members are there in every answer and null where nothing is known; those that are *optional* are left out of answers or rows
  that have nothing of the kind. `diff` without `-n` leaves out the numbers that say least, to stay below 3 KB; `info` has no
  `profile` and `whole`, as it is about no event.
- CSV has the columns of the lists that people are shown as tables, by the same names and with the same numbers; shares of
  100 always have two decimals. Lists and objects inside a row stand there as text, under names of their own (`stack`,
  `path`, `names`), and so does what people see behind a name (`marks`, `rate`). Null is an empty cell. Control characters
  of names are four characters there, `\\x07`, since spreadsheets and terminals act on them; in JSON they are
  `\\u0007`, as what turns the direction of text is (`\\u202e`).
- `function` is the whole name, `short` beside it the one that tables show: without template arguments, parameters and return
  type, unless they tell rows apart.
- `omitted` says of each list how many rows are not shown, and their weight. JSON has as many rows as the table; `-n 0`
  shows all, `--budget TOKENS` as many as fit.
- An answer of more than 256 MiB that is also 400 times what the profile holds, each name and stack once, is an error
  (SPAA-E007): one long name that stands in a stack ten thousand times makes gigabytes of rows. So in every form.
- `next` are commands to ask next. `diagnostics` are what reading and asking had to say ([diagnostics.md](diagnostics.md)).
"""


def declared_rows(columns):
    rows = []
    for c in columns:
        rows.append((f"`{c['name']}`", c["type"] + (", optional" if c["optional"] else ""), cell(c["doc"] or "")))
        if c["short"]:
            rows.append(("`" + c["name"].rpartition("function")[0] + "short`", "text", "its short name"))
    return rows


def declared_part(part):
    out = []
    if part["facts"]:
        out.append("\n" + table(["member", "type", "what it is"], declared_rows(part["facts"])))
    for t in part["tables"]:
        out.append(f"\n`{t['name']}`: {t['doc'] or 'a list'}.\n\n"
                   + table(["member", "type", "what it is"], declared_rows(t["columns"])))
    return "".join(out)


def json_md(declared):
    out = [GENERATED, JSON_HEAD, "\n## In every answer\n", declared_part(declared["common"])]
    for q in declared["questions"]:
        out.append(f"\n## {q['schema']}\n\n`spaa {q['name']}`: {q['title']}.\n" + declared_part(q))
    return "".join(out)


# ---- the manual page ----


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "\\&...").replace("`", "")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def roff_option(option):
    letter, name, value, text = option
    head = (f"\\fB\\-{letter}\\fR, " if letter else "") + f"\\fB\\-\\-{roff(name)}\\fR"
    return f".TP\n{head}" + (f" \\fI{roff(value)}\\fR" if value else "") + f"\n{roff(text)}\n"


def version_date():
    """When this version was packaged, which does not change with every build."""
    with open(os.path.join(ROOT, "debian", "changelog"), encoding="utf-8") as f:
        line = next(line for line in f if line.startswith(" -- "))
    return email.utils.parsedate_to_datetime(line.split(">  ")[1].strip()).date().isoformat()


def man_head(title, data, name, what, synopsis):
    return (f'.\\" Written by tools/gen_docs.py. Do not edit.\n.TH {title} 1 "{version_date()}" "spaa {data["version"]}" "User Commands"\n'
            f".SH NAME\n{roff(name)} \\- {roff(what)}\n.SH SYNOPSIS\n{synopsis}")


def man_exits(data):
    return ".SH EXIT STATUS\n" + "".join(f".TP\n.B {code}\n{roff(text)}\n" for code, text in data["exits"])


def man_see(names):
    return ".SH SEE ALSO\n" + ",\n".join(f".BR {roff(name)} (1)" for name in names) + "\n"


def man_spaa(data, formats):
    out = [man_head("SPAA", data, "spaa", data["about"],
                    ".B spaa\n.I COMMAND\n[\\fIFILE\\fR\\&...] [\\fIoptions\\fR]\n.br\n.B spaa\n.I FILE\n"),
           ".SH DESCRIPTION\nReads profiles of sampling profilers, keeps them as SPAA, and says what is hot and why. "
           "Every command finds the format of its input by content, through zstd and gzip, and reads standard input for "
           "\\fB\\-\\fR. \\fBspaa\\fR \\fIFILE\\fR is \\fBspaa summary\\fR \\fIFILE\\fR; views take \\fI./perf.data\\fR "
           "where no file is named.\n.SH COMMANDS\n"]
    for c in data["commands"]:
        out.append(f".TP\n.BR spaa\\-{roff(c['name'])} (1)\n{roff(sentence(c['title']))}\n")
    out.append(".SH OPTIONS\nThose of a command stand in its page. Most commands take these:\n")
    top = next(c for c in data["commands"] if c["name"] == "top")
    shared = [t for t in top["sections"] if all(t in c["sections"] for c in data["commands"] if c["name"] in ("tree", "stacks"))]
    for title in shared:
        out.append(f".SS {roff(title.capitalize())}\n" + "".join(roff_option(o) for o in top["sections"][title]))
    out.append(".SH FORMATS\n")
    for f in formats:
        can = " and ".join(w for w in ("read", "write", "validate") if f[w])
        out.append(f".TP\n\\fB{roff(f['name'])}\\fR\n{roff(f['title'])}: {can}.\n")
        for o in f["options"]:
            value = f" \\fI{roff(o['value'])}\\fR" if o["value"] else ""
            out.append(f".RS\n.TP\n\\fB\\-\\-{roff(o['name'])}\\fR{value}\n{roff(o['help'])}\n.RE\n")
    out.append(man_exits(data))
    out.append(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nIf set, nothing is coloured.\n.TP\n.B TMPDIR\n"
               "Where temporary files go; they have no name and vanish with the process.\n.TP\n.B DEBUGINFOD_URLS\n"
               "Servers of debug information, which are asked with \\fB\\-\\-debuginfod\\fR only.\n.TP\n.B SPAA_COMPLETE_MS\n"
               "How many milliseconds completion in a shell may take to look into a file; 100 if it is not set.\n")
    out.append(man_see([f"spaa-{c['name']}" for c in data["commands"]] + ["sptdump", "perf"]))
    return "".join(out)


def man_command(data, c):
    out = [man_head(f"SPAA\\-{c['name'].upper()}", data, f"spaa-{c['name']}", c["title"],
                    f".B spaa {roff(c['name'])}\n{roff(c['usage'].removeprefix('spaa ' + c['name'] + ' '))}\n")]
    out.append(".SH OPTIONS\n")
    for title, options in c["sections"].items():
        out.append(f".SS {roff(title.capitalize())}\n" + "".join(roff_option(o) for o in options))
    if c["own"]:
        out.append(".PP\nOptions of formats stand with these in\n.BR spaa (1).\n")
    out.append(".SH EXAMPLES\n.nf\n" + "\n".join(roff(e) for e in c["examples"]) + "\n.fi\n")
    return "".join(out) + man_exits(data) + man_see(["spaa"])


def man_sptdump(data, text):
    """From `sptdump --help`: title line, options, and what there is to say."""
    title, options, notes = text.split("\n\n", 2)
    rows = re.findall(r"^  (/\w+) +(.*)$", options, re.M)
    return (man_head("SPTDUMP", data, "sptdump", title.split(": ", 1)[1], ".B sptdump\n[\\fIoptions\\fR] \\fIFILE\\fR\n")
            + ".SH OPTIONS\n" + "".join(f".TP\n.B {roff(o)}\n{roff(h)}\n" for o, h in rows) + f".PP\n{roff(notes.strip())}\n"
            + man_exits(data) + man_see(["spaa", "spaa-dump", "spaa-spt"]))


def man_pages(binary, data, formats):
    found = {"docs/man/spaa.1": man_spaa(data, formats)}
    for c in data["commands"]:
        found[f"docs/man/spaa-{c['name']}.1"] = man_command(data, c)
    done = subprocess.run(["sptdump", "--help"], executable=binary, capture_output=True, text=True, check=True, encoding="utf-8")
    found["docs/man/sptdump.1"] = man_sptdump(data, done.stdout)
    return found


def pages(binary):
    data = read_commands(binary)
    formats = json.loads(ask(binary, "formats", "--json"))["formats"]
    return {
        "docs/commands.md": commands_md(data),
        "docs/formats.md": formats_md(formats),
        "docs/json.md": json_md(json.loads(ask(binary, "help", "--json"))),
        "docs/diagnostics.md": diagnostics_md(read_diagnostics()),
        **man_pages(binary, data, formats),
    }


def main(args):
    check = "--check" in args
    names = [a for a in args if a != "--check"]
    binary = os.path.abspath(names[0] if names else os.path.join(ROOT, "build", "spaa"))
    stale = []
    wanted = pages(binary)
    for path, text in wanted.items():
        full = os.path.join(ROOT, path)
        old = None
        if os.path.exists(full):
            with open(full, encoding="utf-8") as f:
                old = f.read()
        if old == text:
            continue
        stale.append(path)
        if not check:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as f:
                f.write(text)
    for path in ("docs/man/" + n for n in sorted(os.listdir(os.path.join(ROOT, "docs", "man")))):
        if path not in wanted:
            stale.append(path)
            if not check:
                os.remove(os.path.join(ROOT, path))
    for path in stale:
        print(("out of date: " if check else "written: ") + path)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
