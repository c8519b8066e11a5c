/* Beams through astroselect and astrojoin: what was taken apart is joined again to the last bit,
 * with counts and the observation; and beams that do not belong together are refused. */
#include "core/stream/beams.h"
#include "tests/elements/merging.h"

#define BEAMS 5

static const AstroLayout layouts[] = {
  { 4,
    { ASTRO_AXIS_BEAM, ASTRO_AXIS_POL, ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL },
    { BEAMS, 2, 0, 3 } },
  { 3, { ASTRO_AXIS_TIME, ASTRO_AXIS_BEAM, ASTRO_AXIS_CHANNEL }, { 0, BEAMS, 4 } },
  { 3, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_TIME, ASTRO_AXIS_BEAM }, { 7, 0, BEAMS } },
};

static char *caps_of(const AstroLayout *layout)
{
  const AstroStream stream = { .quantity = ASTRO_QUANTITY_SPECTRA,
                               .format = ASTRO_FORMAT_CF32LE,
                               .layout = *layout,
                               .rate_n = 1000,
                               .rate_d = 1,
                               .frequency = 150e6,
                               .bandwidth = 7e3 };
  g_autoptr(GstCaps) caps = astro_stream_to_caps(&stream);
  return gst_caps_to_string(caps);
}

static AstroObservation *observe(void)
{
  AstroObservation *o = astro_observation_new(2);
  g_assert_true(astro_observation_set_start(o, "2026-11-20T12:00:00", NULL));
  for (guint i = 0; i < BEAMS; i++) {
    g_autofree char *name = g_strdup_printf("beam-%c", 'a' + (char)i);
    g_assert_true(astro_observation_add_beam(
        o, name, i == 4 ? ASTRO_BEAM_INCOHERENT : ASTRO_BEAM_TIED,
        i == 4 ? ASTRO_BEAM_UNTOLD : ASTRO_BEAM_RADEC, 0.1 * i, 0.5 - 0.1 * i, NULL));
  }
  return o;
}

/* Some steps, with counts along beams and time. */
static GstBuffer *make_buffer(const AstroLayout *layout, guint64 first, guint64 steps)
{
  AstroLayout shape = *layout, counted = { 0 };
  for (guint i = 0; i < shape.n_axes; i++) {
    if (!shape.extents[i])
      shape.extents[i] = steps;
    if (shape.axes[i] == ASTRO_AXIS_CHANNEL || shape.axes[i] == ASTRO_AXIS_POL)
      continue;
    counted.axes[counted.n_axes] = shape.axes[i];
    counted.extents[counted.n_axes++] = shape.extents[i];
  }
  GstBuffer *buffer = test_buffer(astro_layout_samples(&shape) * 8, (guint32)first);
  AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &counted, 100);
  meta->slowest_first = counted.axes[0] == shape.axes[0];
  for (gsize i = 0; i < astro_validity_n_counts(meta); i++)
    meta->counts[i] = (guint32)((i * 37 + first) % 101);
  GST_BUFFER_OFFSET(buffer) = first;
  GST_BUFFER_OFFSET_END(buffer) = first + steps;
  GST_BUFFER_PTS(buffer) = first * GST_MSECOND;
  GST_BUFFER_DURATION(buffer) = steps * GST_MSECOND;
  return buffer;
}

static void check_same(GstBuffer *a, GstBuffer *b)
{
  const AstroValidityMeta *x = astro_buffer_get_validity(a), *y = astro_buffer_get_validity(b);
  GstMapInfo p, q;
  g_assert_true(gst_buffer_map(a, &p, GST_MAP_READ) && gst_buffer_map(b, &q, GST_MAP_READ));
  g_assert_cmpmem(p.data, p.size, q.data, q.size);
  gst_buffer_unmap(a, &p);
  gst_buffer_unmap(b, &q);
  g_assert_true(x && y && astro_layout_is_equal(&x->shape, &y->shape));
  g_assert_cmpuint(x->full, ==, y->full);
  g_assert_cmpint(x->slowest_first, ==, y->slowest_first);
  g_assert_cmpmem(x->counts, astro_validity_n_counts(x) * sizeof *x->counts, y->counts,
                  astro_validity_n_counts(y) * sizeof *y->counts);
  g_assert_cmpuint(GST_BUFFER_OFFSET(a), ==, GST_BUFFER_OFFSET(b));
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(a), ==, GST_BUFFER_OFFSET_END(b));
  g_assert_cmpuint(GST_BUFFER_PTS(a), ==, GST_BUFFER_PTS(b));
  g_assert_cmpuint(GST_BUFFER_DURATION(a), ==, GST_BUFFER_DURATION(b));
}

