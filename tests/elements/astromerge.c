/* Streams on one time axis, compared with a plain model of what every pad had when: random starts,
 * cuts and losses; gaps, ends, flushes; live pads that stop and return. */
#include "tests/elements/merging.h"

#include <gst/check/gsttestclock.h>

#include "tests/elements/running.h"
#include "tests/tsan-glib.h"

#define CAPS "application/x-astro-voltages,format=CI8,layout=time:station,stations=1,rate=1000/1"
#define LONGEST 4000 /* steps */

/* ---- a model ---- */

/* The value that a pad has at each step of absolute time; 0: none. */
typedef struct {
  guint8 has[LONGEST];
  guint64 start; /* start of its observation, in steps */
  GQueue buffers;
} Feed;

static guint16 value_at(guint pad, guint64 step)
{
  return (guint16)(1 + (step * 31 + pad * 977) % 65000);
}

static GstBuffer *samples(guint pad, guint64 first, guint n, guint64 start)
{
  guint16 values[LONGEST];
  for (guint i = 0; i < n; i++)
    values[i] = value_at(pad, first + i);
  GstBuffer *buffer = gst_buffer_new_memdup(values, n * sizeof *values);
  GST_BUFFER_OFFSET(buffer) = first - start;
  GST_BUFFER_OFFSET_END(buffer) = first - start + n;
  GST_BUFFER_PTS(buffer) = (first - start) * GST_MSECOND;
  return buffer;
}

static void make_feed(Feed *feed, GRand *rand, guint pad, gboolean has_start)
{
  const guint64 end = (guint64)g_rand_int_range(rand, 100, LONGEST);
  feed->start = has_start ? (guint64)g_rand_int_range(rand, 0, 50) : 0;
  guint64 at = feed->start + (guint64)g_rand_int_range(rand, 0, 80);
  while (at < end) {
    const guint n = (guint)MIN(end - at, (guint64)g_rand_int_range(rand, 1, 200));
    GstBuffer *buffer = samples(pad, at, n, feed->start);
    if (g_rand_int_range(rand, 0, 6) == 0) /* a buffer that is marked as a gap */
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    else
      memset(feed->has + at, 1, n);
    g_queue_push_tail(&feed->buffers, buffer);
    at += n;
    if (g_rand_int_range(rand, 0, 4) == 0) {
      at += (guint64)g_rand_int_range(rand, 1, 300);
      if (at < end) /* PTS and OFFSET of a buffer after a loss say so */
        g_queue_push_tail(&feed->buffers, NULL);
    }
  }
}

static AstroObservation *observe(guint pad, guint64 start)
{
  AstroObservation *o = astro_observation_new(1);
  g_free(o->names[0]);
  o->names[0] = g_strdup_printf("P%02u", pad);
  o->has_start = TRUE;
  o->start_mjd = 61000;
  o->start_ns = 86400 * GST_SECOND - 20 * GST_MSECOND + start * GST_MSECOND;
  if (o->start_ns >= 86400 * GST_SECOND) { /* the next day */
    o->start_ns -= 86400 * GST_SECOND;
    o->start_mjd++;
  }
  return o;
}

typedef struct {
  TestMerge *merge;
  Feed *feed;
  guint pad;
  gboolean has_start;
} Feeder;

static gpointer feed_pad(gpointer data)
{
  Feeder *f = data;
  GstPad *pad = f->merge->in[f->pad];
  g_autoptr(AstroObservation) o = f->has_start ? observe(f->pad, f->feed->start) : NULL;
  test_merge_begin(f->merge, f->pad, CAPS, o);
  for (GList *link = f->feed->buffers.head; link; link = link->next)
    if (link->data)
      g_assert_cmpint(gst_pad_push(pad, gst_buffer_ref(link->data)), ==, GST_FLOW_OK);
  gst_pad_push_event(pad, gst_event_new_eos());
  return NULL;
}

