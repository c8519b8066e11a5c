#include "core/stream/validity.h"
#include "tests/tests.h"

static const AstroLayout station_time = { .n_axes = 2,
                                          .axes = { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME },
                                          .extents = { 3, 5 } };

static AstroValidityMeta *add_example(GstBuffer *buffer)
{
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &station_time, 100);
  for (guint i = 0; i < 15; i++)
    meta->counts[i] = i;
  return meta;
}

static void test_follow(void)
{
  GstBuffer *a = gst_buffer_new_allocate(NULL, 3 * 2 * 5 * 7, NULL), *b = gst_buffer_copy(a);
  AstroLayout to = { .n_axes = 4,
                     .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_POL,
                               ASTRO_AXIS_STATION },
                     .extents = { 7, 5, 2, 3 } };
  add_example(a);
  g_assert_true(astro_validity_follow(b, a, &to));

  AstroValidityMeta *meta = astro_buffer_get_validity(b);
  g_assert_cmpuint(meta->full, ==, 100);
  g_assert_cmpint(meta->shape.axes[0], ==, ASTRO_AXIS_TIME);
  for (guint64 time = 0; time < 5; time++)
    for (guint64 station = 0; station < 3; station++) {
      guint64 index[ASTRO_MAX_AXES] = { 3, time, 1, station };
      g_assert_cmpuint(meta->counts[time * 3 + station], ==, station * 5 + time);
      g_assert_cmpuint(astro_validity_at(meta, &to, index), ==, station * 5 + time);
    }

  AstroLayout without = { .n_axes = 1, .axes = { ASTRO_AXIS_TIME }, .extents = { 5 } };
  g_assert_false(astro_validity_follow(b, a, &without));
  gst_buffer_unref(a);
  gst_buffer_unref(b);
}

/* Layouts without time: a buffer of several frames has a time axis before all others. */
static void test_follow_frames(void)
{
  const AstroLayout counted = { .n_axes = 2,
                                .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION },
                                .extents = { 5, 3 } };
  const AstroLayout to = { .n_axes = 2,
                           .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION },
                           .extents = { 7, 3 } };
  GstBuffer *a = gst_buffer_new(), *b = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(a, &counted, 100);
  for (guint i = 0; i < 15; i++)
    meta->counts[i] = i;
  g_assert_true(astro_validity_follow(b, a, &to));
  meta = astro_buffer_get_validity(b);
  g_assert_true(astro_layout_is_equal(&meta->shape, &counted));
  g_assert_true(meta->slowest_first);
  for (guint i = 0; i < 15; i++)
    g_assert_cmpuint(meta->counts[i], ==, i);
  gst_buffer_unref(a);
  gst_buffer_unref(b);
}

/* A single frame has no time axis. It may be counted all the same, and losses in it are found. */
static void check_frame(const AstroLayout *counted)
{
  const AstroLayout shape = { .n_axes = 2,
                              .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION },
                              .extents = { 7, 3 } };
  GstBuffer *buffer = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, counted, 100);
  AstroValiditySamples samples;
  GError *error = NULL;
  meta->counts[1] = 99;
  astro_validity_check(meta, &shape, &error);
  g_assert_no_error(error);
  astro_validity_samples(&samples, meta, &shape);
  for (guint64 station = 0; station < 3; station++) {
    guint64 from, to = 0;
    g_assert_cmpint(astro_validity_is_whole(&samples, 0, 4, station), ==, station != 1);
    g_assert_cmpint(astro_validity_next_loss(&samples, 0, station, &from, &to), ==, station == 1);
    g_assert_cmpuint(to, ==, 1);
  }
  gst_buffer_unref(buffer);
}

static void test_frame(void)
{
  const AstroLayout station = { .n_axes = 1, .axes = { ASTRO_AXIS_STATION }, .extents = { 3 } };
  const AstroLayout time_station = { .n_axes = 2,
                                     .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION },
                                     .extents = { 1, 3 } };
  check_frame(&station);
  check_frame(&time_station);
}

