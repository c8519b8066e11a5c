/* Random arrays are cut along an axis and in time, and joined again: values and counts are those
 * that were cut, and lost values are zero. */
#include "core/join/join.h"
#include "tests/core/box.h"
#include "tests/tests.h"

#define VOLTAGES "application/x-astro-voltages,layout="

static const struct {
  const char *caps;
  AstroAxis axis;
} shapes[] = {
  { VOLTAGES "time:station:pol,format=CI4,stations=11,pols=2", ASTRO_AXIS_STATION },
  { VOLTAGES "time:station:pol,format=CI8,stations=5,pols=2", ASTRO_AXIS_POL },
  { VOLTAGES "station:pol:time,format=CF32LE,stations=7,pols=2", ASTRO_AXIS_STATION },
  { VOLTAGES "time:beam,format=CF64LE,beams=9", ASTRO_AXIS_BEAM },
  { "application/x-astro-spectra,layout=station:pol:time:channel,format=CF32LE,stations=3,pols=2,"
    "channels=33",
    ASTRO_AXIS_CHANNEL },
  { "application/x-astro-spectra,layout=channel:time:station:pol,format=CI8,stations=5,pols=2,"
    "channels=8",
    ASTRO_AXIS_STATION },
  { "application/x-astro-visibilities,layout=channel:baseline:pol:pol,format=CI32LE,channels=12,"
    "baselines=6,pols=2",
    ASTRO_AXIS_CHANNEL },
  { "application/x-astro-image,layout=channel:pol:y:x,format=F32LE,channels=2,pols=5,height=3,"
    "width=7",
    ASTRO_AXIS_POL },
  { "application/x-astro-uvgrid,layout=plane:channel:pol:v:u,format=CF64LE,planes=2,channels=6,"
    "pols=2,height=4,width=4",
    ASTRO_AXIS_CHANNEL },
};

#define MOST_PIECES 256

typedef struct {
  AstroJoinConfig config;
  gint axis, time; /* of the layout; -1: frames */
  guint64 steps, extent;
  guint8 *whole; /* what is cut */
  gsize bytes;
  AstroJoinPiece pieces[MOST_PIECES];
  AstroBlock blocks[MOST_PIECES];
  AstroJoinCounts counts[MOST_PIECES];
  GstBuffer *meta[MOST_PIECES];
  guint n;
} Case;

/* Some steps of the whole, and a part of its axis, value by value. */
static void cut(const Case *c, const AstroLayout *shape, guint64 place, guint64 extent,
                guint64 first, guint64 steps, guint8 *out)
{
  const gsize bytes = astro_stream_sample_bytes(&c->config.out);
  AstroLayout part = *shape;
  guint64 from[ASTRO_MAX_AXES] = { 0 };
  for (guint i = 0; i < shape->n_axes; i++) {
    if (shape->axes[i] == c->config.axis)
      from[i] = place, part.extents[i] = extent;
    if (shape->axes[i] == ASTRO_AXIS_TIME)
      from[i] = first, part.extents[i] = steps;
  }
  for (guint64 k = 0, n = astro_layout_samples(&part); k < n; k++) {
    guint64 rest = k, at = 0, stride = 1;
    for (guint i = part.n_axes; i-- > 0; rest /= part.extents[i]) {
      at += (rest % part.extents[i] + from[i]) * stride;
      stride *= shape->extents[i];
    }
    memcpy(out + k * bytes, c->whole + at * bytes, bytes);
  }
}

