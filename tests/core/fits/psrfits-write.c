/* Writes power as PSRFITS in search mode: what comes back, what stands in the file, how losses are
 * weighed, the error of 8 bits, and what is refused. */
#include "core/stream/power.h"
#include "tests/core/fits/fits-key.h"
#include "tests/core/fits/place.h"
#include "core/fits/fits.h"

#include <math.h>
#include <string.h>

#define CHANNELS 32768 /* with two polarisations a row has four steps of a MiB */
#define ROW 4
#define RATE 1000

typedef struct {
  const char *layout, *products;
  guint channels, bits;
  gboolean has_counts;
} Kind;

/* ---- writing ---- */

static guint n_pols(const char *products)
{
  guint n = 1;
  for (const char *c = products; *c; c++)
    n += *c == ':';
  return n;
}

static GstCaps *caps_of(const Kind *kind)
{
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-power,format=F32LE,layout=%s,channels=%u,pols=%u,products=(string)%s,"
      "beams=1,rate=%u/1,frequency=1.5e8,bandwidth=1e6%s",
      kind->layout, kind->channels, n_pols(kind->products), kind->products, RATE,
      kind->has_counts ? ",counts=true" : "");
  GstCaps *caps = gst_caps_from_string(text);
  if (!strstr(kind->layout, "beam"))
    gst_structure_remove_field(gst_caps_get_structure(caps, 0), "beams");
  return caps;
}

static void describe(AstroFitsContents *contents, const GstCaps *caps, guint bits)
{
  g_assert_true(astro_fits_contents_from_caps(contents, caps, NULL));
  AstroObservation *o = astro_observation_new(2);
  for (guint k = 0; k < 6; k++)
    o->positions[k] = 1e6 * (1 + k % 3) + k;
  o->has_phase_centre = o->has_start = TRUE;
  o->phase_ra = 359.999999999 / 180 * G_PI;
  o->phase_dec = -0.5 / 180 * G_PI;
  o->start_mjd = 61364;
  o->start_ns = 86399999999000;
  const double dm = 12.5;
  g_assert_true(astro_observation_set_dms(o, &dm, 1, 1.503e8, NULL));
  contents->observation = o;
  contents->bits = bits;
}

typedef struct {
  AstroPartFile *file;
  const AstroFitsWriterKind *kind;
  gpointer writer;
  AstroFitsContents contents;
  AstroFitsTally tally;
} Output;

static void begin(Output *output, const Kind *kind, const char *path)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstCaps) caps = caps_of(kind);
  memset(output, 0, sizeof *output);
  describe(&output->contents, caps, kind->bits);
  output->kind = astro_fits_writer_kind(ASTRO_QUANTITY_POWER, path, NULL);
  output->file = astro_part_file_create(path, &error);
  g_assert_no_error(error);
  output->writer = output->kind->create(output->file, &output->contents, &error);
  g_assert_no_error(error);
}

/* counts: of each step and channel, NULL: none. */
static void send(Output *output, const float *values, guint64 first, guint64 steps,
                 const guint32 *counts, guint32 full)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  AstroFitsFrames frames = { .data = values, .frames = steps, .first = first, .buffer = buffer };
  if (counts) {
    const guint channels = (guint)astro_stream_extent(&output->contents.stream, ASTRO_AXIS_CHANNEL);
    const AstroLayout shape = { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL }, { steps, channels } };
    AstroValidityMeta *validity = astro_buffer_add_validity(buffer, &shape, full);
    memcpy(validity->counts, counts, steps * channels * sizeof *counts);
    frames.validity = validity;
  }
  g_assert_true(output->kind->write(output->writer, &frames, &output->tally, &error));
  g_assert_no_error(error);
}

static void end(Output *output)
{
  g_autoptr(GError) error = NULL;
  g_assert_true(output->kind->finish(output->writer, &output->tally, &error));
  g_assert_no_error(error);
  output->kind->destroy(output->writer);
  g_assert_true(astro_part_file_commit(output->file, &error));
  g_assert_no_error(error);
  astro_fits_contents_clear(&output->contents);
}

/* ---- reading back ---- */

typedef struct {
  GArray *values, *counts; /* float, guint32 */
  GArray *steps;           /* guint64: of each step of the stream its number */
  guint32 full;
  char *note;
  AstroObservation *observation;
  AstroStream stream;
} Back;

static void back_clear(Back *back)
{
  g_array_unref(back->values);
  g_array_unref(back->counts);
  g_array_unref(back->steps);
  g_free(back->note);
  astro_observation_unref(back->observation);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Back, back_clear)

