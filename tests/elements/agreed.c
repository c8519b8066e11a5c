/* Caps that are agreed on again in mid-stream, since an element was linked or asked for it: what
 * was agreed on stays as long as downstream takes it, and nothing that a stage holds is lost. */
#include "core/stream/observation.h"
#include "tests/elements/misfit-running.h"
#include "tests/elements/running.h"

/* ---- what downstream lists ---- */

/* The caps in which downstream has begun to list what it did not list first before; NULL: any. */
static GstCaps *listed;

static gboolean answer(GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *filter;
  if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS || !listed)
    return gst_pad_query_default(pad, parent, query);
  gst_query_parse_caps(query, &filter);
  g_autoptr(GstCaps) caps = filter
                                ? gst_caps_intersect_full(filter, listed, GST_CAPS_INTERSECT_FIRST)
                                : gst_caps_ref(listed);
  gst_query_set_caps_result(query, caps);
  return TRUE;
}

static gboolean turn_list(GQuark field, GValue *value, gpointer unused)
{
  GValue turned = G_VALUE_INIT;
  if (!GST_VALUE_HOLDS_LIST(value))
    return TRUE;
  g_value_init(&turned, GST_TYPE_LIST);
  for (guint i = gst_value_list_get_size(value); i-- > 0;)
    gst_value_list_append_value(&turned, gst_value_list_get_value(value, i));
  g_value_unset(value);
  *value = turned;
  return TRUE;
}

/* The same caps, with what was listed last listed first. */
static GstCaps *turn(const GstCaps *caps)
{
  GstCaps *turned = gst_caps_new_empty();
  for (guint i = gst_caps_get_size(caps); i-- > 0;) {
    GstStructure *s = gst_structure_copy(gst_caps_get_structure(caps, i));
    gst_structure_map_in_place(s, turn_list, NULL);
    gst_caps_append_structure(turned, s);
  }
  return turned;
}

/* ---- disturbances ---- */

static void agree_again(GstHarness *h, guint number)
{
  if (number > 0)
    gst_harness_push_upstream_event(h, gst_event_new_reconfigure());
}

/* From the middle of the stream on downstream would rather have something else. */
static void prefer_others(GstHarness *h, guint number)
{
  if (number == 0)
    gst_pad_set_query_function(h->sinkpad, answer);
  if (number == 2) {
    g_autoptr(GstCaps) possible = gst_pad_peer_query_caps(h->sinkpad, NULL);
    listed = turn(possible);
  }
  agree_again(h, number);
}

/* An element upstream repeats its caps. */
static void repeat_caps(GstHarness *h, guint number)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->srcpad);
  if (number > 0)
    gst_pad_push_event(h->srcpad, gst_event_new_caps(caps));
}

static const struct {
  const char *name;
  TestMisfitDisturb disturb;
} disturbances[] = {
  { "downstream asks for caps again", agree_again },
  { "downstream lists other caps first", prefer_others },
  { "upstream repeats its caps", repeat_caps },
};

/* Stages as in misfit-stages.h, with streams for which they have a choice. */
static const TestMisfitStage more_stages[] = {
  { "astrotranspose backend=cpu", MISFIT_SPECTRA },
  { "astrocorrelator integration=100 backend=cpu",
    MISFIT_VOLTAGES " ! astrochannelizer channels=16 taps=2 gain=5 backend=cpu ! "
                    "application/x-astro-spectra,format=CI8 ! astrotranspose" },
  { "astrochannelizer channels=16 taps=4 backend=cpu", MISFIT_VOLTAGES_8 },
  { "astrodelay backend=cpu", MISFIT_VOLTAGES_8 },
};

/* Caps that are repeated say nothing. */
static char *without_repeats(const GString *events)
{
  g_auto(GStrv) lines = g_strsplit(events->str, "\n", -1);
  GString *once = g_string_new(NULL);
  for (guint i = 0; lines[i]; i++)
    if (!strstr(once->str, lines[i]))
      g_string_append_printf(once, "%s\n", lines[i]);
  return g_string_free(once, FALSE);
}

