/* Writes folded profiles as PSRFITS in fold mode, and looks at the file with CFITSIO: numbers with
 * their scales, weights, times and headers. */
#include "core/fits/fits.h"
#include "core/stream/profile.h"
#include "tests/core/fits/fits-key.h"
#include "tests/core/fits/place.h"

#include <math.h>
#include <string.h>

#define BINS 8
#define CHANNELS 3
#define ROWS 4

typedef struct {
  const char *products;
  guint pols, beams; /* beams: 0: no such axis */
  double dm;
  gboolean has_counts;
} Kind;

/* In the file's order. */
typedef struct {
  float data[4][CHANNELS][BINS], scales[4][CHANNELS], offsets[4][CHANNELS], weights[CHANNELS];
  double length, middle, period, frequencies[CHANNELS];
} Row;

static void describe(AstroFitsContents *contents, const Kind *kind)
{
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-profile,format=F32LE,layout=%schannel:pol:phase,channels=%u,pols=%u,"
      "bins=%u,products=(string)%s,period=(double)0.0893,dm=(double)%g,rate=1/10,frequency=1.4e9,"
      "bandwidth=3e8%s%s",
      kind->beams ? "beam:" : "", CHANNELS, kind->pols, BINS, kind->products, kind->dm,
      kind->beams ? ",beams=1" : "", kind->has_counts ? ",counts=true" : "");
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  g_autoptr(GError) error = NULL;
  astro_fits_contents_from_caps(contents, caps, &error);
  g_assert_no_error(error);
  contents->observation = astro_observation_new(0);
  contents->observation->has_start = TRUE;
  contents->observation->start_mjd = 60000;
  contents->observation->start_ns = 43200 * (guint64)GST_SECOND;
}

static float value_of(guint row, guint channel, guint p, guint bin)
{
  return (float)(100.0 * row + 10.0 * channel + p + sin(bin + channel) * (1 + p));
}

/* A buffer is channel:pol:phase. */
static void fill(const Kind *kind, guint row, float *values)
{
  for (guint c = 0; c < CHANNELS; c++)
    for (guint p = 0; p < kind->pols; p++)
      for (guint b = 0; b < BINS; b++)
        *values++ = value_of(row, c, p, b);
}

static void write_rows(const Kind *kind, const char *path, void (*change)(GstBuffer *, float *),
                       AstroFitsTally *tally)
{
  g_autoptr(GError) error = NULL;
  AstroFitsContents contents = { 0 };
  describe(&contents, kind);
  const AstroFitsWriterKind *how = astro_fits_writer_kind(ASTRO_QUANTITY_PROFILE, path, NULL);
  g_assert_cmpstr(how->name, ==, "PSRFITS in fold mode");
  AstroPartFile *file = astro_part_file_create(path, &error);
  gpointer writer = how->create(file, &contents, &error);
  g_assert_no_error(error);
  for (guint row = 0; row < ROWS; row++) {
    g_autofree float *values = g_new(float, CHANNELS * kind->pols * BINS);
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    fill(kind, row, values);
    if (change && row == 1)
      change(buffer, values);
    const AstroFitsFrames frames = { .data = values,
                                     .frames = 1,
                                     .first = row,
                                     .start_ns = (gint64)(row + (row == 3)) * 10 * GST_SECOND,
                                     .duration_ns = (row == 3 ? 4 : 10) * (gint64)GST_SECOND,
                                     .buffer = buffer,
                                     .validity = astro_buffer_get_validity(buffer) };
    g_assert_true(how->write(writer, &frames, tally, &error));
  }
  g_assert_true(how->finish(writer, tally, &error));
  how->destroy(writer);
  g_assert_true(astro_part_file_commit(file, &error));
  g_assert_no_error(error);
  astro_fits_contents_clear(&contents);
}

static void read_cells(fitsfile *f, const char *name, int type, guint row, gint64 n, gpointer to)
{
  int status = 0, column = 0;
  fits_get_colnum(f, CASEINSEN, (char *)name, &column, &status);
  fits_read_col(f, type, column, row + 1, 1, n, NULL, to, NULL, &status);
  g_assert_cmpint(status, ==, 0);
}

static void read_row(fitsfile *f, guint row, guint pols, Row *found)
{
  const gint64 series = pols * CHANNELS;
  read_cells(f, "DATA", TFLOAT, row, series * BINS, found->data);
  read_cells(f, "DAT_SCL", TFLOAT, row, series, found->scales);
  read_cells(f, "DAT_OFFS", TFLOAT, row, series, found->offsets);
  read_cells(f, "DAT_WTS", TFLOAT, row, CHANNELS, found->weights);
  read_cells(f, "DAT_FREQ", TDOUBLE, row, CHANNELS, found->frequencies);
  read_cells(f, "TSUBINT", TDOUBLE, row, 1, &found->length);
  read_cells(f, "OFFS_SUB", TDOUBLE, row, 1, &found->middle);
  read_cells(f, "PERIOD", TDOUBLE, row, 1, &found->period);
}

static fitsfile *open_table(const char *path, const char *name)
{
  fitsfile *f;
  int status = 0;
  fits_open_diskfile(&f, path, READONLY, &status);
  if (name)
    fits_movnam_hdu(f, BINARY_TBL, (char *)name, 0, &status);
  g_assert_cmpint(status, ==, 0);
  return f;
}

static void close_table(fitsfile *f)
{
  int status = 0;
  fits_close_file(f, &status);
}

