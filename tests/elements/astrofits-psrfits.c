/* PSRFITS in search mode through astrofitssink and astrofitssrc: streams come back, losses are
 * told, files part by time, and what such a file cannot hold is refused. */
#include "tests/elements/astrofits.h"
#include "tests/elements/running.h"

#include <math.h>
#include <string.h>

#define POWER(stations, products)                                                                  \
  "astroskysrc stations=" stations " pols=2 noise=50 frequency=1.5e8 bandwidth=1e6 duration=0.2 "  \
  "block-steps=5000 start-time=2026-11-20T12:00:00 phase-centre=200,-30 ! "                        \
  "application/x-astro-voltages,format=CF32LE ! astrochannelizer channels=16 ! "                   \
  "astropower integration=20 " products
#define ORDERED " ! astrotranspose layout=time:station:pol:channel"

static GByteArray *run(const char *format, ...) G_GNUC_PRINTF(1, 2);
static GByteArray *run(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *line = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return test_run_line(line);
}

static void write_line(const char *line, const char *path, const char *more)
{
  g_autofree char *whole = g_strdup_printf("%s ! astrofitssink location=%s %s", line, path, more);
  g_autofree char *failed = test_launch(whole);
  g_assert_cmpstr(failed, ==, NULL);
}

/* Both elements by themselves, and astroopen by the content, whatever the name is. */
static void test_round(TestFile *place, gconstpointer data)
{
  static const char *const lines[] = {
    POWER("1", "products=I") ORDERED,
    POWER("1", "products=XX:YY") ORDERED,
    POWER("1", "products=coherence") ORDERED,
    POWER("3", "products=I:Q:U:V sum=station") " ! astrotranspose layout=time:pol:channel",
  };
  g_autofree char *path = g_build_filename(place->folder, "p.sf", NULL),
                  *other = g_build_filename(place->folder, "p.fits", NULL);
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(GByteArray) wanted = run("%s", lines[i]);
    write_line(lines[i], path, "");
    g_autoptr(GByteArray) found = run("astrofitssrc location=%s", path);
    g_assert_cmpmem(found->data, found->len, wanted->data, wanted->len);
    g_assert_cmpint(g_rename(path, other), ==, 0);
    g_autoptr(GByteArray) opened = run("astroopen input=%s", other);
    g_assert_cmpmem(opened->data, opened->len, wanted->data, wanted->len);
    g_unlink(other);
  }
}

/* Half a step of 1/255 of the range that a channel has, over all of which there is one row here. */
static void test_bytes(TestFile *place, gconstpointer data)
{
  g_autofree char *path = g_build_filename(place->folder, "p.sf", NULL);
  g_autoptr(GByteArray) wanted = run("%s", POWER("1", "products=I") ORDERED);
  write_line(POWER("1", "products=I") ORDERED, path, "bits=8");
  g_autoptr(GByteArray) found = run("astrofitssrc location=%s", path);
  const float *a = (const float *)(gpointer)found->data, *b = (const float *)(gpointer)wanted->data;
  const guint n = wanted->len / sizeof *a;
  double worst = 0;
  g_assert_cmpuint(found->len, ==, wanted->len);
  for (guint c = 0; c < 16; c++) {
    float least = b[c], most = b[c];
    for (guint i = c; i < n; i += 16) {
      least = MIN(least, b[i]);
      most = MAX(most, b[i]);
    }
    for (guint i = c; i < n; i += 16)
      worst = MAX(worst, fabs((double)a[i] - b[i]) / ((double)most - least));
  }
  g_test_message("largest error %g of the range", worst);
  g_assert_cmpfloat(worst, <=, 0.501 / 255);
  g_assert_cmpfloat(worst, >, 0.4 / 255);
  g_unlink(path);
}

