/*
 * What a recording says of processes, threads and binaries beside its samples, as rows of model/facts.h.
 *
 * A process is what lived under a pid from one FORK to the next: its name is that of its main thread, its
 * path that of the first file mapped by the program that it ran last. A child that runs no program of its own
 * has what its parent had. perf makes records up for what ran before it; they have no time, and say nothing
 * of when a process began. One that forks while perf writes those is told twice, and is one.
 *
 * All processes are listed, so that parents are, too; what they mapped only of those with samples: with
 * `perf record -a` the others are the whole machine. What is mapped stands in a list that a fork shares with
 * its parent, so that memory grows with the records alone.
 */
#include "formats/perf_data/resolve.h"

#include "base/hash.h"
#include "model/facts.h"

#define IMAGES_MAX ((size_t)4 << 20) /* of all processes: forks multiply them */

/* A map, and what was mapped before it. */
struct pd_facts_map {
    uint64_t pos;    /* of its record */
    uint32_t before; /* 1 + number in maps; 0: none */
    bool told;       /* it and all before it are images of the profile */
};

/* What a process had mapped when it ran another program. */
struct pd_facts_left {
    uint32_t process, maps;
};

struct pd_facts_life {
    uint64_t since, until; /* in the time of the sideband: main threads' comms in between are names of it */
    uint64_t exe;          /* the record that maps its program */
    int64_t start_ns, exit_ns;
    int32_t pid, parent;
    uint32_t process; /* in pd->processes */
    uint32_t maps;    /* as pd_facts_map.before */
    bool has_exe, has_parent;
    bool seen; /* by a record that has a time: it lives, and a FORK tells of another */
    bool main_exited;
};

struct pd_facts {
    struct sp_pd *pd;
    struct sp_pd_frames *frames;
    SP_VEC(struct pd_facts_life) lives;
    SP_VEC(struct pd_facts_map) maps;
    SP_VEC(struct pd_facts_left) left;
    uint32_t *now; /* by process: 1 + number in lives */
    bool *sampled; /* by process */
    struct sp_map image_map;
    SP_VEC(uint32_t) own, images; /* of the process that is written: numbers in maps, and of the profile */
    struct sp_buf text;
    bool full;
};

static int64_t pd_facts_time(uint64_t t)
{
    return t && t <= INT64_MAX ? (int64_t)t : SP_ABSENT;
}

static int64_t pd_facts_earlier(int64_t a, int64_t b)
{
    return a == SP_ABSENT || (b != SP_ABSENT && b < a) ? b : a;
}

/* ---- lives ---- */

static struct pd_facts_life *pd_facts_begin(struct pd_facts *x, uint32_t process, uint64_t since)
{
    struct pd_facts_life l = {.process = process,
                              .pid = x->pd->processes.v[process].pid,
                              .since = since,
                              .until = UINT64_MAX,
                              .start_ns = SP_ABSENT,
                              .exit_ns = SP_ABSENT};
    if (x->lives.n >= SP_NONE - 1 || !sp_vec_push(&x->lives, l))
        return NULL;
    if (x->now[process])
        x->lives.v[x->now[process] - 1].until = since;
    x->now[process] = (uint32_t)x->lives.n;
    return &x->lives.v[x->lives.n - 1];
}

/* What lives under a process's number; begun where nothing was told of it before. NULL: no memory. */
static struct pd_facts_life *pd_facts_life(struct pd_facts *x, uint32_t process)
{
    return x->now[process] ? &x->lives.v[x->now[process] - 1] : pd_facts_begin(x, process, 0);
}

static void pd_facts_inherit(struct pd_facts *x, struct pd_facts_life *child, int32_t ppid)
{
    uint32_t parent = sp_pd_process_find(x->pd, ppid);
    if (parent == SP_NONE || !x->now[parent])
        return;
    const struct pd_facts_life *from = &x->lives.v[x->now[parent] - 1];
    child->maps = from->maps;
    child->exe = from->exe;
    child->has_exe = from->has_exe;
}

static void pd_facts_set_parent(struct pd_facts_life *l, int32_t ppid)
{
    if (l->has_parent || ppid < 0 || ppid == l->pid)
        return;
    l->parent = ppid;
    l->has_parent = true;
}

