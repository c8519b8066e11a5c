/* Properties that may be set while a stream runs: each buffer is made by the old value or the new
 * one, none is lost, and the observation tells which; a wrong value changes nothing. */
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/setter.h"

#include <glib/gstdio.h>
#include <math.h>

/* ---- recordings of a sink's input ---- */

typedef struct {
  GBytes *bytes;
  guint64 first, end;
  gboolean is_discont;
  guint64 lost;         /* counts of validity that are 0 */
  guint64 good;         /* the sum of its counts */
  guint64 observations; /* how many came before it */
  double phase_ra;
} Block;

typedef struct {
  GArray *blocks;
  GMutex lock;
  guint64 observations, warnings;
  double phase_ra;
  char *warned; /* the last warning */
} Record;

static void clear_block(gpointer data)
{
  g_bytes_unref(((Block *)data)->bytes);
}

static void count_samples(GstBuffer *buffer, Block *block)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
  for (guint64 i = 0; meta && i < astro_validity_n_counts(meta); i++) {
    block->lost += meta->counts[i] == 0;
    block->good += meta->counts[i];
  }
}

static GstPadProbeReturn on_data(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Record *record = data;
  GstMapInfo map;
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    g_autoptr(AstroObservation) observation =
        astro_observation_from_event(GST_PAD_PROBE_INFO_EVENT(info), NULL);
    if (observation) {
      record->observations++;
      record->phase_ra = observation->phase_ra;
    }
    return GST_PAD_PROBE_OK;
  }
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  Block block = { .bytes = g_bytes_new(map.data, map.size),
                  .first = GST_BUFFER_OFFSET(buffer),
                  .end = GST_BUFFER_OFFSET_END(buffer),
                  .is_discont = GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT),
                  .observations = record->observations,
                  .phase_ra = record->phase_ra };
  count_samples(buffer, &block);
  gst_buffer_unmap(buffer, &map);
  g_array_append_val(record->blocks, block);
  return GST_PAD_PROBE_OK;
}

typedef struct {
  GstElement *element;
  const char *name, *value;
  guint at; /* before which buffer of the element's input */
  guint seen;
} Change;

static GstPadProbeReturn on_input(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Change *change = data;
  if (change->seen++ == change->at)
    g_object_set(change->element, change->name, change->value, NULL);
  return GST_PAD_PROBE_OK;
}

static GstElement *parse(const char *source, const char *stage)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *line = g_strdup_printf("%s ! %s name=stage ! fakesink name=sink", source, stage);
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  return pipeline;
}

static void probe(GstElement *pipeline, const char *name, GstPadProbeType type,
                  GstPadProbeCallback callback, gpointer data)
{
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
  gst_pad_add_probe(pad, type, callback, data, NULL);
}

static void read_bus(GstElement *pipeline, Record *record)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  GstMessage *message;
  gboolean ended = FALSE;
  while (!ended &&
         (message = gst_bus_timed_pop_filtered(
              bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING))) {
    g_autoptr(GError) error = NULL;
    ended = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
      gst_message_parse_error(message, &error, NULL);
    g_assert_no_error(error);
    if (!ended) {
      gst_message_parse_warning(message, &error, NULL);
      g_test_message("%s", error->message);
      g_free(record->warned);
      record->warned = g_strdup(error->message);
      record->warnings++;
    }
    gst_message_unref(message);
  }
  g_assert_true(ended);
}

static Record *record_pipeline(GstElement *pipeline)
{
  Record *record = g_new0(Record, 1);
  record->blocks = g_array_new(FALSE, TRUE, sizeof(Block));
  g_array_set_clear_func(record->blocks, clear_block);
  probe(pipeline, "sink", GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_data,
        record);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  read_bus(pipeline, record);
  return record;
}

static void record_free(Record *record)
{
  g_array_unref(record->blocks);
  g_free(record->warned);
  g_free(record);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Record, record_free)

static void close_pipeline(GstElement *pipeline)
{
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static Record *record_line(const char *source, const char *stage)
{
  GstElement *pipeline = parse(source, stage);
  Record *record = record_pipeline(pipeline);
  close_pipeline(pipeline);
  return record;
}

static const Block *block_of(const Record *record, guint i)
{
  return &g_array_index(record->blocks, Block, i);
}

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
    g_autoptr(GError) error = NULL;
    GstElement *pipeline = gst_parse_launch(line, &error);
    g_assert_no_error(error);
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
      const gboolean is_whole = block->lost == 0 && block->good == 100; /* one count for all */
      g_assert_cmpuint(block->first, ==, number);
      good[i] += is_whole ? 100 * PER_SPECTRUM : block->good;
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
  g_test_add_func("/playing/retarget", retarget);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
