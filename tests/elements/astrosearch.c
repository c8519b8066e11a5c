/* Pulses that are put into power come out as candidates, with their time, dispersion measure, width
 * and beam, and the power itself passes unchanged. */
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/core/search/search.h"
#include "tests/elements/elements.h"

#include <glib/gstdio.h>

#define DMS 12
#define BEAMS 2
#define STEPS 8192
#define RATE 1000
#define CAPS                                                                                       \
  "application/x-astro-power,format=F32LE,layout=time:beam:dm:pol,beams=2,dms=12,pols=1,"          \
  "products=I,rate=1000/1,counts=true"

static GstEvent *observation(guint n_dms)
{
  g_autoptr(AstroObservation) about = astro_observation_new(1);
  double dms[DMS];
  astro_observation_set_start(about, "2026-11-20T12:00:00", NULL);
  for (guint i = 0; i < BEAMS; i++) {
    g_autofree char *name = g_strdup_printf("b%u", i);
    astro_observation_add_beam(about, name, ASTRO_BEAM_TIED, ASTRO_BEAM_LM, 0, 0, NULL);
  }
  for (guint i = 0; i < n_dms; i++)
    dms[i] = 100 + 5 * i;
  astro_observation_set_dms(about, dms, n_dms, 1.5e9, NULL);
  return astro_observation_to_event(about);
}

static GstHarness *new_harness(const char *settings, GstBus *bus)
{
  g_autofree char *line = g_strdup_printf("astrosearch backend=cpu %s", settings);
  g_autoptr(GstElement) element = gst_object_ref_sink(gst_parse_launch(line, NULL));
  GstHarness *h = gst_harness_new_with_element(element, "sink", "src");
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, CAPS);
  gst_harness_push_event(h, observation(DMS));
  return h;
}

/* Noise of both beams, with a pulse of 5 steps in beam 1 that is best at trial 7, and half as high
 * and twice as wide in its neighbours; and one of 20 steps, later, at trial 2 of beam 0. */
static TestSeries new_series(void)
{
  TestSeries series = test_series_new(BEAMS, DMS, STEPS, 10, 1, 5);
  test_add_pulse(&series, 3000, 5, 1, 7, 6);
  test_add_pulse(&series, 2998, 10, 1, 6, 3);
  test_add_pulse(&series, 2998, 10, 1, 8, 3);
  test_add_pulse(&series, 6000, 16, 0, 2, 3);
  return series;
}

static GstBuffer *part(const TestSeries *series, guint64 first, guint64 steps)
{
  const gsize width = BEAMS * DMS;
  GstBuffer *buffer =
      gst_buffer_new_memdup(series->values + first * width, steps * width * sizeof(float));
  AstroLayout shape = { 1, { ASTRO_AXIS_TIME }, { steps } };
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shape, TEST_FULL);
  meta->slowest_first = TRUE;
  for (guint64 t = 0; t < steps; t++)
    meta->counts[t] = series->counts ? series->counts[(first + t) * width] : TEST_FULL;
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  GST_BUFFER_PTS(buffer) = first * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = steps * GST_MSECOND;
  return buffer;
}

/* The next candidate; NULL: there is none. */
static GstStructure *next_candidate(GstBus *bus)
{
  GstMessage *message;
  GstStructure *found = NULL;
  while (!found && (message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name(message, "candidate"))
      found = gst_structure_copy(gst_message_get_structure(message));
    gst_message_unref(message);
  }
  return found;
}

static double number(const GstStructure *s, const char *field)
{
  double value = NAN;
  gst_structure_get_double(s, field, &value);
  return value;
}

static void assert_candidates(GstBus *bus, GString *told)
{
  static const struct {
    const char *beam, *time;
    double dm, width, snr;
  } expected[] = { { "b1", "2026-11-20T12:00:03.002", 135, 0.004, 12 },
                   { "b0", "2026-11-20T12:00:06.008", 110, 0.016, 12 } };
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++) {
    GstStructure *found = next_candidate(bus);
    g_assert_nonnull(found);
    g_autofree char *text = gst_structure_to_string(found);
    g_test_message("%s", text);
    g_string_append_printf(told, "%s\n", text);
    g_assert_cmpstr(gst_structure_get_string(found, "beam"), ==, expected[i].beam);
    g_assert_true(g_str_has_prefix(gst_structure_get_string(found, "time"), expected[i].time) ||
                  i == 1); /* the wide one may be a step or two off */
    g_assert_cmpfloat(number(found, "dm"), ==, expected[i].dm);
    g_assert_cmpfloat_with_epsilon(number(found, "width"), expected[i].width, 1e-9);
    g_assert_cmpfloat_with_epsilon(number(found, "snr"), expected[i].snr, 2.5);
    gst_structure_free(found);
  }
  g_assert_null(next_candidate(bus));
}

/* The same candidates however the stream is cut, and the power passes bit for bit with its counts
 * and times. */