static void test_none(void)
{
  GstBuffer *a = gst_buffer_new(), *b = gst_buffer_new();
  g_assert_null(astro_buffer_get_validity(a));
  g_assert_true(astro_validity_follow(b, a, &station_time));
  g_assert_null(astro_buffer_get_validity(b));
  AstroValidityMeta *meta = add_example(a);
  astro_validity_meta_clear(meta);
  g_assert_null(astro_buffer_get_validity(a));
  /* The storage is used again. */
  guint32 *storage = meta->storage;
  g_assert_true(add_example(a)->counts == storage);
  gst_buffer_unref(a);
  gst_buffer_unref(b);
}

/* Whole copies keep all counts; parts keep their own counts, or the smallest if these are not
 * known. */
static void test_copies(void)
{
  GstBuffer *a = gst_buffer_new_allocate(NULL, 3 * 5 * 4, NULL);
  AstroValidityMeta *meta = add_example(a);

  GstBuffer *whole = gst_buffer_copy(a);
  g_assert_cmpmem(astro_buffer_get_validity(whole)->counts, 60, meta->counts, 60);

  GstBuffer *part = gst_buffer_copy_region(a, GST_BUFFER_COPY_ALL, 20, 20);
  AstroValidityMeta *counts = astro_buffer_get_validity(part);
  g_assert_cmpuint(counts->shape.n_axes, ==, 0);
  g_assert_cmpuint(counts->counts[0], ==, 0);
  gst_buffer_unref(part);

  meta->slowest_first = TRUE;
  part = gst_buffer_copy_region(a, GST_BUFFER_COPY_ALL, 20, 40);
  counts = astro_buffer_get_validity(part);
  g_assert_cmpuint(counts->shape.extents[0], ==, 2);
  g_assert_cmpmem(counts->counts, 40, meta->counts + 5, 40);
  gst_buffer_unref(part);

  part = gst_buffer_copy_region(a, GST_BUFFER_COPY_ALL, 21, 20);
  g_assert_cmpuint(astro_buffer_get_validity(part)->shape.n_axes, ==, 0);
  gst_buffer_unref(part);
  gst_buffer_unref(whole);
  gst_buffer_unref(a);
}