static bool pd_facts_fork(struct pd_facts *x, uint32_t process, const unsigned char *rec, uint64_t time)
{
    const struct sp_pd *pd = x->pd;
    int32_t ppid = sp_pd_i32(rec + 12, pd->swap), pid = sp_pd_i32(rec + 8, pd->swap);
    uint64_t stated = sp_pd_u64(rec + 24, pd->swap);
    struct pd_facts_life *l = pd_facts_life(x, process);
    if (!l || pid == ppid)
        return l;
    if (!sp_pd_is_fork(pd, rec, stated, &pid, &ppid)) {
        pd_facts_set_parent(l, ppid);
        return true;
    }
    bool fresh = !l->maps && !l->has_exe;
    if (l->seen) {
        l = pd_facts_begin(x, process, time);
        fresh = true;
        if (!l)
            return false;
    }
    l->seen = true;
    l->start_ns = pd_facts_time(stated);
    l->has_parent = false;
    pd_facts_set_parent(l, ppid);
    if (fresh)
        pd_facts_inherit(x, l, ppid);
    return true;
}

/* The process ends with the last of its threads. The kernel before 5.5 gives a process as its own parent. */
static bool pd_facts_exit(struct pd_facts *x, uint32_t process, const unsigned char *rec)
{
    const struct sp_pd *pd = x->pd;
    struct pd_facts_life *l = pd_facts_life(x, process);
    if (!l)
        return false;
    l->seen = true;
    l->main_exited = l->main_exited || sp_pd_i32(rec + 16, pd->swap) == l->pid;
    l->exit_ns = pd_facts_time(sp_pd_u64(rec + 24, pd->swap));
    pd_facts_set_parent(l, sp_pd_i32(rec + 12, pd->swap));
    return true;
}

static bool pd_facts_comm(struct pd_facts *x, uint32_t process, const unsigned char *rec, uint64_t time)
{
    struct pd_facts_life *l = pd_facts_life(x, process);
    if (!l)
        return false;
    l->seen = l->seen || time;
    if (sp_pd_u16(rec + 4, x->pd->swap) & PD_MISC_EXEC) {
        struct pd_facts_left left = {process, l->maps};
        if (l->maps && !sp_vec_push(&x->left, left))
            return false;
        l->maps = 0;
        l->has_exe = false;
    }
    return true;
}

static bool pd_facts_mmap(struct pd_facts *x, uint32_t process, const struct sp_pd_mmap *m,
                          const struct sp_pd_side *side)
{
    struct pd_facts_life *l = pd_facts_life(x, process);
    if (!l)
        return false;
    l->seen = l->seen || side->time;
    if (m->data)
        return true;
    struct pd_facts_map map = {.pos = side->pos, .before = l->maps};
    if (x->maps.n >= SP_NONE - 1 || !sp_vec_push(&x->maps, map))
        return false;
    l->maps = (uint32_t)x->maps.n;
    if (!l->has_exe && *m->path.p == '/' && !sp_pd_is_anonymous(m->path)) {
        l->has_exe = true;
        l->exe = side->pos;
    }
    return true;
}

static bool pd_facts_side(struct pd_facts *x, const struct sp_pd_side *side)
{
    struct sp_pd *pd = x->pd;
    const unsigned char *rec = sp_pd_at(pd, side->pos);
    uint32_t type = sp_pd_u32(rec, pd->swap);
    int32_t pid = sp_pd_i32(rec + 8, pd->swap);
    struct sp_pd_mmap m;
    uint32_t process = pid < 0 ? SP_NONE : sp_pd_process_find(pd, pid);
    if (process == SP_NONE)
        return true;
    if (type == PD_FORK)
        return pd_facts_fork(x, process, rec, side->time);
    if (type == PD_EXIT)
        return pd_facts_exit(x, process, rec);
    if (type == PD_COMM)
        return pd_facts_comm(x, process, rec, side->time);
    return !sp_pd_mmap_read(pd, rec, &m) || pd_facts_mmap(x, process, &m, side);
}

/* ---- images ---- */