static AstroObservation *sticky_observation(GstPad *pad)
{
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_assert_nonnull(event);
  AstroObservation *o = astro_observation_from_event(event, NULL);
  g_assert_nonnull(o);
  return o;
}

static void check_beams(const AstroObservation *o, const char *const *names)
{
  g_assert_cmpuint(o->n_beams, ==, g_strv_length((char **)names));
  for (guint i = 0; names[i]; i++) {
    g_assert_cmpstr(o->beams[i].name, ==, names[i]);
    const guint number = (guint)(names[i][5] - 'a');
    g_assert_cmpfloat(o->beams[i].x, ==, number == 4 ? 0 : 0.1 * number);
    g_assert_cmpint(o->beams[i].kind, ==, number == 4 ? ASTRO_BEAM_INCOHERENT : ASTRO_BEAM_TIED);
  }
}

static GstHarness *select_harness(const char *list, const char *caps, const AstroObservation *o)
{
  g_autofree char *line = g_strdup_printf("astroselect backend=cpu beams=%s", list);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_src_caps_str(h, caps);
  gst_harness_push_event(h, astro_observation_to_event(o));
  return h;
}

/* Each list keeps beams, by index, range and name. */
static void test_selected(void)
{
  static const struct {
    const char *list;
    const char *names[BEAMS + 1];
  } cases[] = {
    { "1-3", { "beam-b", "beam-c", "beam-d" } },
    { "beam-e,0", { "beam-e", "beam-a" } },
    { "4-,beam-b", { "beam-e", "beam-b" } },
    { "0-4:2", { "beam-a", "beam-c", "beam-e" } },
    { "beam-d", { "beam-d" } },
  };
  g_autoptr(AstroObservation) o = observe();
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *caps = caps_of(&layouts[1]);
    GstHarness *h = select_harness(cases[i].list, caps, o);
    g_autoptr(GstBuffer) in = make_buffer(&layouts[1], 0, 2);
    g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
    const guint kept = g_strv_length((char **)cases[i].names);
    g_assert_cmpuint(gst_buffer_get_size(out), ==, kept * 2 * 4 * 8);
    for (guint step = 0; step < 2; step++)
      for (guint k = 0; k < kept; k++) {
        guint8 a[32], b[32];
        gst_buffer_extract(out, (step * kept + k) * sizeof a, a, sizeof a);
        gst_buffer_extract(in, (step * BEAMS + (guint)(cases[i].names[k][5] - 'a')) * sizeof b, b,
                           sizeof b);
        g_assert_cmpmem(a, sizeof a, b, sizeof b);
      }
    g_autoptr(AstroObservation) said = sticky_observation(h->sinkpad);
    check_beams(said, cases[i].names);
    gst_harness_teardown(h);
  }
}

#define BLOCKS 4

/* A pad, and the buffers that a thread of its own sends to it. */
typedef struct {
  GstPad *pad;
  GstBuffer *parts[BLOCKS];
} Feed;

static gpointer feed(gpointer data)
{
  Feed *self = data;
  for (guint i = 0; i < BLOCKS; i++)
    g_assert_cmpint(gst_pad_push(self->pad, self->parts[i]), ==, GST_FLOW_OK);
  gst_pad_push_event(self->pad, gst_event_new_eos());
  return NULL;
}

