/* The length of integrations, set while a stream runs: each spectrum is in one integration, of the
 * length that its caps and counts tell, whoever sets what and when. What a length says is held to
 * sums of integrations of one spectrum each. */
#include "tests/elements/changed.h"
#include "tests/elements/running.h"
#include "tests/elements/setter.h"

#include <glib/gstdio.h>
#include <math.h>

enum { BUFFERS = 60, PER_BUFFER = 32, ALL = BUFFERS * PER_BUFFER, STEP_NS = 160000 };
#define RATE 6250

#define VOLTAGES                                                                                   \
  "astroskysrc stations=4 array=vla-like sky=0.01,0,5 block-steps=512 "                            \
  "num-buffers=60 bandwidth=1e5 ! application/x-astro-voltages,format=CF32LE"
#define SPECTRA                                                                                    \
  VOLTAGES " ! astrochannelizer channels=16 taps=1 ! astroconvert scale=20 ! "                     \
           "application/x-astro-spectra,format=CI8"

typedef struct {
  const char *name, *stage, *caps;
  gboolean is_mean; /* F32LE; else exact sums, which may have wrapped only if GLib's ints do */
} Stage;

static const Stage stages[] = {
  { "correlator", "astrocorrelator", "application/x-astro-visibilities,format=CI32LE", FALSE },
  { "power", "astropower products=I", "application/x-astro-power", TRUE },
};

static GstElement *parse_stage(const Stage *s, const char *properties)
{
  g_autofree char *line = g_strdup_printf("%s ! %s name=stage %s ! %s ! fakesink name=sink",
                                          SPECTRA, s->stage, properties, s->caps);
  return parse_line(line);
}

/* The values of each spectrum by itself. */
static GByteArray *each_spectrum(const Stage *s)
{
  GByteArray *all = g_byte_array_new();
  GstElement *pipeline = parse_stage(s, "integration=1");
  g_autoptr(Record) record = record_pipeline(pipeline);
  for (guint i = 0; i < record->blocks->len; i++) {
    gsize size;
    const guint8 *data = g_bytes_get_data(block_of(record, i)->bytes, &size);
    g_byte_array_append(all, data, (guint)size);
  }
  close_pipeline(pipeline);
  g_assert_cmpuint(all->len % ALL, ==, 0);
  return all;
}

/* The integration of n spectra from `first` on. */
static void check_values(const Stage *s, const GByteArray *each, gconstpointer found, guint first,
                         guint n)
{
  const guint values = each->len / ALL / 4;
  gboolean any = FALSE;
  for (guint v = 0; v < values; v++) {
    double sum = 0;
    for (guint i = first; i < first + n; i++)
      sum += s->is_mean ? (double)((const float *)(gpointer)each->data)[i * values + v]
                        : ((const gint32 *)(gpointer)each->data)[i * values + v];
    any |= sum != 0;
    if (s->is_mean)
      g_assert_cmpfloat(fabs(((const float *)found)[v] - sum / n), <=, 1e-5 * fabs(sum / n));
    else
      g_assert_cmpfloat(((const gint32 *)found)[v], ==, sum);
  }
  g_assert_true(any);
}

/* Blocks follow one another without a gap. lengths gets the length of each integration. */
static void check_record(const Stage *s, const GByteArray *each, const Record *record,
                         GArray *lengths)
{
  guint next = 0, disconts = 0;
  for (guint i = 0; i < record->blocks->len; i++) {
    const Block *block = block_of(record, i);
    const guint n = (guint)(block->end - block->first);
    const guint length = (guint)(block->duration / STEP_NS / n);
    gsize size;
    const guint8 *data = g_bytes_get_data(block->bytes, &size);
    g_assert_cmpuint(block->time, ==, (guint64)next * STEP_NS);
    g_assert_cmpuint(block->duration, ==, (guint64)length * n * STEP_NS);
    g_assert_cmpuint(block->good, ==, length); /* one count for all */
    if (i + 1 < record->blocks->len)
      g_assert_cmpfloat(fabs(block->rate * length - RATE), <, 1e-6);
    disconts += i > 0 && block->is_discont;
    for (guint j = 0; j < n; j++) {
      check_values(s, each, data + size / n * j, next, length);
      g_array_append_val(lengths, length);
      next += length;
    }
  }
  g_assert_cmpuint(next, ==, ALL);
  /* The input begins with DISCONT, and GstBaseTransform flags the first block that it sends itself,
   * even if others were sent before the caps changed. */
  g_assert_cmpuint(disconts, <=, 1);
}

static Record *record_change(const Stage *s, const char *properties, const char *name,
                             const char *value, guint at)
{
  GstElement *pipeline = parse_stage(s, properties);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { element, name, value, at };
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  Record *record = record_pipeline(pipeline);
  close_pipeline(pipeline);
  return record;
}

