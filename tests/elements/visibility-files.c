/* Several files of visibilities as one stream, of one kind from each source that reads them, and of
 * all kinds together: the same stream, and the same image to the bit, as from one file with all. */
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/remove-all.h"

#include <math.h>

#define STREAM                                                                                     \
  "astrovissrc stations=6 pols=2 noise=3 loss=0.1 bandwidth=1e6 channels=3 integration=60 "        \
  "num-buffers=%u phase-centre=246.5,38 start-time=2026-11-20T%s"
#define WHOLE_BUFFERS 6

static const struct {
  const char *suffix, *sink, *source;
} kinds[] = {
  { "uvfits", "astrofitssink", "astrofitssrc" },
  { "uvh5", "astrouvh5sink", "astrouvh5src" },
  { "ms", "astromssink", "astromssrc" },
};

/* Calls the test for each kind that this build has, in a folder of its own. */
static void for_each_kind(gconstpointer data)
{
  void (*const *test)(guint kind) = data;
  guint done = 0;
  for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
    g_autoptr(GstElementFactory) factory = gst_element_factory_find(kinds[kind].source);
    if (!factory)
      continue;
    g_mkdir("parts", 0700);
    (*test)(kind);
    test_remove_all("parts");
    done++;
  }
  if (!done)
    g_test_skip("this build reads neither uvh5 nor Measurement Sets");
}

typedef struct {
  guint next, first, end;
} Range;

static GstPadProbeReturn keep_range(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Range *range = data;
  const guint n = range->next++;
  return n >= range->first && n < range->end ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

static void run_to_end(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(message);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_EOS);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

/* Writes buffers first to end - 1 of a line with an identity named "cut". */
static void write_range(const char *line, guint first, guint end)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) cut = gst_bin_get_by_name(GST_BIN(pipeline), "cut");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(cut, "src");
  Range range = { 0, first, end };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, keep_range, &range, NULL);
  run_to_end(pipeline);
}

/* through: stages between, as "! astroselect stations=0-3", or "". */
static void write_part(guint kind, const char *name, guint first, guint end, const char *through)
{
  g_autofree char *stream = g_strdup_printf(STREAM, WHOLE_BUFFERS, "12:00:00");
  g_autofree char *line =
      g_strdup_printf("%s ! identity name=cut %s ! %s location=parts/%s.%s", stream, through,
                      kinds[kind].sink, name, kinds[kind].suffix);
  write_range(line, first, end);
}

static char *run_to_file(const char *line, gsize *bytes)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *whole = g_strdup_printf("%s ! filesink location=parts-out", line);
  g_autofree char *failed = test_launch(whole);
  char *data;
  g_assert_cmpstr(failed, ==, NULL);
  g_file_get_contents("parts-out", &data, bytes, &error);
  g_assert_no_error(error);
  g_unlink("parts-out");
  return data;
}

static void assert_same(const char *one, const char *other)
{
  gsize a, b;
  g_autofree char *found = run_to_file(one, &a), *wanted = run_to_file(other, &b);
  g_test_message("%s", one);
  g_assert_cmpuint(a, >, 0);
  g_assert_cmpmem(found, a, wanted, b);
}

static const char *const weightings[] = { "natural", "uniform", "briggs robust=0" };

/* The same stream, and the same images with weights that follow from all of it. */
static void assert_same_images(const char *one, const char *other)
{
  assert_same(one, other);
  for (guint i = 0; i < G_N_ELEMENTS(weightings); i++) {
    g_autofree char *image =
        g_strdup_printf(" ! astrogridder size=64 cell=60 backend=cpu weighting=%s ! astrofft "
                        "backend=cpu ! astroimage backend=cpu",
                        weightings[i]);
    g_autofree char *of_one = g_strconcat(one, image, NULL);
    g_autofree char *of_other = g_strconcat(other, image, NULL);
    assert_same(of_one, of_other);
  }
}

/* Named in the opposite order, since files are read in that of time. */
static void halves(guint kind)
{
  const char *source = kinds[kind].source, *suffix = kinds[kind].suffix;
  g_autofree char *whole = g_strdup_printf("%s location=parts/whole.%s", source, suffix);
  g_autofree char *list =
      g_strdup_printf("%s location=parts/b.%s,parts/a.%s", source, suffix, suffix);
  g_autofree char *pattern = g_strdup_printf("%s location=parts/[ab].%s", source, suffix);
  g_autofree char *opened =
      g_strdup_printf("astroopen input=parts/b.%s,parts/a.%s", suffix, suffix);
  write_part(kind, "whole", 0, WHOLE_BUFFERS, "");
  write_part(kind, "a", 0, 2, "");
  write_part(kind, "b", 2, WHOLE_BUFFERS, "");
  assert_same(pattern, whole);
  assert_same(opened, whole);
  assert_same_images(list, whole);
}

