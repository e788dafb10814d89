/* The pieces of the perf.data reader: attributes, record walking, maps, epochs, groups. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/perf_data/resolve.h"

#define ALL                                                                                                  \
    (PD_IDENTIFIER | PD_IP | PD_TID | PD_TIME | PD_ADDR | PD_ID | PD_STREAM_ID | PD_CPU | PD_PERIOD |        \
     PD_CALLCHAIN)

static void put32(unsigned char *p, uint32_t v, bool big)
{
    for (int i = 0; i < 4; i++)
        p[big ? 3 - i : i] = (unsigned char)(v >> 8 * i);
}

static void put64(unsigned char *p, uint64_t v, bool big)
{
    for (int i = 0; i < 8; i++)
        p[big ? 7 - i : i] = (unsigned char)(v >> 8 * i);
}

static bool host_is_big(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

static void attributes_read_the_same_in_both_byte_orders(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        unsigned char p[128] = {0};
        uint64_t flags = 0;
        const unsigned set[] = {10, 16, 18, 25,
                                5}; /* freq, precise 2, sample_id_all, clockid, exclude_kernel */
        for (size_t i = 0; i < sizeof set / sizeof *set; i++)
            flags |= (uint64_t)1 << (big ? 63 - set[i] : set[i]);
        if (big) /* the upper bit of a two-bit field comes first */
            flags = (flags & ~((uint64_t)1 << (63 - 16))) | (uint64_t)1 << (63 - 15);
        put32(p, 1, big);
        put32(p + 4, 128, big);
        put64(p + 8, 3, big);
        put64(p + 16, 997, big);
        put64(p + 24, ALL, big);
        put64(p + 40, flags, big);
        put32(p + 92, 7, big);
        struct sp_pd_attr a;
        assert_true(sp_pd_attr_read(p, sizeof p, big != host_is_big(), big, &a));
        assert_int_equal(a.type, 1);
        assert_int_equal(a.config, 3);
        assert_int_equal(a.period, 997);
        assert_true(a.freq && a.id_all && a.use_clockid && a.exclude_kernel && !a.exclude_user);
        assert_int_equal(a.precise, 2);
        assert_int_equal(a.clockid, 7);
        assert_int_equal(a.max_stack, 127);
    }
}

static void attributes_of_any_size_from_64_are_taken(void **state)
{
    (void)state;
    unsigned char p[256];
    struct sp_pd_attr a;
    memset(p, 0, sizeof p);
    assert_false(sp_pd_attr_read(p, 63, false, false, &a));
    put32(p + 4, 64, host_is_big());
    memset(p + 64, 0xff, sizeof p - 64); /* behind its own size: not part of it */
    assert_true(sp_pd_attr_read(p, sizeof p, false, host_is_big(), &a));
    assert_int_equal(a.branch_type, 0);
    assert_int_equal(a.max_stack, 127);
}

static void fields_are_where_the_sample_type_puts_them(void **state)
{
    (void)state;
    struct sp_pd_attr a = {.sample_type = ALL, .id_all = true};
    struct sp_pd_plan p;
    sp_pd_plan_make(&a, &p);
    assert_int_equal(p.identifier, 8);
    assert_int_equal(p.ip, 16);
    assert_int_equal(p.tid, 24);
    assert_int_equal(p.time, 32);
    assert_int_equal(p.id, 48);
    assert_int_equal(p.cpu, 64);
    assert_int_equal(p.period, 72);
    assert_int_equal(p.chain, 80);
    assert_int_equal(p.fixed, 88);
    assert_int_equal(p.t_size, 48);
    assert_int_equal(p.t_identifier, 8);
    assert_int_equal(p.t_id, 32);
    assert_int_equal(p.t_time, 40);
    assert_int_equal(p.t_tid, 48);

    a.sample_type = PD_IP | PD_READ | PD_CALLCHAIN;
    a.read_format = PD_READ_ID | PD_READ_LOST | PD_READ_ENABLED;
    sp_pd_plan_make(&a, &p);
    assert_int_equal(p.read, 16);
    assert_int_equal(p.chain, 48);
    a.read_format |= PD_READ_GROUP;
    sp_pd_plan_make(&a, &p);
    assert_true(p.group);
    assert_int_equal(p.read_entry, 24);
    assert_int_equal(p.read_times, 8);
    assert_int_equal(p.chain, 16); /* behind a read format of unknown size */
}

