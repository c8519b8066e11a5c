/* Lists as users write them; the reference compared with the meaning of values, everything else
 * with the reference. */
#include "core/select/select.h"
#include "tests/core/box.h"
#include "tests/tests.h"

#include <complex.h>

/* ---- lists ---- */

static char *const names[] = { (char *)"A001", (char *)"CS-2", (char *)"7b",
                               (char *)"A004", (char *)"A004", NULL };

static void test_lists(void)
{
  static const struct {
    const char *text;
    guint n;
    guint64 expected[8];
  } cases[] = {
    { "0", 1, { 0 } },           { "3-", 2, { 3, 4 } },   { "4,0-2", 4, { 4, 0, 1, 2 } },
    { "0-4:2", 3, { 0, 2, 4 } }, { "1-:3", 2, { 1, 4 } }, { "CS-2, 0", 2, { 1, 0 } },
    { "7b,A001", 2, { 2, 0 } },  { "2-2", 1, { 2 } },     { "0-4:99999999999999999999", 1, { 0 } },
    { "0/2", 3, { 0, 1, 2 } },   { "1/2", 2, { 3, 4 } },  { "2/5,0/5", 2, { 2, 0 } },
  };
  const AstroSelectFrom from = { "stations", 5, names };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) list = astro_select_read_list(cases[i].text, &from, &error);
    g_test_message("%s", cases[i].text);
    g_assert_no_error(error);
    g_assert_cmpmem(list->data, list->len * sizeof(guint64), cases[i].expected,
                    cases[i].n * sizeof(guint64));
    g_assert_cmpuint(astro_select_count(cases[i].text, 5), ==, cases[i].n);
  }
  g_assert_cmpuint(astro_select_count("3-", 0), ==, 0);
  g_assert_cmpuint(astro_select_count("1-2,X", 0), ==, 3);
  g_assert_cmpuint(astro_select_count("0/2", 0), ==, 0);
  g_assert_true(astro_select_has_names("0,7b"));
  g_assert_false(astro_select_has_names("0,7-,1-3:2"));
}

static void test_refused_lists(void)
{
  static const struct {
    const char *text, *says;
  } cases[] = {
    { "5", "\"5\" is beyond the 5 that there are, expected 0 to 4" },
    { "0-5", "is beyond" },
    { "5-", "is beyond" },
    { "99999999999999999999999", "is beyond" },
    { "3-1", "is not a range" },
    { "0-3:0", "is not a range" },
    { "2/2", "\"2/2\" is nothing of the 5 that there are, expected RANK/RANKS" },
    { "0/6", "at most as many ranks as there are stations" },
    { "0/0", "there is no \"0/0\"" },
    { "1,0-2", "number 1 is listed twice" },
    { "A001,0", "number 0 is listed twice" },
    { "A002", "there is no \"A002\", expected A001, CS-2" },
    { "A004", "two are named" },
    { "1,,2", "has an empty item" },
    { "", "has an empty item" },
    { "-1", "there is no" },
  };
  const AstroSelectFrom from = { "stations", 5, names };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) list = astro_select_read_list(cases[i].text, &from, &error);
    g_assert_null(list);
    test_says(error->message, cases[i].says);
    test_says(error->message, "stations");
  }
}

static void test_band(void)
{
  const guint64 kept[] = { 4, 5, 6 }, apart[] = { 4, 6 };
  g_autoptr(GArray) list = g_array_new(FALSE, FALSE, 8), gap = g_array_new(FALSE, FALSE, 8);
  g_autoptr(GError) error = NULL;
  double frequency = 150e6, bandwidth = 16e6;
  g_array_append_vals(list, kept, 3);
  g_array_append_vals(gap, apart, 2);
  g_assert_true(astro_select_band(list, 16, &frequency, &bandwidth, NULL));
  g_assert_cmpfloat(bandwidth, ==, 3e6);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat(astro_channel_frequency(frequency, bandwidth, 3, i), ==,
                      astro_channel_frequency(150e6, 16e6, 16, (guint)kept[i]));
  g_assert_false(astro_select_band(gap, 16, &frequency, &bandwidth, &error));
  test_says(error->message, "channels: 6 follows 4");
  bandwidth = 0;
  g_assert_true(astro_select_band(gap, 16, &frequency, &bandwidth, NULL));
}

