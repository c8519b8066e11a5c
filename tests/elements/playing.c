/* Properties that may be set while a stream runs: each buffer is made by the old value or the new
 * one, none is lost, and the observation tells which; a wrong value changes nothing. */
#include "tests/elements/changed.h"
#include "tests/elements/setter.h"

#include <glib/gstdio.h>
#include <math.h>

/* ---- cases ---- */

#define SPECTRA                                                                                    \
  "astroskysrc stations=4 array=vla-like sky=0.01,0,5 block-steps=512 num-buffers=60 "             \
  "bandwidth=1e5 ! application/x-astro-voltages,format=CF32LE ! astrodelay ! "                     \
  "astrochannelizer channels=16 taps=1"
#define VISIBILITIES                                                                               \
  "astrovissrc stations=5 array=vla-like num-buffers=30 integration=30 channels=4 "                \
  "phase-centre=131.5,33.9 start-time=2026-11-20T12:00:00"
#define VOLTAGES                                                                                   \
  "astroskysrc stations=4 array=vla-like block-steps=4096 num-buffers=30 bandwidth=1e5 ! "         \
  "application/x-astro-voltages,format=CF32LE"

typedef struct {
  const char *name, *source, *stage, *property;
  const char *values[2];
  const char *wrong, *says;
  gboolean moves_centre;
} Case;

static const char calibrations[2][100] = { "gain * * 2\n", "gain * * 0.5 30\ndelay A002 * 500\n" };
static const char gains[2][100] = { "1\n2\n3\n4\n", "0.5\n0.25\n-2\n1\n" };
static const char weights[2][100] = { "* * 1\nA002 * 0.5 90\n", "A003 * 3\nA001 0-7 2 10\n" };

static const Case cases[] = {
  { "phaseshift",
    VISIBILITIES,
    "astrophaseshift",
    "centre",
    { "132.1,34.3", "131,33" },
    "here",
    "here",
    TRUE },
  { "observe",
    "astroskysrc stations=4 array=vla-like block-steps=4096 num-buffers=30 "
    "bandwidth=1e5 ! application/x-astro-voltages,format=CF32LE",
    "astroobserve",
    "phase-centre",
    { "132.1,34.3", "131,33" },
    "there",
    "there",
    TRUE },
  { "beams",
    SPECTRA,
    "astrobeamform",
    "beams",
    { "0,0;0.01,0", "0.02,0;0,0.01" },
    "0,0",
    "1 directions, expected 2" },
  { "weights",
    SPECTRA,
    "astrobeamform beams=\"0,0;0.01,0\"",
    "weights",
    { weights[0], weights[1] },
    "/nowhere/weights",
    "/nowhere/weights" },
  { "calibration",
    SPECTRA,
    "astrodelay",
    "calibration",
    { calibrations[0], calibrations[1] },
    "/nowhere/calibration",
    "/nowhere/calibration" },
  { "gains",
    VOLTAGES,
    "astrochannelizer channels=4 taps=1",
    "gains",
    { gains[0], gains[1] },
    "/nowhere/gains",
    "/nowhere/gains" },
};

static char *write_text(const char *text)
{
  char *path = g_build_filename(g_get_tmp_dir(), "playing-XXXXXX", NULL);
  g_assert_true(g_close(g_mkstemp(path), NULL));
  g_assert_true(g_file_set_contents(path, text, -1, NULL));
  return path;
}

/* A text with lines is that of a file, whose name is the value. */
static char *value_of(const Case *c, guint i)
{
  return strchr(c->values[i], '\n') ? write_text(c->values[i]) : g_strdup(c->values[i]);
}

static void forget_value(const Case *c, guint i, char *value)
{
  if (strchr(c->values[i], '\n'))
    g_remove(value);
  g_free(value);
}

static Record *record_fixed(const Case *c, const char *value)
{
  g_autofree char *stage = g_strdup_printf("%s %s=\"%s\"", c->stage, c->property, value);
  return record_line(c->source, stage);
}