/* Records on a plate. */
struct plate {
    unsigned char p[70000];
    size_t n;
};

static void record(struct plate *t, uint32_t type, uint16_t size, size_t bytes)
{
    memset(t->p + t->n, 0x11, bytes);
    memcpy(t->p + t->n, &type, 4);
    memset(t->p + t->n + 4, 0, 2);
    memcpy(t->p + t->n + 6, &size, 2);
    t->n += bytes;
}

/* The offsets of the records that are found; at most 16. */
static size_t walk(struct plate *t, struct sp_diags *d, size_t found[16])
{
    struct sp_pd pd = {.d = d};
    struct sp_pd_range range = {t->p, t->n, 1000};
    struct sp_pd_record r = {0};
    size_t n = 0;
    sp_diags_init(d);
    while (n < 16 && sp_pd_next(&pd, &range, &r, true))
        found[n++] = r.at;
    return n;
}

static void damage_is_stepped_over_once_records_follow_on_each_other(void **state)
{
    (void)state;
    struct plate *t = test_calloc(1, sizeof *t);
    struct sp_diags d;
    size_t found[16];
    record(t, PD_COMM, 24, 24);
    record(t, 0, 0, 40);
    record(t, PD_SAMPLE, 16, 16);
    for (int i = 0; i < 4; i++)
        record(t, PD_SAMPLE, 32, 32);
    assert_int_equal(walk(t, &d, found), 6);
    assert_int_equal(found[1], 64);
    assert_int_equal(d.count[SP_E010], 1);
    assert_int_equal(d.list.v[0].offset, 1024);
    sp_diags_free(&d);
    test_free(t);
}

static void a_record_that_is_cut_off_ends_the_walk(void **state)
{
    (void)state;
    struct plate *t = test_calloc(1, sizeof *t);
    struct sp_diags d;
    size_t found[16];
    record(t, PD_COMM, 24, 24);
    record(t, PD_SAMPLE, 64, 63);
    assert_int_equal(walk(t, &d, found), 1);
    assert_int_equal(d.count[SP_L301], 1);
    assert_int_equal(d.list.v[0].offset, 1024);
    sp_diags_free(&d);
    t->n = 27; /* not even a header */
    assert_int_equal(walk(t, &d, found), 1);
    assert_int_equal(d.count[SP_L301], 1);
    sp_diags_free(&d);
    test_free(t);
}

static void payloads_that_sizes_do_not_count_are_part_of_the_record(void **state)
{
    (void)state;
    struct plate *t = test_calloc(1, sizeof *t);
    struct sp_diags d;
    size_t found[16];
    uint64_t payload = 100;
    record(t, PD_AUXTRACE, 48, 148);
    memcpy(t->p + 8, &payload, 8);
    uint32_t text = 13;
    size_t at = t->n;
    record(t, PD_TRACING_DATA, 16, 32);
    memcpy(t->p + at + 8, &text, 4);
    at = t->n;
    uint64_t data = 65519; /* with its header and padding 65,536: the size says 0 */
    record(t, PD_COMPRESSED2, 0, 65535);
    memcpy(t->p + at + 8, &data, 8);
    record(t, PD_COMM, 24, 24);
    assert_int_equal(walk(t, &d, found), 4);
    assert_int_equal(found[1], 148);
    assert_int_equal(found[2], 180);
    assert_int_equal(found[3], 180 + 65535);
    assert_int_equal(sp_diags_count(&d, SP_INFO), 0);
    sp_diags_free(&d);
    test_free(t);
}

