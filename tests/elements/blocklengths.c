/* The length of blocks that stages ask for and sources keep to: it is agreed on along whole lines,
 * and no sum depends on it. */
#include "core/correlator/correlator.h"
#include "elements/base/astroblocklength.h"
#include "tests/elements/changed.h"
#include "tests/elements/running.h"

/* ---- numbers ---- */

static void test_ends(void)
{
  static const struct {
    AstroBlockLength length;
    guint64 begin, most, end;
  } cases[] = {
    { { 0, 0 }, 7, 10, 17 },    { { 10, 0 }, 0, 10, 10 }, { { 10, 0 }, 10, 30, 40 },
    { { 10, 3 }, 0, 10, 3 },    { { 10, 3 }, 3, 10, 13 }, { { 10, 3 }, 0, 30, 23 },
    { { 10, 3 }, 23, 30, 53 },  { { 10, 0 }, 4, 10, 10 }, { { 10, 3 }, 5, 10, 13 },
    { { 100, 40 }, 0, 30, 30 }, /* no good end is near: as long as may be */
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpuint(astro_block_length_end(&cases[i].length, cases[i].begin, cases[i].most), ==,
                     cases[i].end);
}

/* Parts of an integration divide it, and are as short as pays. */
static void test_parts(void)
{
  for (guint i = 1; i < 3000; i = i * 5 / 4 + 1)
    for (guint device = 0; device < 2; device++) {
      const AstroCorrelatorConfig config = { .stations = 300, .pols = 1, .integration = i };
      const guint64 least = device ? 600 : 256, got = astro_correlator_part_steps(&config, device);
      g_assert_cmpuint(i % got, ==, 0);
      g_assert_true(got >= least || got == i);
      for (guint64 shorter = least; shorter < got; shorter++)
        g_assert_cmpuint(i % shorter, !=, 0);
    }
  g_assert_cmpuint(astro_correlator_part_steps(&(AstroCorrelatorConfig){ .stations = 3 }, FALSE),
                   ==, 0);
}

/* ---- lines ---- */

typedef struct {
  guint64 longest; /* block of the source */
  guint64 at_end;  /* blocks of spectra that end where a part does */
  guint64 blocks;  /* of spectra */
  guint64 part;    /* steps */
  GByteArray *sums;
} Seen;

static GstPadProbeReturn see_source(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Seen *seen = data;
  const GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  seen->longest = MAX(seen->longest, GST_BUFFER_OFFSET_END(buffer) - GST_BUFFER_OFFSET(buffer));
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn see_spectra(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Seen *seen = data;
  seen->blocks++;
  seen->at_end += GST_BUFFER_OFFSET_END(GST_PAD_PROBE_INFO_BUFFER(info)) % seen->part == 0;
  return GST_PAD_PROBE_OK;
}

static void add_probe(GstElement *pipeline, const char *name, GstPadProbeCallback call, Seen *seen)
{
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, call, seen, NULL);
}

typedef struct {
  const char *channels, *taps, *integration, *format;
  guint part; /* spectra, for 12 stations of two polarisations */
} Chain;

static GstElement *parse_chain(const char *settings, const Chain *chain, const char *backend,
                               const char *aside)
{
  g_autofree char *line = g_strdup_printf(
      "astroskysrc stations=12 pols=2 noise=20 bandwidth=1e6 %s ! "
      "application/x-astro-voltages,format=%s ! tee name=in ! astrochannelizer channels=%s taps=%s "
      "gain=4 backend=%s ! application/x-astro-spectra,format=CI8 ! queue max-size-buffers=1 ! "
      "astrotranspose "
      "backend=%s ! identity name=at ! astrocorrelator name=stage integration=%s backend=%s ! "
      "application/x-astro-visibilities,format=CI32LE ! "
      "fakesink name=sink sync=false signal-handoffs=true %s",
      settings, chain->format, chain->channels, chain->taps, backend, backend, chain->integration,
      backend, aside);
  g_test_message("%s", line);
  return parse_line(line);
}

static Seen run(const char *settings, const Chain *chain, const char *backend, const char *aside)
{
  Seen seen = { .part = chain->part, .sums = g_byte_array_new() };
  GstElement *pipeline = parse_chain(settings, chain, backend, aside);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_signal_connect(sink, "handoff", G_CALLBACK(test_append), seen.sums);
  add_probe(pipeline, "in", see_source, &seen);
  add_probe(pipeline, "at", see_spectra, &seen);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autofree char *failed = test_wait(pipeline);
  g_assert_cmpstr(failed, ==, NULL);
  test_stop(pipeline);
  g_assert_cmpuint(seen.sums->len, >, 0);
  g_test_message("blocks of %" G_GUINT64_FORMAT " samples, %" G_GUINT64_FORMAT
                 " of %" G_GUINT64_FORMAT " end with a part",
                 seen.longest, seen.at_end, seen.blocks);
  return seen;
}

static const Chain chains[] = {
  { "16", "4", "1000", "CI8", 500 },  { "15", "3", "1024", "CI8", 256 },
  { "16", "5", "512", "I8", 256 },    { "64", "8", "40", "CI16LE", 40 },
  { "16", "2", "4099", "CI8", 4099 }, /* a prime number */
};

static void clear(Seen *seen)
{
  g_byte_array_unref(seen->sums);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Seen, clear)

/* Every block of spectra ends where a part of an integration does, but for the first, while the
 * filter fills, and the last; and the sums are those of any other blocks. */
static void test_chains(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(chains); i++) {
    g_auto(Seen) any = run("duration=0.28 block-steps=12345", &chains[i], "cpu", "");
    g_auto(Seen) seen = run("duration=0.28", &chains[i], "cpu", "");
    g_assert_cmpuint(any.longest, ==, 12345);
    g_assert_cmpuint(any.at_end, <, any.blocks / 2);
    g_assert_cmpuint(seen.at_end + 2, >=, seen.blocks);
    g_assert_cmpuint(seen.at_end, >, 0);
    g_assert_cmpmem(seen.sums->data, seen.sums->len, any.sums->data, any.sums->len);
  }
}