static void check_whole(const Record *found, const Record *expected)
{
  g_assert_cmpuint(found->blocks->len, ==, expected->blocks->len);
  g_assert_cmpuint(found->blocks->len, >, 20);
  for (guint i = 0; i < found->blocks->len; i++) {
    g_assert_cmpuint(block_of(found, i)->first, ==, block_of(expected, i)->first);
    g_assert_cmpuint(block_of(found, i)->end, ==, block_of(expected, i)->end);
    g_assert_cmpuint(block_of(found, i)->lost, ==, block_of(expected, i)->lost);
    g_assert_cmpint(block_of(found, i)->is_discont, ==, block_of(expected, i)->is_discont);
  }
}

/* A change before a buffer counts from that buffer on, after an observation that says so. */
static void at_once(gconstpointer data)
{
  const Case *c = data;
  char *values[2] = { value_of(c, 0), value_of(c, 1) };
  g_autoptr(Record) before = record_fixed(c, values[0]), after = record_fixed(c, values[1]);
  g_autofree char *stage = g_strdup_printf("%s %s=\"%s\"", c->stage, c->property, values[0]);
  GstElement *pipeline = parse(c->source, stage);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { element, c->property, values[1], 10 };
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  g_autoptr(Record) found = record_pipeline(pipeline);
  check_whole(found, before);
  g_assert_cmpuint(found->warnings, ==, before->warnings);
  for (guint i = 0; i < found->blocks->len; i++) {
    const Record *expected = i < 10 ? before : after;
    g_assert_true(g_bytes_equal(block_of(found, i)->bytes, block_of(expected, i)->bytes));
    g_assert_cmpfloat(block_of(found, i)->phase_ra, ==, block_of(expected, i)->phase_ra);
  }
  g_assert_cmpuint(block_of(found, 10)->observations, ==, block_of(found, 9)->observations + 1);
  if (!c->moves_centre)
    g_assert_false(g_bytes_equal(block_of(before, 20)->bytes, block_of(after, 20)->bytes));
  else
    g_assert_cmpfloat(block_of(before, 20)->phase_ra, !=, block_of(after, 20)->phase_ra);
  close_pipeline(pipeline);
  for (guint i = 0; i < 2; i++)
    forget_value(c, i, values[i]);
}

/* Gives other threads time between buffers. */
static GstPadProbeReturn on_pace(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_usleep(500);
  return GST_PAD_PROBE_OK;
}

/* Another thread sets one value and the other as fast as it can. */
static void under_load(gconstpointer data)
{
  const Case *c = data;
  char *values[3] = { value_of(c, 0), value_of(c, 1), NULL };
  g_autoptr(Record) one = record_fixed(c, values[0]), other = record_fixed(c, values[1]);
  const Record *const fixed[2] = { one, other };
  g_autofree char *stage = g_strdup_printf("%s %s=\"%s\"", c->stage, c->property, values[0]);
  GstElement *pipeline = parse(c->source, stage);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  TestSetter setter = { .object = element,
                        .name = c->property,
                        .texts = (const char *const *)values };
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_pace, NULL);
  test_setter_start(&setter);
  g_autoptr(Record) found = record_pipeline(pipeline);
  test_setter_stop(&setter);
  guint made_by[2] = { 0 };
  check_whole(found, fixed[0]);
  for (guint i = 0; i < found->blocks->len; i++) {
    const Block *block = block_of(found, i);
    guint by = 0;
    while (by < 2 && !(g_bytes_equal(block->bytes, block_of(fixed[by], i)->bytes) &&
                       block->phase_ra == block_of(fixed[by], i)->phase_ra))
      by++;
    g_assert_cmpuint(by, <, 2);
    made_by[by]++;
  }
  g_test_message("%u by one, %u by the other, %u observations", made_by[0], made_by[1],
                 (guint)found->observations);
  close_pipeline(pipeline);
  for (guint i = 0; i < 2; i++)
    forget_value(c, i, values[i]);
}