/* One count for several neighbours along an axis. */
static void test_groups(void)
{
  GstBuffer *a = gst_buffer_new();
  AstroLayout shape = { .n_axes = 2,
                        .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION },
                        .extents = { 20, 3 } };
  AstroLayout groups = { .n_axes = 1, .axes = { ASTRO_AXIS_TIME }, .extents = { 4 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(a, &groups, 5);
  meta->counts[2] = 1;
  for (guint64 t = 0; t < 20; t++) {
    guint64 index[ASTRO_MAX_AXES] = { t, 2 };
    g_assert_cmpuint(astro_validity_at(meta, &shape, index), ==, t / 5 == 2 ? 1 : 5);
  }
  AstroValiditySamples samples;
  guint64 from = 0, to = 0;
  astro_validity_samples(&samples, meta, &shape);
  g_assert_true(astro_validity_next_loss(&samples, 0, 2, &from, &to));
  g_assert_cmpuint(from, ==, 10);
  g_assert_cmpuint(to, ==, 15);
  g_assert_false(astro_validity_next_loss(&samples, 0, 2, &from, &to));
  gst_buffer_unref(a);
}

/* A sample is whole if all its polarisations are. */
static void test_whole(void)
{
  GstBuffer *a = gst_buffer_new();
  const AstroLayout counted = { .n_axes = 2,
                                .axes = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_POL },
                                .extents = { 4, 2 } };
  const AstroLayout shape = { .n_axes = 4,
                              .axes = { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION,
                                        ASTRO_AXIS_POL },
                              .extents = { 3, 4, 5, 2 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(a, &counted, 8);
  meta->counts[2 * 1 + 1] = 7;
  meta->counts[2 * 3] = 0;
  AstroValiditySamples samples;
  astro_validity_samples(&samples, meta, &shape);
  for (guint64 channel = 0; channel < 4; channel++)
    g_assert_true(astro_validity_is_whole(&samples, 2, channel, 4) == (channel % 2 == 0));
  gst_buffer_unref(a);
}

/* Counts over some of the axes, each for one sample or several neighbours, with a loss or two. */
static void add_some_counts(GstBuffer *buffer, const AstroLayout *shape, GRand *rand)
{
  AstroLayout counted = { 0 };
  for (guint i = 0; i < shape->n_axes; i++) {
    guint64 group = (guint64)g_rand_int_range(rand, 1, 4);
    if (g_rand_boolean(rand))
      continue;
    while (shape->extents[i] % group != 0)
      group--;
    counted.axes[counted.n_axes] = shape->axes[i];
    counted.extents[counted.n_axes++] = shape->extents[i] / group;
  }
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, 9);
  for (guint losses = (guint)g_rand_int_range(rand, 0, 3); losses > 0; losses--)
    meta->counts[g_rand_int_range(rand, 0, (gint)astro_validity_n_counts(meta))] = 8;
}

static void check_marks(const AstroValiditySamples *samples, const AstroLayout *shape)
{
  const guint64 steps = shape->extents[astro_layout_find(shape, ASTRO_AXIS_TIME)];
  const guint64 channels = shape->extents[astro_layout_find(shape, ASTRO_AXIS_CHANNEL)];
  const guint64 stations = shape->extents[astro_layout_find(shape, ASTRO_AXIS_STATION)];
  g_autofree guint8 *marks = g_malloc(steps * channels * stations);
  const guint8 *at = marks;
  gboolean all = TRUE;
  memset(marks, 0x5a, steps * channels * stations);
  astro_validity_mark(samples, steps, channels, stations, marks);
  for (guint64 t = 0; t < steps; t++)
    for (guint64 c = 0; c < channels; c++)
      for (guint64 s = 0; s < stations; s++, at++) {
        g_assert_cmpuint(*at, ==, (guint8)astro_validity_is_whole(samples, t, c, s));
        all &= *at;
      }
  g_assert_true(astro_validity_all_whole(samples) == all);
}

/* All samples at once are as each alone, in any order of axes and with any axes counted. */
static void test_marks(void)
{
  const AstroLayout shapes[] = {
    { 4,
      { ASTRO_AXIS_STATION, ASTRO_AXIS_POL, ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
      { 6, 2, 9, 4 } },
    { 4,
      { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION, ASTRO_AXIS_POL },
      { 7, 6, 5, 2 } },
    { 3, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 1, 12, 6 } },
  };
  g_autoptr(GRand) rand = g_rand_new_with_seed(45);
  for (guint i = 0; i < 300; i++) {
    const AstroLayout *shape = &shapes[i % G_N_ELEMENTS(shapes)];
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    AstroValiditySamples samples;
    add_some_counts(buffer, shape, rand);
    astro_validity_samples(&samples, astro_buffer_get_validity(buffer), shape);
    check_marks(&samples, shape);
  }
}

/* A beam can be used as long as a station is left behind it. */
static void test_beams(void)
{
  g_autoptr(GstBuffer) a = gst_buffer_new();
  const AstroLayout counted = { 1, { ASTRO_AXIS_TIME }, { 4 } };
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BEAM, ASTRO_AXIS_TIME },
                              { 2, 3, 4 } };
  AstroValidityMeta *meta = astro_buffer_add_validity(a, &counted, 16);
  AstroValiditySamples samples;
  meta->counts[1] = 1;
  meta->counts[2] = 0;
  astro_validity_samples(&samples, meta, &shape);
  for (guint64 time = 0; time < 4; time++)
    g_assert_true(astro_validity_is_whole(&samples, time, 1, 0) == (time != 2));
}