/* A buffer with that many steps before and after those that are taken. */
static void add_piece(Case *c, GRand *rand, const AstroLayout *shape, AstroJoinPiece piece,
                      gboolean is_lost)
{
  const gsize step = astro_stream_step_bytes(&c->config.out) / c->extent * piece.extent;
  const guint64 end = piece.at + piece.n;
  const guint64 before = (guint64)g_rand_int_range(rand, 0, (gint)piece.at + 1);
  const guint64 behind = (guint64)g_rand_int_range(rand, 0, (gint)(c->steps - end) + 1);
  piece.first = is_lost ? 0 : before;
  piece.steps = is_lost ? piece.n : before + piece.n + behind;
  c->counts[c->n].is_lost = is_lost;
  c->blocks[c->n] = (AstroBlock){ NULL, 0 };
  if (!is_lost) {
    const gsize bytes = piece.steps * step;
    guint8 *data = test_alloc(bytes);
    cut(c, shape, piece.place, piece.extent, piece.at - before, piece.steps, data);
    c->blocks[c->n] = (AstroBlock){ data, bytes };
  }
  c->pieces[c->n++] = piece;
}

static Case *new_case(GRand *rand, guint number)
{
  Case *c = g_new0(Case, 1);
  g_autoptr(GstCaps) caps = gst_caps_from_string(shapes[number % G_N_ELEMENTS(shapes)].caps);
  AstroLayout shape;
  g_assert_true(astro_stream_from_caps(&c->config.out, caps, NULL));
  c->config.axis = shapes[number % G_N_ELEMENTS(shapes)].axis;
  c->extent = astro_stream_extent(&c->config.out, c->config.axis);
  c->steps = (guint64)g_rand_int_range(rand, 1, number % 20 ? 30 : 3000);
  c->bytes = c->steps * astro_stream_step_bytes(&c->config.out);
  c->whole = test_alloc(c->bytes);
  test_fill(c->whole, c->bytes, number);
  astro_stream_shape(&c->config.out, c->steps, &shape);
  for (guint64 place = 0, n; place < c->extent; place += n) {
    n = (guint64)g_rand_int_range(rand, 1, (gint)(c->extent - place) + 1);
    for (guint64 at = 0, steps; at < c->steps; at += steps) {
      steps = (guint64)g_rand_int_range(rand, 1, (gint)(c->steps - at) + 1);
      if (c->n > MOST_PIECES - 40)
        steps = c->steps - at;
      add_piece(c, rand, &shape, (AstroJoinPiece){ place, n, 0, 0, steps, at },
                g_rand_int_range(rand, 0, 4) == 0);
    }
  }
  return c;
}

static void free_case(Case *c)
{
  for (guint i = 0; i < c->n; i++) {
    test_free(c->blocks[i].data);
    gst_clear_buffer(&c->meta[i]);
  }
  test_free(c->whole);
  g_free(c);
}

static void run(const AstroBackend *backend, Case *c, guint8 *out)
{
  const AstroPlace place = { 0 };
  AstroJoinArguments arguments = { c->steps, c->pieces };
  const AstroBlock to = { out, c->bytes };
  g_autoptr(GError) error = NULL;
  const char *variant;
  gpointer instance = backend->create(&c->config, &place, &variant, &error);
  g_assert_no_error(error);
  backend->submit(instance, c->blocks, c->n, &to, 1, &arguments, NULL, &error);
  g_assert_no_error(error);
  backend->destroy(instance);
}

/* The piece that a value of the block comes from. */
static guint piece_of(const Case *c, guint64 place, guint64 step)
{
  for (guint i = 0; i < c->n; i++) {
    const AstroJoinPiece *p = &c->pieces[i];
    if (place >= p->place && place < p->place + p->extent && step >= p->at && step < p->at + p->n)
      return i;
  }
  g_assert_not_reached();
}

static void check_values(const Case *c, const guint8 *out)
{
  const gsize bytes = astro_stream_sample_bytes(&c->config.out);
  static const guint8 nothing[16] = { 0 };
  AstroLayout shape;
  astro_stream_shape(&c->config.out, c->steps, &shape);
  const gint axis = astro_layout_find(&shape, c->config.axis),
             time = astro_layout_find(&shape, ASTRO_AXIS_TIME);
  for (guint64 k = 0, n = astro_layout_samples(&shape); k < n; k++) {
    guint64 index[ASTRO_MAX_AXES], rest = k;
    for (guint i = shape.n_axes; i-- > 0; rest /= shape.extents[i])
      index[i] = rest % shape.extents[i];
    const guint piece = piece_of(c, index[axis], time < 0 ? 0 : index[time]);
    g_assert_cmpmem(out + k * bytes, bytes,
                    c->counts[piece].is_lost ? nothing : c->whole + k * bytes, bytes);
  }
}

