/* Visibilities as packets and back: the same values, counts, caps and observation, less what was
 * lost. */
#include "tests/elements/packets.h"

#define MEDIA "application/x-astro-visibilities,"
#define BAND "channels=12,baselines=15,pols=2,rate=5/2,frequency=1.5e8,bandwidth=1.2e6"
#define POWER                                                                                      \
  "application/x-astro-power,format=F32LE,channels=12,stations=3,pols=2,products=XX:YY,"           \
  "frequency=1.5e8,bandwidth=1.2e6,"
#define STEPS 24
#define FULL 7

typedef struct {
  const char *name, *caps, *pay, *counted; /* counted: axes of the counts; NULL: none */
  guint groups;                            /* heaps of a step */
} Row;

static const Row rows[] = {
  { "means", MEDIA "format=CF32LE,layout=channel:baseline:pol:pol," BAND, "packet-channels=4",
    "channel:baseline", 3 },
  { "sums", MEDIA "format=CI32LE,counts=true,layout=channel:baseline:pol:pol," BAND,
    "packet-bytes=100", "channel:baseline", 1 },
  { "turned", MEDIA "format=CF64LE,layout=baseline:pol:pol:channel," BAND,
    "packet-channels=2 packet-bytes=333", "baseline:channel", 6 },
  { "one-count", MEDIA "format=CF32LE,layout=channel:baseline:pol:pol," BAND, "packet-channels=3",
    "", 4 },
  { "counts-of-pols", MEDIA "format=CF32LE,layout=channel:baseline:pol:pol," BAND,
    "packet-channels=6", "channel:baseline:pol:pol", 2 },
  { "no-counts", MEDIA "format=CF32LE,layout=channel:baseline:pol:pol," BAND, "packet-channels=1",
    NULL, 12 },
  { "power", POWER "rate=5/2,layout=time:station:pol:channel", "packet-channels=4",
    "time:station:channel", 3 },
  { "blocks-of-power", POWER "rate=100/1,layout=channel:time:pol:station", "packet-channels=6",
    "channel:time:pol", 2 },
  { "dispersion-measures", POWER "rate=5/2,dms=7,layout=time:dm:station:pol:channel",
    "packet-channels=4", "time:dm:channel", 3 },
  { "beams",
    "application/x-astro-spectra,format=CI8,layout=time:beam:pol:channel,beams=3,pols=2,"
    "channels=12,frequency=1.5e8,bandwidth=1.2e6,rate=100/1",
    "packet-channels=6", "time:beam:channel", 2 },
};

static const Row *find(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    if (g_str_equal(rows[i].name, name))
      return &rows[i];
  g_error("no row %s", name);
}

static AstroObservation *new_observation(double ra)
{
  AstroObservation *observation = astro_observation_new(5);
  astro_observation_set_start(observation, "2026-11-20T23:59:58.5Z", NULL);
  observation->has_phase_centre = TRUE;
  observation->phase_ra = ra;
  observation->phase_dec = -0.5;
  observation->done.delays = ASTRO_DELAYS_OUT;
  for (guint i = 0; i < 15; i++)
    observation->positions[i] = 1000.25 * i;
  return observation;
}

static AstroValidityMeta *add_counts(const Row *row, const AstroStream *stream, GstBuffer *buffer,
                                     guint step)
{
  AstroLayout shape = { 0 };
  if (*row->counted) {
    g_assert_true(astro_layout_parse(&shape, row->counted, ASTRO_QUANTITY_VISIBILITIES, NULL));
    for (guint i = 0; i < shape.n_axes; i++)
      shape.extents[i] = MAX(astro_stream_extent(stream, shape.axes[i]), 1);
  }
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, FULL);
  for (guint64 i = 0; i < astro_layout_samples(&shape); i++)
    meta->counts[i] = (guint32)((i * 31 + step * 17) % (FULL + 1));
  return meta;
}

static GstBuffer *new_step(const Row *row, const AstroStream *stream, guint step)
{
  GstBuffer *buffer = test_buffer(astro_stream_step_bytes(stream), step + 1);
  GST_BUFFER_OFFSET(buffer) = step;
  GST_BUFFER_OFFSET_END(buffer) = step + 1;
  GST_BUFFER_PTS(buffer) = astro_stream_time(stream, step);
  if (row->counted)
    add_counts(row, stream, buffer, step);
  return buffer;
}