/* A pause between files stays one when both are written as one file. */
static void times(guint kind)
{
  const char *source = kinds[kind].source, *suffix = kinds[kind].suffix;
  g_autofree char *again =
      g_strdup_printf("%s location=parts/a.%s,parts/b.%s ! %s location=parts/again.%s", source,
                      suffix, suffix, kinds[kind].sink, suffix);
  g_autofree char *read = g_strdup_printf("%s location=parts/again.%s", source, suffix);
  g_autofree char *direct =
      g_strdup_printf("%s location=parts/a.%s,parts/b.%s", source, suffix, suffix);
  write_part(kind, "a", 0, 2, "");
  write_part(kind, "b", 4, WHOLE_BUFFERS, ""); /* two integrations are missing */
  g_autofree char *failed = test_launch(again);
  g_assert_cmpstr(failed, ==, NULL);
  assert_same(read, direct);
}

/* Arrays that changed: the stream has the stations of all files. */
static void stations(guint kind)
{
  const char *source = kinds[kind].source, *suffix = kinds[kind].suffix;
  g_autofree char *both =
      g_strdup_printf("%s location=parts/a.%s,parts/b.%s ! application/x-astro-visibilities,"
                      "stations=6 ! astroselect stations=0-3",
                      source, suffix, suffix);
  g_autofree char *few =
      g_strdup_printf("%s location=parts/a.%s,parts/c.%s", source, suffix, suffix);
  write_part(kind, "a", 0, 2, "! astroselect stations=0-3");
  write_part(kind, "b", 2, WHOLE_BUFFERS, "");
  write_part(kind, "c", 2, WHOLE_BUFFERS, "! astroselect stations=0-3");
  assert_same(both, few);
}

static void write_other(guint kind, const char *name, const char *settings)
{
  g_autofree char *stream = g_strdup_printf(STREAM, 4, "13:00:00");
  g_autofree char *line = g_strdup_printf("%s %s ! %s location=parts/%s.%s", stream, settings,
                                          kinds[kind].sink, name, kinds[kind].suffix);
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
}

#define IMAGE                                                                                      \
  " ! astrogridder size=64 cell=60 backend=cpu ! astrofft backend=cpu ! astroimage backend=cpu"

/* Integrations of 60 s and of 20 s have weights of 3 and 1, each at its own time. */
static void lengths(guint kind)
{
  static const char *const parts[] = { "parts/long.%s", "parts/short.%s",
                                       "parts/long.%1$s,parts/short.%1$s" };
  float *images[3];
  gsize bytes[3];
  double worst = 0, most = 0;
  write_other(kind, "long", "loss=0 noise=0");
  write_other(kind, "short", "loss=0 noise=0 integration=20 start-time=2026-11-20T14:30:00");
  for (guint i = 0; i < 3; i++) {
    g_autofree char *location = g_strdup_printf(parts[i], kinds[kind].suffix);
    g_autofree char *line = g_strdup_printf("%s location=%s" IMAGE, kinds[kind].source, location);
    images[i] = (float *)(gpointer)run_to_file(line, &bytes[i]);
    g_assert_cmpuint(bytes[i], ==, 64 * 64 * sizeof(float));
  }
  for (guint i = 0; i < 64 * 64; i++) {
    worst = MAX(worst, fabs(images[2][i] - (3 * images[0][i] + images[1][i]) / 4));
    most = MAX(most, fabs(images[0][i] - images[1][i]));
  }
  g_test_message("%g of %g", worst, most);
  g_assert_cmpfloat(worst, <, 1e-4 * most);
  for (guint i = 0; i < 3; i++)
    g_free(images[i]);
}

static void assert_refused(guint kind, const char *other, const char *says)
{
  g_autofree char *line =
      g_strdup_printf("%s name=e location=parts/a.%s,parts/%s.%s ! fakesink", kinds[kind].source,
                      kinds[kind].suffix, other, kinds[kind].suffix);
  test_refused_by(line, "e", says);
}

static void contradictions(guint kind)
{
  g_autofree char *pattern =
      g_strdup_printf("%s name=e location=parts/none* ! fakesink", kinds[kind].source);
  write_part(kind, "a", 0, 2, "");
  write_part(kind, "overlap", 1, 3, "");
  write_other(kind, "centre", "phase-centre=246.5,39");
  write_other(kind, "band", "frequency=2e8");
  write_other(kind, "channels", "channels=4");
  write_other(kind, "pols", "pols=1");
  assert_refused(kind, "overlap", "files of one stream follow each other in time");
  assert_refused(kind, "centre", "arcsec apart, expected the same");
  assert_refused(kind, "band", "expected one band");
  assert_refused(kind, "channels", "expected one band");
  assert_refused(kind, "pols", "expected the same");
  assert_refused(kind, "none", "there is no file parts/none");
  test_refused_by(pattern, "e", " file matches parts/none*");
}