/* The pieces as boxes, without those that are lost. */
static void join_boxes(const Case *c, guint8 *out)
{
  memset(out, 0, c->bytes);
  for (guint i = 0; i < c->n; i++) {
    AstroBox box;
    astro_join_find_box(&c->config, c->steps, &c->pieces[i], &box);
    if (!c->counts[i].is_lost)
      test_copy_box(&box, out, c->blocks[i].data);
  }
}

static void test_values(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(38);
  for (guint i = 0; i < 300; i += TEST_STEP) {
    Case *c = new_case(rand, i);
    guint8 *a = test_alloc(c->bytes), *b = test_alloc(c->bytes);
    run(&astro_join_cpu, c, b);
    check_values(c, b);
    test_check_guard(b, c->bytes);
    if (c->steps < 100) {
      join_boxes(c, a);
      g_assert_cmpmem(a, c->bytes, b, c->bytes);
      memset(a, 0xa5, c->bytes);
      run(&astro_join_reference, c, a);
      g_assert_cmpmem(a, c->bytes, b, c->bytes);
    }
    test_free(a);
    test_free(b);
    free_case(c);
  }
}

/* ---- counts ---- */

static void add_counts(Case *c, GRand *rand, guint i)
{
  AstroLayout shape, counted = { 0 };
  astro_stream_shape(&c->config.out, c->steps, &shape);
  for (guint k = 0; k < shape.n_axes; k++) {
    if (shape.axes[k] == c->config.axis)
      shape.extents[k] = c->pieces[i].extent;
    else if (shape.axes[k] == ASTRO_AXIS_TIME)
      shape.extents[k] = c->pieces[i].steps;
    if (g_rand_boolean(rand)) {
      counted.axes[counted.n_axes] = shape.axes[k];
      counted.extents[counted.n_axes++] = shape.extents[k] % 2 == 0 && g_rand_boolean(rand)
                                              ? shape.extents[k] / 2
                                              : shape.extents[k];
    }
  }
  c->meta[i] = gst_buffer_new();
  AstroValidityMeta *meta = astro_buffer_add_validity(c->meta[i], &counted, 500);
  for (guint64 k = 0; k < astro_validity_n_counts(meta); k++)
    meta->counts[k] = (guint32)g_rand_int_range(rand, 0, 501);
  c->counts[i].meta = meta;
}

static guint32 expected_count(const Case *c, const AstroLayout *shape, guint piece, guint64 *index)
{
  const AstroJoinPiece *p = &c->pieces[piece];
  AstroLayout own = *shape;
  if (c->counts[piece].is_lost)
    return 0;
  for (guint k = 0; k < shape->n_axes; k++)
    if (shape->axes[k] == c->config.axis) {
      index[k] -= p->place;
      own.extents[k] = p->extent;
    } else if (shape->axes[k] == ASTRO_AXIS_TIME) {
      index[k] += p->first - p->at;
      own.extents[k] = p->steps;
    }
  return c->counts[piece].meta ? astro_validity_at(c->counts[piece].meta, &own, index) : 500;
}