static GstHarness *harness(const Row *row, const char *network, AstroObservation *observation)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(row->caps);
  g_autofree char *line = g_strdup_printf(
      "astropay packet=results %s %s ! astrodepay packet=results latency=8000", row->pay, network);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_live(h, FALSE);
  gst_harness_set_src_caps(h, g_steal_pointer(&caps));
  gst_harness_push_event(h, astro_observation_to_event(observation));
  return h;
}

/* The observation that came last. */
static AstroObservation *last_observation(GstHarness *h)
{
  AstroObservation *last = NULL;
  for (GstEvent *event; (event = gst_harness_try_pull_event(h)); gst_event_unref(event))
    if (astro_event_is_observation(event)) {
      g_clear_pointer(&last, astro_observation_unref);
      last = astro_observation_from_event(event, NULL);
    }
  return last;
}

static void check_caps(GstHarness *h, const Row *row, AstroStream *stream)
{
  g_autoptr(GstCaps) got = gst_pad_get_current_caps(h->sinkpad);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(row->caps);
  gst_caps_set_simple(wanted, "counts", G_TYPE_BOOLEAN, TRUE, NULL);
  g_assert_true(gst_caps_is_equal(got, wanted));
  g_assert_true(astro_stream_from_caps(stream, got, NULL));
}

/* Goes through all values of a step. */
static gboolean next_value(const AstroLayout *step, guint64 index[ASTRO_MAX_AXES])
{
  for (guint i = step->n_axes; i-- > 0;) {
    if (++index[i] < step->extents[i])
      return TRUE;
    index[i] = 0;
  }
  return FALSE;
}

static guint64 place_of(const AstroLayout *shape, const guint64 index[ASTRO_MAX_AXES])
{
  guint64 at = 0;
  for (guint i = 0; i < shape->n_axes; i++)
    at = at * shape->extents[i] + index[i];
  return at;
}

/* Compares step i of a block with one that was sent; NULL: none was. Returns how many values came:
 * those of a heap that did not have a count of 0 and are 0. */
static guint64 compare_step(const Row *row, const AstroStream *stream, GstBuffer *block,
                            const AstroLayout *shape, guint64 i, GstBuffer *sent)
{
  static const guint8 zeros[16];
  const gsize bytes = astro_stream_sample_bytes(stream);
  const AstroValidityMeta *was = sent ? astro_buffer_get_validity(sent) : NULL;
  const AstroValidityMeta *is = astro_buffer_get_validity(block);
  const gint channel = astro_layout_find(shape, ASTRO_AXIS_CHANNEL);
  const gint time = astro_layout_find(shape, ASTRO_AXIS_TIME);
  gboolean has_come[12] = { FALSE };
  guint64 came = 0;
  AstroLayout step;
  GstMapInfo a = { 0 }, b;
  astro_stream_shape(stream, 1, &step);
  g_assert_true(!sent || gst_buffer_map(sent, &a, GST_MAP_READ));
  g_assert_true(gst_buffer_map(block, &b, GST_MAP_READ));
  for (guint pass = 0; pass < 2; pass++) {
    guint64 index[ASTRO_MAX_AXES] = { 0 };
    do {
      guint64 there[ASTRO_MAX_AXES];
      memcpy(there, index, sizeof there);
      if (time >= 0)
        there[time] = i;
      const guint group = (guint)(index[channel] * row->groups / 12);
      const guint8 *y = b.data + place_of(shape, there) * bytes;
      if (pass == 0) {
        has_come[group] |= memcmp(y, zeros, bytes) != 0;
        continue;
      }
      const gboolean is_there = has_come[group];
      g_assert_true(sent || !is_there);
      g_assert_cmpmem(y, bytes, is_there ? a.data + place_of(&step, index) * bytes : zeros, bytes);
      g_assert_cmpuint(astro_validity_at(is, shape, there), ==,
                       !is_there ? 0
                       : was     ? astro_validity_at(was, &step, index)
                                 : 1);
      came += is_there;
    } while (next_value(&step, index));
  }
  if (sent)
    gst_buffer_unmap(sent, &a);
  gst_buffer_unmap(block, &b);
  return came;
}