static void assert_named_i(const char *source, const char *location)
{
  g_autofree char *line = g_strdup_printf("%s location=%s ! astrogridder name=e pols=XX size=64 "
                                          "cell=60 ! fakesink",
                                          source, location);
  test_refused_by(line, "e", "product XX: visibilities of 1 stokes polarisation have I");
}

/* The only product of a file may be I. It keeps that name in every kind of file. */
static void total_intensity(guint kind)
{
  const char *source = kinds[kind].source;
  g_autofree char *file = g_strdup_printf("parts/i.%s", kinds[kind].suffix);
  g_autofree char *read = g_strdup_printf("%s location=%s", source, file);
  g_autofree char *back = g_strdup_printf("%s ! astrofitssink location=parts/back.uvfits", read);
  g_autofree char *image = g_strconcat(read, IMAGE, NULL);
  gsize bytes;
  write_other(kind, "i", "pols=1 ! astroobserve basis=stokes");
  assert_named_i(source, file);
  g_autofree char *failed = test_launch(back);
  g_assert_cmpstr(failed, ==, NULL);
  assert_named_i("astrofitssrc", "parts/back.uvfits");
  assert_same("astrofitssrc location=parts/back.uvfits", read);
  g_free(run_to_file(image, &bytes));
  g_assert_cmpuint(bytes, ==, 64 * 64 * sizeof(float));
}

static void assert_rows(guint kind, const char *name, guint64 rows)
{
  g_autofree char *line =
      g_strdup_printf("%s location=parts/%s.%s ! astrofitssink location=parts/rows.uvfits",
                      kinds[kind].source, name, kinds[kind].suffix);
  g_autofree char *failed = test_launch(line), *bytes = NULL, *card = NULL;
  gsize n;
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_true(g_file_get_contents("parts/rows.uvfits", &bytes, &n, NULL));
  card = g_strdup_printf("GCOUNT  = %20" G_GUINT64_FORMAT, rows);
  g_assert_nonnull(g_strstr_len(bytes, (gssize)n, card));
}

/* Flags all values of the first integration. */
static GstPadProbeReturn flag_first(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  memset(validity->counts, 0, astro_validity_n_counts(validity) * sizeof *validity->counts);
  return GST_PAD_PROBE_REMOVE;
}

/* A file of some stations and one of all make a stream in which the first lacks baselines. These
 * have no rows when both are written as one file, while rows whose values are flagged stay. */
static void absent(guint kind)
{
  const char *suffix = kinds[kind].suffix;
  g_autofree char *both =
      g_strdup_printf("%s location=parts/a.%s,parts/b.%s ! identity name=cut ! %s "
                      "location=parts/both.%s",
                      kinds[kind].source, suffix, suffix, kinds[kind].sink, suffix);
  g_autofree char *again =
      g_strdup_printf("%s location=parts/both.%s ! astroselect stations=2-5 ! %s "
                      "location=parts/some.%s",
                      kinds[kind].source, suffix, kinds[kind].sink, suffix);
  g_autoptr(GError) error = NULL;
  write_part(kind, "a", 0, 2, "! astroselect stations=0-3");
  write_part(kind, "b", 2, WHOLE_BUFFERS, "");
  g_autoptr(GstElement) pipeline = gst_parse_launch(both, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) cut = gst_bin_get_by_name(GST_BIN(pipeline), "cut");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(cut, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, flag_first, NULL, NULL);
  run_to_end(pipeline);
  assert_rows(kind, "both", 2 * 10 + 4 * 21);
  g_autofree char *failed = test_launch(again);
  g_assert_cmpstr(failed, ==, NULL);
  assert_rows(kind, "some", 2 * 3 + 4 * 10);
}

/* ---- files of several kinds ---- */

/* Whether this build has all kinds. Makes the folder for their files. */
static gboolean begin_kinds(void)
{
  for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
    g_autoptr(GstElementFactory) factory = gst_element_factory_find(kinds[kind].source);
    if (factory)
      continue;
    g_test_skip("this build lacks a kind of file");
    return FALSE;
  }
  g_mkdir("parts", 0700);
  return TRUE;
}

/* A third of the stream in each kind, whichever comes first. The whole is of the kind of the first
 * third, whose positions those of the stream are. */