/* The output equals the model, has each step once, and its counts are right. */
static void check_block(GstBuffer *buffer, const Feed *feeds, guint n, guint64 base, guint8 *seen)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  const guint64 first = GST_BUFFER_OFFSET(buffer), steps = GST_BUFFER_OFFSET_END(buffer) - first;
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { steps, n } };
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_cmpuint(map.size, ==, steps * n * 2);
  g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, first * GST_MSECOND);
  for (guint64 i = 0; i < steps; i++)
    for (guint pad = 0; pad < n; pad++) {
      const guint64 step = base + first + i, index[ASTRO_MAX_AXES] = { i, pad };
      const guint16 found = ((const guint16 *)(gconstpointer)map.data)[i * n + pad];
      const gboolean has = step < LONGEST && feeds[pad].has[step];
      g_assert_cmpuint(found, ==, has ? value_at(pad, step) : 0);
      g_assert_cmpuint(meta ? astro_validity_at(meta, &shape, index) : 1, ==, has);
      g_assert_cmpuint(seen[step * TEST_MERGE_PADS + pad]++, ==, 0);
    }
  gst_buffer_unmap(buffer, &map);
}

static GArray *play_model(Feed *feeds, guint n, guint64 base, gboolean has_start)
{
  TestMerge *m = test_merge_new("astrojoin axis=station", n, FALSE);
  GThread *threads[TEST_MERGE_PADS];
  Feeder feeders[TEST_MERGE_PADS];
  GArray *cuts = g_array_new(FALSE, FALSE, sizeof(guint64));
  g_autofree guint8 *seen = g_malloc0((gsize)2 * LONGEST * TEST_MERGE_PADS);
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  for (guint i = 0; i < n; i++) {
    feeders[i] = (Feeder){ m, &feeds[i], i, has_start };
    threads[i] = g_thread_new(NULL, feed_pad, &feeders[i]);
  }
  test_merge_wait_over(m);
  for (guint i = 0; i < n; i++)
    g_thread_join(threads[i]);
  for (GList *link = m->buffers.head; link; link = link->next) {
    check_block(link->data, feeds, n, base, seen);
    g_array_append_val(cuts, GST_BUFFER_OFFSET(link->data));
  }
  for (guint64 step = 0; step < LONGEST; step++)
    for (guint pad = 0; pad < n; pad++)
      g_assert_true(seen[step * TEST_MERGE_PADS + pad] || !feeds[pad].has[step]);
  test_merge_free(m);
  return cuts;
}

static void test_model(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(40);
  for (guint i = 0; i < 40; i += TEST_STEP) {
    const guint n = (guint)g_rand_int_range(rand, 1, 7);
    const gboolean has_start = i % 2;
    g_autofree Feed *feeds = g_new0(Feed, n);
    guint64 base = G_MAXUINT64;
    for (guint pad = 0; pad < n; pad++) {
      make_feed(&feeds[pad], rand, pad, has_start);
      base = MIN(base, feeds[pad].start);
    }
    /* Files give the same result, however threads are scheduled. */
    g_autoptr(GArray) a = play_model(feeds, n, base, has_start);
    g_autoptr(GArray) b = play_model(feeds, n, base, has_start);
    g_assert_cmpmem(a->data, a->len * 8, b->data, b->len * 8);
    for (guint pad = 0; pad < n; pad++)
      for (GstBuffer *buffer; feeds[pad].buffers.length;)
        if ((buffer = g_queue_pop_head(&feeds[pad].buffers)))
          gst_buffer_unref(buffer);
  }
}

/* ---- live ---- */

#define LIVE 64
#define BLOCK 20 /* steps, of 1 ms each */
#define LATENCY 30

typedef struct {
  GstTestClock *clock;
  gint stops; /* atomic */
} Keeper;