/* Files of 60 ms hold 187 integrations of 320 us or fewer; together all. */
static void test_parts(TestFile *place, gconstpointer data)
{
  static const char *const names[] = { "p0.sf", "p1.sf", "p2.sf", "p3.sf" };
  g_autofree char *path = g_build_filename(place->folder, "p%i.sf", NULL);
  g_autoptr(GByteArray) wanted = run("%s", POWER("1", "products=I") ORDERED);
  g_autoptr(GByteArray) all = g_byte_array_new();
  write_line(POWER("1", "products=I") ORDERED, path, "max-file-duration=60000000");
  g_autoptr(GByteArray) joined = run("astrofitssrc location=%s/p*.sf", place->folder);
  g_assert_cmpmem(joined->data, joined->len, wanted->data, wanted->len);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    g_autofree char *name = g_strdup_printf("%s/p%05u.sf", place->folder, i);
    g_autoptr(GByteArray) part = run("astrofitssrc location=%s", name);
    g_byte_array_append(all, part->data, part->len);
    g_unlink(name);
  }
  g_assert_cmpmem(all->data, all->len, wanted->data, wanted->len);
}

typedef struct {
  guint64 next;
  guint gaps, buffers;
} Seen;

static void see(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Seen *seen = data;
  const gboolean is_cut = GST_BUFFER_OFFSET(buffer) != seen->next;
  g_assert_true(is_cut <= !!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT));
  g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, GST_BUFFER_OFFSET(buffer) * GST_MSECOND);
  g_assert_nonnull(astro_buffer_get_validity(buffer));
  seen->gaps += is_cut;
  seen->buffers++;
  seen->next = GST_BUFFER_OFFSET_END(buffer);
}

static GstHarness *begin_at(TestFile *place, const char *caps, const char *name);
static GstBuffer *make_steps(guint64 first);
static void finish(GstHarness *h);

static void write_steps(TestFile *place, const char *caps, const char *name, guint64 first)
{
  GstHarness *h = begin_at(place, caps, name);
  gst_harness_push(h, make_steps(first));
  finish(h);
}

/* ---- losses ---- */

#define CAPS                                                                                       \
  "application/x-astro-power,format=F32LE,layout=time:pol:channel,channels=4,pols=1,products=I,"   \
  "rate=1000/1,frequency=1.5e8,bandwidth=1e6"
#define STEPS 10

static GstBuffer *make_steps(guint64 first)
{
  float *values = g_new(float, STEPS * 4);
  for (guint i = 0; i < STEPS * 4; i++)
    values[i] = (float)(4 * first + i);
  GstBuffer *buffer = gst_buffer_new_wrapped(values, STEPS * 4 * sizeof *values);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + STEPS;
  GST_BUFFER_PTS(buffer) = first * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = STEPS * GST_MSECOND;
  return buffer;
}

static GstHarness *begin_at(TestFile *place, const char *caps, const char *name)
{
  g_free(place->path);
  place->path = g_build_filename(place->folder, name, NULL);
  g_free(place->part);
  place->part = g_strconcat(place->path, ".part", NULL);
  GstHarness *h = test_new_sink(place);
  gst_harness_set_src_caps_str(h, caps);
  test_send_observation(h, 1);
  return h;
}

static void check_file(TestFile *place, guint steps, guint64 seconds_1000)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(place->path, NULL, &error);
  gboolean end;
  guint64 n, all = 0;
  g_assert_no_error(error);
  g_assert_cmpuint(astro_fits_reader_contents(reader)->duration_ns, ==, seconds_1000 * GST_MSECOND);
  while (astro_fits_reader_next(reader, &n, &end, NULL)) {
    g_autofree float *values = g_new(float, 4 * n);
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    AstroFitsFrame frame = { .data = values, .buffer = buffer };
    g_assert_true(astro_fits_reader_read(reader, &frame, &end, NULL));
    all += n;
  }
  g_assert_cmpuint(all, ==, steps);
}

static void finish(GstHarness *h)
{
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);
}

/* Several files are one stream, with a gap where one leaves some. What does not belong together, or
 * comes in another order, is refused. */