/* The part that differs; NULL: none does. */
static const char *find_difference(const TestMisfitResult *good, const TestMisfitResult *found)
{
  g_autofree char *expected = without_repeats(good->events),
                  *events = without_repeats(found->events);
  if (found->error)
    return found->error;
  if (strcmp(expected, events) != 0)
    return "caps or observations";
  if (!g_string_equal(found->output, good->output) || found->has_marks != good->has_marks)
    return "times or marks of losses";
  if (strcmp(found->told, good->told) != 0)
    return "statistics";
  return found->data->len == good->data->len &&
                 memcmp(found->data->data, good->data->data, good->data->len) == 0
             ? NULL
             : "samples";
}

static void test_stage(gconstpointer data)
{
  const TestMisfitStage *stage = data;
  g_autoptr(GPtrArray) items = test_record(stage->stream);
  g_auto(TestMisfitResult) good = test_misfit_run(stage, items);

  g_assert_true(test_misfit_has_output(&good));
  for (guint i = 0; i < G_N_ELEMENTS(disturbances); i++) {
    g_auto(TestMisfitResult) found =
        test_misfit_run_disturbed(stage, items, disturbances[i].disturb);
    const char *difference = find_difference(&good, &found);
    gst_clear_caps(&listed);
    if (difference)
      g_test_fail_printf("%s gives other %s where %s: after\n%snot\n%s", stage->element, difference,
                         disturbances[i].name, found.events->str, good.events->str);
  }
}

/* ---- branches that are linked in mid-stream ---- */

#define VOLTAGES                                                                                   \
  "astroskysrc stations=4 pols=2 noise=20 frequency=1.5e8 bandwidth=1e6 block-steps=1000 "         \
  "phase-centre=246.5,38 start-time=2026-11-20T12:00:00 duration=0.0205 ! tee name=t0 ! "
#define CHAIN                                                                                      \
  VOLTAGES "astrodelay backend=%s ! tee name=t1 ! astrochannelizer channels=16 taps=4 "            \
           "backend=%s ! tee name=t2 ! astrotranspose backend=%s ! tee name=t3 ! astrocorrelator " \
           "integration=500 backend=%s"

#define LISTED(quantity, fields)                                                                   \
  "capsfilter caps=\"application/x-astro-" quantity "," fields "\" ! fakesink"

/* Elements that are linked behind a tee of the chain. */
static const struct {
  const char *tee, *branch;
} branches[] = {
  { "t0", "fakesink" },
  { "t0", LISTED("voltages", "format={CF32LE,CI16LE,CI8}") },
  { "t0", "astrochannelizer channels=8 ! fakesink" },
  { "t1", LISTED("voltages", "layout={station:pol:time,time:station:pol}") },
  { "t1", "astrochannelizer channels=8 ! fakesink" },
  { "t2", LISTED("spectra", "format={CI8,CI16LE,CF16LE,CF32LE}") },
  { "t2", "astrocorrelator ! fakesink" },
  { "t2", "astropower ! fakesink" },
  { "t3", "fakesink" },
  { "t3", "astrobeamform beams=0,0 ! fakesink" },
};

enum { LINKED_AT = 6, UNLINKED_AT = 13 };

typedef struct {
  GstElement *pipeline, *tee, *branch;
  GstPad *pad; /* of the tee */
  guint blocks;
} Link;

static void link_branch(Link *link)
{
  GstElement *sink = NULL;
  g_autoptr(GstIterator) sinks = gst_bin_iterate_sinks(GST_BIN(link->branch));
  GValue value = G_VALUE_INIT;
  g_assert_true(gst_iterator_next(sinks, &value) == GST_ITERATOR_OK);
  sink = g_value_get_object(&value);
  g_object_set(sink, "async", FALSE, "sync", FALSE, NULL);
  g_value_unset(&value);
  g_autoptr(GstPad) into = gst_element_get_static_pad(link->branch, "sink");
  link->pad = gst_element_request_pad_simple(link->tee, "src_%u");
  gst_bin_add(GST_BIN(link->pipeline), link->branch);
  g_assert_true(gst_element_sync_state_with_parent(link->branch));
  g_assert_true(gst_pad_link(link->pad, into) == GST_PAD_LINK_OK);
}

