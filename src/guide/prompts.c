/* Prompts: what a person asks an agent for, and how it gets there. The commands are those of the skill. */
#include "guide/guide.h"

static const struct sp_guide_argument diagnose_arguments[] = {
    {"profile", "path of the profile", 1},
    {"question", "what is wanted to be known, if it is not just what is hot", 0},
    {0},
};

static const struct sp_guide_argument compare_arguments[] = {
    {"base", "paths of the profiles before, separated by blanks", 1},
    {"new", "paths of the profiles after, separated by blanks", 1},
    {0},
};

static const struct sp_guide_argument leak_arguments[] = {
    {"profile", "path of a heap profile", 1},
    {"later", "path of a later heap profile of the same process, where there is one", 0},
    {0},
};

#define REPORT                                                                                               \
    "Report at most ten lines: the answer first; the figures that show it, each with its unit, "             \
    "what it is a share of, and its bounds or its interval; the command that gave it; what is in "           \
    "doubt, and which recording would settle it. What the profile does not hold you do not say: "            \
    "\"cannot be known from this recording\" is an answer.\n"

static const char diagnose_text[] =
    "Diagnose the profile {profile} with spaa. {question}\n\n"
    "1. `spaa {profile}` (tool: summary). Its first lines say what is hot, why, and what of it is "
    "unreliable.\n"
    "2. Does that answer the question? Then stop. Else ask for one thing: who calls a function, and its "
    "lines: `spaa function {profile} NAME`; when: `spaa timeline {profile} --explain`; what a fix could "
    "gain at most: `spaa whatif {profile} NAME=0`; who waits for whom: `spaa waits {profile}`.\n"
    "3. Is what is asked about recorded at all? Samples of the CPU hold no waiting, no sizes and no "
    "leaks.\n\n" REPORT;

static const char compare_text[] =
    "What changed from the profiles {base} to {new}, and is it real? Use spaa.\n\n"
    "1. `spaa diff {base} -- {new}` (tool: diff), with all runs of each side: repeats tell change from "
    "chance.\n"
    "2. Believe its verdicts. \"significant\" is a change; \"below MDE\" and \"inconclusive\" are none that "
    "can be shown: neither rank nor explain those. No significant row: say that nothing changed beyond "
    "noise, and what change would have been found.\n"
    "3. A new function beside a vanished one of the same weight is a rename until shown otherwise. More "
    "time in a longer run need not be slower code: `--work` says how much was done.\n"
    "4. Of the function that changed: `spaa function FILE NAME`, of a new run, for its callers and "
    "lines.\n\n" REPORT;

static const char leak_text[] =
    "Which function of the program is responsible for the memory that stays in {profile} {later}? Use "
    "spaa.\n\n"
    "1. `spaa {profile}` (tool: summary): own functions by what they hold, and what may leak. Of two "
    "profiles `spaa leaks {profile} {later}` (tool: leaks): what grew from one to the other.\n"
    "2. Is the first one only a wrapper? `spaa leaks {profile} {later} --by stack -n 1 --names full` "
    "shows its callers: name the nearest one that decides to keep the memory.\n"
    "3. Held at the end is not yet a leak: say whether it grows, and over how long. A profile without "
    "allocations cannot tell: record with heaptrack, jemalloc, tcmalloc or Go's heap profile.\n\n" REPORT;

const struct sp_guide_prompt sp_guide_prompts[] = {
    {"diagnose", "What is slow, and why", diagnose_arguments, diagnose_text},
    {"compare", "What changed, and is it real", compare_arguments, compare_text},
    {"leak", "Who keeps the memory", leak_arguments, leak_text},
    {0},
};