static void test_counts(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(39);
  for (guint number = 0; number < 300; number += TEST_STEP) {
    Case *c = new_case(rand, number);
    AstroJoinArguments arguments = { c->steps, c->pieces };
    g_autoptr(GstBuffer) out = gst_buffer_new();
    g_autoptr(GError) error = NULL;
    AstroLayout shape;
    gboolean any = FALSE;
    for (guint i = 0; i < c->n; i++) {
      if (!c->counts[i].is_lost && g_rand_boolean(rand) && c->steps < 100)
        add_counts(c, rand, i);
      any |= c->counts[i].meta != NULL;
    }
    if (!any) { /* add_counts has a full count of 500 */
      free_case(c);
      continue;
    }
    astro_join_validity(&c->config, &arguments, c->counts, c->n, out);
    const AstroValidityMeta *meta = astro_buffer_get_validity(out);
    astro_stream_shape(&c->config.out, c->steps, &shape);
    astro_validity_check(meta, &shape, &error);
    g_assert_no_error(error);
    const gint axis = astro_layout_find(&shape, c->config.axis),
               time = astro_layout_find(&shape, ASTRO_AXIS_TIME);
    for (guint64 k = 0, n = astro_layout_samples(&shape); k < n; k++) {
      guint64 index[ASTRO_MAX_AXES] = { 0 }, rest = k;
      for (guint i = shape.n_axes; i-- > 0; rest /= shape.extents[i])
        index[i] = rest % shape.extents[i];
      const guint32 found = astro_validity_at(meta, &shape, index);
      const guint piece = piece_of(c, index[axis], time < 0 ? 0 : index[time]);
      g_assert_cmpuint(found, ==, expected_count(c, &shape, piece, index));
    }
    free_case(c);
  }
}

/* Blocks that lost nothing get no counts; counts that all inputs share become those of the
 * block. */
static void test_plain_counts(void)
{
  const AstroLayout time = { 1, { ASTRO_AXIS_TIME }, { 4 } };
  const AstroJoinPiece pieces[] = { { 0, 5, 8, 0, 8, 0 }, { 5, 6, 8, 0, 8, 0 } };
  const AstroJoinArguments arguments = { 8, pieces };
  AstroJoinCounts counts[2] = { { NULL, FALSE }, { NULL, FALSE } };
  AstroJoinConfig config = { .axis = ASTRO_AXIS_STATION };
  g_autoptr(GstCaps) caps = gst_caps_from_string(shapes[0].caps);
  g_autoptr(GstBuffer) plain = gst_buffer_new(), a = gst_buffer_new(), b = gst_buffer_new(),
                       out = gst_buffer_new();
  g_assert_true(astro_stream_from_caps(&config.out, caps, NULL));
  astro_join_validity(&config, &arguments, counts, 2, plain);
  g_assert_null(astro_buffer_get_validity(plain));
  counts[0].meta = astro_buffer_add_validity(a, &time, 7);
  counts[1].meta = astro_buffer_add_validity(b, &time, 7);
  counts[0].meta->counts[2] = counts[1].meta->counts[2] = 3;
  astro_join_validity(&config, &arguments, counts, 2, out);
  const AstroValidityMeta *meta = astro_buffer_get_validity(out);
  g_assert_true(astro_layout_is_equal(&meta->shape, &time));
  g_assert_cmpmem(meta->counts, 16, counts[0].meta->counts, 16);
  g_assert_cmpuint(meta->full, ==, 7);
}

/* ---- bands ---- */