static void unlink_branch(Link *link)
{
  gst_element_release_request_pad(link->tee, link->pad);
  gst_clear_object(&link->pad);
  gst_bin_remove(GST_BIN(link->pipeline), link->branch);
  gst_element_set_state(link->branch, GST_STATE_NULL);
}

/* The chain runs in one thread, which is here and not in the branch. */
static GstPadProbeReturn see_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Link *link = data;
  link->blocks++;
  if (link->blocks == LINKED_AT)
    link_branch(link);
  if (link->blocks == UNLINKED_AT)
    unlink_branch(link);
  return GST_PAD_PROBE_OK;
}

static void add_block(GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer made)
{
  const guint64 said[] = { GST_BUFFER_OFFSET(buffer), GST_BUFFER_OFFSET_END(buffer),
                           GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer),
                           GST_BUFFER_IS_DISCONT(buffer) };
  g_byte_array_append(made, (const guint8 *)said, sizeof said);
  test_append(sink, buffer, pad, made);
}

/* Samples, times and DISCONT of all blocks of the chain. branch, or NULL, comes and goes. */
static GByteArray *run_linking(const char *line, const char *tee, const char *branch)
{
  GByteArray *made = g_byte_array_new();
  g_autofree char *whole =
      g_strconcat(line, " ! fakesink name=sink signal-handoffs=true sync=false", NULL);
  g_autoptr(GError) error = NULL;
  Link link = { .pipeline = gst_parse_launch(whole, &error) };
  g_assert_no_error(error);
  g_autoptr(GstElement) first = gst_bin_get_by_name(GST_BIN(link.pipeline), "t0");
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(link.pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(first, "sink");
  g_signal_connect(sink, "handoff", G_CALLBACK(add_block), made);
  if (branch) {
    link.tee = gst_bin_get_by_name(GST_BIN(link.pipeline), tee);
    link.branch = gst_object_ref_sink(gst_parse_bin_from_description(branch, TRUE, &error));
    g_assert_no_error(error);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, see_block, &link, NULL);
  }
  gst_element_set_state(link.pipeline, GST_STATE_PLAYING);
  g_autofree char *failed = test_wait(link.pipeline);
  g_assert_cmpstr(failed, ==, NULL);
  test_stop(link.pipeline);
  if (branch)
    g_assert_cmpuint(link.blocks, >, UNLINKED_AT);
  gst_clear_object(&link.tee);
  gst_clear_object(&link.branch);
  return made;
}

static void test_branches(gconstpointer backend)
{
  g_autofree char *line = test_replace(CHAIN, "%s", backend);
  g_autoptr(GByteArray) good = run_linking(line, NULL, NULL);
  g_assert_cmpuint(good->len, >, 0);
  for (guint i = 0; i < G_N_ELEMENTS(branches); i++) {
    g_autoptr(GByteArray) found = run_linking(line, branches[i].tee, branches[i].branch);
    if (found->len != good->len || memcmp(found->data, good->data, good->len) != 0)
      g_test_fail_printf("%s behind %s: other visibilities", branches[i].branch, branches[i].tee);
  }
}

/* ---- caps that have to change ---- */

/* Where downstream no longer takes what was agreed on, a stage may lose what it holds. A block that
 * does not follow the one before is DISCONT then. */
