/* Tables of gains: what is written is read back, and what is wrong is refused. */
#include "core/fits/gains/gains.h"
#include "core/lib/gains/caps.h"
#include "tests/tests.h"

#include <glib/gstdio.h>

static AstroGains *new_table(AstroGainsType type, guint intervals)
{
  g_autoptr(AstroObservation) observation = astro_observation_new(3);
  observation->start_mjd = 61000;
  observation->start_ns = 123456789;
  AstroGains *gains = astro_gains_new(observation, type, 2, 4);
  const gsize n = astro_gains_row(gains);
  g_autofree complex double *values = g_new(complex double, n);
  g_autofree float *snr = g_new(float, n);
  g_autofree double *delays = g_new(double, n);
  gains->low = 140e6;
  gains->high = 147e6;
  gains->step = 2e6;
  for (guint k = 0; k < intervals; k++) {
    for (gsize v = 0; v < n; v++) {
      values[v] = g_test_rand_double_range(-2, 2) + I * g_test_rand_double_range(-2, 2);
      snr[v] = v % 5 ? (float)g_test_rand_double_range(0, 100) : 0;
      delays[v] = g_test_rand_double_range(-1e-6, 1e-6);
    }
    astro_gains_add(gains, 10 * k, 10 * k + 10, values, snr, delays);
  }
  return gains;
}

static char *write_table(const AstroGains *gains)
{
  char *name = g_build_filename(g_get_tmp_dir(), "gains-XXXXXX", NULL);
  g_close(g_mkstemp(name), NULL);
  GError *error = NULL;
  AstroPartFile *file = astro_part_file_create(name, &error);
  g_assert_no_error(error);
  g_assert_true(astro_fits_gains_write(file, gains, &error));
  g_assert_true(astro_part_file_commit(file, &error));
  return name;
}

static void test_back(void)
{
  for (guint type = 0; type < ASTRO_N_GAINS_TYPES; type++) {
    g_autoptr(AstroGains) gains = new_table((AstroGainsType)type, 3);
    gains->is_constant = type == ASTRO_GAINS_BANDPASS;
    gains->to_jansky = type == ASTRO_GAINS_GAIN;
    g_autofree char *name = write_table(gains);
    g_assert_true(astro_fits_gains_is_fits(name));
    GError *error = NULL;
    g_autoptr(AstroGains) back = astro_fits_gains_read(name, &error);
    g_assert_no_error(error);
    g_autofree char *one = astro_gains_sum(gains), *other = astro_gains_sum(back);
    g_assert_cmpstr(one, ==, other);
    g_assert_cmpint(back->type, ==, gains->type);
    g_assert_cmpint(back->is_constant, ==, gains->is_constant);
    g_assert_cmpint(back->to_jansky, ==, gains->to_jansky);
    g_assert_cmpstr(back->basis, ==, gains->basis);
    g_assert_cmpuint(back->values, ==, gains->values);
    g_unlink(name);
  }
}

/* Replaces a text in the file by another of the same length. */
static void patch(const char *name, const char *from, const char *to)
{
  gsize bytes;
  g_autofree char *content = NULL;
  g_assert_true(g_file_get_contents(name, &content, &bytes, NULL));
  gsize at = 0; /* the first one may lie beyond a NUL */
  while (at + strlen(from) < bytes && memcmp(content + at, from, strlen(from)) != 0)
    at++;
  g_assert_cmpuint(at + strlen(from), <, bytes);
  memcpy(content + at, to, strlen(to));
  g_assert_true(g_file_set_contents(name, content, (gssize)bytes, NULL));
}

static void test_refused(void)
{
  static const struct {
    const char *from, *to, *says;
  } cases[] = {
    { "'GAINS   '", "'LOSSES  '", "no binary table GAINS" },
    { "'gain    '", "'loss    '", "GAINTYPE is \"loss\"" },
    { "NSTATION=                    3", "NSTATION=                    4", "not whole intervals" },
    { "NSTATION=                    3", "NSTATION=                    0", "NSTATION is missing" },
    { "NPOL    =                    2", "NPOL    =                    1", "column GAIN" },
    { "NPOL    =                    2", "NPOL    =                    3", "NPOL is missing" },
    { "NGROUP  =                    4", "NGROUP  =                    5", "NGROUP=5" },
    { "NGROUP  =                    4", "NGROUP  =  134000000000000000", "NGROUP is missing" },
    { "'SNR     '", "'SN      '", "column SNR" },
    { "A001", "B001", "row 4: expected station B001" },
    { "NAXIS2  =                    6", "NAXIS2  =                    0", "has no solutions" },
    { "NAXIS2  =                    6", "NAXIS2  =             99999999", "cut short" },
  };
  g_autoptr(AstroGains) gains = new_table(ASTRO_GAINS_GAIN, 2);
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    g_autofree char *name = write_table(gains);
    g_autoptr(GError) error = NULL;
    patch(name, cases[k].from, cases[k].to);
    g_assert_null(astro_fits_gains_read(name, &error));
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, cases[k].says));
    g_assert_true(g_str_has_prefix(error->message, name));
    g_unlink(name);
  }
}