/* A test clock does not wake a thread whose time is over already: this does. */
static gpointer keep_clock(gpointer data)
{
  Keeper *keeper = data;
  while (!g_atomic_int_get(&keeper->stops)) {
    GstClockID id = NULL;
    if (gst_test_clock_peek_next_pending_id(keeper->clock, &id) &&
        gst_clock_id_get_time(id) <= gst_clock_get_time(GST_CLOCK(keeper->clock))) {
      GstClockID done = gst_test_clock_process_next_clock_id(keeper->clock);
      if (done)
        gst_clock_id_unref(done);
    }
    if (id)
      gst_clock_id_unref(id);
    g_usleep(200);
  }
  return NULL;
}

static void push_live(TestMerge *m, guint pad, guint block)
{
  g_assert_cmpint(gst_pad_push(m->in[pad], samples(pad, (guint64)block * BLOCK, BLOCK, 0)), ==,
                  GST_FLOW_OK);
}

static void check_live(TestMerge *m, guint block, gint lost)
{
  g_autoptr(GstBuffer) buffer = test_merge_pull(m);
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { BLOCK, LIVE } };
  guint16 values[BLOCK * LIVE];
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, (guint64)block * BLOCK);
  g_assert_cmpuint(gst_buffer_extract(buffer, 0, values, sizeof values + 1), ==, sizeof values);
  g_assert_true((meta != NULL) == (lost >= 0));
  for (guint i = 0; i < BLOCK; i++)
    for (guint pad = 0; pad < LIVE; pad++) {
      const guint64 index[ASTRO_MAX_AXES] = { i, pad };
      const gboolean has = (gint)pad != lost;
      g_assert_cmpuint(values[i * LIVE + pad], ==,
                       has ? value_at(pad, (guint64)block * BLOCK + i) : 0);
      g_assert_cmpuint(meta ? astro_validity_at(meta, &shape, index) : 1, ==, has);
    }
}

/* One pad of 64 stops: the first block waits as long as latency says, and later ones do not wait.
 * The blocks of that pad are used again when it is back. */
static void test_live(void)
{
  const gint stopped = 7;
  TestMerge *m = test_merge_new("astrojoin axis=station latency=30000000", LIVE, TRUE);
  GstTestClock *clock = GST_TEST_CLOCK(m->clock);
  Keeper keeper = { clock, FALSE };
  m->latency = BLOCK * GST_MSECOND;
  gst_test_clock_set_time(clock, 0);
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  GThread *thread = g_thread_new(NULL, keep_clock, &keeper);
  for (guint pad = 0; pad < LIVE; pad++) {
    g_autoptr(AstroObservation) o = observe(pad, 0);
    test_merge_begin(m, pad, CAPS, o);
  }
  for (guint block = 0; block < 30; block++) {
    const gboolean is_gone = block >= 10 && block < 20;
    if (!is_gone) /* the pad is back before the others go on without it */
      push_live(m, (guint)stopped, block);
    for (guint pad = 0; pad < LIVE; pad++)
      if ((gint)pad != stopped)
        push_live(m, pad, block);
    if (block == 10) {
      g_usleep(20000);
      g_assert_cmpuint(m->came, ==, 10);
      gst_test_clock_set_time(clock, (block * BLOCK + BLOCK + LATENCY) * GST_MSECOND - 1);
      g_usleep(20000);
      g_assert_cmpuint(m->came, ==, 10);
      gst_test_clock_set_time(clock, (block * BLOCK + BLOCK + LATENCY) * GST_MSECOND);
    }
    check_live(m, block, is_gone ? stopped : -1);
  }
  g_autoptr(GstStructure) stats = NULL;
  guint64 lost = 0, again = 1;
  g_object_get(m->element, "stats", &stats, NULL);
  gst_structure_get(stats, "steps-lost", G_TYPE_UINT64, &lost, "steps-again", G_TYPE_UINT64, &again,
                    NULL);
  g_assert_cmpuint(lost, ==, 10 * BLOCK);
  g_assert_cmpuint(again, ==, 0);
  g_atomic_int_set(&keeper.stops, TRUE);
  g_thread_join(thread);
  test_merge_free(m);
}