/* The open integration keeps its length; the next has the new one, whether that divides the old one
 * or not, in spectra or in seconds. */
static void at_the_boundary(gconstpointer data)
{
  const Stage *s = data;
  static const struct {
    guint before, after;
    const char *name, *value;
  } cases[] = {
    { 100, 50, "integration", "50" },        { 100, 30, "integration", "30" },
    { 50, 100, "integration", "100" },       { 7, 64, "integration", "64" },
    { 128, 1, "integration", "1" },          { 100, 500, "integration", "500" },
    { 100, 25, "integration-time", "4e-3" }, { 320, 33, "integration", "33" },
  };
  g_autoptr(GByteArray) each = each_spectrum(s);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree char *properties = g_strdup_printf("integration=%u", cases[i].before);
    g_autoptr(Record) record = record_change(s, properties, cases[i].name, cases[i].value, 10);
    const guint change = (10 * PER_BUFFER + cases[i].before - 1) / cases[i].before;
    g_test_message("%u, then %u", cases[i].before, cases[i].after);
    check_record(s, each, record, lengths);
    for (guint j = 0; j + 1 < lengths->len; j++)
      g_assert_cmpuint(g_array_index(lengths, guint, j), ==,
                       j < change ? cases[i].before : cases[i].after);
    g_assert_cmpuint(record->warnings, ==, 0);
  }
}

static GstPadProbeReturn on_pace(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_usleep(500);
  return GST_PAD_PROBE_OK;
}

/* Another thread sets lengths as fast as it can. */
static void under_load(gconstpointer data)
{
  const Stage *s = data;
  static const char *const values[] = { "30", "100", "7", "64", "1", "33", NULL };
  g_autoptr(GByteArray) each = each_spectrum(s);
  g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(guint));
  GstElement *pipeline = parse_stage(s, "integration=30");
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  TestSetter setter = { .object = element, .name = "integration", .texts = values };
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_pace, NULL);
  test_setter_start(&setter);
  g_autoptr(Record) record = record_pipeline(pipeline);
  test_setter_stop(&setter);
  check_record(s, each, record, lengths);
  guint changes = 0;
  for (guint i = 1; i < lengths->len; i++)
    changes += g_array_index(lengths, guint, i) != g_array_index(lengths, guint, i - 1);
  g_test_message("%u integrations, %u changes", lengths->len, changes);
  g_assert_cmpuint(changes, >, 5);
  g_assert_cmpuint(record->warnings, ==, 0);
  close_pipeline(pipeline);
}

/* Buffers are lost on both sides of the change: counts lack those spectra and no others. */
typedef struct {
  guint seen, from, to;
} Loss;

static GstPadProbeReturn on_loss(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Loss *loss = data;
  const guint i = loss->seen++;
  return i >= loss->from && i < loss->to ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static void losses(gconstpointer data)
{
  const Stage *s = data;
  static const Loss cases[] = { { 0, 8, 10 }, { 0, 10, 14 }, { 0, 12, 13 }, { 0, 0, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Loss loss = cases[i];
    GstElement *pipeline = parse_stage(s, "integration=100");
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
    Change change = { element, "integration", "30", 7 };
    probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_loss, &loss);
    probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
    g_autoptr(Record) record = record_pipeline(pipeline);
    guint64 good = 0, next = 0;
    for (guint j = 0; j < record->blocks->len; j++) {
      const Block *block = block_of(record, j);
      good += block->good * (block->end - block->first) / block->counts;
      g_assert_cmpuint(block->time, >=, next);
      next = block->time + block->duration;
    }
    g_assert_cmpuint(next, ==, (guint64)ALL * STEP_NS);
    g_assert_cmpuint(good, ==, ALL - (loss.to - loss.from) * PER_BUFFER);
    close_pipeline(pipeline);
  }
}

/* A length that the stage cannot have changes nothing, and the property has the old one again. */
static void wrong_values(gconstpointer data)
{
  const Stage *s = data;
  static const struct {
    const char *name, *value, *says;
  } cases[] = {
    { "integration", "0", "integration is 0" },
    { "integration", "4294967295", "integration is -1" },
    { "integration-time", "1e-9", "1e-09" },
    { "integration-time", "1e9", "1000000000 s" },
  };
  g_autoptr(GByteArray) each = each_spectrum(s);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(Record) record =
        record_change(s, "integration=100", cases[i].name, cases[i].value, 10);
    check_record(s, each, record, lengths);
    g_assert_cmpuint(lengths->len, ==, (ALL + 99) / 100);
    g_assert_cmpuint(record->warnings, ==, 1);
    test_says(record->warned, cases[i].says);
    test_says(record->warned, "The stream goes on with the value before");
  }
}