/* Numbers that would make corrected data NaN. */
static void test_bad_numbers(void)
{
  for (guint k = 0; k < 5; k++) {
    g_autoptr(AstroGains) gains = new_table(ASTRO_GAINS_GAIN, 2);
    if (k == 4)
      g_array_index(gains->gains, complex double, 9) = 1e200; /* its square is infinite */
    if (k == 0)
      g_array_index(gains->gains, complex double, 7) = NAN;
    if (k == 1)
      g_array_index(gains->snr, float, 30) = -1;
    if (k == 2)
      g_array_index(gains->delays, double, 3) = 1e9;
    if (k == 3)
      g_array_index(gains->intervals, AstroGainsInterval, 1).begin = 5;
    g_autofree char *name = write_table(gains);
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_fits_gains_read(name, &error));
    g_assert_nonnull(
        strstr(error->message, k == 3 ? "expected intervals that rise" : "out of range"));
    g_unlink(name);
  }
  g_assert_false(astro_fits_gains_is_fits("/nonexistent"));
}

/* As a stream: each interval is a buffer with its time, and flagged gains have a count of 0. */
static void test_stream(void)
{
  static const struct {
    const char *products;
    guint elements;
  } kinds[ASTRO_N_GAINS_TYPES] = {
    [ASTRO_GAINS_PHASE] = { "X:Y", 2 },        [ASTRO_GAINS_GAIN] = { "X:Y", 2 },
    [ASTRO_GAINS_FULL] = { "XX:XY:YX:YY", 4 }, [ASTRO_GAINS_DELAY] = { "X:Y:X-DELAY:Y-DELAY", 4 },
    [ASTRO_GAINS_BANDPASS] = { "X:Y", 2 },
  };
  for (guint type = 0; type < ASTRO_N_GAINS_TYPES; type++) {
    g_autoptr(AstroGains) gains = new_table((AstroGainsType)type, 3);
    const guint elements = kinds[type].elements, n = 3 * 4 * elements;
    g_array_index(gains->intervals, AstroGainsInterval, 2) = (AstroGainsInterval){ 25, 27 };
    g_autofree char *name = write_table(gains);
    GError *error = NULL;
    g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(name, NULL, &error);
    g_assert_no_error(error);
    const AstroFitsContents *contents = astro_fits_reader_contents(reader);
    const GstStructure *s = gst_caps_get_structure(contents->caps, 0);
    g_assert_cmpstr(gst_structure_get_string(s, "products"), ==, kinds[type].products);
    g_assert_cmpuint(contents->duration_ns, ==, 27 * GST_SECOND);
    g_assert_cmpstr(contents->observation->names[1], ==, gains->names[1]);
    g_assert_cmpfloat(contents->stream.bandwidth, ==, 8e6);
    g_assert_cmpfloat(contents->stream.frequency, ==, 144e6);
    for (guint t = 0; t < 3; t++) {
      g_autofree complex double *data = g_new(complex double, n);
      g_autoptr(GstBuffer) buffer = gst_buffer_new();
      AstroFitsFrame frame = { .data = data, .buffer = buffer };
      gboolean end;
      guint64 steps;
      g_assert_true(astro_fits_reader_next(reader, &steps, &end, &error));
      g_assert_true(astro_fits_reader_read(reader, &frame, &end, &error));
      g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, (t < 2 ? 10 * t : 25) * GST_SECOND);
      g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, (t < 2 ? 10 : 2) * GST_SECOND);
      const guint32 *counts = astro_buffer_get_validity(buffer)->counts;
      for (guint k = 0; k < n; k++) {
        const guint at = t * (guint)astro_gains_row(gains) + k / elements * gains->values +
                         k % elements % gains->values;
        const gboolean good = g_array_index(gains->snr, float, at) > 0;
        const complex double expected = !good ? 0
                                        : k % elements < gains->values
                                            ? g_array_index(gains->gains, complex double, at)
                                            : g_array_index(gains->delays, double, at);
        g_assert_cmpuint(counts[k], ==, good);
        g_assert_true(data[k] == expected);
      }
    }
    gboolean end;
    guint64 steps;
    g_assert_false(astro_fits_reader_next(reader, &steps, &end, &error));
    g_assert_true(end);
    g_unlink(name);
  }
}

/* Tables that are no stream, and streams that are wanted otherwise. */
static void test_no_stream(void)
{
  g_autoptr(AstroGains) gains = new_table(ASTRO_GAINS_GAIN, 2);
  const AstroFitsOptions options = { .wanted = gst_caps_new_empty_simple(
                                         "application/x-astro-catalogue") };
  for (guint k = 0; k < 3; k++) {
    if (k == 1)
      g_array_index(gains->intervals, AstroGainsInterval, 0).begin = -1;
    if (k == 2) {
      g_array_index(gains->intervals, AstroGainsInterval, 0).begin = 0;
      g_free(gains->basis);
      gains->basis = g_strdup("triangular");
    }
    g_autofree char *name = write_table(gains);
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_fits_reader_open(name, k ? NULL : &options, &error));
    test_says(error->message, k == 0   ? "found a table of gains, expected a catalogue"
                              : k == 1 ? "expected times from 0"
                                       : "in the basis \"triangular\"");
    g_assert_true(g_str_has_prefix(error->message, name));
    g_unlink(name);
  }
  gst_caps_unref(options.wanted);
}

static void add_tests(void)
{
  g_test_add_func("/fits-gains/back", test_back);
  g_test_add_func("/fits-gains/refused", test_refused);
  g_test_add_func("/fits-gains/bad-numbers", test_bad_numbers);
  g_test_add_func("/fits-gains/stream", test_stream);
  g_test_add_func("/fits-gains/no-stream", test_no_stream);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