#define SUMS                                                                                       \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=1,"     \
  "baselines=1,pols=1,rate=50/1"

/* The mean of 10 + pad samples, which is pad + block. */
static void push_mean(TestMerge *m, guint pad, guint block)
{
  static const AstroLayout whole = { 0 };
  const float value[2] = { (float)(pad + block), -1 };
  GstBuffer *buffer = gst_buffer_new_memdup(value, sizeof value);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &whole, 100);
  meta->counts[0] = 10 + pad;
  GST_BUFFER_OFFSET(buffer) = block;
  GST_BUFFER_OFFSET_END(buffer) = block + 1;
  GST_BUFFER_PTS(buffer) = block * BLOCK * GST_MSECOND;
  g_assert_cmpint(gst_pad_push(m->in[pad], buffer), ==, GST_FLOW_OK);
}

static void check_mean(TestMerge *m, guint block, gint lost)
{
  g_autoptr(GstBuffer) buffer = test_merge_pull(m);
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  double sum = 0;
  float value[2];
  guint32 samples = 0;
  for (guint pad = 0; pad < LIVE; pad++)
    if ((gint)pad != lost) {
      samples += 10 + pad;
      sum += (10. + pad) * (pad + block);
    }
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, block);
  g_assert_cmpuint(gst_buffer_extract(buffer, 0, value, sizeof value), ==, sizeof value);
  g_assert_cmpuint(astro_validity_n_counts(meta), ==, 1);
  g_assert_cmpuint(meta->counts[0], ==, samples);
  g_assert_cmpfloat(ABS(value[0] - sum / samples), <=, 1e-6 * sum / samples);
  g_assert_cmpfloat(value[1], ==, -1);
}

/* The same with sums: the pad that stopped has no weight in them. */
static void test_live_sums(void)
{
  const gint stopped = 7;
  TestMerge *m = test_merge_new("astroadd latency=30000000", LIVE, TRUE);
  GstTestClock *clock = GST_TEST_CLOCK(m->clock);
  Keeper keeper = { clock, FALSE };
  m->latency = BLOCK * GST_MSECOND;
  gst_test_clock_set_time(clock, 0);
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  GThread *thread = g_thread_new(NULL, keep_clock, &keeper);
  for (guint pad = 0; pad < LIVE; pad++)
    test_merge_begin(m, pad, SUMS ",counts=true", NULL);
  for (guint block = 0; block < 12; block++) {
    const gboolean is_gone = block >= 4 && block < 8;
    if (!is_gone)
      push_mean(m, (guint)stopped, block);
    for (guint pad = 0; pad < LIVE; pad++)
      if ((gint)pad != stopped)
        push_mean(m, pad, block);
    if (block == 4)
      gst_test_clock_set_time(clock, (block * BLOCK + BLOCK + LATENCY) * GST_MSECOND);
    check_mean(m, block, is_gone ? stopped : -1);
  }
  g_atomic_int_set(&keeper.stops, TRUE);
  g_thread_join(thread);
  test_merge_free(m);
}

/* Steps that come too late are left out, counted, and warned about once. */
static void test_late(void)
{
  TestMerge *m = test_merge_new("astrojoin axis=station latency=30000000", 2, TRUE);
  GstTestClock *clock = GST_TEST_CLOCK(m->clock);
  Keeper keeper = { clock, FALSE };
  m->latency = BLOCK * GST_MSECOND;
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  GThread *thread = g_thread_new(NULL, keep_clock, &keeper);
  test_merge_begin(m, 0, CAPS, NULL);
  test_merge_begin(m, 1, CAPS, NULL);
  gst_test_clock_set_time(clock, GST_SECOND);
  push_live(m, 0, 0);
  gst_buffer_unref(test_merge_pull(m));
  push_live(m, 1, 0); /* in the block that went out */
  push_live(m, 1, 1);
  push_live(m, 0, 1);
  g_autoptr(GstBuffer) next = test_merge_pull(m);
  g_assert_cmpuint(GST_BUFFER_OFFSET(next), ==, BLOCK);
  g_assert_null(astro_buffer_get_validity(next));
  g_autoptr(GstStructure) stats = NULL;
  guint64 again = 0;
  g_object_get(m->element, "stats", &stats, NULL);
  gst_structure_get(stats, "steps-again", G_TYPE_UINT64, &again, NULL);
  g_assert_cmpuint(again, ==, BLOCK);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(m->bus, TEST_PATIENCE, GST_MESSAGE_WARNING);
  g_assert_nonnull(message);
  g_atomic_int_set(&keeper.stops, TRUE);
  g_thread_join(thread);
  test_merge_free(m);
}