/* Compares a block with the steps that were sent, from the given one on. */
static guint64 compare(const Row *row, const AstroStream *stream, GstBuffer *block, guint first)
{
  const AstroValidityMeta *counts = astro_buffer_get_validity(block);
  guint64 steps, came = 0;
  AstroLayout shape;
  g_assert_true(astro_stream_steps(stream, gst_buffer_get_size(block), &steps, NULL));
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(block), ==, GST_BUFFER_OFFSET(block) + steps);
  g_assert_nonnull(counts);
  g_assert_cmpuint(counts->full, ==, row->counted ? FULL : 1);
  astro_stream_shape(stream, steps, &shape);
  for (guint i = 0; i < steps; i++) {
    g_autoptr(GstBuffer) sent = first + i < STEPS ? new_step(row, stream, first + i) : NULL;
    came += compare_step(row, stream, block, &shape, i, sent);
  }
  return came;
}

/* Pushes the steps, takes the blocks, and returns how many values came. *told: the observation with
 * the time of the first block, which is not the first step if that got lost. */
static guint64 exchange(GstHarness *h, const Row *row, guint steps,
                        const AstroObservation *observation, AstroObservation **told)
{
  AstroStream sent = test_packets_stream(row->caps), stream;
  GstBuffer *block;
  guint64 came = 0;
  for (guint step = 0; step < steps; step++)
    g_assert_cmpint(gst_harness_push(h, new_step(row, &sent, step)), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  check_caps(h, row, &stream);
  *told = last_observation(h);
  const gint64 shift = test_packets_shift(&stream, observation, *told);
  while ((block = gst_harness_try_pull(h))) {
    g_assert_cmpuint(GST_BUFFER_PTS(block), ==,
                     astro_stream_time(&stream, GST_BUFFER_OFFSET(block)));
    came += compare(row, &stream, block, (guint)((gint64)GST_BUFFER_OFFSET(block) + shift));
    gst_buffer_unref(block);
  }
  return came;
}

static guint64 values_of(const Row *row)
{
  const AstroStream stream = test_packets_stream(row->caps);
  return astro_stream_step_bytes(&stream) / astro_stream_sample_bytes(&stream);
}

/* The network may delay the very first heaps, which are then late. */
static void test_exact(gconstpointer data)
{
  const Row *row = data;
  g_autoptr(AstroObservation) observation = new_observation(1);
  GstHarness *h = harness(row, "reorder=0.3 duplicate=0.2 seed=3", observation);
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  g_autoptr(AstroObservation) told = NULL;
  const guint64 came = exchange(h, row, STEPS, observation, &told),
                late = test_packets_count(depay, "late");
  g_assert_cmpuint(late, <=, 2);
  g_assert_cmpuint(came, ==, (STEPS * row->groups - late) * (values_of(row) / row->groups));
  g_assert_cmpuint(test_packets_count(depay, "packets"), ==, STEPS * row->groups - late);
  g_assert_cmpuint(test_packets_count(depay, "lost"), ==, 0);
  g_assert_cmpuint(test_packets_count(depay, "alien"), ==, 0);
  g_autoptr(GstEvent) wanted = astro_observation_to_event(observation);
  g_autoptr(GstEvent) got = astro_observation_to_event(told);
  g_assert_true(
      gst_structure_is_equal(gst_event_get_structure(wanted), gst_event_get_structure(got)));
  gst_harness_teardown(h);
}

/* A heap of which a packet is lost is lost as a whole, and no other. */
static void test_loss(gconstpointer data)
{
  const Row *row = data;
  g_autoptr(AstroObservation) observation = new_observation(1);
  GstHarness *h = harness(row, "loss=0.1 reorder=0.3 seed=5 packet-bytes=2000", observation);
  g_autoptr(GstElement) pay = test_packets_named(h, "astropay");
  g_autoptr(GstElement) depay = test_packets_named(h, "astrodepay");
  TestPacketsSent *sent = test_packets_watch(pay, "results");
  g_autoptr(AstroObservation) told = NULL;
  const guint64 came = exchange(h, row, STEPS, observation, &told);
  const guint64 heaps = test_packets_count(depay, "packets");
  g_assert_cmpuint(came * row->groups, ==, heaps * values_of(row));
  g_assert_cmpuint(heaps + test_packets_count(depay, "aside"), <=, sent->whole + STEPS);
  g_assert_cmpuint(heaps, <, STEPS * row->groups);
  g_assert_cmpuint(heaps, >, 0);
  test_packets_sent_free(sent);
  gst_harness_teardown(h);
}

/* Whoever begins to listen late, and another observation in mid-stream: steps count from the first
 * block, whose time the observation says. */
static void test_begin(void)
{
  const Row *row = find("means");
  const AstroStream stream = test_packets_stream(row->caps);
  g_autoptr(AstroObservation) observation = new_observation(1);
  g_autoptr(AstroObservation) other = new_observation(2);
  GstHarness *h = harness(row, "", observation);
  for (guint step = 5; step < 7; step++)
    gst_harness_push(h, new_step(row, &stream, step));
  gst_harness_push_event(h, astro_observation_to_event(other));
  for (guint step = 7; step < 9; step++)
    gst_harness_push(h, new_step(row, &stream, step));
  gst_harness_push_event(h, gst_event_new_eos());
  for (guint step = 5; step < 9; step++) {
    g_autoptr(GstBuffer) block = gst_harness_pull(h);
    g_assert_cmpuint(GST_BUFFER_OFFSET(block), ==, (step - 5) % 2);
    g_assert_cmpuint(compare(row, &stream, block, step), ==, values_of(row));
  }
  g_autoptr(AstroObservation) last = last_observation(h);
  g_assert_cmpfloat(last->phase_ra, ==, 2);
  g_assert_cmpint(test_packets_between(other, last), ==, (gint64)astro_stream_time(&stream, 7));
  g_assert_cmpuint(last->start_ns, <, 86400 * GST_SECOND);
  gst_harness_teardown(h);
}

/* Integrations without any good sample are not sent, and what is sent holds nothing of them. */
static void test_gap(void)
{
  const Row *row = find("means");
  const AstroStream stream = test_packets_stream(row->caps);
  g_autoptr(AstroObservation) observation = new_observation(1);
  GstHarness *h = harness(row, "", observation);
  g_autoptr(GstElement) pay = test_packets_named(h, "astropay");
  for (guint step = 0; step < 4; step++) {
    GstBuffer *buffer = new_step(row, &stream, step);
    if (step == 2)
      GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
    gst_harness_push(h, buffer);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_cmpuint(test_packets_count(pay, "withheld"), ==, 3);
  for (guint step = 0; step < 4; step++) {
    g_autoptr(GstBuffer) block = gst_harness_pull(h);
    g_assert_cmpuint(compare(row, &stream, block, step), ==, step == 2 ? 0 : values_of(row));
  }
  gst_harness_teardown(h);
}

static void test_refused_streams(void)
{
#define VIS "astrovissrc stations=3 channels=4 duration=120 ! "
#define SKY "astroskysrc stations=2 duration=0.01 ! application/x-astro-voltages,format=CI8 ! "
  static const struct {
    const char *line, *says;
  } bad[] = {
    { VIS "astropay name=e packet=vdif ! fakesink",
      "packets of vdif cannot hold visibilities: set packet=results" },
    { SKY "astropay name=e packet=results ! fakesink",
      "packets of results cannot hold voltages: set packet to the format of a telescope" },
    { VIS "astropay name=e packet=results packet-channels=3 ! fakesink",
      "packet-channels=3 does not divide the 4 channels evenly" },
    { VIS "astropay packet=results ! astrodepay name=e packet=results rate=5 ! fakesink",
      "rate is set, but packets of results tell all of their stream: leave it out" },
    { VIS "astropay packet=results ! astrodepay name=e packet=results stations=0-2 ! fakesink",
      "stations is set, but packets of results" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
    test_refused_by(bad[i].line, "e", bad[i].says);
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *exact = g_strdup_printf("/results/exact/%s", rows[i].name);
    g_autofree char *loss = g_strdup_printf("/results/loss/%s", rows[i].name);
    g_test_add_data_func(exact, &rows[i], test_exact);
    g_test_add_data_func(loss, &rows[i], test_loss);
  }
  g_test_add_func("/results/begin", test_begin);
  g_test_add_func("/results/gap", test_gap);
  g_test_add_func("/results/refused", test_refused_streams);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
