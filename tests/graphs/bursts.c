/* Graphs search and transient find the burst that was put in: when, at which dispersion measure,
 * for how long; and the voltages around it are kept, sample by sample. */
#include "core/lib/sky/dispersion.h"
#include "tests/graphs/program.h"
#include "tests/tests.h"

#include <math.h>

typedef struct {
  char *time;
  double seconds, dm, width, snr, dm_low, dm_high;
} Row;

static void clear_row(gpointer data)
{
  g_free(((Row *)data)->time);
}

static double number(char **fields, guint i)
{
  return g_ascii_strtod(fields[i], NULL);
}

static GArray *read_table(const char *name)
{
  g_autofree char *path = in_folder(name), *text = NULL;
  GArray *rows = g_array_new(FALSE, FALSE, sizeof(Row));
  g_array_set_clear_func(rows, clear_row);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_test_message("%s", text);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (guint i = 1; lines[i] && lines[i][0]; i++) {
    g_auto(GStrv) fields = g_strsplit(lines[i], ",", -1);
    g_assert_cmpuint(g_strv_length(fields), ==, 11);
    const Row row = { g_strdup(fields[0]), number(fields, 1), number(fields, 3), number(fields, 4),
                      number(fields, 6),   number(fields, 9), number(fields, 10) };
    g_array_append_val(rows, row);
  }
  return rows;
}

/* A burst of that time in the middle of the band, 150 MHz, is found when it was in the highest of
 * 64 channels of 1 MHz, two steps of 1.024 ms off at most. */
static const Row *assert_burst(const GArray *rows, double time, double dm, double snr)
{
  const double top = 150e6 + 1e6 * (0.5 - 1.0 / 64);
  const double expected = time + astro_dispersion_delay(dm, 150e6, top);
  const Row *found = NULL;
  for (guint i = 0; i < rows->len && !found; i++) {
    const Row *row = &g_array_index(rows, Row, i);
    if (fabs(row->seconds - expected) < 0.0021 && fabs(row->dm - dm) <= 1)
      found = row;
  }
  g_assert_nonnull(found);
  g_assert_cmpfloat(found->width, >, 0.0015);
  g_assert_cmpfloat(found->width, <, 0.0085);
  g_assert_cmpfloat_with_epsilon(found->snr, snr, 0.25 * snr);
  g_assert_cmpfloat(found->dm_low, >, 20);
  g_assert_cmpfloat(found->dm_high, <, 60);
  return found;
}

/* The burst is found beside a transmitter that is as strong, which has no dispersion. 0.01 Jy s in
 * 4 ms, widened to 4.2 ms by steps and channels, are 1.8 Jy in 4 steps, whose noise is 0.11 Jy. */