/* ---- events ---- */

/* A GAP event lets the others go on up to its end, and so does EOS. */
static void test_gap_event(void)
{
  TestMerge *m = test_merge_new("astrojoin axis=station", 2, FALSE);
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  test_merge_begin(m, 0, CAPS, NULL);
  test_merge_begin(m, 1, CAPS, NULL);
  gst_pad_push(m->in[1], samples(1, 0, 10, 0));
  gst_pad_push(m->in[0], samples(0, 0, 10, 0));
  gst_buffer_unref(test_merge_pull(m));
  gst_pad_push_event(m->in[1], gst_event_new_gap(10 * GST_MSECOND, 20 * GST_MSECOND));
  gst_pad_push(m->in[0], samples(0, 10, 20, 0));
  g_autoptr(GstBuffer) lost = test_merge_pull(m);
  const AstroValidityMeta *meta = astro_buffer_get_validity(lost);
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(lost), ==, 30);
  g_assert_cmpuint(astro_validity_n_counts(meta), ==, 2);
  g_assert_cmpuint(meta->counts[0], ==, 1);
  g_assert_cmpuint(meta->counts[1], ==, 0);
  gst_pad_push(m->in[1], samples(1, 30, 5, 0));
  gst_pad_push_event(m->in[1], gst_event_new_eos());
  gst_pad_push(m->in[0], samples(0, 30, 5, 0));
  g_autoptr(GstBuffer) whole = test_merge_pull(m);
  g_assert_null(astro_buffer_get_validity(whole));
  gst_pad_push(m->in[0], samples(0, 35, 5, 0));
  g_autoptr(GstBuffer) after = test_merge_pull(m);
  g_assert_nonnull(astro_buffer_get_validity(after));
  gst_pad_push_event(m->in[0], gst_event_new_eos());
  test_merge_wait_over(m);
  test_merge_free(m);
}

/* A gap has no time in a segment of bytes: pads with samples are waited for. */
static void test_gap_in_bytes(void)
{
  TestMerge *m = test_merge_new("astrojoin axis=station", 2, FALSE);
  GstSegment segment;
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  test_merge_begin(m, 0, CAPS, NULL);
  test_merge_begin(m, 1, CAPS, NULL);
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  gst_pad_push_event(m->in[1], gst_event_new_segment(&segment));
  gst_pad_push_event(m->in[1], gst_event_new_gap(0, 20 * GST_MSECOND));
  gst_pad_push(m->in[0], samples(0, 0, 10, 0));
  gst_pad_push(m->in[1], samples(1, 0, 10, 0));
  g_autoptr(GstBuffer) buffer = test_merge_pull(m);
  g_assert_null(astro_buffer_get_validity(buffer));
  test_merge_free(m);
}

static GstEvent *with_seqnum(GstEvent *event, guint32 seqnum)
{
  gst_event_set_seqnum(event, seqnum);
  return event;
}

