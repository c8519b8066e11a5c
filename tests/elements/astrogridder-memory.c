/* max-memory: images of any shape are made within the memory that is promised before the first
 * visibility is taken, and are the same as with ample memory. Each shape has a process of its own,
 * whose address space is limited to what it has at the start and the promise. ASTRO_MEMORY_SHAPES
 * is how many shapes are tried, in place of 10. */
#include <glib/gstdio.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/elements/elements.h"
#include "tests/peak.h"

/* Stacks of threads, and what the heap keeps of what was freed. */
#define ALLOWANCE ((guint64)12 << 20)
#define FEW_SHAPES 10

typedef struct {
  const char *algorithm, *weighting, *pols, *after;
  guint size, stations, channels, dumps, interval;
  double accuracy, share; /* share: of what there would be with ample memory, beyond the least */
  gboolean per_channel, cumulative;
} Shape;

/* ---- running ---- */

typedef struct {
  char *path; /* of a file with all images */
  char *error;
  guint64 planned, least, most_rows;
} Made;

static void made_clear(Made *made)
{
  g_unlink(made->path);
  g_free(made->path);
  g_free(made->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

static void take_stats(GstElement *pipeline, Made *made)
{
  g_autoptr(GstElement) gridder = gst_bin_get_by_name(GST_BIN(pipeline), "gridder");
  GstStructure *stats;
  g_object_get(gridder, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, "planned-bytes", &made->planned));
  g_assert_true(gst_structure_get_uint64(stats, "least-bytes", &made->least));
  g_assert_true(gst_structure_get_uint64(stats, "most-rows", &made->most_rows));
  gst_structure_free(stats);
}

/* Images go to a file, so that they take no memory here. */
static Made make(const char *line)
{
  Made made = { 0 };
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  const char *folder = g_getenv("G_TEST_BUILDDIR"); /* TMPDIR may be no place */
  made.path = g_build_filename(folder ? folder : ".", "images-XXXXXX", NULL);
  close(g_mkstemp(made.path));
  g_object_set(sink, "location", made.path, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, NULL);
    made.error = g_strdup(error->message);
  }
  take_stats(pipeline, &made);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return made;
}

static char *line_of(const Shape *s, const char *memory)
{
  return g_strdup_printf(
      "astrovissrc array=vla-like stations=%u num-buffers=%u integration=%u channels=%u "
      "frequency=150e6 bandwidth=20e6 start-time=2026-11-20T12:00:00 phase-centre=130,34 loss=0.1 "
      "sky=\"0.001,0.002,3;-0.003,0.001,1\" noise=1 threads=2 ! astrogridder name=gridder "
      "backend=cpu threads=2 size=%u cell=20 pols=%s algorithm=%s weighting=%s accuracy=%g "
      "per-channel=%d interval=%u cumulative=%d max-memory=%s ! astrofft threads=2 backend=cpu "
      "! astroimage threads=2 backend=cpu %s ! filesink name=sink",
      s->stations, s->dumps, MIN(24000 / s->dumps, 200), s->channels, s->size, s->pols,
      s->algorithm, s->weighting, s->accuracy, s->per_channel, s->interval, s->cumulative, memory,
      s->after);
}

static Made make_within(const Shape *s, guint64 bytes)
{
  g_autofree char *memory = g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
  g_autofree char *line = line_of(s, memory);
  return make(line);
}

static double value_at(const char *data, gsize i, gboolean is_double)
{
  return is_double ? ((const double *)(gconstpointer)data)[i]
                   : (double)((const float *)(gconstpointer)data)[i];
}

/* The largest difference over the largest value; both are NaN or none is. */
static double apart(const Made *found, const Made *expected, gboolean is_double)
{
  g_autofree char *a = NULL, *b = NULL;
  gsize bytes, expected_bytes;
  double most = 0, largest = 0;
  g_assert_true(g_file_get_contents(found->path, &a, &bytes, NULL));
  g_assert_true(g_file_get_contents(expected->path, &b, &expected_bytes, NULL));
  g_assert_cmpuint(bytes, ==, expected_bytes);
  for (gsize i = 0; i < bytes / (is_double ? 8 : 4); i++) {
    const double x = value_at(a, i, is_double), y = value_at(b, i, is_double);
    g_assert_cmpint(isnan(x), ==, isnan(y));
    most = isnan(x) ? most : MAX(most, fabs(x - y));
    largest = isnan(y) ? largest : MAX(largest, fabs(y));
  }
  g_assert_cmpfloat(largest, >, 0);
  return most / largest;
}