static void check_maps(const struct sp_pd_maps *m, size_t n, const uint64_t (*want)[4])
{
    assert_int_equal(m->list.n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(m->list.v[i].start, want[i][0]);
        assert_int_equal(m->list.v[i].end, want[i][1]);
        assert_int_equal(m->list.v[i].pgoff, want[i][2]);
        assert_int_equal(m->list.v[i].dso, want[i][3]);
    }
}

static void later_maps_cover_earlier_ones(void **state)
{
    (void)state;
    struct sp_pd_maps m = {0};
    assert_int_equal(sp_pd_maps_put(&m, (struct sp_pd_map){100, 200, 0, 1, 0}), SP_PD_PUT);
    assert_int_equal(sp_pd_maps_put(&m, (struct sp_pd_map){300, 400, 0, 2, 0}), SP_PD_PUT);
    assert_int_equal(sp_pd_maps_put(&m, (struct sp_pd_map){120, 130, 0, 3, 1}), SP_PD_PUT);
    check_maps(
        &m, 4,
        (const uint64_t[][4]){{100, 120, 0, 1}, {120, 130, 0, 3}, {130, 200, 30, 1}, {300, 400, 0, 2}});
    assert_int_equal(sp_pd_maps_put(&m, (struct sp_pd_map){125, 350, 7, 4, 1}), SP_PD_PUT);
    check_maps(
        &m, 4,
        (const uint64_t[][4]){{100, 120, 0, 1}, {120, 125, 0, 3}, {125, 350, 7, 4}, {350, 400, 50, 2}});
    assert_int_equal(sp_pd_maps_put(&m, (struct sp_pd_map){500, 500, 0, 9, 0}), SP_PD_PUT); /* empty */
    assert_int_equal(sp_pd_maps_find(&m, 124)->dso, 3);
    assert_int_equal(sp_pd_maps_find(&m, 125)->dso, 4);
    assert_null(sp_pd_maps_find(&m, 99));
    assert_null(sp_pd_maps_find(&m, 400));
    sp_pd_maps_forget(&m, 1);
    check_maps(&m, 2, (const uint64_t[][4]){{120, 125, 0, 3}, {125, 350, 7, 4}});
    assert_int_equal(sp_pd_maps_put(&m, (struct sp_pd_map){0, UINT64_MAX, 0, 5, 0}), SP_PD_PUT);
    check_maps(&m, 1, (const uint64_t[][4]){{0, UINT64_MAX, 0, 5}});
    sp_vec_free(&m.list);
}

static void moments_change_with_the_comm_and_with_the_maps(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_pd pd = {.d = &d};
    uint64_t since, until;
    sp_diags_init(&d);
    assert_int_equal(sp_profile_new(&d, &pd.p), SPAA_OK);
    uint32_t t = sp_pd_thread(&pd, 5, 6);
    struct sp_pd_comm comm = {.since = 100, .name = sp_profile_cstr(pd.p, "one")};
    assert_true(sp_vec_push(&pd.threads.v[t].comms, comm));
    assert_true(sp_vec_push(&pd.processes.v[pd.threads.v[t].process].changes, (uint64_t)50));
    assert_true(sp_vec_push(&pd.processes.v[pd.threads.v[t].process].changes, (uint64_t)200));
    uint32_t early = sp_pd_epoch(&pd, 5, 6, 10, &since, &until);
    assert_int_equal(until, 50);
    uint32_t named = sp_pd_epoch(&pd, 5, 6, 199, &since, &until);
    assert_int_equal(since, 100);
    assert_int_equal(until, 200);
    assert_int_equal(pd.epochs.v[named].comm, comm.name);
    assert_int_equal(pd.epochs.v[named].version, 1);
    assert_int_not_equal(early, named);
    uint32_t last = sp_pd_epoch(&pd, 5, 6, 200, &since, &until);
    assert_int_equal(pd.epochs.v[last].version, 2);
    assert_int_equal(until, UINT64_MAX);
    assert_int_equal(sp_pd_epoch(&pd, 5, 6, 150, &since, &until), named);
    sp_vec_free(&pd.threads.v[t].comms);
    sp_vec_free(&pd.processes.v[pd.threads.v[t].process].changes);
    sp_vec_free(&pd.threads);
    sp_vec_free(&pd.processes);
    sp_vec_free(&pd.epochs);
    sp_map_free(&pd.thread_map);
    sp_map_free(&pd.process_map);
    sp_map_free(&pd.epoch_map);
    sp_profile_free(pd.p);
    sp_diags_free(&d);
}