static void test_several(TestFile *place, gconstpointer data)
{
  Seen seen = { 0 };
  write_steps(place, CAPS, "a.sf", 100);
  write_steps(place, CAPS, "b.sf", 110);
  write_steps(place, CAPS, "c.sf", 150);
  g_autofree char *line = g_strdup_printf(
      "astrofitssrc location=%s/*.sf ! fakesink name=sink signal-handoffs=true", place->folder);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_connect(sink, "handoff", G_CALLBACK(see), &seen);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autofree char *failed = test_wait(pipeline);
  g_assert_cmpstr(failed, ==, NULL);
  test_stop(pipeline);
  g_assert_cmpuint(seen.buffers, ==, 3);
  g_assert_cmpuint(seen.gaps, ==, 1);
  g_assert_cmpuint(seen.next, ==, 60);

  g_autofree char *several =
      g_strdup_printf("astrofitssrc name=file location=%s/*.sf ! fakesink", place->folder);
  write_steps(place, CAPS, "d.sf", 120);
  test_refused_by(several, "file", "samples from before the end of the file before it");
  write_steps(place, CAPS, "d.sf", 50);
  test_refused_by(several, "file", "a start that is no whole number of samples behind");
  g_autofree char *other = test_replace(CAPS, "frequency=1.5e8", "frequency=1.6e8");
  write_steps(place, other, "d.sf", 200);
  test_refused_by(several, "file", "frequency=(double)150000000");
  for (const char *name = "abcd"; *name; name++) {
    g_autofree char *path = g_strdup_printf("%s/%c.sf", place->folder, *name);
    g_unlink(path);
  }
}

/* A lost buffer in the middle is filled up and told, with its number of values. */
static void test_gap(TestFile *place, gconstpointer data)
{
  GstHarness *h = begin_at(place, CAPS, "p.sf");
  gst_harness_push(h, make_steps(0));
  GstBuffer *lost = make_steps(10);
  GST_BUFFER_FLAG_SET(lost, GST_BUFFER_FLAG_GAP);
  gst_harness_push(h, lost);
  gst_harness_push(h, make_steps(20));
  finish(h);
  g_autofree char *text = test_pop(place, GST_MESSAGE_WARNING);
  g_assert_nonnull(strstr(text, "40 of 120 values were lost"));
  test_expect_no_error(place);
  check_file(place, 30, 30);
}

/* A stream that begins late begins the file. */
static void test_late(TestFile *place, gconstpointer data)
{
  GstHarness *h = begin_at(place, CAPS, "p.sf");
  gst_harness_push(h, make_steps(1000));
  finish(h);
  test_expect_no_error(place);
  check_file(place, 10, 10);
}

/* Steps that come again are left out, with the warning that all elements give. */
static void test_again(TestFile *place, gconstpointer data)
{
  GstHarness *h = begin_at(place, CAPS, "p.sf");
  gst_harness_push(h, make_steps(0));
  gst_harness_push(h, make_steps(0));
  gst_harness_push(h, make_steps(10));
  finish(h);
  g_autofree char *text = test_pop(place, GST_MESSAGE_WARNING);
  g_assert_nonnull(strstr(text, "again"));
  test_expect_no_error(place);
  check_file(place, 20, 20);
}

static void test_message(TestFile *place, gconstpointer data)
{
  GstHarness *h = begin_at(place, CAPS, "p.sf");
  gst_harness_push(h, make_steps(0));
  finish(h);
  GstMessage *message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT);
  const GstStructure *file = gst_message_get_structure(message);
  guint64 steps;
  double seconds;
  gint channels;
  g_assert_true(gst_structure_has_name(file, "astro-file"));
  g_assert_cmpstr(gst_structure_get_string(file, "format"), ==, "PSRFITS in search mode");
  g_assert_true(gst_structure_get(file, "integrations", G_TYPE_UINT64, &steps, "seconds",
                                  G_TYPE_DOUBLE, &seconds, "channels", G_TYPE_INT, &channels,
                                  NULL));
  g_assert_cmpuint(steps, ==, 10);
  g_assert_cmpfloat(fabs(seconds - 0.01), <, 1e-9);
  g_assert_cmpint(channels, ==, 4);
  gst_message_unref(message);
}