/* After a flush of all pads, by one seek or by several, time begins anew. */
static void test_flush(gconstpointer data)
{
  const guint32 other = GPOINTER_TO_UINT(data);
  TestMerge *m = test_merge_new("astrojoin axis=station", 2, FALSE);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  test_merge_begin(m, 0, CAPS, NULL);
  test_merge_begin(m, 1, CAPS, NULL);
  for (guint round = 0; round < 3; round++) {
    const guint64 first = 100 - 40 * round; /* earlier each time */
    gst_pad_push(m->in[0], samples(0, first, 10, 0));
    gst_pad_push(m->in[1], samples(1, first, 10, 0));
    g_autoptr(GstBuffer) buffer = test_merge_pull(m);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, first);
    gst_pad_push(m->in[0], samples(0, first + 10, 10, 0)); /* is dropped */
    for (guint i = 0; i < 2; i++)
      gst_pad_push_event(m->in[i],
                         with_seqnum(gst_event_new_flush_start(), 100 + 2 * round + i * other));
    for (guint i = 0; i < 2; i++)
      gst_pad_push_event(m->in[i],
                         with_seqnum(gst_event_new_flush_stop(TRUE), 100 + 2 * round + i * other));
    for (guint i = 0; i < 2; i++)
      gst_pad_push_event(m->in[i], gst_event_new_segment(&segment));
  }
  test_merge_free(m);
}

/* Caps of another rate, which come to the pads one by one: what came before them is joined to its
 * end. */
static void test_other_rate(void)
{
  TestMerge *m = test_merge_new("astrojoin axis=station", 2, FALSE);
  g_autoptr(GstCaps) caps = gst_caps_from_string(
      "application/x-astro-voltages,format=CI8,layout=time:station,stations=1,rate=500/1");
  gst_element_set_state(m->element, GST_STATE_PLAYING);
  test_merge_begin(m, 0, CAPS, NULL);
  test_merge_begin(m, 1, CAPS, NULL);
  gst_pad_push(m->in[0], samples(0, 0, 10, 0));
  gst_pad_push_event(m->in[0], gst_event_new_caps(caps));
  gst_pad_push(m->in[1], samples(1, 0, 10, 0));
  g_autoptr(GstBuffer) first = test_merge_pull(m);
  g_assert_null(astro_buffer_get_validity(first));
  gst_pad_push_event(m->in[1], gst_event_new_caps(caps));
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = samples(i, 5, 10, 0);
    GST_BUFFER_PTS(buffer) = 10 * GST_MSECOND;
    gst_pad_push(m->in[i], buffer);
  }
  g_autoptr(GstBuffer) second = test_merge_pull(m);
  g_assert_cmpuint(GST_BUFFER_OFFSET(second), ==, 5);
  g_assert_cmpuint(GST_BUFFER_DURATION(second), ==, 20 * GST_MSECOND);
  g_assert_null(astro_buffer_get_validity(second));
  g_autoptr(GstCaps) out = gst_pad_get_current_caps(m->out);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, out, NULL));
  g_assert_cmpint(stream.rate_n, ==, 500);
  test_merge_free(m);
}

/* Changes that make the observations of two pads differ. */
static void set_basis(AstroObservation *o)
{
  g_free(o->basis);
  o->basis = g_strdup("circular");
}

static void set_earth(AstroObservation *o)
{
  o->earth = astro_earth_new_none();
}

static void set_uvw(AstroObservation *o)
{
  o->uvw_metres = 100;
}

static void set_far(AstroObservation *o)
{
  o->start_mjd += 40000;
}