static gboolean is_double(const Shape *s)
{
  return s->accuracy < 1e-5;
}

/* ---- shapes in the memory that is promised ---- */

static const char *pick(GRand *random, const char *const *of, gint n)
{
  return of[g_rand_int_range(random, 0, n)];
}

static Shape random_shape(guint number)
{
  static const char *const algorithms[] = { "wstacking", "wstacking", "wstacking", "wprojection" };
  static const char *const weightings[] = { "natural", "uniform", "briggs" };
  static const char *const pols[] = { "I", "XX,YY", "I,Q,U,V", "XY" };
  static const char *const after[] = { "", "", "psf=true", "! astroclean iterations=20",
                                       "! astroclean iterations=20 scales=0,4 auto-mask=5" };
  g_autoptr(GRand) random = g_rand_new_with_seed(4400 + number);
  Shape s = {
    .algorithm = pick(random, algorithms, G_N_ELEMENTS(algorithms)),
    .weighting = pick(random, weightings, G_N_ELEMENTS(weightings)),
    .pols = pick(random, pols, G_N_ELEMENTS(pols)),
    .after = pick(random, after, G_N_ELEMENTS(after)),
    .size = 2 * (guint)exp(g_rand_double_range(random, log(32), log(250))),
    .stations = (guint)g_rand_int_range(random, 12, 40),
    .channels = (guint)g_rand_int_range(random, 4, 24),
    .dumps = (guint)g_rand_int_range(random, 3, 24),
    .accuracy = pow(10, -g_rand_double_range(random, 2, 7)),
    .share = g_rand_boolean(random) ? 0 : g_rand_double(random),
  };
  if (g_rand_int_range(random, 0, 5) == 0) {
    s.per_channel = TRUE;
    s.channels = MIN(s.channels, 4);
  }
  if (g_rand_int_range(random, 0, 3) == 0) {
    s.interval = s.dumps / 3 + 1;
    s.cumulative = g_rand_boolean(random);
  }
  if (g_str_equal(s.algorithm, "wprojection")) {
    s.accuracy = MAX(s.accuracy, 1e-3);
    s.size = MAX(s.size, 200);
  }
  return s;
}

/* The heap gives back what is freed, and all threads use one. */
static void keep_heap_small(void)
{
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 64 << 10);
  mallopt(M_ARENA_MAX, 1);
}

static void limited(gconstpointer number)
{
  const Shape s = random_shape(GPOINTER_TO_UINT(number));
  struct rlimit before, limit;
  keep_heap_small();
  /* A first one, so that code is loaded and threads are there. */
  Shape small = s;
  small.size = 64;
  small.dumps = 3;
  small.interval = 0;
  small.algorithm = "wstacking";
  g_auto(Made) warm = make_within(&small, (guint64)1 << 40);
  g_assert_cmpstr(warm.error, ==, NULL);
  /* A refusal tells how much is needed. */
  g_auto(Made) refused = make_within(&s, 4096);
  const char *needs = strstr(refused.error, "need ");
  g_assert_nonnull(needs);
  const guint64 least = g_ascii_strtoull(needs + strlen("need "), NULL, 10);
  const guint64 budget = (guint64)((double)least * (1 + s.share));

  g_assert_cmpint(getrlimit(RLIMIT_AS, &before), ==, 0);
  limit = before;
  malloc_trim(0);
  const guint64 start = peak_status("VmSize:");
  limit.rlim_cur = start + budget + ALLOWANCE;
  g_autofree char *line = line_of(&s, "?");
  g_printerr("%s\nin %.1f MB\n", line, (double)budget * 1e-6);
  g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
  g_auto(Made) found = make_within(&s, budget);
  setrlimit(RLIMIT_AS, &before);
  g_assert_cmpstr(found.error, ==, NULL);
  g_printerr("%.1f MB were taken\n", (double)(peak_status("VmPeak:") - start) * 1e-6);
  g_assert_cmpuint(found.planned, <=, budget);
  g_assert_cmpuint(found.least, <=, budget);

  g_auto(Made) expected = make_within(&s, (guint64)1 << 40);
  const double error = apart(&found, &expected, is_double(&s));
  g_printerr("planned %.1f MB, least %.1f MB, ample %.1f MB, %" G_GUINT64_FORMAT
             " rows in memory, apart by %.1e\n",
             (double)found.planned * 1e-6, (double)found.least * 1e-6,
             (double)expected.planned * 1e-6, found.most_rows, error);
  g_assert_cmpfloat(error, <=, is_double(&s) ? 1e-12 : 1e-5);
}