/* Number of an image of the profile; SP_NONE: no memory. Equal ones are one. */
static uint32_t pd_facts_image(struct pd_facts *x, const struct sp_image *image)
{
    struct sp_profile *p = x->pd->p;
    uint64_t hash = sp_hash_key(image, sizeof *image);
    struct sp_probe at = sp_map_probe(&x->image_map, hash);
    for (uint32_t i; (i = sp_map_next(&x->image_map, &at)) != SP_MAP_NONE;)
        if (memcmp(&p->images.v[i], image, sizeof *image) == 0)
            return i;
    uint32_t n = (uint32_t)p->images.n;
    return sp_image_add(p, image) && sp_map_add_at(&x->image_map, &at, n) ? n : SP_NONE;
}

static bool pd_facts_text(struct sp_profile *p, const char *s, size_t n, uint32_t *out)
{
    *out = n ? sp_profile_str(p, s, n) : SP_STR_NONE;
    return *out != SP_STR_FAIL;
}

static bool pd_facts_range(struct sp_image *image, const struct sp_pd_mmap *m)
{
    if (!m->len)
        return false;
    image->start = m->start;
    image->end = m->start + (m->len - 1) < m->start ? UINT64_MAX - 1 : m->start + (m->len - 1);
    return true;
}

static const char *pd_facts_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Adds what a record maps to the images of a process; code that stands in no file is none. used: only if
 * frames are of it. */
static bool pd_facts_add_map(struct pd_facts *x, uint64_t pos, bool used)
{
    struct sp_profile *p = x->pd->p;
    struct sp_pd_mmap m;
    struct sp_image image;
    memset(&image, 0, sizeof image);
    sp_facts_clear(sp_image_facts, &image);
    if (!sp_pd_mmap_read(x->pd, sp_pd_at(x->pd, pos), &m) || !pd_facts_range(&image, &m))
        return true;
    uint32_t dso = sp_pd_frames_dso(x->frames, &m);
    if (dso == SP_NONE)
        return false;
    struct sp_pd_dso_file file = sp_pd_frames_file(x->frames, dso);
    if (!file.file || (used && !file.used))
        return true;
    const char *name = pd_facts_base(file.path), *id = file.build_id ? file.build_id : "";
    bool path = file.path[0] == '/';
    if (!pd_facts_text(p, name, strlen(name), &image.name) ||
        !pd_facts_text(p, file.path, path ? strlen(file.path) : 0, &image.path) ||
        !pd_facts_text(p, id, strlen(id), &image.build_id))
        return false;
    uint32_t n = pd_facts_image(x, &image);
    return n != SP_NONE && sp_vec_push(&x->images, n);
}

static int pd_facts_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The images of a process, each once. */
static bool pd_facts_images(struct pd_facts *x, const struct pd_facts_life *l)
{
    size_t kept = 0;
    x->images.n = x->own.n = 0;
    for (uint32_t i = x->sampled[l->process] ? l->maps : 0; i; i = x->maps.v[i - 1].before) {
        if (x->own.n + x->pd->p->process_images.n >= IMAGES_MAX) {
            x->full = true;
            break;
        }
        if (!sp_vec_push(&x->own, i - 1))
            return false;
    }
    for (size_t i = x->own.n; i--;)
        if (!pd_facts_add_map(x, x->maps.v[x->own.v[i]].pos, false))
            return false;
    if (x->images.n)
        qsort(x->images.v, x->images.n, sizeof *x->images.v, pd_facts_compare);
    for (size_t i = 0; i < x->images.n; i++)
        if (!kept || x->images.v[kept - 1] != x->images.v[i])
            x->images.v[kept++] = x->images.v[i];
    x->images.n = kept;
    return true;
}

/* Images of programs that a process left by an exec, where frames are of them: its own are of its last. */
static bool pd_facts_left_images(struct pd_facts *x)
{
    x->images.n = 0;
    for (size_t i = 0; i < x->left.n; i++) {
        uint32_t m = x->sampled[x->left.v[i].process] ? x->left.v[i].maps : 0;
        for (; m && !x->maps.v[m - 1].told; m = x->maps.v[m - 1].before) {
            x->maps.v[m - 1].told = true;
            if (!pd_facts_add_map(x, x->maps.v[m - 1].pos, true))
                return false;
        }
    }
    return true;
}