static void test_together(void)
{
  static const char *const parts[][4] = { { "0-1", "beam-c", "3-4" }, { "0", "1-" }, { "0-4" } };
  static const char *const all[] = { "beam-a", "beam-b", "beam-c", "beam-d", "beam-e", NULL };
  for (guint i = 0; i < G_N_ELEMENTS(layouts) * G_N_ELEMENTS(parts); i++) {
    const AstroLayout *layout = &layouts[i / G_N_ELEMENTS(parts)];
    const char *const *lists = parts[i % G_N_ELEMENTS(parts)];
    const guint n = g_strv_length((char **)lists);
    g_autofree char *caps = caps_of(layout);
    g_autoptr(AstroObservation) o = observe();
    TestMerge *m = test_merge_new("astrojoin axis=beam", n, FALSE);
    Feed feeds[4];
    GThread *threads[4];
    gst_element_set_state(m->element, GST_STATE_PLAYING);
    for (guint k = 0; k < n; k++) {
      GstHarness *h = select_harness(lists[k], caps, o);
      for (guint block = 0; block < BLOCKS; block++) {
        feeds[k].parts[block] = gst_harness_push_and_pull(h, make_buffer(layout, 6 * block, 6));
        if (block == 0) {
          g_autoptr(GstCaps) kept = gst_pad_get_current_caps(h->sinkpad);
          g_autofree char *text = gst_caps_to_string(kept);
          g_autoptr(AstroObservation) said = sticky_observation(h->sinkpad);
          test_merge_begin(m, k, text, said);
        }
      }
      gst_harness_teardown(h);
      feeds[k].pad = m->in[k];
      threads[k] = g_thread_new("feed", feed, &feeds[k]);
    }
    for (guint block = 0; block < BLOCKS; block++) {
      g_autoptr(GstBuffer) expected = make_buffer(layout, 6 * block, 6);
      g_autoptr(GstBuffer) got = test_merge_pull(m);
      check_same(got, expected);
    }
    for (guint k = 0; k < n; k++)
      g_thread_join(threads[k]);
    g_autoptr(AstroObservation) said = sticky_observation(m->out);
    check_beams(said, all);
    test_merge_free(m);
  }
}

/* ---- what does not belong together ---- */

static AstroObservation *one_beam(const char *name, double x)
{
  AstroObservation *o = astro_observation_new(2);
  if (name)
    g_assert_true(astro_observation_add_beam(o, name, ASTRO_BEAM_TIED, ASTRO_BEAM_LM, x, 0, NULL));
  return o;
}

#define ONE                                                                                        \
  "application/x-astro-spectra,format=CF32LE,layout=time:beam:channel,beams=1,channels=2,rate=1/1"