static void test_observations(void)
{
  static const struct {
    void (*change)(AstroObservation *o);
    const char *says;
  } cases[] = {
    { set_basis, "pad sink_1: the observation's basis is circular, expected linear" },
    { set_earth,
      "pad sink_1: the observation's Earth orientation is none, UT1 = UTC, expected that "
      "of pad sink_0, not known" },
    { set_uvw, "pad sink_1: the visibilities have (u,v,w) of their own" },
    { set_far, "pad sink_1: the observation begins 40000 days after that of pad sink_0" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestMerge *m = test_merge_new("astrojoin axis=station", 2, FALSE);
    g_autoptr(AstroObservation) a = observe(0, 0), b = observe(1, 0);
    g_autoptr(GError) error = NULL;
    cases[i].change(b);
    gst_element_set_state(m->element, GST_STATE_PLAYING);
    test_merge_begin(m, 0, CAPS, a);
    test_merge_begin(m, 1, CAPS, b);
    gst_pad_push(m->in[0], samples(0, 0, 10, 0));
    gst_pad_push(m->in[1], samples(1, 0, 10, 0));
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(m->bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
    g_assert_nonnull(message);
    gst_message_parse_error(message, &error, NULL);
    test_says(error->message, cases[i].says);
    test_merge_free(m);
  }
}

#define SAMPLES                                                                                    \
  " format=time ! application/x-astro-voltages,format=CI8,layout=time:station,stations=2 ! j. "
#define MEANS " format=time ! " SUMS " ! j. "
#define FAKE(bytes) "fakesrc sizetype=fixed sizemax=" bytes

static const char *const cycled[] = {
  "astrojoin name=j ! fakesink sync=false " FAKE("16") SAMPLES FAKE("20") SAMPLES FAKE("64")
      SAMPLES,
  "astroadd name=j ! fakesink sync=false " FAKE("16") MEANS FAKE("8") MEANS FAKE("64") MEANS,
  "astroselect name=j stations=1 ! fakesink sync=false " FAKE("16") SAMPLES,
};

static void test_states(gconstpointer line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < 1000; i += TEST_STEP) {
    const GstState up = i % 3 ? GST_STATE_PLAYING : GST_STATE_PAUSED;
    g_assert_cmpint(gst_element_set_state(pipeline, up), !=, GST_STATE_CHANGE_FAILURE);
    if (i % 7 == 0)
      g_usleep(i % 5 * 300);
    if (i % 50 == 0)
      gst_element_get_state(pipeline, NULL, NULL, TEST_PATIENCE);
    gst_element_set_state(pipeline, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

/* Holds an observation back, which is sent after caps, for longer than pads are waited for. */
static GstPadProbeReturn hold_observation(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gint *held = data;
  if (astro_event_is_observation(GST_PAD_PROBE_INFO_EVENT(info)) && !*held) {
    *held = TRUE;
    g_usleep(200000);
  }
  return GST_PAD_PROBE_OK;
}

/* A live pad whose observation is still to come has one. */
static void test_live_observation(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astroskysrc stations=2 duration=0.05 bandwidth=1e5 block-steps=1000 is-live=true ! "
      "application/x-astro-voltages,format=CF32LE ! tee name=t ! queue ! astroselect stations=0 ! "
      "astrojoin name=j axis=station t. ! queue ! astroselect stations=1 name=late ! j. j. ! "
      "fakesink sync=true",
      NULL);
  g_autoptr(GstElement) late = gst_bin_get_by_name(GST_BIN(pipeline), "late");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(late, "src");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gint held = FALSE;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, hold_observation, &held, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull(message);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_assert_true(held);
}

static void add_tests(void)
{
  g_test_add_func("/astromerge/model", test_model);
  g_test_add_func("/astromerge/live", test_live);
  g_test_add_func("/astromerge/live-sums", test_live_sums);
  g_test_add_func("/astromerge/live-observation", test_live_observation);
  g_test_add_func("/astromerge/late", test_late);
  g_test_add_func("/astromerge/gap-event", test_gap_event);
  g_test_add_func("/astromerge/gap-in-bytes", test_gap_in_bytes);
  g_test_add_data_func("/astromerge/flush/together", GUINT_TO_POINTER(0), test_flush);
  g_test_add_data_func("/astromerge/flush/apart", GUINT_TO_POINTER(1), test_flush);
  g_test_add_func("/astromerge/other-rate", test_other_rate);
  g_test_add_func("/astromerge/observations", test_observations);
  for (guint i = 0; i < G_N_ELEMENTS(cycled); i++) {
    g_autofree char *name =
        g_strdup_printf("/astromerge/states/%.*s", (int)strcspn(cycled[i], " "), cycled[i]);
    g_test_add_data_func(name, cycled[i], test_states);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