/* ---- values ---- */

static void run(const AstroBackend *backend, const AstroSelectConfig *config, guint64 steps,
                gconstpointer in, gsize in_bytes, gpointer out, gsize out_bytes)
{
  const AstroPlace place = { 0 };
  AstroSelectArguments arguments = { steps };
  g_autoptr(GError) error = NULL;
  const char *variant;
  gpointer instance = backend->create(config, &place, &variant, &error);
  const AstroBlock from = { (gpointer)in, in_bytes }, to = { out, out_bytes };
  g_assert_no_error(error);
  /* A plan for another number of steps than the block has is made again. */
  if (steps > 1)
    backend->submit(instance, &from, 1, &to, 1, &(AstroSelectArguments){ steps - 1 }, NULL, NULL);
  backend->submit(instance, &from, 1, &to, 1, &arguments, NULL, &error);
  g_assert_no_error(error);
  backend->destroy(instance);
}

static AstroStream stream_of(const char *text)
{
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  astro_stream_from_caps(&stream, caps, &error);
  g_assert_no_error(error);
  return stream;
}

/* Pairs of voltages: the kept ones are those that the kept stations would give. */
static complex float voltage(guint channel, guint64 station, guint pol)
{
  return (float)(1 + station * 3 + pol) + I * (float)((int)station - 4 * (int)pol + (int)channel);
}

static complex float pair(guint c, guint64 i, guint64 j, guint p, guint q)
{
  return voltage(c, i, p) * conjf(voltage(c, j, q));
}

static void test_pairs(gconstpointer data)
{
  const gboolean is_full = GPOINTER_TO_INT(data);
  const guint64 kept[] = { 3, 0, 4, 1 }, pols[] = { 1, 0 };
  const guint n = is_full ? 25 : 15;
  g_autofree char *caps = g_strdup_printf(
      "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=3,"
      "pols=2,baselines=%u,triangle=%s",
      n, is_full ? "full" : "lower");
  AstroSelectConfig config = { .in = stream_of(caps) };
  g_autoptr(GArray) stations = g_array_new(FALSE, FALSE, sizeof(guint64));
  g_array_append_vals(stations, kept, 4);
  g_autoptr(GArray) baselines = astro_select_baselines(stations, 5, is_full);
  complex float in[3][25][2][2], out[3 * 16 * 4], *got = out;
  memset(in, 0, sizeof in);
  complex float *to = &in[0][0][0][0];
  for (guint c = 0; c < 3; c++)
    for (guint i = 0; i < 5; i++)
      for (guint j = 0; j < (is_full ? 5 : i + 1); j++)
        for (guint v = 0; v < 4; v++)
          *to++ = pair(c, i, j, v / 2, v % 2);
  config.pick[1] =
      (AstroSelectPick){ (const guint64 *)(gconstpointer)baselines->data, baselines->len };
  config.pick[2] = config.pick[3] = (AstroSelectPick){ pols, 2 };
  for (guint backend = 0; backend < 2; backend++) {
    memset(out, 0xa5, sizeof out);
    run(astro_select_backends[backend], &config, 1, in, 3 * n * 32, out, sizeof out);
    got = out;
    for (guint c = 0; c < 3; c++)
      for (guint i = 0; i < 4; i++)
        for (guint j = 0; j < (is_full ? 4 : i + 1); j++)
          for (guint v = 0; v < 4; v++, got++)
            g_assert_true(*got ==
                          pair(c, kept[i], kept[j], (guint)pols[v / 2], (guint)pols[v % 2]));
  }
}