static Back read_back(const char *path)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, NULL, &error);
  g_assert_no_error(error);
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  Back back = { g_array_new(FALSE, FALSE, sizeof(float)),
                g_array_new(FALSE, FALSE, sizeof(guint32)),
                g_array_new(FALSE, FALSE, sizeof(guint64)) };
  gboolean is_end;
  guint64 steps;
  back.note = g_strdup(contents->note);
  back.observation = astro_observation_copy(contents->observation);
  back.stream = contents->stream;
  while (astro_fits_reader_next(reader, &steps, &is_end, NULL)) {
    const gsize bytes = steps * astro_stream_step_bytes(&contents->stream);
    g_autofree float *values = g_malloc(bytes);
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    AstroFitsFrame frame = { .data = values, .buffer = buffer };
    g_assert_true(astro_fits_reader_read(reader, &frame, &is_end, &error));
    g_array_append_vals(back.values, values, (guint)(bytes / sizeof *values));
    for (guint64 s = GST_BUFFER_OFFSET(buffer); s < GST_BUFFER_OFFSET_END(buffer); s++)
      g_array_append_val(back.steps, s);
    const AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
    if (validity) {
      back.full = validity->full;
      g_array_append_vals(back.counts, validity->counts, (guint)astro_validity_n_counts(validity));
    }
  }
  g_assert_true(is_end);
  return back;
}

static float *make(guint64 n, guint seed)
{
  float *values = g_new(float, n);
  for (guint64 i = 0; i < n; i++)
    values[i] = (float)((i * 2654435761u + seed) % 100003) / 7 - 500;
  return values;
}

/* ---- tests ---- */

/* The value of a step, product and channel in a stream of that layout. */
static float value_in(const Kind *kind, const float *values, guint64 steps, guint64 step, guint p,
                      guint c)
{
  const guint pols = n_pols(kind->products);
  if (g_str_has_prefix(kind->layout, "channel"))
    return values[(c * steps + step) * pols + p];
  if (g_str_has_suffix(kind->layout, "pol"))
    return values[(step * kind->channels + c) * pols + p];
  return values[(step * pols + p) * kind->channels + c];
}

/* Blocks of any size and layout come back as they were, in their order of products. */
static void check_exact(TestPlace *place, const Kind *kind, const char *products,
                        const guint *order)
{
  Output output;
  const guint64 lengths[] = { 1, 7, 2, 11 };
  const guint pols = n_pols(kind->products);
  g_autofree char *path = g_strconcat(place->path, ".sf", NULL);
  begin(&output, kind, path);
  g_autoptr(GArray) wanted = g_array_new(FALSE, FALSE, sizeof(float));
  for (guint i = 0, first = 30; i < G_N_ELEMENTS(lengths); first += lengths[i], i++) {
    g_autofree float *values = make(lengths[i] * pols * kind->channels, i);
    send(&output, values, first, lengths[i], NULL, 0);
    for (guint64 step = 0; step < lengths[i]; step++)
      for (guint p = 0; p < pols; p++)
        for (guint c = 0; c < kind->channels; c++) {
          const float value = value_in(kind, values, lengths[i], step, order[p], c);
          g_array_append_val(wanted, value);
        }
  }
  end(&output);
  g_auto(Back) back = read_back(path);
  g_assert_cmpstr(back.note, ==, NULL);
  g_assert_cmpmem(back.values->data, back.values->len * sizeof(float), wanted->data,
                  wanted->len * sizeof(float));
  g_assert_false(back.stream.has_counts);
  g_assert_cmpuint(output.tally.partial, ==, 0);
  g_assert_cmpuint(output.tally.filled, ==, 0);
  g_assert_cmpuint(output.tally.values, ==, wanted->len);
  g_assert_cmpuint(g_array_index(back.steps, guint64, 0), ==, 0);
  g_assert_cmpuint(back.steps->len, ==, 21);
  /* 30 steps of 1 ms behind the start, which is 1 us before midnight. */
  g_assert_cmpint(back.observation->start_mjd, ==, 61365);
  g_assert_cmpuint(back.observation->start_ns, ==, 29999000);
  g_assert_cmpfloat(back.observation->phase_ra, ==, 0);
  g_assert_cmpuint(back.observation->n_dms, ==, 1);
  g_assert_cmpfloat(back.observation->dms[0], ==, 12.5);
  g_assert_cmpfloat(back.observation->dm_frequency, ==, 1.503e8);
  g_assert_cmpfloat(fabs(back.observation->phase_dec * 180 / G_PI + 0.5), <, 1e-8);
  g_assert_cmpfloat(fabs(back.observation->positions[1] - 2e6 - 2.5), <, 1e-6);
  g_assert_cmpfloat(fabs(back.stream.frequency - 1.5e8), <, 1e-3);
  g_assert_cmpfloat(fabs(back.stream.bandwidth - 1e6), <, 1e-3);
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, NULL, NULL);
  g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(astro_fits_reader_contents(reader));
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "products"), ==,
                  products);
  g_unlink(path);
}