/* The kernel and its modules: those that frames are of. */
static bool pd_facts_kernel_map(struct pd_facts *x, uint64_t pos, const struct sp_map *named)
{
    struct sp_pd *pd = x->pd;
    const unsigned char *rec = sp_pd_at(pd, pos);
    struct sp_pd_mmap m;
    struct sp_image image;
    memset(&image, 0, sizeof image);
    sp_facts_clear(sp_image_facts, &image);
    if (sp_pd_u32(rec, pd->swap) == PD_KSYMBOL || !sp_pd_mmap_read(pd, rec, &m) || m.guest ||
        !pd_facts_range(&image, &m))
        return true;
    if (!sp_pd_kernel_name(m.path, &x->text) || !pd_facts_text(pd->p, x->text.data, x->text.len, &image.name))
        return false;
    struct sp_probe at = sp_map_probe(named, sp_hash_mix(image.name, 0));
    uint32_t dso = sp_map_next(named, &at);
    while (dso != SP_MAP_NONE && pd->p->dsos.v[dso].name != image.name)
        dso = sp_map_next(named, &at);
    if (dso == SP_MAP_NONE)
        return true;
    image.build_id = pd->p->dsos.v[dso].build_id;
    image.flags = SP_FACT_KERNEL;
    return pd_facts_text(pd->p, m.path.p, *m.path.p == '/' ? m.path.n : 0, &image.path) &&
           pd_facts_image(x, &image) != SP_NONE;
}

static bool pd_facts_kernel(struct pd_facts *x)
{
    const struct sp_profile *p = x->pd->p;
    struct sp_map named = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->dsos.n; i++)
        ok = !p->dsos.v[i].is_kernel || sp_map_add(&named, sp_hash_mix(p->dsos.v[i].name, 0), i);
    for (size_t i = 0; ok && named.slots && i < x->pd->kernel_maps.n; i++)
        ok = pd_facts_kernel_map(x, x->pd->kernel_maps.v[i], &named);
    sp_map_free(&named);
    return ok;
}

/* ---- rows ---- */

/* The last name of the main thread while the process lived. */
static uint32_t pd_facts_name(const struct sp_pd *pd, const struct pd_facts_life *l)
{
    uint32_t t = sp_pd_thread_find(pd, l->pid, l->pid);
    if (t == SP_NONE)
        return SP_STR_NONE;
    const struct sp_pd_thread *thread = &pd->threads.v[t];
    for (size_t i = thread->comms.n; i--;)
        if (thread->comms.v[i].since < l->until)
            return thread->comms.v[i].since >= l->since ? thread->comms.v[i].name : SP_STR_NONE;
    return SP_STR_NONE;
}

static bool pd_facts_path(struct pd_facts *x, const struct pd_facts_life *l, uint32_t *out)
{
    struct sp_pd_mmap m;
    if (!l->has_exe || !sp_pd_mmap_read(x->pd, sp_pd_at(x->pd, l->exe), &m))
        return true;
    uint32_t dso = sp_pd_frames_dso(x->frames, &m);
    if (dso == SP_NONE)
        return false;
    const char *path = sp_pd_frames_file(x->frames, dso).path;
    return pd_facts_text(x->pd->p, path, strlen(path), out);
}

static bool pd_facts_process(struct pd_facts *x, const struct pd_facts_life *l)
{
    struct sp_process_fact row = {0};
    sp_facts_clear(sp_process_facts, &row);
    row.pid = l->pid;
    row.name = pd_facts_name(x->pd, l);
    row.parent_pid = l->has_parent ? l->parent : SP_ABSENT;
    row.start_ns = l->start_ns;
    row.exit_ns = l->main_exited ? l->exit_ns : SP_ABSENT;
    return pd_facts_path(x, l, &row.path) && pd_facts_images(x, l) &&
           sp_process_add(x->pd->p, &row, x->images.v, x->images.n);
}

/* Threads that ended, where switches say what threads did: one may have ended before it came onto a CPU. */
static bool pd_facts_ended_threads(struct sp_pd *pd)
{
    bool ok = true;
    for (size_t i = 0; ok && pd->switches && i < pd->sides.n; i++) {
        const unsigned char *rec = sp_pd_at(pd, pd->sides.v[i].pos);
        if (sp_pd_u32(rec, pd->swap) != PD_EXIT)
            continue;
        uint32_t t = sp_pd_thread_find(pd, sp_pd_i32(rec + 8, pd->swap), sp_pd_i32(rec + 16, pd->swap));
        ok = t == SP_NONE || sp_pd_thread_record(pd, &pd->threads.v[t]);
    }
    return ok;
}