static void test_search(void)
{
  g_auto(Result) result = run("run search output=found.csv picture=found.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_autoptr(GArray) rows = read_table("found.csv");
  const Row *burst = assert_burst(rows, 1.5, 40, 16.6);
  g_assert_true(g_str_has_prefix(burst->time, "2026-11-20T12:00:01.45"));
  for (guint i = 0; i < rows->len; i++)
    if (&g_array_index(rows, Row, i) != burst)
      g_assert_cmpfloat(g_array_index(rows, Row, i).dm_low, <, 2); /* the transmitter */
  g_assert_nonnull(strstr(result.err, "candidate: "));
  g_assert_cmpint(file_size("found.png"), >, 1000);
}

/* A filterbank of power has the same burst, though its file does not know about the filter bank. */
static void test_detected(void)
{
  write_file("power.graph",
             "astroskysrc stations=1 burst=0,0,0.01,time=1.5,width=0.004,dm=40 noise=10 "
             "start-time=2026-11-20T12:00:00 duration=3 bandwidth=1e6 frequency=150e6 ! "
             "application/x-astro-voltages,format=CF32LE ! astrochannelizer channels=64 ! "
             "astropower integration-time=0.001 ! "
             "astrorecordsink format=sigproc location=power.fil",
             -1);
  g_auto(Result) written = run("run --quiet ./power.graph");
  g_assert_cmpint(written.status, ==, 0);
  g_auto(Result) result =
      run("run search input=power.fil detected=yes output=power.csv picture=power.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_autoptr(GArray) rows = read_table("power.csv");
  g_assert_cmpuint(rows->len, ==, 1);
  const Row *burst = &g_array_index(rows, Row, 0);
  g_assert_cmpfloat(fabs(burst->dm - 40), <=, 1);
  g_assert_true(g_str_has_prefix(burst->time, "2026-11-20T12:00:01.45"));
}

/* Without a burst there is no candidate. */
static void test_quiet(void)
{
  g_auto(Result) result =
      run("run search burst= rfi= duration=1.5 output=none.csv picture=none.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_autoptr(GArray) rows = read_table("none.csv");
  g_assert_cmpuint(rows->len, ==, 0);
}

/* A tenth of all packets is lost: the burst is as high above its noise but for what it lost itself,
 * and what is missing is no candidate. */
static void test_losses(void)
{
  write_file("lossy.graph",
             "astroskysrc stations=1 burst=0,0,0.01,time=1.5,width=0.004,dm=40 noise=10 "
             "start-time=2026-11-20T12:00:00 duration=3 bandwidth=1e6 frequency=150e6 ! "
             "application/x-astro-voltages,format=CI8 ! "
             "astropay packet=vdif packet-steps=1000 loss=0.1 seed=3 ! "
             "astrodepay packet=vdif pols=2 rate=1e6 frequency=150e6 bandwidth=1e6 ! "
             "astrofitssink location=lossy.fits",
             -1);
  g_auto(Result) written = run("run --quiet ./lossy.graph");
  g_assert_cmpint(written.status, ==, 0);
  g_auto(Result) result = run("run search input=lossy.fits output=lossy.csv picture=lossy.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_autoptr(GArray) rows = read_table("lossy.csv");
  assert_burst(rows, 1.5, 40, 16.6 * sqrt(0.9));
  g_assert_cmpuint(rows->len, ==, 1);
}

static GBytes *raw(const char *source)
{
  g_autofree char *line = g_strdup_printf("%s ! filesink location=raw.bytes\n", source),
                  *path = in_folder("raw.bytes");
  char *bytes;
  gsize n;
  write_file("raw.graph", line, -1);
  g_auto(Result) result = run("run --quiet ./raw.graph");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  return g_bytes_new_take(bytes, n);
}

/* The dump has the samples that were there, bit for bit, from before the burst until it has crossed
 * the band. */
static void test_transient(void)
{
  enum { RATE = 524288, STEP = 3 * 2 * 2 };
  write_file("voltages.graph",
             "astroskysrc stations=3 burst=0,0,0.01,time=1.2,width=0.004,dm=40 noise=10 "
             "start-time=2026-11-20T12:00:00 duration=2 bandwidth=524288 frequency=150e6 "
             "block-steps=16384 ! application/x-astro-voltages,format=CI8 ! "
             "astrofitssink location=all.fits",
             -1);
  g_auto(Result) written = run("run --quiet ./voltages.graph");
  g_assert_cmpint(written.status, ==, 0);
  g_auto(Result) result =
      run("run transient input=all.fits before=0.05 after=0.15 output=dump.vdif "
          "table=dump.csv picture=dump.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_autoptr(GArray) rows = read_table("dump.csv");
  g_assert_cmpuint(rows->len, ==, 1);
  const Row *burst = &g_array_index(rows, Row, 0);
  g_assert_cmpfloat_with_epsilon(burst->dm, 40, 1);
  const char *dump = strstr(result.out, "dump.vdif: format vdif, start 2026-11-20T12:00:0");
  g_assert_nonnull(dump);
  const double start = g_ascii_strtod(strstr(dump, "12:00:0") + strlen("12:00:"), NULL);
  g_assert_cmpfloat(start, <=, burst->seconds - 0.05);
  g_assert_nonnull(strstr(dump, "lost 0"));
  g_autoptr(GBytes) kept = raw("astrorecordsrc location=dump.vdif rate=524288"),
                    all = raw("astrofitssrc location=all.fits");
  const gsize from = (gsize)llround(start * RATE) * STEP, n = g_bytes_get_size(kept);
  g_assert_cmpfloat(start + (double)n / STEP / RATE, >=, burst->seconds + 0.15);
  g_assert_cmpuint(from + n, <=, g_bytes_get_size(all));
  g_assert_cmpmem(g_bytes_get_data(kept, NULL), n,
                  (const guint8 *)g_bytes_get_data(all, NULL) + from, n);
}

static void add_tests(void)
{
  g_test_add_func("/graphs-bursts/search", test_search);
  g_test_add_func("/graphs-bursts/detected", test_detected);
  g_test_add_func("/graphs-bursts/quiet", test_quiet);
  g_test_add_func("/graphs-bursts/losses", test_losses);
  g_test_add_func("/graphs-bursts/transient", test_transient);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  return test_program(argc, argv, add_tests);
}