static const char *const shapes[] = {
  "application/x-astro-voltages,format=CI4,layout=time:station:pol,stations=7,pols=2",
  "application/x-astro-voltages,format=CI8,layout=station:pol:time,stations=5,pols=2",
  "application/x-astro-voltages,format=CF64LE,layout=time:pol:station,stations=9,pols=2",
  "application/x-astro-spectra,format=CF32LE,layout=station:pol:time:channel,stations=4,pols=2,"
  "channels=37",
  "application/x-astro-spectra,format=CI16LE,layout=channel:time:station:pol,stations=6,pols=2,"
  "channels=8",
  "application/x-astro-spectra,format=CF32LE,layout=time:beam:channel,beams=3,channels=64",
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,channels=5,"
  "baselines=21,pols=2",
  "application/x-astro-visibilities,format=CI32LE,layout=pol:channel:pol:baseline,channels=3,"
  "baselines=28,pols=2",
  "application/x-astro-visibilities,format=CF64LE,layout=baseline:pol:pol:channel,channels=3,"
  "baselines=15,pols=2",
};

/* A random permutation's beginning. */
static GArray *random_list(GRand *rand, guint64 extent)
{
  g_autofree guint64 *all = g_new(guint64, extent);
  const guint n = (guint)g_rand_int_range(rand, 1, (gint)extent + 1);
  const gboolean is_run = g_rand_boolean(rand);
  const guint first = (guint)g_rand_int_range(rand, 0, (gint)(extent - n) + 1);
  GArray *list = g_array_new(FALSE, FALSE, sizeof(guint64));
  for (guint64 i = 0; i < extent; i++)
    all[i] = i;
  for (guint i = 0; i < n; i++) {
    const guint other = (guint)g_rand_int_range(rand, (gint)i, (gint)extent);
    const guint64 picked = all[other];
    const guint64 next = is_run ? first + i : picked;
    all[other] = all[i];
    g_array_append_val(list, next);
  }
  return list;
}

typedef struct {
  AstroSelectConfig config;
  GPtrArray *lists;
} Case;

/* Selects some of each axis, or all. */
static Case random_case(GRand *rand, const char *shape)
{
  Case c = { .config.in = stream_of(shape),
             .lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref) };
  const AstroLayout *layout = &c.config.in.layout;
  gint pol = -1;
  for (guint i = 0; i < layout->n_axes; i++) {
    if (layout->axes[i] == ASTRO_AXIS_POL && pol >= 0) {
      c.config.pick[i] = c.config.pick[pol];
      continue;
    }
    if (layout->axes[i] == ASTRO_AXIS_POL)
      pol = (gint)i;
    if (!layout->extents[i] || g_rand_int_range(rand, 0, 3) == 0)
      continue;
    const gboolean is_pairs = layout->axes[i] == ASTRO_AXIS_BASELINE;
    GArray *list =
        random_list(rand, is_pairs ? astro_stream_stations(&c.config.in) : layout->extents[i]);
    g_ptr_array_add(c.lists, list);
    if (is_pairs) {
      list = astro_select_baselines(list, astro_stream_stations(&c.config.in), FALSE);
      g_ptr_array_add(c.lists, list);
    }
    c.config.pick[i] = (AstroSelectPick){ (const guint64 *)(gconstpointer)list->data, list->len };
  }
  return c;
}

static gsize kept_bytes(const AstroSelectConfig *config, guint64 steps)
{
  gsize bytes = astro_stream_step_bytes(&config->in) * steps;
  for (guint i = 0; i < config->in.layout.n_axes; i++)
    if (config->pick[i].n)
      bytes = bytes / config->in.layout.extents[i] * config->pick[i].n;
  return bytes;
}

/* Whether there is a box; it has what was selected. */
static gboolean check_box(const AstroSelectConfig *config, guint64 steps, const guint8 *in,
                          const guint8 *expected, gsize expected_bytes)
{
  AstroBox box;
  gsize bytes;
  if (!astro_select_find_box(config, steps, &box, &bytes))
    return FALSE;
  guint8 *out = test_alloc(bytes);
  test_copy_box(&box, out, in);
  g_assert_cmpmem(out, bytes, expected, expected_bytes);
  test_check_guard(out, bytes);
  test_free(out);
  return TRUE;
}