/* Profiles become the rows of a file in fold mode, which no element here reads. */
static void test_profiles(TestFile *place, gconstpointer data)
{
  GstHarness *h = begin_at(place,
                           "application/x-astro-profile,format=F32LE,layout=channel:pol:phase,"
                           "channels=2,pols=1,bins=8,products=I,period=(double)0.1,"
                           "dm=(double)10,rate=1/10,frequency=1.4e9,bandwidth=1e8",
                           "p.rf");
  for (guint i = 0; i < 3; i++) {
    float *values = g_new0(float, 16);
    values[3] = 1;
    GstBuffer *buffer = gst_buffer_new_wrapped(values, 16 * sizeof *values);
    GST_BUFFER_OFFSET(buffer) = i;
    GST_BUFFER_OFFSET_END(buffer) = i + 1;
    GST_BUFFER_PTS(buffer) = i * 10 * GST_SECOND;
    GST_BUFFER_DURATION(buffer) = 10 * GST_SECOND;
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  finish(h);
  GstMessage *message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT);
  const GstStructure *file = gst_message_get_structure(message);
  guint64 rows;
  g_assert_cmpstr(gst_structure_get_string(file, "format"), ==, "PSRFITS in fold mode");
  g_assert_true(gst_structure_get_uint64(file, "integrations", &rows));
  g_assert_cmpuint(rows, ==, 3);
  gst_message_unref(message);
  test_expect_no_error(place);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc name=file location=%s ! fakesink", place->path);
  test_refused_by(line, "file", "another mode than SEARCH");
}

/* Nothing comes but the end. */
static void test_nothing(TestFile *place, gconstpointer data)
{
  GstHarness *h = begin_at(place, CAPS, "p.sf");
  finish(h);
  test_expect_error(place, "ended before its first integration");
}

/* ---- what is refused ---- */

static void refuse(TestFile *place, const char *line, const char *name, const char *more,
                   const char *says)
{
  g_autofree char *whole = g_strdup_printf("%s ! astrofitssink name=file location=%s/%s %s", line,
                                           place->folder, name, more);
  test_refused_by(whole, "file", says);
}

static void test_refused_lines(TestFile *place, gconstpointer data)
{
  refuse(place, POWER("3", "products=I"), "p.sf", "", "found 3 stations");
  refuse(place, POWER("1", "products=I square=true"), "p.sf", "", "leave square=false");
  refuse(place, POWER("1", "products=I"), "p.sf", "bits=16", "bits=16, expected 8 or 32");
  refuse(place, POWER("1", "products=I"), "p.fits", "bits=8", "expected a name that ends in .sf");
  refuse(place, "astrovissrc stations=3 num-buffers=2", "v.uvfits", "bits=8",
         "this is a file of UVFITS");
  g_autofree char *path = g_build_filename(place->folder, "p.sf", NULL);
  write_line(POWER("1", "products=I"), path, "");
  g_autofree char *unwanted =
      g_strdup_printf("astrofitssrc name=file location=%s ! astrogridder ! fakesink", path);
  test_refused_by(unwanted, "file", "found PSRFITS in search mode, expected visibilities");
  g_autofree char *detected =
      g_strdup_printf("astrofitssrc name=file location=%s ! astropower ! fakesink", path);
  test_refused_by(detected, "file", "expected spectra: power goes to astrorender");
  g_unlink(path);
}

int main(int argc, char **argv)
{
  static const TestFileCase cases[] = {
    { "psrfits/round", test_round },
    { "psrfits/bytes", test_bytes },
    { "psrfits/parts", test_parts },
    { "psrfits/gap", test_gap },
    { "psrfits/late", test_late },
    { "psrfits/several", test_several },
    { "psrfits/again", test_again },
    { "psrfits/message", test_message },
    { "psrfits/profiles", test_profiles },
    { "psrfits/nothing", test_nothing },
    { "psrfits/refused", test_refused_lines },
  };
  return test_files(argc, argv, cases, G_N_ELEMENTS(cases));
}