static void the_idle_threads_are_called_swapper(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_pd pd = {.d = &d};
    sp_diags_init(&d);
    assert_int_equal(sp_profile_new(&d, &pd.p), SPAA_OK);
    uint32_t t = sp_pd_thread(&pd, 0, 0);
    assert_true(sp_str_is(sp_pstr(pd.p, pd.threads.v[t].comms.v[0].name), "swapper"));
    sp_vec_free(&pd.threads.v[t].comms);
    sp_vec_free(&pd.threads);
    sp_vec_free(&pd.processes);
    sp_map_free(&pd.thread_map);
    sp_map_free(&pd.process_map);
    sp_profile_free(pd.p);
    sp_diags_free(&d);
}

static void samples_are_one_group_only_if_all_parts_agree(void **state)
{
    (void)state;
    struct sp_diags d;
    struct sp_pd pd = {.d = &d};
    uint64_t chain[2] = {1, 2}, other[2] = {1, 3};
    sp_diags_init(&d);
    assert_int_equal(sp_profile_new(&d, &pd.p), SPAA_OK);
    struct sp_pd_sample base = {.chain = (const unsigned char *)chain, .n = 2, .period = 10, .mode = 2};
    struct sp_pd_sample s[5] = {base, base, base, base, base};
    s[1].chain = (const unsigned char *)other;
    s[2].epoch = 1;
    s[3].mode = 1;
    s[4].n = 1;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5; i++)
            s[i].hash = 7; /* whatever their hashes are */
        assert_int_equal(sp_pd_groups_add(&pd, s, 5), SPAA_OK);
    }
    assert_int_equal(pd.groups.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(pd.groups.v[i].count, 2);
        assert_int_equal(pd.groups.v[i].period, 20);
    }
    s[0].period = UINT64_MAX;
    assert_int_equal(sp_pd_group_add(&pd, &s[0], true), SPAA_OK);
    assert_true(pd.capped);
    assert_int_equal(pd.groups.v[0].period, UINT64_MAX);
    sp_vec_free(&pd.groups);
    sp_map_free(&pd.group_map);
    sp_arena_free(&pd.arena);
    sp_profile_free(pd.p);
    sp_diags_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_read_the_same_in_both_byte_orders),
        cmocka_unit_test(attributes_of_any_size_from_64_are_taken),
        cmocka_unit_test(fields_are_where_the_sample_type_puts_them),
        cmocka_unit_test(damage_is_stepped_over_once_records_follow_on_each_other),
        cmocka_unit_test(a_record_that_is_cut_off_ends_the_walk),
        cmocka_unit_test(payloads_that_sizes_do_not_count_are_part_of_the_record),
        cmocka_unit_test(later_maps_cover_earlier_ones),
        cmocka_unit_test(moments_change_with_the_comm_and_with_the_maps),
        cmocka_unit_test(the_idle_threads_are_called_swapper),
        cmocka_unit_test(samples_are_one_group_only_if_all_parts_agree),
    };
    return cmocka_run_group_tests_name("perf_data", tests, NULL, NULL);
}