/* A device rounds voltages of the filter bank by itself. */
static void test_device(void)
{
  g_auto(Seen) any = run("duration=0.28 block-steps=12345", &chains[1], "cuda", "");
  g_auto(Seen) seen = run("duration=0.28", &chains[1], "cuda", "");
  g_assert_cmpuint(seen.at_end + 2, >=, seen.blocks);
  g_assert_cmpuint(seen.at_end, >, 0);
  g_assert_cmpmem(seen.sums->data, seen.sums->len, any.sums->data, any.sums->len);
}

/* Sums of floats depend on blocks. */
static void test_floats(void)
{
  GstHarness *h = gst_harness_new("astrocorrelator");
  static const struct {
    const char *format;
    guint64 steps;
  } cases[] = {
    { "CI4", 256 }, { "CI8", 256 }, { "CI16LE", 256 }, { "CF16LE", 0 }, { "CF32LE", 0 }
  };
  g_object_set(h->element, "integration", 1024, NULL);
  gst_util_set_object_arg(G_OBJECT(h->element), "backend", "cpu");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strdup_printf("application/x-astro-spectra,format=%s,stations=200,"
                                            "channels=1,layout=time:channel:station",
                                            cases[i].format);
    gst_harness_set_src_caps_str(h, text);
    g_autoptr(GstCaps) caps = gst_caps_from_string(text);
    g_autoptr(GstQuery) query = gst_query_new_allocation(caps, TRUE);
    g_assert_true(gst_pad_peer_query(h->srcpad, query));
    g_assert_cmpuint(astro_block_length_find(query).steps, ==, cases[i].steps);
  }
  gst_harness_teardown(h);
}

/* Where a user has set the length, or samples or the end depend on it, nothing changes it, nor
 * where another branch has not asked for it. */