static void exact(TestPlace *place, gconstpointer data)
{
  static const struct {
    Kind kind;
    const char *products; /* that come back */
    guint order[4];       /* of those the places in the stream */
  } cases[] = {
    { { "time:pol:channel", "I", 5 }, "I", { 0 } },
    { { "time:beam:pol:channel", "XX:YY", 5 }, "XX:YY", { 0, 1 } },
    { { "time:channel:pol", "YY:XX", 5 }, "XX:YY", { 1, 0 } },
    { { "channel:time:pol", "I:Q:U:V", 3 }, "I:Q:U:V", { 0, 1, 2, 3 } },
    { { "time:pol:channel", "XX:YY:XY-RE:XY-IM", 5 }, "XX:YY:XY-RE:XY-IM", { 0, 1, 2, 3 } },
    { { "time:pol:channel", "RR:LL:RL-RE:RL-IM", 5 }, "LL:RR:RL-RE:RL-IM", { 1, 0, 2, 3 } },
    { { "time:pol:channel", "XX:YY", CHANNELS }, "XX:YY", { 0, 1 } },
    { { "time:pol:channel", "YY", 1 }, "YY", { 0 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    check_exact(place, &cases[i].kind, cases[i].products, cases[i].order);
}

/* The file has the pulsar astronomers' signs. */
static void signs(TestPlace *place, gconstpointer data)
{
  static const Kind kinds[] = { { "time:pol:channel", "I:Q:U:V", 2 },
                                { "time:pol:channel", "XX:YY:XY-RE:XY-IM", 2 },
                                { "time:pol:channel", "RR:LL:RL-RE:RL-IM", 2 } };
  static const float values[] = { 11, 12, 21, 22, 31, 32, 41, 42 };
  static const float written[][8] = { { 11, 12, 21, 22, 31, 32, -41, -42 },
                                      { 11, 12, 21, 22, 31, 32, -41, -42 },
                                      { 21, 22, 11, 12, 31, 32, 41, 42 } };
  static const char *const types[] = { "IQUV", "AABBCRCI", "AABBCRCI" };
  static const char *const receivers[] = { "LIN", "LIN", "CIRC" };
  g_autofree char *path = g_strconcat(place->path, ".sf", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    Output output;
    float found[8];
    fitsfile *f;
    int status = 0, column = 0;
    begin(&output, &kinds[i], path);
    send(&output, values, 0, 1, NULL, 0);
    end(&output);
    fits_open_diskfile(&f, path, READONLY, &status);
    test_key_text(f, "FD_POLN", receivers[i]);
    test_key_text(f, "DATE-OBS", "2026-11-20T23:59:59.999999");
    test_key_text(f, "RA", "00:00:00.000000");
    test_key_text(f, "DEC", "-00:30:00.00000");
    fits_movabs_hdu(f, 2, NULL, &status);
    test_key_text(f, "POL_TYPE", types[i]);
    g_assert_cmpfloat(test_key_number(f, "NSTOT"), ==, 1);
    fits_get_colnum(f, CASEINSEN, (char *)"DATA", &column, &status);
    fits_read_col(f, TFLOAT, column, 1, 1, 8, NULL, found, NULL, &status);
    fits_close_file(f, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpmem(found, sizeof found, written[i], sizeof written[i]);
    g_unlink(path);
  }
}

static void eight_bits(TestPlace *place, gconstpointer data)
{
  const Kind kind = { "time:pol:channel", "XX:YY", CHANNELS, 8 };
  const guint64 steps = 2 * ROW + 1, series = 2 * CHANNELS;
  Output output;
  g_autofree char *path = g_strconcat(place->path, ".sf", NULL);
  g_autofree float *values = make(steps * series, 3);
  for (guint64 step = 0; step < steps; step++)
    values[step * series + 5] = 1e30f; /* one that does not change keeps its value */
  begin(&output, &kind, path);
  send(&output, values, 0, steps, NULL, 0);
  end(&output);
  g_auto(Back) back = read_back(path);
  g_assert_cmpuint(back.values->len, ==, steps * series);
  const float *found = (const float *)(gpointer)back.values->data;
  for (guint64 i = 0; i < series; i++)
    for (guint64 row = 0; row < steps; row += ROW) {
      float least = G_MAXFLOAT, most = -G_MAXFLOAT;
      for (guint64 step = row; step < MIN(row + ROW, steps); step++) {
        least = MIN(least, values[step * series + i]);
        most = MAX(most, values[step * series + i]);
      }
      for (guint64 step = row; step < MIN(row + ROW, steps); step++)
        g_assert_cmpfloat(fabsf(found[step * series + i] - values[step * series + i]), <=,
                          (most - least) / 255 * 0.5001f + 1e-6f * MAX(fabsf(least), fabsf(most)));
    }
  g_unlink(path);
}

/* A channel that is lost for a row has weight 0; lost values get the mean of the rest, and those
 * with a part of their samples count as whole, all of which is told. */
static void counts(TestPlace *place, gconstpointer data)
{
  const Kind kind = { "time:pol:channel", "XX:YY", CHANNELS, 0, TRUE };
  const guint64 steps = 2 * ROW, series = 2 * CHANNELS;
  const guint full = 10;
  Output output;
  g_autofree char *path = g_strconcat(place->path, ".sf", NULL);
  g_autofree float *values = make(steps * series, 3);
  g_autofree guint32 *good = g_new(guint32, steps * CHANNELS);
  for (guint64 i = 0; i < steps * CHANNELS; i++)
    good[i] = full;
  for (guint64 step = 0; step < ROW; step++) {
    good[step * CHANNELS + 7] = 0;     /* all of the first row */
    good[step * CHANNELS + 9] = 4;     /* the same all through it */
    good[step * CHANNELS + 11] = step; /* 0 1 2 3 */
  }
  values[(ROW + 2) * series + 13] = NAN; /* of XX, in the second row */
  begin(&output, &kind, path);
  send(&output, values, 0, 3, good, full);
  send(&output, values + 3 * series, 3, steps - 3, good + 3 * CHANNELS, full);
  end(&output);
  g_assert_cmpuint(output.tally.not_finite, ==, 1);
  g_assert_cmpuint(output.tally.flagged, ==, 2 * ROW);
  g_assert_cmpuint(output.tally.filled, ==, 2 + 1);
  g_assert_cmpuint(output.tally.partial, ==, 2 * ROW + 2 * 3);
  g_assert_cmpuint(output.tally.dropped, ==, 0);

  g_auto(Back) back = read_back(path);
  const float *found = (const float *)(gpointer)back.values->data;
  const guint32 *counted = (const guint32 *)(gpointer)back.counts->data;
  g_assert_true(back.stream.has_counts);
  g_assert_cmpuint(back.full, ==, full);
  for (guint64 step = 0; step < steps; step++)
    for (guint c = 0; c < CHANNELS; c++) {
      const guint32 expected = step < ROW && c == 7 ? 0 : full;
      g_assert_cmpuint(counted[step * CHANNELS + c], ==, expected);
    }
  g_assert_cmpfloat(found[7], ==, 0);
  g_assert_cmpfloat(found[9], ==, values[9]);
  g_assert_cmpfloat(found[series + 11], ==, values[series + 11]);
  /* Lost values have the mean of the rest. */
  const float mean = (float)(((double)values[ROW * series + 13] + values[(ROW + 1) * series + 13] +
                              values[(ROW + 3) * series + 13]) /
                             3);
  g_assert_cmpfloat(fabsf(found[(ROW + 2) * series + 13] - mean), <, 1e-3f);
  g_unlink(path);
}

/* If one polarisation of a channel is lost for a row, the other is left out, and told. */
static void dropped(TestPlace *place, gconstpointer data)
{
  const Kind kind = { "time:pol:channel", "XX:YY", 3 };
  Output output;
  g_autofree char *path = g_strconcat(place->path, ".sf", NULL);
  float values[] = { 1, 2, 3, 4, NAN, 6, 7, 8, 9, 10, NAN, 12 }; /* YY of channel 1 */
  begin(&output, &kind, path);
  send(&output, values, 0, 2, NULL, 0);
  end(&output);
  g_assert_cmpuint(output.tally.dropped, ==, 2);
  g_assert_cmpuint(output.tally.flagged, ==, 4);
  static const float wanted[] = { 1, 0, 3, 4, 0, 6, 7, 0, 9, 10, 0, 12 };
  static const guint32 wanted_counts[] = { 1, 0, 1, 1, 0, 1 };
  g_auto(Back) back = read_back(path);
  g_assert_cmpmem(back.values->data, back.values->len * sizeof(float), wanted, sizeof wanted);
  g_assert_cmpmem(back.counts->data, back.counts->len * sizeof(guint32), wanted_counts,
                  sizeof wanted_counts);
  g_unlink(path);
}

/* Steps that are missing: between rows the times tell; within a row they are filled and told. */
static void gaps(TestPlace *place, gconstpointer data)
{
  const Kind kind = { "time:pol:channel", "XX:YY", CHANNELS };
  const guint64 series = 2 * CHANNELS;
  Output output;
  g_autofree char *path = g_strconcat(place->path, ".sf", NULL);
  g_autofree float *values = make(ROW * series, 3);
  begin(&output, &kind, path);
  send(&output, values, 5, ROW, NULL, 0);  /* 5 to 8 */
  send(&output, values, 20, ROW, NULL, 0); /* a gap between rows */
  send(&output, values, 24, 1, NULL, 0);
  send(&output, values, 26, 2, NULL, 0); /* 25 is missing in the row */
  send(&output, values, 28, 2, NULL, 0);
  send(&output, values, 100, 3, NULL, 0); /* 30 and 31 are missing at its end */
  end(&output);
  g_assert_cmpuint(output.tally.filled, ==, 3 * series);
  g_assert_cmpuint(output.tally.partial, ==, 0);
  g_auto(Back) back = read_back(path);
  static const guint64 steps[] = { 0,  1,  2,  3,  15, 16, 17, 18, 19, 20,
                                   21, 22, 23, 24, 25, 26, 95, 96, 97 };
  g_assert_cmpmem(back.steps->data, back.steps->len * sizeof *steps, steps, sizeof steps);
  g_assert_true(back.stream.has_counts);
  g_assert_cmpuint(back.full, ==, 1);
  g_unlink(path);
}

/* ---- what is refused ---- */

static void check_refused(const char *layout, const char *products, const char *more,
                          const char *without, const char *says)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *text = g_strdup_printf(
      "application/x-astro-power,format=F32LE,layout=%s,channels=4,pols=%u,products=(string)%s,"
      "rate=1000/1,frequency=1.5e8,bandwidth=1e6%s",
      layout, n_pols(products), products, more);
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  AstroFitsContents contents = { 0 };
  if (without)
    gst_structure_remove_field(gst_caps_get_structure(caps, 0), without);
  describe(&contents, caps, 0);
  if (!without && strstr(says, "start of the observation"))
    contents.observation->has_start = FALSE;
  const AstroFitsWriterKind *kind = astro_fits_writer_kind(ASTRO_QUANTITY_POWER, "x.SF", NULL);
  g_assert_cmpstr(kind->name, ==, "PSRFITS in search mode");
  g_assert_null(kind->create(NULL, &contents, &error));
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, says));
  astro_fits_contents_clear(&contents);
}

static void refused(TestPlace *place, gconstpointer data)
{
  check_refused("time:pol:channel", "I:I-SQUARE", "", NULL, "leave square=false");
  check_refused("time:pol:channel", "XX:XY-RE", "", NULL, "found products XX:XY-RE");
  check_refused("time:station:pol:channel", "I", ",stations=3", NULL,
                "found 3 stations, but a file of PSRFITS has one: choose it with astroselect "
                "stations=, or add stations up with astropower sum=station");
  check_refused("time:station:pol:channel", "I", ",stations=1", NULL,
                "found 2 stations in the observation");
  check_refused("time:beam:pol:channel", "I", ",beams=2", NULL, "astroselect beams=");
  check_refused("time:pol:channel", "I", "", "rate", "no field \"rate\"");
  check_refused("time:pol:channel", "I", "", "frequency", "\"frequency\" and \"bandwidth\"");
  check_refused("time:pol:channel", "I", "", NULL, "start of the observation is not known");
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "exact", exact },     { "signs", signs }, { "eight-bits", eight_bits }, { "counts", counts },
    { "dropped", dropped }, { "gaps", gaps },   { "refused", refused },
  };
  test_add_places("/psrfits-write/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