static void test_changed(void)
{
  static const struct {
    const char *stage, *from, *to;
    guint jumps;
  } cases[] = {
    { "astrochannelizer channels=16 taps=4 gain=4 backend=cpu",
      "application/x-astro-spectra,format=CI16LE", "application/x-astro-spectra,format=CI8", 1 },
    { "astrodelay backend=cpu", "application/x-astro-voltages,format=CF32LE",
      "application/x-astro-voltages,format=CI8", 0 },
    { "astroconvert backend=cpu", "application/x-astro-voltages,format=CF32LE",
      "application/x-astro-voltages,format=CI16LE", 0 },
  };
  g_autoptr(GPtrArray) items = test_record(MISFIT_VOLTAGES_8);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = gst_harness_new_parse(cases[i].stage);
    guint64 next = GST_BUFFER_OFFSET_NONE;
    guint number = 0, jumps = 0;
    GstBuffer *buffer;
    gst_harness_set_sink_caps_str(h, cases[i].from);
    for (guint k = 0; k < items->len; k++) {
      gpointer item = gst_mini_object_ref(items->pdata[k]);
      if (GST_IS_BUFFER(item) && number++ == 3)
        gst_harness_set_sink_caps_str(h, cases[i].to);
      if (GST_IS_BUFFER(item))
        g_assert_cmpint(gst_harness_push(h, item), ==, GST_FLOW_OK);
      else
        gst_harness_push_event(h, item);
    }
    while ((buffer = gst_harness_try_pull(h))) {
      const gboolean is_first = next == GST_BUFFER_OFFSET_NONE;
      const gboolean follows = !is_first && GST_BUFFER_OFFSET(buffer) == next;
      g_assert_cmpint(!GST_BUFFER_IS_DISCONT(buffer), ==, follows);
      jumps += !follows && !is_first;
      next = GST_BUFFER_OFFSET_END(buffer);
      gst_buffer_unref(buffer);
    }
    g_assert_cmpuint(jumps, ==, cases[i].jumps);
    gst_harness_teardown(h);
  }
}

/* ---- sources ---- */

/* A capsfilter asks for caps again when it is given others, which list another format first. */
static GstPadProbeReturn list_others(GstPad *pad, GstPadProbeInfo *info, gpointer caps)
{
  g_autoptr(GstElement) filter = gst_pad_get_parent_element(pad);
  gst_util_set_object_arg(G_OBJECT(filter), "caps", caps);
  return GST_PAD_PROBE_OK;
}

static void test_source(void)
{
  static const struct {
    const char *source, *first, *then;
  } cases[] = {
    { "astroskysrc stations=3 block-steps=500 bandwidth=1e6 duration=0.003",
      "application/x-astro-voltages,format={CI8,CF32LE}",
      "application/x-astro-voltages,format={CF32LE,CI8}" },
    { "astrovissrc stations=3 channels=2 integration=10 duration=60",
      "application/x-astro-visibilities,channels=2",
      "application/x-astro-visibilities,channels={1,2}" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("%s ! capsfilter name=f caps=\"%s\"", cases[i].source, cases[i].first);
    g_autoptr(GByteArray) good = test_run_line(line), found = g_byte_array_new();
    g_autofree char *whole =
        g_strconcat(line, " ! fakesink name=sink signal-handoffs=true sync=false", NULL);
    GstElement *pipeline = gst_parse_launch(whole, NULL);
    g_autoptr(GstElement) filter = gst_bin_get_by_name(GST_BIN(pipeline), "f");
    g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
    g_autoptr(GstPad) pad = gst_element_get_static_pad(filter, "sink");
    g_signal_connect(sink, "handoff", G_CALLBACK(test_append), found);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, list_others, (gpointer)cases[i].then, NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_autofree char *failed = test_wait(pipeline);
    g_assert_cmpstr(failed, ==, NULL);
    test_stop(pipeline);
    g_assert_cmpmem(found->data, found->len, good->data, good->len);
  }
}

static void add_stages(const TestMisfitStage *stages, guint n, const char *folder)
{
  for (guint s = 0; s < n; s++) {
    g_autofree char *name = g_strndup(stages[s].element, strcspn(stages[s].element, " "));
    g_autofree char *path = g_strdup_printf("/agreed/%s/%s", folder, name);
    if (!stages[s].location)
      g_test_add_data_func(path, &stages[s], test_stage);
  }
}

static void add_tests(void)
{
  add_stages(test_misfit_stages, G_N_ELEMENTS(test_misfit_stages), "stages");
  add_stages(more_stages, G_N_ELEMENTS(more_stages), "choices");
  g_test_add_data_func("/agreed/branches/cpu", "cpu", test_branches);
  if (test_has_device("/agreed/branches/device"))
    g_test_add_data_func("/agreed/branches/device", "cuda", test_branches);
  g_test_add_func("/agreed/changed", test_changed);
  g_test_add_func("/agreed/source", test_source);
}

int main(int argc, char **argv)
{
  test_use_fake_device();
  return test_run(argc, argv, add_tests);
}