static void test_kinds(void)
{
  static const char *const names[] = { "a", "b", "c" };
  if (!begin_kinds())
    return;
  for (guint first = 0; first < 3; first++) {
    const char *const suffixes[] = { kinds[first].suffix, kinds[(first + 1) % 3].suffix,
                                     kinds[(first + 2) % 3].suffix };
    for (guint i = 0; i < 3; i++)
      write_part((first + i) % 3, names[i], 2 * i, 2 * i + 2, "");
    write_part(first, "whole", 0, WHOLE_BUFFERS, "");
    g_autofree char *whole =
        g_strdup_printf("%s location=parts/whole.%s", kinds[first].source, suffixes[0]);
    g_autofree char *blanks =
        g_strdup_printf("astroopen input=\"parts/c.%s parts/a.%s parts/b.%s\"", suffixes[2],
                        suffixes[0], suffixes[1]);
    assert_same_images(blanks, whole);
    assert_same("astroopen input=\"parts/[abc].*\"", whole);
    test_remove_all("parts");
    g_mkdir("parts", 0700);
  }
  test_remove_all("parts");
}

/* Arrays that changed between files of two kinds. */
static void test_kinds_stations(void)
{
  if (!begin_kinds())
    return;
  write_part(0, "a", 0, 2, "! astroselect stations=0-3");
  write_part(1, "b", 2, WHOLE_BUFFERS, "");
  write_part(2, "c", 2, WHOLE_BUFFERS, "! astroselect stations=0-3");
  assert_same("astroopen input=parts/a.uvfits,parts/b.uvh5 ! application/x-astro-visibilities,"
              "stations=6 ! astroselect stations=0-3",
              "astroopen input=parts/a.uvfits,parts/c.ms");
  test_remove_all("parts");
}

static void test_kinds_refused(void)
{
  static const struct {
    const char *input, *says;
  } cases[] = {
    { "\"parts/a.uvfits parts/centre.uvh5\"", "the phase centres of parts/a.uvfits and "
                                              "parts/centre.uvh5 are" },
    { "\"parts/a.uvfits parts/overlap.ms\"", "files of one stream follow each other in time" },
    { "\"parts/a.uvfits parts/band.ms\"", "expected one band" },
    { "parts/a.uvfits,parts/band.ms,parts/none.uvh5", "there is no file parts/none.uvh5" },
    { "parts/image.fits,parts/a.uvfits,parts/b.ms",
      "parts/image.fits: found image among several files of visibilities, expected UVFITS" },
    { "parts/short.uvfits,parts/b.ms", "parts/short.uvfits" },
    { "parts/a.uvfits,parts/b.ms column=MODEL_DATA", "no column MODEL_DATA" },
    { "parts/a.uvfits,parts/b.ms band=2-3",
      "band=2-3 is set, and parts/b.ms is a Measurement Set, whose source astromssrc does not take "
      "that value" },
    { "parts/a.uvfits,parts/b.ms ra-column=3", "ra-column=3 is set" },
    { "parts/a.uvfits,parts/b.ms,parts/x.csv",
      "parts/x.csv: found catalogue among several files of visibilities, expected UVFITS" },
    { "parts/b.ms,parts/x.csv",
      "parts/x.csv is text, and parts/b.ms is a Measurement Set: expected files of one kind, or "
      "visibilities in UVFITS, uvh5 and Measurement Sets" },
  };
  if (!begin_kinds())
    return;
  write_part(0, "a", 0, 2, "");
  write_part(2, "b", 2, 4, "");
  write_part(2, "overlap", 1, 3, "");
  write_other(1, "centre", "phase-centre=246.5,39");
  write_other(2, "band", "frequency=2e8");
  g_autofree char *image = test_launch("astrofitssrc location=parts/a.uvfits" IMAGE
                                       " ! astrofitssink location=parts/image.fits");
  g_assert_cmpstr(image, ==, NULL);
  g_autofree char *bytes = NULL;
  gsize n;
  g_assert_true(g_file_get_contents("parts/a.uvfits", &bytes, &n, NULL));
  g_assert_true(g_file_set_contents("parts/short.uvfits", bytes, (gssize)n / 2, NULL));
  g_assert_true(g_file_set_contents("parts/x.csv", "RA,DEC\n1,2\n", -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("astroopen input=%s ! fakesink", cases[i].input);
    test_refused(line, cases[i].says);
  }
  test_remove_all("parts");
}

static void (*const tests[])(guint) = { halves,         times,           stations, lengths,
                                        contradictions, total_intensity, absent };
static const char *const names[] = { "halves",         "times",           "stations", "lengths",
                                     "contradictions", "total-intensity", "absent" };

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
    g_autofree char *path = g_strconcat("/visibility-files/", names[i], NULL);
    g_test_add_data_func(path, &tests[i], for_each_kind);
  }
  g_test_add_func("/visibility-files/kinds", test_kinds);
  g_test_add_func("/visibility-files/kinds-stations", test_kinds_stations);
  g_test_add_func("/visibility-files/kinds-refused", test_kinds_refused);
  return g_test_run();
}