/* The stream goes on with the value before, which the property then has again. */
static void wrong_value(gconstpointer data)
{
  const Case *c = data;
  char *value = value_of(c, 0);
  g_autofree char *now = NULL;
  g_autoptr(Record) expected = record_fixed(c, value);
  g_autofree char *stage = g_strdup_printf("%s %s=\"%s\"", c->stage, c->property, value);
  GstElement *pipeline = parse(c->source, stage);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { element, c->property, c->wrong, 10 };
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  g_autoptr(Record) found = record_pipeline(pipeline);
  check_whole(found, expected);
  for (guint i = 0; i < found->blocks->len; i++)
    g_assert_true(g_bytes_equal(block_of(found, i)->bytes, block_of(expected, i)->bytes));
  g_assert_cmpuint(found->warnings, ==, expected->warnings + 1);
  test_says(found->warned, c->says);
  test_says(found->warned, "The stream goes on with the value before");
  g_object_get(element, c->property, &now, NULL);
  g_assert_cmpstr(now, ==, value);
  close_pipeline(pipeline);
  forget_value(c, 0, value);
}

/* gst-inspect says what may be set while the stream runs. */
static void mutable(gconstpointer data)
{
  const Case *c = data;
  g_auto(GStrv) words = g_strsplit(c->stage, " ", 2);
  g_autoptr(GstElement) element = gst_object_ref_sink(gst_element_factory_make(words[0], NULL));
  const GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), c->property);
  g_assert_true(spec->flags & GST_PARAM_MUTABLE_PLAYING);
}

/* Voltages whose delay needs samples from the other side of the change are lost there, and counted;
 * no other one is. */
static void delayed_voltages(void)
{
  char *file = write_text("delay A002 * 30000\n"), *other = write_text("delay A002 * -30000\n");
  g_autofree char *stage = g_strdup_printf("astrodelay calibration=%s", file);
  g_autoptr(Record) before = record_line(VOLTAGES, stage);
  GstElement *pipeline = parse(VOLTAGES, stage);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { element, "calibration", other, 10 };
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  g_autoptr(Record) found = record_pipeline(pipeline);
  guint64 next = 0, lost = 0, lost_before = 0;
  for (guint i = 0; i < found->blocks->len; i++) {
    g_assert_cmpuint(block_of(found, i)->first, ==, next);
    next = block_of(found, i)->end;
    lost += block_of(found, i)->lost;
  }
  for (guint i = 0; i < before->blocks->len; i++)
    lost_before += block_of(before, i)->lost;
  g_assert_cmpuint(next, ==, 30 * 4096);
  g_assert_cmpuint(lost, >, lost_before);
  g_assert_cmpuint(lost - lost_before, <, 2 * 4096);
  close_pipeline(pipeline);
  g_remove(file);
  g_remove(other);
  g_free(file);
  g_free(other);
}

/* One factor for all channels, with a filter: what it loses at the border is missing, and no more.
 */
static void gain(void)
{
  enum { TAPS = 4, CHANGED = 10 };
  const char *stage = "astrochannelizer channels=16 taps=4";
  g_autoptr(Record) before = record_line(VOLTAGES, stage);
  GstElement *pipeline = parse(VOLTAGES, stage);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { element, "gain", "2", CHANGED, 0 };
  guint64 missing = 0, next = block_of(before, 0)->first;
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  g_autoptr(Record) found = record_pipeline(pipeline);
  g_assert_cmpuint(found->blocks->len, ==, before->blocks->len);
  for (guint j = 0; j < found->blocks->len; j++) {
    const Block *now = block_of(found, j), *then = block_of(before, j);
    gsize size;
    const float *a = g_bytes_get_data(now->bytes, &size), *b = g_bytes_get_data(then->bytes, NULL);
    missing += now->first - next;
    next = now->end;
    for (gsize k = 0; k < size / sizeof(float) && j != CHANGED; k++)
      g_assert_cmpfloat(a[k], ==, (j > CHANGED ? 2 : 1) * b[k]);
  }
  g_assert_cmpuint(next, ==, block_of(before, before->blocks->len - 1)->end);
  g_assert_cmpuint(missing, ==, TAPS);
  g_assert_cmpuint(found->warnings, ==, before->warnings);
  close_pipeline(pipeline);
}