static void test_refused_beams(void)
{
  static const struct {
    const char *axis;
    struct {
      const char *name;
      double x;
    } beams[2];
    const char *says; /* NULL: accepted */
  } cases[] = {
    { "beam", { { "a", 0.1 }, { "b", 0.1 } }, NULL },
    { "beam", { { "a", 0.1 }, { "a", 0.2 } }, NULL },
    { "beam", { { NULL, 0 }, { NULL, 0 } }, NULL },
    { "beam",
      { { "a", 0.1 }, { "a", 0.1 } },
      "pad sink_1: beam a, tied, at l 0.1 m 0, is there already" },
    { "beam",
      { { "a", 0.1 }, { NULL, 0 } },
      "pad sink_1: the observation has 0 beams and the caps have 1" },
    { "channel", { { "a", 0.1 }, { "a", 0.1 } }, NULL },
    { "channel",
      { { "a", 0.1 }, { "b", 0.1 } },
      "pad sink_1: beam 0 is b, tied, at l 0.1 m 0, expected a, tied, at l 0.1 m 0" },
    { "channel", { { "a", 0.1 }, { "a", 0.2 } }, "pad sink_1: beam 0 is a, tied, at l 0.2" },
    { "channel",
      { { "a", 0.1 }, { NULL, 0 } },
      "pad sink_1: the observation names 0 beams, expected 1, as on pad sink_0" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strdup_printf("astrojoin axis=%s", cases[i].axis);
    TestMerge *m = test_merge_new(line, 2, FALSE);
    gst_element_set_state(m->element, GST_STATE_PLAYING);
    for (guint k = 0; k < 2; k++) {
      g_autoptr(AstroObservation) o = one_beam(cases[i].beams[k].name, cases[i].beams[k].x);
      test_merge_begin(m, k, ONE, o);
      gst_pad_push(m->in[k], test_buffer(16, k));
      gst_pad_push_event(m->in[k], gst_event_new_eos());
    }
    if (cases[i].says) {
      g_autoptr(GstMessage) message =
          gst_bus_timed_pop_filtered(m->bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
      g_autoptr(GError) error = NULL;
      g_assert_nonnull(message);
      gst_message_parse_error(message, &error, NULL);
      test_says(error->message, cases[i].says);
    } else {
      gst_buffer_unref(test_merge_pull(m));
    }
    test_merge_free(m);
  }
}

static void test_not_selected(void)
{
  static const struct {
    const char *list, *says;
  } cases[] = {
    { "beam-f", "beams: there is no \"beam-f\", expected beam-a, beam-b" },
    { "5", "beams: \"5\" is beyond the 5 that there are" },
    { "1,beam-b", "beams: number 1 is listed twice" },
  };
  g_autoptr(AstroObservation) o = observe(), fewer = one_beam("beam-a", 0.1);
  for (guint i = 0; i < 2 * G_N_ELEMENTS(cases); i++) {
    const gboolean is_few = i >= G_N_ELEMENTS(cases);
    g_autofree char *line =
        g_strdup_printf("astroselect beams=%s", is_few ? "beam-a" : cases[i].list);
    GstHarness *h = gst_harness_new_parse(line);
    g_autoptr(GstBus) bus = gst_bus_new();
    g_autofree char *caps = caps_of(&layouts[1]);
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, caps);
    gst_harness_push_event(h, astro_observation_to_event(is_few ? fewer : o));
    gst_harness_push(h, make_buffer(&layouts[1], 0, 1));
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(message);
    gst_message_parse_error(message, &error, NULL);
    test_says(error->message,
              is_few ? "beams: the observation names 1 beams and the caps have 5" : cases[i].says);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* Joined streams have had the same dispersion taken out. */
static void test_refused_dms(void)
{
  static const struct {
    double dms[2], frequency;
    guint n;
    const char *says; /* NULL: accepted */
  } cases[] = {
    { { 10, 20 }, 1e8, 2, NULL },
    { { 10, 20 }, 1e8, 1, "pad sink_1: 1 dispersion measures were taken out, expected 2" },
    { { 10, 30 }, 1e8, 2, "pad sink_1: dispersion measure 1 is 30 pc/cm^3, expected 20" },
    { { 10, 20 }, 2e8, 2, "pad sink_1: dispersion was taken out relative to 200000000 Hz" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    TestMerge *m = test_merge_new("astrojoin axis=channel", 2, FALSE);
    gst_element_set_state(m->element, GST_STATE_PLAYING);
    for (guint k = 0; k < 2; k++) {
      g_autoptr(AstroObservation) o = one_beam("a", 0.1);
      const guint row = k ? i : 0;
      g_assert_true(
          astro_observation_set_dms(o, cases[row].dms, cases[row].n, cases[row].frequency, NULL));
      test_merge_begin(m, k, ONE, o);
      gst_pad_push(m->in[k], test_buffer(16, k));
      gst_pad_push_event(m->in[k], gst_event_new_eos());
    }
    if (cases[i].says) {
      g_autoptr(GstMessage) message =
          gst_bus_timed_pop_filtered(m->bus, TEST_PATIENCE, GST_MESSAGE_ERROR);
      g_autoptr(GError) error = NULL;
      g_assert_nonnull(message);
      gst_message_parse_error(message, &error, NULL);
      test_says(error->message, cases[i].says);
    } else {
      gst_buffer_unref(test_merge_pull(m));
    }
    test_merge_free(m);
  }
}

static void add_tests(void)
{
  g_test_add_func("/beams/selected", test_selected);
  g_test_add_func("/beams/together", test_together);
  g_test_add_func("/beams/refused", test_refused_beams);
  g_test_add_func("/beams/dms", test_refused_dms);
  g_test_add_func("/beams/not-selected", test_not_selected);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