/* order, signs: of the file's polarisations those of the stream. */
static void check_values(const Row *found, guint row, guint pols, const guint *order,
                         const float *signs)
{
  for (guint p = 0; p < pols; p++)
    for (guint c = 0; c < CHANNELS; c++)
      for (guint b = 0; b < BINS; b++) {
        const double value =
            (double)found->data[p][c][b] * found->scales[p][c] + found->offsets[p][c];
        const double wanted = signs[p] * value_of(row, c, order[p], b);
        /* The range is at most 2 (1 + p). */
        g_assert_cmpfloat(fabs(value - wanted), <=,
                          2.0 * (1 + order[p]) / 65534 + 3e-7 * fabs(wanted));
      }
}

static void check_file(const char *path, const Kind *kind, const char *type, const guint *order,
                       const float *signs)
{
  static const double middles[] = { 5, 15, 25, 42 };
  fitsfile *f = open_table(path, "SUBINT");
  test_key_text(f, "POL_TYPE", type);
  g_assert_cmpfloat(test_key_number(f, "NAXIS2"), ==, ROWS);
  g_assert_cmpfloat(test_key_number(f, "NBIN"), ==, BINS);
  g_assert_cmpfloat(test_key_number(f, "DM"), ==, kind->dm);
  g_assert_cmpfloat(fabs(test_key_number(f, "TBIN") - 0.0893 / BINS), <, 1e-15);
  for (guint row = 0; row < ROWS; row++) {
    Row found;
    memset(&found, 0, sizeof found);
    read_row(f, row, kind->pols, &found);
    check_values(&found, row, kind->pols, order, signs);
    g_assert_cmpfloat(found.length, ==, row == 3 ? 4 : 10);
    g_assert_cmpfloat(found.middle, ==, middles[row]);
    g_assert_cmpfloat(found.period, ==, 0.0893);
    g_assert_cmpfloat(fabs(found.frequencies[0] - 1300), <, 1e-9);
    g_assert_cmpfloat(found.weights[0], ==, BINS);
  }
  close_table(f);
  f = open_table(path, "HISTORY");
  gint64 dedispersed = -1, rows = -1;
  read_cells(f, "DEDISP", TLONGLONG, 0, 1, &dedispersed);
  read_cells(f, "NSUB", TLONGLONG, 0, 1, &rows);
  g_assert_cmpint(dedispersed, ==, kind->dm > 0);
  g_assert_cmpint(rows, ==, ROWS);
  close_table(f);
  f = open_table(path, NULL);
  test_key_text(f, "OBS_MODE", "PSR");
  g_assert_cmpfloat(test_key_number(f, "STT_SMJD"), ==, 43200);
  close_table(f);
}

static void profiles(TestPlace *place, gconstpointer data)
{
  static const struct {
    Kind kind;
    const char *type;
    guint order[4];
    float signs[4];
  } cases[] = {
    { { "I", 1, 0, 71.02 }, "AA+BB", { 0 }, { 1 } },
    { { "I", 1, 1, 0 }, "AA+BB", { 0 }, { 1 } },
    { { "YY:XX", 2, 0, 0 }, "AABB", { 1, 0 }, { 1, 1 } },
    { { "I:Q:U:V", 4, 0, 3 }, "IQUV", { 0, 1, 2, 3 }, { 1, 1, 1, -1 } },
    { { "XX:YY:XY-RE:XY-IM", 4, 0, 3 }, "AABBCRCI", { 0, 1, 2, 3 }, { 1, 1, 1, -1 } },
  };
  g_autofree char *path = g_strconcat(place->path, ".rf", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroFitsTally tally = { 0 };
    write_rows(&cases[i].kind, path, NULL, &tally);
    check_file(path, &cases[i].kind, cases[i].type, cases[i].order, cases[i].signs);
    g_assert_cmpuint(tally.values, ==, (guint64)ROWS * cases[i].kind.pols * CHANNELS * BINS);
    g_assert_cmpuint(tally.filled + tally.flagged + tally.dropped, ==, 0);
    g_unlink(path);
  }
}

/* In row 1 channel 0 is lost; channel 1 has an empty bin; channel 2 has counts by bin, and a NaN
 * in XX. */
static void lose(GstBuffer *buffer, float *values)
{
  const AstroLayout shape = { 2, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_PHASE }, { CHANNELS, BINS } };
  AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &shape, 100);
  for (guint b = 0; b < BINS; b++) {
    validity->counts[b] = 0;
    validity->counts[BINS + b] = b == 2 ? 0 : 100;
    validity->counts[2 * BINS + b] = 10 + b;
  }
  values[(2 * 2 + 0) * BINS + 5] = NAN;
}

static void losses(TestPlace *place, gconstpointer data)
{
  static const Kind kind = { "XX:YY", 2, 0, 0, TRUE };
  AstroFitsTally tally = { 0 };
  Row found;
  g_autofree char *path = g_strconcat(place->path, ".rf", NULL);
  write_rows(&kind, path, lose, &tally);
  g_assert_cmpuint(tally.flagged, ==, 2 * BINS);
  g_assert_cmpuint(tally.filled, ==, 2 + 1);
  g_assert_cmpuint(tally.not_finite, ==, 1);
  g_assert_cmpuint(tally.dropped, ==, 0);
  fitsfile *f = open_table(path, "SUBINT");
  read_row(f, 1, 2, &found);
  close_table(f);
  g_assert_cmpfloat(found.weights[0], ==, 0);
  g_assert_cmpfloat(found.weights[1], ==, 700);
  g_assert_cmpfloat(found.weights[2], ==, 8 * 10 + 28 - 15); /* XX's, without its NaN */
  double mean = 0;
  for (guint b = 0; b < BINS; b++)
    mean += b == 2 ? 0 : value_of(1, 1, 1, b) / 7;
  g_assert_cmpfloat(
      fabs((double)found.data[1][1][2] * found.scales[1][1] + found.offsets[1][1] - mean), <, 1e-3);
  g_unlink(path);
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = { { "profiles", profiles }, { "losses", losses } };
  test_add_places("/psrfits-fold/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