static void in_process(gconstpointer number)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  g_test_skip("a sanitizer takes address space of its own");
#else
  g_autofree char *path = g_strdup_printf("/astrogridder-memory/shapes/%u/subprocess/limited",
                                          GPOINTER_TO_UINT(number));
  g_test_trap_subprocess(path, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
#endif
}

/* ---- without limits of the system ---- */

static const Shape plain = { .algorithm = "wstacking",
                             .weighting = "briggs",
                             .pols = "I",
                             .after = "psf=true",
                             .size = 64,
                             .stations = 27,
                             .channels = 16,
                             .dumps = 30,
                             .accuracy = 1e-4 };

/* The promise is for as many visibilities as the source has; the least keeps most of them in a
 * file, and the image is the same. */
static void test_promised(void)
{
  g_auto(Made) ample = make_within(&plain, (guint64)1 << 40);
  g_assert_cmpstr(ample.error, ==, NULL);
  g_assert_cmpuint(ample.least, <, ample.planned);
  g_assert_cmpuint(ample.planned, <, (guint64)1 << 30);
  g_assert_cmpuint(ample.most_rows, >=, 27 * 26 / 2 * 30);
  g_auto(Made) least = make_within(&plain, ample.least);
  g_assert_cmpstr(least.error, ==, NULL);
  g_assert_cmpuint(least.planned, <=, ample.least);
  g_assert_cmpuint(least.most_rows, <, 27 * 26 / 2 * 30);
  g_assert_cmpfloat(apart(&least, &ample, FALSE), <=, 1e-6);
}

static void test_too_little(void)
{
  g_auto(Made) refused = make_within(&plain, 1000000);
  g_assert_nonnull(
      strstr(refused.error, "bytes at least, and max-memory allows 1000000: expected"));
  g_autofree char *line = line_of(&plain, "much");
  g_auto(Made) text = make(line);
  g_assert_nonnull(strstr(text.error, "max-memory is \"much\", expected a fraction"));
}

/* Stages after the gridder have their part: CLEAN needs several images. */
static void test_downstream(void)
{
  Shape cleaned = plain;
  cleaned.after = "! astroclean iterations=20 wide-psf=false scales=0,4";
  cleaned.size = 512;
  Shape dirty = cleaned;
  dirty.after = "psf=true";
  g_auto(Made) less = make_within(&dirty, (guint64)1 << 40);
  g_auto(Made) more = make_within(&cleaned, (guint64)1 << 40);
  g_assert_cmpuint(more.least, >=, less.least + 10 * 512 * 512 * sizeof(float));
}

/* There is a file only if there is a place for it. */
static void test_no_place(void)
{
  if (g_test_subprocess()) {
    g_setenv("TMPDIR", "/nowhere", TRUE); /* GLib looks once */
    g_auto(Made) ample = make_within(&plain, (guint64)1 << 40);
    g_assert_cmpstr(ample.error, ==, NULL);
    g_auto(Made) refused = make_within(&plain, ample.least);
    g_assert_nonnull(strstr(refused.error, "do not fit into max-memory"));
    g_assert_nonnull(strstr(refused.error, "TMPDIR"));
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

/* The file is cut off in the middle. */
static void test_no_room(void)
{
  if (g_test_subprocess()) {
    g_auto(Made) ample = make_within(&plain, (guint64)1 << 40);
    struct rlimit limit;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    limit.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &limit), ==, 0);
    g_auto(Made) refused = make_within(&plain, ample.least);
    g_assert_nonnull(strstr(refused.error, "cannot write a temporary file in "));
    g_assert_nonnull(strstr(refused.error, "expected more room there"));
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void add_tests(void)
{
  const char *wanted = g_getenv("ASTRO_MEMORY_SHAPES");
  const guint n = wanted ? (guint)g_ascii_strtoull(wanted, NULL, 10) : FEW_SHAPES;
  g_test_add_func("/astrogridder-memory/promised", test_promised);
  g_test_add_func("/astrogridder-memory/refused", test_too_little);
  g_test_add_func("/astrogridder-memory/downstream", test_downstream);
  g_test_add_func("/astrogridder-memory/no-place", test_no_place);
  g_test_add_func("/astrogridder-memory/no-room", test_no_room);
  for (guint i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf("/astrogridder-memory/shapes/%u", i);
    g_autofree char *measured = g_strconcat(path, "/subprocess/limited", NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(i), in_process);
    g_test_add_data_func(measured, GUINT_TO_POINTER(i), limited);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