static void test_others(void)
{
  static const Chain chain = { "16", "4", "1000", "CI8", 500 };
  static const guint64 usual = (4u << 20) / 48 / 1024 * 1024;
  static const struct {
    const char *settings, *aside;
    guint64 longest;
  } cases[] = {
    { "duration=0.1 block-steps=30000", "", 30000 },
    { "num-buffers=1", "", usual },
    { "duration=0.1 repeat=2", "", usual },
    { "duration=0.1", "in. ! queue ! fakesink async=false", usual },
    { "duration=0.2", "", 80000 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Seen) seen = run(cases[i].settings, &chain, "cpu", cases[i].aside);
    g_assert_cmpuint(seen.longest, ==, cases[i].longest);
  }
}

/* Behind astrodelay blocks are as long, though tiles move their ends. */
static void test_delay(void)
{
#define SKY "duration=0.2 phase-centre=246.5,38 start-time=2026-11-20T12:00:00 "
#define DELAY " ! application/x-astro-voltages,format=CI8 ! astrodelay backend=cpu"
  g_auto(Seen) any = run(SKY "block-steps=12345" DELAY, &chains[0], "cpu", "");
  g_auto(Seen) seen = run(SKY DELAY, &chains[0], "cpu", "");
  g_assert_cmpuint(seen.longest, >, 80000 - 1024);
  g_assert_cmpuint(seen.longest, <, 80000 + 1024);
  g_assert_cmpmem(seen.sums->data, seen.sums->len, any.sums->data, any.sums->len);
}

/* ---- another length in mid-stream ---- */

static GstPadProbeReturn note_end(GstPad *pad, GstPadProbeInfo *info, gpointer ends)
{
  g_array_append_val(ends, GST_BUFFER_OFFSET_END(GST_PAD_PROBE_INFO_BUFFER(info)));
  return GST_PAD_PROBE_OK;
}

/* The sums of so many spectra as the block has are those of shorter integrations, added up. */
static guint64 check_block(const Block *block, const gint32 *each, gsize values, guint64 first,
                           guint64 rate)
{
  enum { SHORTEST = 100 };
  const guint n = (guint)(block->end - block->first);
  const guint64 length = gst_util_uint64_scale_round(block->duration, rate, GST_SECOND) / n;
  const gint32 *found = g_bytes_get_data(block->bytes, NULL);
  for (guint j = 0; j < n; j++, first += length)
    for (gsize v = 0; v < values; v++) {
      gint64 sum = 0;
      for (guint64 k = first / SHORTEST; k < (first + length) / SHORTEST; k++)
        sum += each[k * values + v];
      g_assert_cmpint(found[j * values + v], ==, sum);
    }
  return first;
}

static GstPadProbeReturn repeat_caps(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstCaps *caps = gst_pad_get_current_caps(pad);
  g_assert_true(gst_pad_send_event(pad, gst_event_new_caps(caps)));
  gst_caps_unref(caps);
  return GST_PAD_PROBE_OK;
}

#define CHANGED "duration=0.6 block-steps="
typedef struct {
  const char *settings, *aside;
  gboolean repeats; /* caps, before each block of the source */
  gboolean is_told; /* the source has blocks for the new length in the end */
} Changing;
static const Changing changing[] = {
  { "duration=0.6", "", FALSE, TRUE },
  { "duration=0.6", "", TRUE, TRUE },
  { CHANGED "12345", "", FALSE, FALSE },
  { "duration=0.6", "in. ! queue ! fakesink async=false", FALSE, FALSE },
};

/* Every spectrum is in one integration, and adds up to what shorter ones have. Returns the spectrum
 * from which on integrations have the new length. */