static void test_pulses(void)
{
  static const guint64 blocks[] = { STEPS, 1000, 37 };
  g_auto(TestSeries) series = new_series();
  g_autoptr(GString) first = g_string_new(NULL);
  for (guint b = 0; b < G_N_ELEMENTS(blocks); b++) {
    g_autoptr(GstBus) bus = gst_bus_new();
    g_autoptr(GString) told = g_string_new(NULL);
    GstHarness *h = new_harness("widths=1,2,4,8,16 window=1024", bus);
    for (guint64 at = 0; at < STEPS; at += blocks[b]) {
      const guint64 steps = MIN(blocks[b], STEPS - at);
      g_assert_cmpint(gst_harness_push(h, part(&series, at, steps)), ==, GST_FLOW_OK);
      g_autoptr(GstBuffer) out = gst_harness_pull(h), in = part(&series, at, steps);
      GstMapInfo x, y;
      g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, at);
      g_assert_cmpuint(GST_BUFFER_PTS(out), ==, GST_BUFFER_PTS(in));
      g_assert_nonnull(astro_buffer_get_validity(out));
      gst_buffer_map(out, &x, GST_MAP_READ);
      gst_buffer_map(in, &y, GST_MAP_READ);
      g_assert_cmpmem(x.data, x.size, y.data, y.size);
      gst_buffer_unmap(out, &x);
      gst_buffer_unmap(in, &y);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    assert_candidates(bus, told);
    if (b == 0)
      g_string_assign(first, told->str);
    g_assert_cmpstr(told->str, ==, first->str);
    g_autoptr(GstCaps) in = gst_caps_from_string(CAPS), out = gst_pad_get_current_caps(h->sinkpad);
    g_assert_true(gst_caps_is_equal(in, out));
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* A candidate is told when no hit can join it, not only at the end. */
static void test_in_time(void)
{
  g_auto(TestSeries) series = new_series();
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = new_harness("widths=1,2,4,8,16 window=1024", bus);
  gst_harness_push(h, part(&series, 0, 4096));
  GstStructure *found = next_candidate(bus);
  g_assert_nonnull(found);
  gst_structure_free(found);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* Lost samples and lost buffers, said in any way, neither make candidates nor hide a pulse beside
 * them; the first pulse is lost. */
static void test_losses(void)
{
  enum { BLOCK = 500 };
  for (guint how = 0; how < 4; how++) {
    g_auto(TestSeries) series = new_series();
    g_autoptr(GstBus) bus = gst_bus_new();
    GstHarness *h = new_harness("widths=1,2,4,8,16 window=1024", bus);
    for (guint64 at = 0; at < STEPS; at += BLOCK) {
      const guint64 steps = MIN(BLOCK, STEPS - at);
      const gboolean lost = at == 2500 || at == 3000;
      GstBuffer *buffer = part(&series, at, steps);
      if (lost && how == 0)
        GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
      if (lost && how == 1)
        gst_clear_buffer(&buffer);
      if (lost && how >= 2) {
        AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
        for (guint64 t = 0; t < steps; t++)
          meta->counts[t] = 0;
        if (how == 3)
          gst_buffer_memset(buffer, 0, 0, gst_buffer_get_size(buffer));
      }
      if (buffer)
        gst_harness_push(h, buffer);
    }
    gst_harness_push_event(h, gst_event_new_eos());
    GstStructure *found = next_candidate(bus);
    g_assert_nonnull(found);
    g_assert_cmpstr(gst_structure_get_string(found, "beam"), ==, "b0");
    g_assert_null(next_candidate(bus));
    gst_structure_free(found);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* The table has the same, is there when EOS is, and not before. A flush revokes it. */
static void test_table(void)
{
  g_auto(TestSeries) series = new_series();
  g_autofree char *folder = g_dir_make_tmp("astrosearch-XXXXXX", NULL),
                  *file = g_build_filename(folder, "found.csv", NULL), *text = NULL,
                  *settings = g_strdup_printf("widths=1,2,4,8,16 window=1024 location=%s", file);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = new_harness(settings, bus);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push(h, part(&series, 0, 4096));
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  gst_harness_push(h, part(&series, 0, STEPS));
  g_assert_false(g_file_test(file, G_FILE_TEST_EXISTS));
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
  g_test_message("%s", text);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 4);
  g_assert_true(g_str_has_prefix(lines[0], "time,seconds,index,dm,width,steps,snr,beam,hits"));
  g_auto(GStrv) row = g_strsplit(lines[1], ",", -1);
  g_assert_cmpuint(g_strv_length(row), ==, 11);
  g_assert_true(g_str_has_prefix(row[0], "2026-11-20T12:00:03.002"));
  g_assert_cmpstr(row[3], ==, "135");
  g_assert_cmpstr(row[4], ==, "0.004");
  g_assert_cmpstr(row[7], ==, "b1");
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
  g_unlink(file);
  g_rmdir(folder);
}

static void test_refusals(void)
{
#define NOISE                                                                                      \
  "astroskysrc stations=1 duration=0.1 ! astrochannelizer channels=16 ! astropower "               \
  "integration=10 "
  static const struct {
    const char *line, *says;
  } cases[] = {
    { NOISE "! astrosearch ! fakesink", "channels=16, expected 1" },
    { NOISE "channel-step=16 ! astrosearch widths=4,2 ! fakesink", "expected 1 to 65536, rising" },
    { NOISE "channel-step=16 ! astrosearch window=100 ! fakesink",
      "a window of 100 steps, expected 1024" },
    { NOISE "channel-step=16 ! astrosearch location=/nonexistent/a.csv ! fakesink",
      "/nonexistent/a.csv" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=80 ! application/x-astro-power,format=F32LE,"
      "layout=time:dm:pol,dms=10,pols=1,products=I,rate=10/1 ! astrosearch ! fakesink",
      "dms=10 trials, and the observation names 0 dispersion measures" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=80 ! application/x-astro-power,format=F32LE,"
      "layout=time:pol,pols=1,products=I ! astrosearch ! fakesink",
      "caps have no rate" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astrosearch", cases[i].says);
}

static void add_tests(void)
{
  g_test_add_func("/astrosearch/pulses", test_pulses);
  g_test_add_func("/astrosearch/in-time", test_in_time);
  g_test_add_func("/astrosearch/losses", test_losses);
  g_test_add_func("/astrosearch/table", test_table);
  g_test_add_func("/astrosearch/refused", test_refusals);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