/* When the threads of the profile began and ended; nothing of a number that was used again: it has one row.
 */
static bool pd_facts_threads(struct pd_facts *x)
{
    struct sp_pd *pd = x->pd;
    struct sp_profile *p = pd->p;
    struct sp_map of_tid = {0};
    bool *again = calloc(p->threads.n + 1, sizeof *again), ok = again;
    for (uint32_t i = 0; ok && i < p->threads.n; i++)
        ok = sp_map_add(&of_tid, sp_hash_mix((uint64_t)p->threads.v[i].tid, 0), i);
    for (size_t i = 0; ok && of_tid.slots && i < pd->sides.n; i++) {
        const unsigned char *rec = sp_pd_at(pd, pd->sides.v[i].pos);
        uint32_t type = sp_pd_u32(rec, pd->swap), t;
        if (type != PD_EXIT && (type != PD_FORK || sp_pd_u16(rec + 4, pd->swap) & PD_MISC_EXEC))
            continue;
        int32_t pid = sp_pd_i32(rec + 8, pd->swap), tid = sp_pd_i32(rec + 16, pd->swap);
        int64_t time = pd_facts_time(sp_pd_u64(rec + 24, pd->swap));
        struct sp_probe at = sp_map_probe(&of_tid, sp_hash_mix((uint64_t)(int64_t)tid, 0));
        while ((t = sp_map_next(&of_tid, &at)) != SP_MAP_NONE) {
            struct sp_thread *row = &p->threads.v[t];
            if (row->tid != tid || row->pid != pid)
                continue;
            again[t] |= type == PD_FORK && row->exit_ns != SP_ABSENT && time > row->exit_ns;
            if (type == PD_FORK)
                row->start_ns = pd_facts_earlier(row->start_ns, time);
            else
                row->exit_ns = time;
        }
    }
    for (size_t i = 0; ok && i < p->threads.n; i++)
        if (again[i])
            p->threads.v[i].start_ns = p->threads.v[i].exit_ns = SP_ABSENT;
    free(again);
    sp_map_free(&of_tid);
    return ok;
}

static bool pd_facts_run(struct pd_facts *x)
{
    struct sp_pd *pd = x->pd;
    bool ok = x->now && x->sampled;
    for (size_t i = 0; ok && i < pd->groups.n; i++)
        x->sampled[pd->epochs.v[pd->groups.v[i].epoch].process] = true;
    for (size_t i = 0; ok && i < pd->branches.n; i++)
        x->sampled[pd->epochs.v[pd->branches.v[i].epoch].process] = true;
    for (size_t i = 0; ok && i < pd->sides.n; i++)
        ok = pd_facts_side(x, &pd->sides.v[i]);
    for (size_t i = 0; ok && i < x->lives.n; i++)
        ok = pd_facts_process(x, &x->lives.v[i]);
    return ok && pd_facts_left_images(x) && pd_facts_kernel(x) && pd_facts_ended_threads(pd) &&
           pd_facts_threads(x);
}

spaa_status sp_pd_facts(struct sp_pd *pd, struct sp_pd_frames *frames)
{
    struct pd_facts x = {.pd = pd, .frames = frames};
    x.now = calloc(pd->processes.n + 1, sizeof *x.now);
    x.sampled = calloc(pd->processes.n + 1, sizeof *x.sampled);
    sp_buf_init(&x.text, 0);
    bool ok = pd_facts_run(&x);
    free(x.now);
    free(x.sampled);
    sp_vec_free(&x.lives);
    sp_vec_free(&x.maps);
    sp_vec_free(&x.left);
    sp_vec_free(&x.own);
    sp_vec_free(&x.images);
    sp_map_free(&x.image_map);
    sp_buf_free(&x.text);
    if (ok && x.full)
        sp_emit(pd->d, SP_I321, SP_AT_NOTHING, "images of processes beyond the first %zu", IMAGES_MAX);
    return ok ? SPAA_OK : sp_nomem(pd->d);
}