static guint64 check_changed(const Record *record, const GByteArray *each)
{
  enum { LENGTH = 2100, RATE = 62500, VALUES = 16 * 78 * 4 * 2 };
  guint64 step = 0, changed = 0;
  for (guint i = 0; i + 1 < record->blocks->len; i++) { /* the last one is cut */
    const Block *block = block_of(record, i);
    if (!changed && block->rate < (double)RATE / 1500)
      changed = step;
    step = check_block(block, (const gint32 *)(gpointer)each->data, VALUES, step, RATE);
  }
  g_assert_cmpuint(changed, >, 0);
  g_assert_cmpuint(step, >, changed + LENGTH);
  return changed;
}

static void change_length(const Changing *c, const GByteArray *each)
{
  enum { PART = 300 };
  static const Chain chain = { "16", "4", "1000", "CI16LE", 500 };
  GstElement *pipeline = parse_chain(c->settings, &chain, "cpu", c->aside);
  g_autoptr(GstElement) stage = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint64));
  Change change = { stage, "integration", "2100", 1 };
  probe(pipeline, "at", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  probe(pipeline, "at", GST_PAD_PROBE_TYPE_BUFFER, note_end, ends);
  if (c->repeats)
    probe(pipeline, "in", GST_PAD_PROBE_TYPE_BUFFER, repeat_caps, NULL);
  g_autoptr(Record) record = record_pipeline(pipeline);
  const guint64 changed = check_changed(record, each);
  guint good = 0;
  for (guint i = ends->len - 4; i + 1 < ends->len; i++)
    good += (g_array_index(ends, guint64, i) - changed) % PART == 0;
  g_test_message("from spectrum %" G_GUINT64_FORMAT " on, of %u blocks %u of the last 3", changed,
                 ends->len, good);
  g_assert_true((good == 3) == c->is_told);
  close_pipeline(pipeline);
}

/* The source learns of the parts of an integration whose length was set while it runs, through all
 * stages between, also where it repeats its caps. */
static void test_change(void)
{
  static const Chain shortest = { "16", "4", "100", "CI16LE", 100 };
  g_auto(Seen) each = run(CHANGED "30000", &shortest, "cpu", "");
  for (guint i = 0; i < G_N_ELEMENTS(changing); i++)
    change_length(&changing[i], each.sums);
}

/* A live source says how long its blocks are, once that is agreed on. */
static void test_latency(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astroskysrc name=src is-live=true stations=2 bandwidth=1e6 ! astrotranspose ! "
      "astrochannelizer channels=16 taps=4 ! application/x-astro-spectra,format=CI8 ! "
      "astrocorrelator integration=20000 ! fakesink",
      NULL);
  g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "src");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstQuery) query = gst_query_new_latency();
  GstClockTime least;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gboolean told = FALSE;
  while (!told) {
    GstMessage *message = gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_LATENCY);
    g_assert_nonnull(message);
    told = GST_MESSAGE_SRC(message) == GST_OBJECT(source);
    gst_message_unref(message);
  }
  g_assert_true(gst_element_query(source, query));
  gst_query_parse_latency(query, NULL, &least, NULL);
  g_assert_cmpuint(least % (16 *
                            astro_correlator_part_steps(
                                &(AstroCorrelatorConfig){ .integration = 20000 }, FALSE) *
                            1000),
                   ==, 0);
  g_assert_cmpuint(least, >, 0);
  test_stop(pipeline);
}

static void add_tests(void)
{
  g_test_add_func("/blocklengths/ends", test_ends);
  g_test_add_func("/blocklengths/parts", test_parts);
  g_test_add_func("/blocklengths/chains", test_chains);
  if (test_has_device("/blocklengths/device"))
    g_test_add_func("/blocklengths/device", test_device);
  g_test_add_func("/blocklengths/floats", test_floats);
  g_test_add_func("/blocklengths/others", test_others);
  g_test_add_func("/blocklengths/delay", test_delay);
  g_test_add_func("/blocklengths/change", test_change);
  g_test_add_func("/blocklengths/latency", test_latency);
}

int main(int argc, char **argv)
{
  test_use_fake_device();
  return test_run(argc, argv, add_tests);
}