static void test_bands(void)
{
  static const struct {
    AstroJoinBand bands[3];
    const char *says; /* NULL: they adjoin */
  } cases[] = {
    { { { "a", 100e6, 4e6, 4 }, { "b", 103e6, 2e6, 2 }, { "c", 104.5e6, 1e6, 1 } }, NULL },
    { { { "a", 100e6, 4e6, 4 }, { "b", 104e6, 2e6, 2 }, { "c", 105.5e6, 1e6, 1 } },
      "b: the band begins at 103 MHz, but that of a ends at 102 MHz" },
    { { { "a", 103e6, 2e6, 2 }, { "b", 100e6, 4e6, 4 }, { "c", 104.5e6, 1e6, 1 } },
      "b: the band begins at 98 MHz, but that of a ends at 104 MHz" },
    { { { "a", 100e6, 4e6, 4 }, { "b", 103e6, 2e6, 4 }, { "c", 104.5e6, 1e6, 1 } },
      "b: channels are 0.5 MHz wide, but those of a are 1 MHz wide" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    double frequency = 0, bandwidth = 0;
    const gboolean ok = astro_join_bands(cases[i].bands, 3, &frequency, &bandwidth, &error);
    g_assert_true(ok == !cases[i].says);
    if (cases[i].says)
      test_says(error->message, cases[i].says);
    else
      g_assert_true(frequency == 101.5e6 && bandwidth == 7e6);
  }
}

static void test_refused(void)
{
  const AstroPlace place = { 0 };
  const char *variant;
  AstroJoinPiece piece = { 8, 5, 1, 0, 1, 0 };
  AstroJoinArguments arguments = { 1, &piece };
  guint8 bytes[32];
  const AstroBlock block = { bytes, sizeof bytes };
  g_autoptr(GError) error = NULL;
  g_autoptr(GstCaps) caps = gst_caps_from_string(shapes[0].caps);
  AstroJoinConfig config = { .axis = ASTRO_AXIS_BEAM };
  g_assert_true(astro_stream_from_caps(&config.out, caps, NULL));
  g_assert_null(astro_join_cpu.create(&config, &place, &variant, &error));
  test_says(error->message, "axis beam 0 times");
  g_clear_error(&error);
  config.axis = ASTRO_AXIS_STATION;
  gpointer instance = astro_join_cpu.create(&config, &place, &variant, NULL);
  g_assert_false(astro_join_cpu.submit(instance, &block, 1, &block, 1, &arguments, NULL, &error));
  test_says(error->message, "station 8 to 13");
  astro_join_cpu.destroy(instance);
}

/* ---- rows of a few bytes ---- */

/* Streams with equal parts, whole or as some steps of longer buffers, or lost. */
static void test_woven(void)
{
  static const char *const layouts[] = {
    VOLTAGES "time:station:pol,pols=2,format=CI8",
    VOLTAGES "time:station,format=CI4",
    VOLTAGES "time:station:pol,pols=2,format=CF32LE",
    VOLTAGES "time:station,format=CF32LE",
    VOLTAGES "time:station,format=CI8",
    VOLTAGES "pol:time:station,pols=2,format=CF32LE",
    "application/x-astro-spectra,layout=channel:time:station,channels=5,format=CI16LE",
  };
  g_autoptr(GRand) rand = g_rand_new_with_seed(45);
  for (guint number = 0; number < 120; number += TEST_STEP) {
    Case *c = g_new0(Case, 1);
    const guint n = (guint)g_rand_int_range(rand, 2, 68);
    const guint64 extent = number % 3 ? 1 : 2;
    g_autofree char *text = g_strdup_printf(
        "%s,stations=%u", layouts[number % G_N_ELEMENTS(layouts)], (guint)(n * extent));
    AstroLayout shape;
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);
    g_assert_true(astro_stream_from_caps(&c->config.out, caps, NULL));
    c->config.axis = ASTRO_AXIS_STATION;
    c->extent = n * extent;
    c->steps = (guint64)g_rand_int_range(rand, 1, number % 10 ? 300 : 20000);
    c->bytes = c->steps * astro_stream_step_bytes(&c->config.out);
    c->whole = test_alloc(c->bytes);
    test_fill(c->whole, c->bytes, number);
    astro_stream_shape(&c->config.out, c->steps, &shape);
    for (guint i = 0; i < n; i++)
      add_piece(c, rand, &shape, (AstroJoinPiece){ i * extent, extent, 0, 0, c->steps, 0 },
                g_rand_int_range(rand, 0, 6) == 0);
    guint8 *a = test_alloc(c->bytes), *b = test_alloc(c->bytes);
    run(&astro_join_reference, c, a);
    run(&astro_join_cpu, c, b);
    g_assert_cmpmem(a, c->bytes, b, c->bytes);
    test_check_guard(b, c->bytes);
    test_free(a);
    test_free(b);
    free_case(c);
  }
}

static void add_tests(void)
{
  g_test_add_func("/join/values", test_values);
  g_test_add_func("/join/woven", test_woven);
  g_test_add_func("/join/counts", test_counts);
  g_test_add_func("/join/plain-counts", test_plain_counts);
  g_test_add_func("/join/bands", test_bands);
  g_test_add_func("/join/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