static void test_check(void)
{
  const AstroLayout shape = { 3,
                              { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION },
                              { 12, 4, 5 } };
  static const struct {
    AstroLayout counted;
    const char *says; /* NULL: it fits */
  } cases[] = {
    { { 0 }, NULL },
    { { 1, { ASTRO_AXIS_STATION }, { 5 } }, NULL },
    { { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { 3, 1 } }, NULL },
    { { 1, { ASTRO_AXIS_STATION }, { 4 } }, "station=4" },
    { { 1, { ASTRO_AXIS_STATION }, { 10 } }, "station=10" },
    { { 1, { ASTRO_AXIS_TIME }, { 0 } }, "time=0" },
    { { 1, { ASTRO_AXIS_POL }, { 1 } }, "pol=1" },
    { { 2, { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 5, 12 } }, "time=12:channel=4:station=5" },
    { { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_TIME }, { 12, 12 } }, "time=12:time=12" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    g_autoptr(GError) error = NULL;
    const AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &cases[i].counted, 1);
    g_assert_cmpint(astro_validity_check(meta, &shape, &error), ==, cases[i].says == NULL);
    if (cases[i].says)
      test_says(error->message, cases[i].says);
    else
      g_assert_no_error(error);
  }
}

/* The rest of a buffer has the samples and counts of its steps, wherever the time axis is. */
static void test_from_step(void)
{
  static const struct {
    const char *layout;
    AstroLayout counted;
  } cases[] = {
    { "time:station:channel", { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { 6, 3 } } },
    { "station:time:channel", { 2, { ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 3, 3 } } },
    { "channel:station:time",
      { 3, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION, ASTRO_AXIS_TIME }, { 2, 3, 2 } } },
    { "channel:station", { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { 6, 3 } } },
    { "channel:station", { 1, { ASTRO_AXIS_STATION }, { 3 } } },
    { "time:station:channel", { 0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf(
        "application/x-astro-spectra,format=CI8,stations=3,channels=2,layout=%s", cases[i].layout);
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);
    AstroStream stream;
    AstroLayout whole, part;
    guint8 bytes[6 * 3 * 2 * 2];
    GstMapInfo map;
    g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
    test_fill(bytes, sizeof bytes, i);
    g_autoptr(GstBuffer) buffer = gst_buffer_new_memdup(bytes, sizeof bytes);
    AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &cases[i].counted, 100);
    for (guint64 k = 0; k < astro_validity_n_counts(meta); k++)
      meta->counts[k] = (guint32)k;
    g_autoptr(GstBuffer) rest = astro_buffer_from_step(buffer, &stream, 6, 2);
    const AstroValidityMeta *kept = astro_buffer_get_validity(rest);
    g_assert_nonnull(kept);
    astro_stream_shape(&stream, 6, &whole);
    astro_stream_shape(&stream, 4, &part);
    g_assert_true(astro_validity_check(kept, &part, NULL));
    g_assert_true(gst_buffer_map(rest, &map, GST_MAP_READ));
    g_assert_cmpuint(map.size, ==, 4 * 3 * 2 * 2);
    guint64 at[ASTRO_MAX_AXES], index[ASTRO_MAX_AXES] = { 0 };
    astro_layout_strides(&whole, at);
    for (guint64 k = 0; k < 4 * 3 * 2; k++) {
      guint64 from = 0, source[ASTRO_MAX_AXES];
      for (guint a = 0; a < whole.n_axes; a++) {
        source[a] = index[a] + (whole.axes[a] == ASTRO_AXIS_TIME ? 2 : 0);
        from += source[a] * at[a];
      }
      g_assert_cmpmem(map.data + 2 * k, 2, bytes + 2 * from, 2);
      g_assert_cmpuint(astro_validity_at(kept, &part, index), ==,
                       astro_validity_at(meta, &whole, source));
      for (guint a = part.n_axes; a-- > 0 && ++index[a] == part.extents[a];)
        index[a] = 0;
    }
    gst_buffer_unmap(rest, &map);
  }
}

static void add_tests(void)
{
  g_test_add_func("/validity/follow", test_follow);
  g_test_add_func("/validity/follow/frames", test_follow_frames);
  g_test_add_func("/validity/frame", test_frame);
  g_test_add_func("/validity/none", test_none);
  g_test_add_func("/validity/copies", test_copies);
  g_test_add_func("/validity/groups", test_groups);
  g_test_add_func("/validity/whole", test_whole);
  g_test_add_func("/validity/marks", test_marks);
  g_test_add_func("/validity/beams", test_beams);
  g_test_add_func("/validity/check", test_check);
  g_test_add_func("/validity/from-step", test_from_step);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