/* Caps without a rate cannot tell of another length. */
static void no_rate(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(stages); i++) {
    g_autofree char *line =
        g_strdup_printf("fakesrc num-buffers=20 sizetype=fixed sizemax=64 filltype=pattern ! "
                        "application/x-astro-spectra,format=CI8,layout=time:station:pol,stations=2,"
                        "pols=2 ! %s integration=16 name=stage ! fakesink name=sink",
                        stages[i].stage);
    GstElement *pipeline = parse_line(line);
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
    Change change = { element, "integration", "8", 3 };
    guint integration;
    probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
    g_autoptr(Record) record = record_pipeline(pipeline);
    guint64 good = 0;
    for (guint j = 0; j < record->blocks->len; j++)
      good += block_of(record, j)->good;
    g_assert_cmpuint(good, ==, 160);
    g_assert_cmpuint(record->blocks->len, ==, 10);
    g_assert_cmpuint(record->warnings, ==, 1);
    test_says(record->warned, "caps have no rate");
    g_object_get(element, "integration", &integration, NULL);
    g_assert_cmpuint(integration, ==, 16);
    close_pipeline(pipeline);
  }
}

/* Elements downstream take integrations of another length as new caps, or keep the stream at the
 * length that it has begun with. No stream ends for it. */
typedef struct {
  const char *stage, *after;
  const char *file; /* what is written; NULL: nothing */
  gboolean is_kept;
} Reader;

static const Reader readers[] = {
  { "astrocorrelator", "astrophaseshift centre=201,-30" },
  { "astrocorrelator", "astroselect channels=0-7" },
  { "astrocorrelator", "astrotranspose layout=baseline:channel:pol:pol" },
  { "astrocorrelator", "astroconvert ! application/x-astro-visibilities,format=CF64LE" },
  { "astrocorrelator", "astroflag method=threshold" },
  { "astrocorrelator", "astrocalibrate sky=0.01,0,5 type=phase interval=2" },
  { "astrocorrelator", "tee ! queue ! astroring seconds=1" },
  { "astrocorrelator", "astrogridder size=64 cell=20 interval=3 ! astrofft ! astroimage" },
  { "tee name=t t. ! queue ! astrocorrelator",
    "add. t. ! queue ! astrocorrelator integration=100 ! add. astroadd name=add", NULL, TRUE },
  { "astrocorrelator", "astrofitssink location=%s", "a.uvfits", TRUE },
  { "astrocorrelator", "tee ! queue ! astrophaseshift centre=201,-30 ! astrofitssink location=%s",
    "b.uvfits", TRUE },
  { "astropower products=I", "astrodedisperse dm=10" },
  { "astropower products=I", "astrofold period=0.1" },
  { "astropower products=I", "astroflag method=threshold" },
  { "astropower products=I sum=station", "astrorecordsink format=sigproc location=%s", "a.fil",
    TRUE },
};

static void read_by(gconstpointer data)
{
  const Reader *r = data;
  g_autofree char *folder = g_dir_make_tmp("lengths-XXXXXX", NULL);
  g_autofree char *file = g_build_filename(folder, r->file ? r->file : "none", NULL);
  g_autofree char *after = r->file ? test_replace(r->after, "%s", file) : g_strdup(r->after);
  const gboolean is_sink = r->file != NULL;
  g_autofree char *line =
      g_strdup_printf("%s ! astrodelay ! %s name=stage integration=100 ! %s%s", SPECTRA, r->stage,
                      after, is_sink ? " name=sink" : " ! fakesink name=sink");
  GstElement *pipeline = parse_line(line);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { element, "integration", "30", 20 };
  guint integration;
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  g_autoptr(Record) record = record_pipeline(pipeline);
  g_object_get(element, "integration", &integration, NULL);
  g_test_message("%s: %u, warned: %s", r->after, integration,
                 record->warned ? record->warned : "not");
  g_assert_cmpuint(integration, ==, r->is_kept ? 100 : 30);
  if (r->is_kept)
    test_says(record->warned, "downstream does not take integrations of another length now");
  close_pipeline(pipeline);
  g_remove(file);
  g_rmdir(folder);
}

static void add_tests(void)
{
  static const struct {
    const char *name;
    void (*test)(gconstpointer);
  } tests[] = { { "at-the-boundary", at_the_boundary },
                { "under-load", under_load },
                { "losses", losses },
                { "wrong-values", wrong_values } };
  for (guint i = 0; i < G_N_ELEMENTS(stages); i++)
    for (guint j = 0; j < G_N_ELEMENTS(tests); j++) {
      g_autofree char *path = g_strdup_printf("/lengths/%s/%s", stages[i].name, tests[j].name);
      g_test_add_data_func(path, &stages[i], tests[j].test);
    }
  g_test_add_func("/lengths/no-rate", no_rate);
  for (guint i = 0; i < G_N_ELEMENTS(readers); i++) {
    g_autofree char *path = g_strdup_printf("/lengths/read-by/%u", i);
    g_test_add_data_func(path, &readers[i], read_by);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