static void test_variants(void)
{
  guint boxes = 0;
  g_autoptr(GRand) rand = g_rand_new_with_seed(36);
  for (guint i = 0; i < 600; i += TEST_STEP) {
    const char *shape = shapes[i % G_N_ELEMENTS(shapes)];
    Case c = random_case(rand, shape);
    const guint64 steps = (guint64)g_rand_int_range(rand, 1, i % 50 ? 40 : 4000);
    const gsize from = astro_stream_step_bytes(&c.config.in) * steps,
                to = kept_bytes(&c.config, steps);
    guint8 *in = test_alloc(from), *a = test_alloc(to), *b = test_alloc(to);
    gsize offset, bytes;
    test_fill(in, from, i);
    run(&astro_select_reference, &c.config, steps, in, from, a, to);
    run(&astro_select_cpu, &c.config, steps, in, from, b, to);
    g_assert_cmpmem(a, to, b, to);
    test_check_guard(b, to);
    if (astro_select_find_part(&c.config, steps, &offset, &bytes))
      g_assert_cmpmem(in + offset, bytes, a, to);
    boxes += check_box(&c.config, steps, in, a, to);
    test_free(in);
    test_free(a);
    test_free(b);
    g_ptr_array_unref(c.lists);
  }
  g_assert_cmpuint(boxes, >, 100 / TEST_STEP);
}

static void test_parts(void)
{
  static const guint64 some[] = { 2, 3 };
  AstroSelectConfig config = { .in = stream_of(shapes[1]) };
  gsize offset, bytes;
  config.pick[0] = (AstroSelectPick){ some, 2 };
  g_assert_true(astro_select_find_part(&config, 10, &offset, &bytes));
  g_assert_cmpuint(offset, ==, 2 * 2 * 10 * 2);
  g_assert_cmpuint(bytes, ==, 2 * 2 * 10 * 2);
  config.in = stream_of(shapes[0]);
  config.pick[0].n = 0;
  config.pick[1] = (AstroSelectPick){ some, 2 };
  g_assert_true(astro_select_find_part(&config, 1, &offset, &bytes));
  g_assert_false(astro_select_find_part(&config, 2, &offset, &bytes));
}

/* Steps that rise evenly are boxes; others, and pairs that are conjugated, are not. */
static void test_boxes(void)
{
  static const struct {
    guint64 index[3];
    gboolean is_box;
  } cases[] = {
    { { 1, 2, 3 }, TRUE },  { { 0, 3, 6 }, TRUE },  { { 0, 1, 3 }, FALSE },
    { { 3, 2, 1 }, FALSE }, { { 2, 1, 5 }, FALSE }, { { 1, 2, 3 | ASTRO_SELECT_REVERSED }, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroSelectConfig config = { .in = stream_of(shapes[6]) };
    AstroBox box;
    gsize bytes;
    config.pick[1] = (AstroSelectPick){ cases[i].index, 3 };
    g_assert_cmpint(astro_select_find_box(&config, 1, &box, &bytes), ==, cases[i].is_box);
  }
}

/* ---- counts ---- */

/* Counts of each value, found from a block whose values are their own indices. */
static void check_counts(const Case *c, guint64 steps, const AstroValidityMeta *meta,
                         const AstroValidityMeta *kept)
{
  AstroLayout in, out;
  AstroSelectConfig config = c->config;
  astro_stream_shape(&config.in, steps, &in);
  out = in;
  for (guint i = 0; i < in.n_axes; i++) {
    const guint at = i - (in.n_axes - config.in.layout.n_axes);
    if (at < ASTRO_MAX_AXES && config.pick[at].n)
      out.extents[i] = config.pick[at].n;
  }
  const guint64 n = astro_layout_samples(&in), n_out = astro_layout_samples(&out);
  g_autofree double *places = g_new0(double, 2 * n), *found = g_new0(double, 2 * n_out);
  for (guint64 i = 0; i < n; i++)
    places[2 * i] = (double)i;
  config.in.format = ASTRO_FORMAT_CF64LE;
  run(&astro_select_reference, &config, steps, places, 16 * n, found, 16 * n_out);
  g_autoptr(GError) error = NULL;
  astro_validity_check(kept, &out, &error);
  g_assert_no_error(error);
  for (guint64 k = 0; k < n_out; k++) {
    guint64 from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES], a = (guint64)found[2 * k], b = k;
    for (guint i = in.n_axes; i-- > 0;) {
      from[i] = a % in.extents[i];
      a /= in.extents[i];
      to[i] = b % out.extents[i];
      b /= out.extents[i];
    }
    g_assert_cmpuint(astro_validity_at(kept, &out, to), ==, astro_validity_at(meta, &in, from));
  }
}