/* A telescope turns to another source: delays, spectra and visibilities follow. Each integration is
 * of one centre; what delays and filters lose at the border is missing in the counts, and no more.
 */
static void retarget(void)
{
  const char *follow = "astroobserve name=stage phase-centre=200,-30 ! astrodelay ! "
                       "astrochannelizer channels=16 taps=4 ! astrocorrelator integration=100";
  g_autofree char *line = g_strdup_printf("%s ! %s ! fakesink name=sink", VOLTAGES, follow);
  Record *records[2];
  for (guint i = 0; i < 2; i++) {
    GstElement *pipeline = parse_line(line);
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
    Change change = { element, "phase-centre", "201,-31", i == 0 ? G_MAXUINT : 10 };
    probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
    records[i] = record_pipeline(pipeline);
    close_pipeline(pipeline);
  }
  /* 10 of 30 buffers are 25.6 integrations: of the 26th there is a part of each centre. */
  enum { PER_SPECTRUM = 16 * 10, BORDER = 25 };
  guint64 good[2] = { 0 };
  for (guint i = 0; i < 2; i++)
    for (guint j = 0; j < records[i]->blocks->len; j++) {
      const Block *block = block_of(records[i], j);
      const guint64 number = j - (i == 1 && j > BORDER);
      g_assert_cmpuint(block->first, ==, number);
      good[i] += block->good * PER_SPECTRUM / block->counts; /* one may be for all channels */
      if (i == 0 || j < BORDER)
        g_assert_true(g_bytes_equal(block->bytes, block_of(records[0], j)->bytes));
      g_assert_cmpfloat(fabs(block->phase_ra - (i == 1 && j > BORDER ? 201 : 200) * G_PI / 180), <,
                        1e-9);
    }
  g_assert_cmpuint(records[1]->blocks->len, ==, records[0]->blocks->len + 1);
  g_assert_cmpuint(good[1], <, good[0]);
  g_assert_cmpuint(good[0] - good[1], <=, 8 * PER_SPECTRUM);
  record_free(records[0]);
  record_free(records[1]);
}

/* Without its calibration the element has nothing to do, and then it does not change formats. */
static void no_calibration(void)
{
  char *file = write_text(calibrations[0]);
  g_autofree char *line = g_strdup_printf(
      "astroskysrc stations=4 block-steps=4096 num-buffers=30 bandwidth=1e5 ! "
      "application/x-astro-voltages,format=CI8 ! astrodelay ! astrodelay name=stage "
      "calibration=%s ! application/x-astro-voltages,format=CF32LE ! fakesink name=sink",
      file);
  g_autofree char *now = NULL;
  GstElement *pipeline = parse_line(line);
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { element, "calibration", "", 10 };
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  g_autoptr(Record) found = record_pipeline(pipeline);
  g_assert_cmpuint(found->blocks->len, >=, 29);
  test_says(found->warned, "expected astroconvert for CI8 to CF32LE");
  test_says(found->warned, "The stream goes on with the value before");
  g_object_get(element, "calibration", &now, NULL);
  g_assert_cmpstr(now, ==, file);
  close_pipeline(pipeline);
  g_remove(file);
  g_free(file);
}

static void add_tests(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const struct {
      const char *name;
      void (*test)(gconstpointer);
    } tests[] = { { "at-once", at_once },
                  { "under-load", under_load },
                  { "wrong-value", wrong_value },
                  { "mutable", mutable } };
    for (guint j = 0; j < G_N_ELEMENTS(tests); j++) {
      g_autofree char *path = g_strdup_printf("/playing/%s/%s", cases[i].name, tests[j].name);
      g_test_add_data_func(path, &cases[i], tests[j].test);
    }
  }
  g_test_add_func("/playing/delayed-voltages", delayed_voltages);
  g_test_add_func("/playing/gain", gain);
  g_test_add_func("/playing/no-calibration", no_calibration);
  g_test_add_func("/playing/retarget", retarget);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