static void test_counts(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(37);
  for (guint i = 0; i < 300; i += TEST_STEP) {
    Case c = random_case(rand, shapes[i % G_N_ELEMENTS(shapes)]);
    const guint64 steps = (guint64)g_rand_int_range(rand, 1, 5);
    AstroLayout shape, counted = { 0 };
    astro_stream_shape(&c.config.in, steps, &shape);
    for (guint k = 0; k < shape.n_axes; k++)
      if (g_rand_boolean(rand)) {
        const guint64 extent = shape.extents[k];
        counted.axes[counted.n_axes] = shape.axes[k];
        counted.extents[counted.n_axes++] = extent % 2 == 0 && g_rand_boolean(rand) ? extent / 2
                                            : g_rand_int_range(rand, 0, 4) == 0     ? 1
                                                                                    : extent;
      }
    g_autoptr(GstBuffer) in = gst_buffer_new(), out = gst_buffer_new();
    AstroValidityMeta *meta = astro_buffer_add_validity(in, &counted, 1000);
    for (guint64 k = 0; k < astro_validity_n_counts(meta); k++)
      meta->counts[k] = (guint32)g_rand_int_range(rand, 0, 1000);
    if (!astro_validity_check(meta, &shape, NULL)) {
      g_ptr_array_unref(c.lists);
      continue;
    }
    astro_select_validity(&c.config, steps, meta, out);
    const AstroValidityMeta *kept = astro_buffer_get_validity(out);
    g_assert_cmpuint(kept->full, ==, 1000);
    check_counts(&c, steps, meta, kept);
    g_ptr_array_unref(c.lists);
  }
}

static void test_refused(void)
{
  static const guint64 beyond[] = { 9 };
  const AstroPlace place = { 0 };
  const char *variant;
  AstroSelectConfig config = { .in = stream_of(shapes[0]) };
  g_autoptr(GError) error = NULL;
  config.pick[1] = (AstroSelectPick){ beyond, 1 };
  g_assert_null(astro_select_cpu.create(&config, &place, &variant, &error));
  test_says(error->message, "station 9 is to be kept of 7");
  g_clear_error(&error);
  config.pick[1].n = 0;
  config.pick[0] = (AstroSelectPick){ beyond, 1 };
  g_assert_null(astro_select_cpu.create(&config, &place, &variant, &error));
  test_says(error->message, "axis time");
}

static void add_tests(void)
{
  g_test_add_func("/select/lists", test_lists);
  g_test_add_func("/select/refused-lists", test_refused_lists);
  g_test_add_func("/select/band", test_band);
  g_test_add_data_func("/select/pairs/lower", GINT_TO_POINTER(FALSE), test_pairs);
  g_test_add_data_func("/select/pairs/full", GINT_TO_POINTER(TRUE), test_pairs);
  g_test_add_func("/select/variants", test_variants);
  g_test_add_func("/select/parts", test_parts);
  g_test_add_func("/select/boxes", test_boxes);
  g_test_add_func("/select/counts", test_counts);
  g_test_add_func("/select/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
