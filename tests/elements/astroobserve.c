/* The observation that astroobserve gives a stream, the parts of an earlier one that stay, blocks
 * made of bytes that are cut anywhere, and errors. */
#include "core/stream/observation.h"
#include "tests/elements/elements.h"
#include "tests/observe.h"
#include <fcntl.h>
#include <glib/gstdio.h>

#define NONE GST_BUFFER_OFFSET_NONE

#define STEP 6 /* bytes: three stations, one polarisation */
#define VOLTAGES                                                                                   \
  "application/x-astro-voltages,format=CI8,layout=time:station:pol,stations=3,pols=1,rate=7/2,"    \
  "frequency=1.5e8,bandwidth=3.5"
#define BLOCKS                                                                                     \
  "application/x-astro-voltages,format=CI8,layout=station:time:pol,stations=3,pols=1,rate=7/2,"    \
  "frequency=1.5e8,bandwidth=3.5"
#define SET "array=vla-like phase-centre=200,-20 start-time=2026-11-20T12:00:00"

static GstHarness *new_harness(const char *properties, const char *caps, GstFormat format,
                               guint64 from)
{
  g_autofree char *line = g_strdup_printf("astroobserve %s", properties);
  g_autoptr(GstCaps) parsed = gst_caps_from_string(caps);
  GstHarness *h = gst_harness_new_parse(line);
  GstSegment segment;

  gst_harness_set_live(h, FALSE); /* as files are */
  gst_segment_init(&segment, format);
  segment.start = segment.time = segment.position = from;
  gst_harness_push_event(h, gst_event_new_stream_start("bytes"));
  gst_harness_push_event(h, gst_event_new_caps(parsed));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  return h;
}

/* The last observation that the element sent downstream. */
static AstroObservation *told(GstHarness *h)
{
  AstroObservation *observation = NULL;
  for (guint i = 0; !observation; i++) {
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i);
    if (!event)
      return NULL;
    if (astro_event_is_observation(event))
      observation = astro_observation_from_event(event, NULL);
  }
  return observation;
}

static void observe(GstHarness *h, AstroObservation *observation)
{
  gst_harness_push_event(h, astro_observation_to_event(observation));
}

/* Pushes the bytes from a place on, cut into pieces of one to `most` bytes. */
static void push_cut(GstHarness *h, const guint8 *bytes, gsize from, gsize end, gsize most)
{
  for (guint i = 0; from < end; i++) {
    const gsize n = MIN(end - from, 1 + (i * 7919) % most);
    GstBuffer *piece = gst_buffer_new_memdup(bytes + from, n);
    GST_BUFFER_OFFSET(piece) = from; /* OFFSET in bytes, as filesrc sets it */
    GST_BUFFER_OFFSET_END(piece) = from + n;
    g_assert_cmpint(gst_harness_push(h, piece), ==, GST_FLOW_OK);
    from += n;
  }
}

/* Takes all blocks: whole steps that follow each other from the first on, all of that many bytes
 * except the last. */
static GByteArray *pull_steps(GstHarness *h, guint64 first, gsize block)
{
  GByteArray *all = g_byte_array_new();
  GstBuffer *buffer;
  gboolean is_last = FALSE;

  for (guint64 step = first; (buffer = gst_harness_try_pull(h));) {
    GstMapInfo map;
    const guint64 end = step + gst_buffer_get_size(buffer) / STEP;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_assert_false(is_last);
    is_last = map.size != block;
    g_assert_cmpuint(map.size % STEP, ==, 0);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, step);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(buffer), ==, end);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, step * 2 * GST_SECOND / 7);
    g_assert_cmpuint(GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer), ==,
                     end * 2 * GST_SECOND / 7);
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(buffer), ==, step == first);
    g_byte_array_append(all, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
    step = end;
  }
  return all;
}

static gboolean is_warned(GstBus *bus, const char *says)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
  g_autoptr(GError) error = NULL;

  if (!message)
    return FALSE;
  gst_message_parse_warning(message, &error, NULL);
  test_says(error->message, says);
  return TRUE;
}

/* From any place in a file with a header, cut anywhere, with and without less than a step at its
 * end. */
static void test_bytes(void)
{
  static const struct {
    guint skip, block;
    gsize from, end;
    guint64 first;    /* step that is whole */
    gsize block_made; /* of block */
    guint left;       /* bytes at the end */
  } cases[] = {
    { 0, 60, 0, 6000, 0, 60, 0 },      { 13, 64, 0, 13 + 6000, 0, 60, 0 },
    { 13, 5, 5, 13 + 600, 0, 6, 0 },   { 13, 60, 13 + 6, 13 + 6000, 1, 60, 0 },
    { 0, 600, 7, 6000, 2, 600, 0 },    { 4096, 0, 4096 + 6 * 100 + 5, 10000, 101, 4 << 20, 0 },
    { 0, 60, 0, 6005, 0, 60, 5 },      { 100, 60, 0, 99, 0, 60, 0 },
    { 100, 4096, 0, 103, 0, 4092, 3 },
  };
  guint8 bytes[10000];
  test_fill(bytes, sizeof bytes, 5);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *properties =
        g_strdup_printf(SET " skip=%u block=%u", cases[i].skip, cases[i].block);
    GstHarness *h = new_harness(properties, VOLTAGES, GST_FORMAT_BYTES, cases[i].from);
    g_autoptr(GstBus) bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    push_cut(h, bytes, cases[i].from, cases[i].end, 100);
    g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
    g_autoptr(GByteArray) found = pull_steps(h, cases[i].first, cases[i].block_made);
    const gsize start = cases[i].skip + cases[i].first * STEP;
    const gsize whole = cases[i].end > start ? (cases[i].end - start) / STEP * STEP : 0;
    g_assert_cmpmem(found->data, found->len, bytes + start, whole);
    g_assert_cmpint(is_warned(bus, "bytes of an incomplete step of 6"), ==, cases[i].left > 0);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

/* If time is not the slowest axis a block is one array, however bytes are cut. */
#define SKIP 13

static void push_piece(GstHarness *h, const guint8 *bytes, gsize from, gsize end, gboolean has_end)
{
  GstBuffer *piece = gst_buffer_new_memdup(bytes + from, end - from);
  GST_BUFFER_OFFSET(piece) = from;
  if (has_end)
    GST_BUFFER_OFFSET_END(piece) = end;
  else
    GST_BUFFER_FLAG_SET(piece, GST_BUFFER_FLAG_DISCONT);
  g_assert_cmpint(gst_harness_push(h, piece), ==, GST_FLOW_OK);
}

/* Every block holds the bytes of its steps. Returns how many blocks begin after a loss. */
static guint check_places(GstHarness *h, const guint8 *bytes, gboolean *came)
{
  GstBuffer *buffer;
  guint64 next = G_MAXUINT64;
  guint breaks = 0;

  while ((buffer = gst_harness_try_pull(h))) {
    const guint64 first = GST_BUFFER_OFFSET(buffer), end = GST_BUFFER_OFFSET_END(buffer);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_assert_cmpmem(map.data, map.size, bytes + SKIP + first * STEP, (end - first) * STEP);
    g_assert_cmpint(GST_BUFFER_IS_DISCONT(buffer), ==, first != next);
    breaks += first != next;
    next = end;
    for (guint64 step = first; step < end; step++)
      came[step] = TRUE;
    gst_buffer_unmap(buffer, &map);
    gst_buffer_unref(buffer);
  }
  return breaks;
}

/* Bytes that a queue or a source drops from a counted stream are missing where they were: what
 * follows is neither earlier nor cut elsewhere. fdsrc says where a buffer begins, filesrc also
 * where it ends. */
static void test_lost(void)
{
  guint8 bytes[600];
  test_fill(bytes, sizeof bytes, 5);
  for (guint has_end = 0; has_end < 2; has_end++) {
    GstHarness *h = new_harness(SET " skip=13 block=60", VOLTAGES, GST_FORMAT_BYTES, 0);
    gboolean came[100] = { FALSE };
    push_piece(h, bytes, 0, 5, has_end);
    push_piece(h, bytes, 9, 100, has_end); /* of the header */
    push_piece(h, bytes, 157, 300, has_end);
    push_piece(h, bytes, 310, 600, has_end);
    g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
    g_assert_cmpuint(check_places(h, bytes, came), ==, 3);
    for (guint step = 0; step < 97; step++)
      g_assert_cmpint(came[step], ==, step < 14 || (step >= 24 && step < 47) || step >= 50);
    gst_harness_teardown(h);
  }
}

/* If OFFSET counts buffers and not bytes, nothing is lost. */
static void test_counted_buffers(void)
{
  guint8 bytes[SKIP + 60];
  gboolean came[10] = { FALSE };
  GstHarness *h = new_harness(SET " skip=13 block=60", VOLTAGES, GST_FORMAT_BYTES, 0);

  test_fill(bytes, sizeof bytes, 5);
  for (guint i = 0; i < sizeof bytes; i++) {
    GstBuffer *piece = gst_buffer_new_memdup(bytes + i, 1);
    GST_BUFFER_OFFSET(piece) = 100 * i;
    GST_BUFFER_OFFSET_END(piece) = 100 * (i + 1);
    g_assert_cmpint(gst_harness_push(h, piece), ==, GST_FLOW_OK);
  }
  g_assert_cmpuint(check_places(h, bytes, came), ==, 1);
  g_assert_true(came[9]);
  gst_harness_teardown(h);
}

static void test_blocks(void)
{
  guint8 bytes[3 * 60 + 7];
  test_fill(bytes, sizeof bytes, 6);
  GstHarness *h = new_harness(SET " block=60", BLOCKS, GST_FORMAT_BYTES, 0);
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  push_cut(h, bytes, 0, sizeof bytes, 50);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GByteArray) found = pull_steps(h, 0, 60);
  g_assert_cmpmem(found->data, found->len, bytes, 180);
  g_assert_true(is_warned(bus, "7 bytes of an incomplete block of 60"));
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);

  h = new_harness(SET, BLOCKS, GST_FORMAT_BYTES, 0);
  for (guint i = 1; i < 4; i++) {
    GstBuffer *out = gst_harness_push_and_pull(h, gst_buffer_new_memdup(bytes, i * STEP));
    g_assert_cmpuint(gst_buffer_get_size(out), ==, i * STEP);
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}

/* Events that come again in mid-stream, as after links changed, neither end nor begin anything. */
static void test_said_again(void)
{
  g_autoptr(AstroObservation) came = test_observe("disc", 3);
  g_autoptr(GstCaps) caps = gst_caps_from_string(VOLTAGES);
  guint8 bytes[600];
  GstSegment segment;

  test_fill(bytes, sizeof bytes, 9);
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  GstHarness *h = new_harness("block=60 phase-centre=1,2", VOLTAGES, GST_FORMAT_BYTES, 0);
  observe(h, came);
  push_cut(h, bytes, 0, 301, 100);
  gst_harness_push_event(h, gst_event_new_stream_start("bytes"));
  gst_harness_push_event(h, gst_event_new_caps(caps));
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  observe(h, came);
  push_cut(h, bytes, 301, 600, 100);
  g_autoptr(GByteArray) found = pull_steps(h, 0, 60);
  g_assert_cmpmem(found->data, found->len, bytes, 600);
  gst_harness_teardown(h);
}

/* After a seek the stream begins anew, and nothing from before comes. */
static void test_flush(void)
{
  guint8 bytes[600];
  GstSegment segment;

  test_fill(bytes, sizeof bytes, 7);
  GstHarness *h = new_harness(SET " block=60", VOLTAGES, GST_FORMAT_BYTES, 0);
  push_cut(h, bytes, 0, 59, 59);
  gst_harness_push_event(h, gst_event_new_flush_start());
  gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_BYTES);
  segment.start = 240;
  gst_harness_push_event(h, gst_event_new_segment(&segment));
  push_cut(h, bytes, 240, 600, 100);
  g_autoptr(GByteArray) found = pull_steps(h, 40, 60);
  g_assert_cmpmem(found->data, found->len, bytes + 240, 360);
  gst_harness_teardown(h);
}

/* Buffers with times of their own stay as they are, and those with times of arrival are refused. A
 * step takes 285714285.7 ns. */
static void test_timed(void)
{
  static const struct {
    GstClockTime time, duration;
    guint64 offset, end; /* set to these */
    gboolean is_live;
    const char *refused; /* says so; NULL: it passes */
  } cases[] = {
    { 285714285, NONE, NONE, NONE, FALSE, NULL },
    { 1428571428, NONE, NONE, NONE, TRUE, NULL },
    { 12345, 571428571, NONE, NONE, FALSE, NULL }, /* as visibilities between steps */
    { 12345, NONE, 7, 9, TRUE, NULL },
    { NONE, NONE, NONE, NONE, FALSE, NULL },
    { NONE, NONE, 7, 9, TRUE, NULL },
    { 12345, NONE, NONE, NONE, FALSE, "times of arrival" },
    { 1123456789, NONE, NONE, NONE, TRUE, "times of arrival" },
    { 12345, NONE, 7, NONE, FALSE, "times of arrival" },
    { 12345, NONE, 0, 2 * STEP, FALSE, "times of arrival" },
    { NONE, NONE, NONE, NONE, TRUE, "buffers of a live source say neither" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GstBus) bus = gst_bus_new();
    GstHarness *h = new_harness(SET, VOLTAGES, GST_FORMAT_TIME, 0);
    gst_element_set_bus(h->element, bus);
    gst_harness_set_live(h, cases[i].is_live);
    g_autoptr(GstBuffer) in = test_buffer(2 * STEP, 8);
    GST_BUFFER_PTS(in) = cases[i].time;
    GST_BUFFER_DURATION(in) = cases[i].duration;
    GST_BUFFER_OFFSET(in) = cases[i].offset;
    GST_BUFFER_OFFSET_END(in) = cases[i].end;
    g_assert_cmpint(gst_harness_push(h, gst_buffer_ref(in)), ==,
                    cases[i].refused ? GST_FLOW_ERROR : GST_FLOW_OK);
    g_autoptr(GstBuffer) out = gst_harness_try_pull(h);
    g_assert_true(out == (cases[i].refused ? NULL : in));
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    g_autoptr(GError) error = NULL;
    if (cases[i].refused) {
      g_assert_nonnull(message);
      gst_message_parse_error(message, &error, NULL);
      test_says(error->message, cases[i].refused);
      test_says(error->message, "filesrc, fdsrc");
    }
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
    gst_bus_set_flushing(bus, TRUE);
  }
}

/* A source that GStreamer's base class makes stamp what it reads. */
static void test_stamped_by_source(void)
{
  const gint fd = g_open("/dev/zero", O_RDONLY, 0);
  g_autofree char *line = g_strdup_printf("fdsrc fd=%d do-timestamp=true blocksize=600 ! " VOLTAGES
                                          " ! astroobserve " SET " ! fakesink",
                                          fd);
  test_refused_by(line, "astroobserve", "times of arrival");
  g_close(fd, NULL);
}

/* Bytes that come twice, partly or late, are used once, however buffers say where they begin. */
static void test_again(void)
{
  static const gsize pieces[][2] = { { 0, 100 },   { 100, 160 }, { 0, 100 },   { 130, 200 },
                                     { 200, 300 }, { 100, 450 }, { 440, 450 }, { 450, 613 } };
  guint8 bytes[613];
  test_fill(bytes, sizeof bytes, 5);
  for (guint has_end = 0; has_end < 2; has_end++) {
    g_autoptr(GstBus) bus = gst_bus_new();
    GstHarness *h = new_harness(SET " skip=13 block=60", VOLTAGES, GST_FORMAT_BYTES, 0);
    gboolean came[100] = { FALSE };
    gst_element_set_bus(h->element, bus);
    for (guint i = 0; i < G_N_ELEMENTS(pieces); i++) {
      GstBuffer *piece = gst_buffer_new_memdup(bytes + pieces[i][0], pieces[i][1] - pieces[i][0]);
      GST_BUFFER_OFFSET(piece) = pieces[i][0];
      if (has_end)
        GST_BUFFER_OFFSET_END(piece) = pieces[i][1];
      g_assert_cmpint(gst_harness_push(h, piece), ==, GST_FLOW_OK);
    }
    g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
    g_assert_cmpuint(check_places(h, bytes, came), ==, 1);
    for (guint step = 0; step < 100; step++)
      g_assert_true(came[step]);
    g_assert_true(is_warned(bus, "bytes before byte 160 came again, or late"));
    g_assert_false(is_warned(bus, ""));
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
    gst_bus_set_flushing(bus, TRUE);
  }
}

/* Blocks of two files in turn, as from a funnel, are not a stream; one file after the other is. */
static void test_mixed(void)
{
  for (guint back = 0; back < 2; back++) {
    GstHarness *h = new_harness(SET, VOLTAGES, GST_FORMAT_BYTES, 0);
    guint8 bytes[60] = { 0 };
    push_cut(h, bytes, 0, 60, 60);
    gst_harness_push_event(h, gst_event_new_stream_start("another"));
    push_cut(h, bytes, 0, 60, 60);
    gst_harness_push_event(h, gst_event_new_stream_start(back ? "bytes" : "third"));
    g_assert_cmpint(gst_harness_push(h, test_buffer(60, 1)), ==,
                    back ? GST_FLOW_ERROR : GST_FLOW_OK);
    gst_harness_teardown(h);
  }
}

static void assert_same_array(const AstroObservation *a, const AstroObservation *b)
{
  g_assert_cmpuint(a->n_stations, ==, b->n_stations);
  g_assert_cmpstr(a->telescope, ==, b->telescope);
  for (guint i = 0; i < a->n_stations; i++)
    g_assert_cmpstr(a->names[i], ==, b->names[i]);
  g_assert_cmpmem(a->positions, a->n_stations * 3 * sizeof(double), b->positions,
                  b->n_stations * 3 * sizeof(double));
}

/* The observation after one buffer of a stream with that observation, or none. */
static AstroObservation *amended(const char *properties, const char *caps, AstroObservation *came)
{
  GstHarness *h = new_harness(properties, caps, GST_FORMAT_TIME, 0);
  if (came)
    observe(h, came);
  gst_buffer_unref(gst_harness_push_and_pull(h, gst_buffer_new_allocate(NULL, 48, NULL)));
  AstroObservation *observation = told(h);
  gst_harness_teardown(h);
  return observation;
}

#define VISIBILITIES                                                                               \
  "application/x-astro-visibilities,format=CF32LE,layout=channel:baseline:pol:pol,baselines=6,"    \
  "channels=1,pols=1,rate=1/1,frequency=150e6,bandwidth=1e6"

/* The message of the error, or NULL. */
static char *refused(const char *properties, const char *caps, AstroObservation *came)
{
  GstHarness *h = new_harness(properties, caps, GST_FORMAT_TIME, 0);
  g_autoptr(GstBus) bus = gst_bus_new();
  char *says = NULL;
  gst_element_set_bus(h->element, bus);
  observe(h, came);
  gst_harness_push(h, gst_buffer_new_allocate(NULL, 48, NULL));
  GstMessage *message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  if (message) {
    g_autoptr(GError) error = NULL;
    gst_message_parse_error(message, &error, NULL);
    says = g_strdup(error->message);
    gst_message_unref(message);
  }
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
  return says;
}

/* Values that delays were computed with cannot be changed once the delays are out, nor those of
 * visibilities whose history is unknown. The same values may be given again, and so may values that
 * nothing was computed with. */
static void test_used(void)
{
  static const struct {
    const char *properties, *caps, *says;
    AstroDelays delays;
  } cases[] = {
    { "phase-centre=180,-45", VOLTAGES, "phase-centre is not the one", ASTRO_DELAYS_OUT },
    { "phase-centre=180,-45", VOLTAGES, "before astrodelay", ASTRO_DELAYS_OUT },
    { "phase-centre=180,-45", VISIBILITIES, "or astrophaseshift", ASTRO_DELAYS_OUT },
    { "phase-centre=180,-45", VISIBILITIES, "or astrophaseshift", ASTRO_DELAYS_UNTOLD },
    { "start-time=2026-11-20T12:00:00.5", VISIBILITIES, "start-time is not the one",
      ASTRO_DELAYS_OUT },
    { "array=vla-like", VOLTAGES, "array is not the one", ASTRO_DELAYS_OUT },
    { "delays=in", VOLTAGES, "the stream says that they are out", ASTRO_DELAYS_OUT },
    { "delays=out", VOLTAGES, "the stream says that they are in", ASTRO_DELAYS_IN },
    { "phase-centre=180,-45", VOLTAGES, NULL, ASTRO_DELAYS_IN },
    { "phase-centre=180,-45", VISIBILITIES, NULL, ASTRO_DELAYS_IN },
    { "phase-centre=180,-45", VOLTAGES, NULL, ASTRO_DELAYS_UNTOLD },
    { "telescope=X basis=circular", VISIBILITIES, NULL, ASTRO_DELAYS_OUT },
    { "start-time=2026-11-20T12:00:00 array=disc", VISIBILITIES, NULL, ASTRO_DELAYS_OUT },
    { "phase-centre=zenith", VISIBILITIES, NULL, ASTRO_DELAYS_OUT },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) came = test_observe("disc", 3);
    came->done.delays = cases[i].delays;
    g_autofree char *found = refused(cases[i].properties, cases[i].caps, came);
    if (cases[i].says)
      test_says(found, cases[i].says);
    else
      g_assert_cmpstr(found, ==, NULL);
  }
}

/* Whoever recorded a stream knows what was done to it. */
static void test_history(void)
{
#define ALL "array=disc phase-centre=zenith start-time=2026-11-20T12:00:00 "
  g_autoptr(AstroObservation) voltages = amended(ALL, VOLTAGES, NULL),
                              visibilities = amended(ALL, VISIBILITIES, NULL),
                              delayed = amended(ALL "delays=out scale=9", VOLTAGES, NULL);
  g_assert_cmpint(voltages->done.delays, ==, ASTRO_DELAYS_IN);
  g_assert_cmpfloat(voltages->done.scale, ==, 0);
  g_assert_cmpint(visibilities->done.delays, ==, ASTRO_DELAYS_OUT);
  g_assert_cmpint(delayed->done.delays, ==, ASTRO_DELAYS_OUT);
  g_assert_cmpfloat(delayed->done.scale, ==, 9);
#undef ALL
}

static void test_said(void)
{
  g_autoptr(AstroObservation) came = test_observe("disc", 3), vla = test_observe("vla-like", 3);
  came->done.bandpass_left = g_strdup("sum");
  came->done.scale = 3;

  g_autoptr(AstroObservation) none = amended("", VOLTAGES, NULL);
  g_assert_null(none);

  g_autoptr(AstroObservation) same = amended("", VOLTAGES, came);
  assert_same_array(same, came);
  g_assert_cmpfloat(same->phase_ra, ==, came->phase_ra);
  g_assert_cmpuint(same->start_ns, ==, came->start_ns);
  g_assert_cmpstr(same->done.bandpass_left, ==, "sum");
  g_assert_cmpfloat(same->done.scale, ==, 3);

  g_autoptr(AstroObservation) centre = amended("phase-centre=\" 180 , -45\"", VOLTAGES, came);
  assert_same_array(centre, came);
  g_assert_cmpfloat_with_epsilon(centre->phase_ra, G_PI, 1e-15);
  g_assert_cmpfloat_with_epsilon(centre->phase_dec, -G_PI / 4, 1e-15);
  g_assert_cmpuint(centre->start_ns, ==, came->start_ns);

  g_autoptr(AstroObservation) sixtieths =
      amended("phase-centre=12:00:00,-45:00:00", VOLTAGES, came);
  g_assert_cmpfloat(sixtieths->phase_ra, ==, centre->phase_ra);
  g_assert_cmpfloat(sixtieths->phase_dec, ==, centre->phase_dec);

  g_autoptr(AstroObservation) array = amended("array=vla-like basis=circular", VOLTAGES, came);
  assert_same_array(array, vla);
  g_assert_cmpfloat(array->phase_ra, ==, came->phase_ra);
  g_assert_cmpstr(array->basis, ==, "circular");

  g_autoptr(AstroObservation) start = amended(
      "start-time=2026-11-21T00:00:01.5 phase-centre=zenith telescope=Mine", VOLTAGES, came);
  g_assert_cmpint(start->start_mjd, ==, came->start_mjd + 1);
  g_assert_cmpuint(start->start_ns, ==, 1500000000);
  g_assert_cmpfloat(start->phase_ra, !=, came->phase_ra);
  g_assert_cmpstr(start->telescope, ==, "Mine");

  g_autoptr(AstroObservation) all =
      amended("array=vla-like phase-centre=zenith start-time=2026-11-20T12:00:00", VOLTAGES, NULL);
  assert_same_array(all, vla);
  g_assert_cmpfloat(all->phase_ra, ==, vla->phase_ra);
  g_assert_cmpfloat(all->phase_dec, ==, vla->phase_dec);
  g_assert_cmpstr(all->basis, ==, "linear");
}

/* The number of baselines of visibilities gives the number of stations. */
static void test_baselines(void)
{
  static const guint stations[] = { 1, 2, 3, 64, 4096, 65535 };
  for (guint i = 0; i < G_N_ELEMENTS(stations); i++) {
    const guint64 n = stations[i];
    g_autofree char *caps =
        g_strdup_printf("application/x-astro-visibilities,format=CF32LE,"
                        "layout=channel:baseline:pol:pol,channels=1,pols=1,baselines=%d,rate=1/1,"
                        "frequency=1e8,bandwidth=1e6",
                        (gint)(n * (n + 1) / 2));
    g_autoptr(AstroObservation) found = amended(SET, caps, NULL);
    g_assert_cmpuint(found->n_stations, ==, n);
  }
}

/* Another stream does not get the observation of the one before. */
static void test_another_stream(void)
{
  g_autoptr(AstroObservation) came = test_observe("disc", 3);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = new_harness("phase-centre=1,2", VOLTAGES, GST_FORMAT_TIME, 0);
  gst_element_set_bus(h->element, bus);
  observe(h, came);
  g_assert_cmpint(gst_harness_push(h, test_buffer(STEP, 1)), ==, GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_stream_start("another"));
  g_assert_cmpint(gst_harness_push(h, test_buffer(STEP, 1)), ==, GST_FLOW_ERROR);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

static void test_queries(void)
{
  GstQuery *query = gst_query_new_duration(GST_FORMAT_TIME);
  GstHarness *h = new_harness(SET " block=60", VOLTAGES, GST_FORMAT_BYTES, 0);
  gst_harness_set_live(h, TRUE);
  gst_buffer_unref(gst_harness_push_and_pull(h, test_buffer(60, 1)));
  g_assert_cmpuint(gst_harness_query_latency(h), ==, 10 * 2 * GST_SECOND / 7);
  g_assert_false(gst_pad_peer_query(h->sinkpad, query)); /* how many bytes will come is not known */
  gst_query_unref(query);
  gst_harness_teardown(h);
}

/* Voltages of a simulated array, from a file: the same bytes, and their duration. */
static void test_file(void)
{
  g_autofree char *folder = g_dir_make_tmp("astroobserve-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "voltages", NULL),
                  *copy = g_build_filename(folder, "copy", NULL), *written, *read;
  gsize bytes, bytes_read;
  gint64 duration;
  g_autofree char *write = g_strdup_printf(
      "astroskysrc stations=3 pols=1 array=vla-like bandwidth=16000 duration=1 ! "
      "application/x-astro-voltages,format=CI8,layout=time:station:pol ! filesink location=%s",
      path);
  g_autofree char *line = g_strdup_printf(
      "filesrc location=%s ! application/x-astro-voltages,format=CI8,layout=time:station:pol,"
      "stations=3,pols=1,rate=16000/1,frequency=1.5e8,bandwidth=16e3 ! astroobserve " SET
      " ! filesink location=%s",
      path, copy);

  g_assert_cmpstr(test_launch(write), ==, NULL);
  GstElement *pipeline = gst_parse_launch(line, NULL);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  g_assert_cmpint(gst_element_get_state(pipeline, NULL, NULL, TEST_PATIENCE), ==,
                  GST_STATE_CHANGE_SUCCESS);
  g_assert_true(gst_element_query_duration(pipeline, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(duration, ==, GST_SECOND);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);

  g_assert_cmpstr(test_launch(line), ==, NULL);
  g_assert_true(g_file_get_contents(path, &written, &bytes, NULL));
  g_assert_true(g_file_get_contents(copy, &read, &bytes_read, NULL));
  g_assert_cmpuint(bytes, ==, 16000 * STEP);
  g_assert_cmpmem(read, bytes_read, written, bytes);
  g_unlink(path);
  g_unlink(copy);
  g_rmdir(folder);
}

static void test_bad(void)
{
  static const struct {
    const char *caps, *properties, *says;
  } cases[] = {
    { VOLTAGES, "phase-centre=1,2", "no stations: array is not set and no observation came" },
    { VOLTAGES, "array=nowhere", "neither a file nor one of disc" },
    { VOLTAGES, "array=disc latitude=3", "latitude is set but longitude is not" },
    { VOLTAGES, "array=disc phase-centre=zenith", "there is no start-time" },
    { VOLTAGES, "array=disc phase-centre=1,2,3", "and +30:30:33, or zenith" },
    { VOLTAGES, "array=disc phase-centre=1,91", "and +30:30:33, or zenith" },
    { VOLTAGES, "array=disc start-time=noon", "\"noon\" is not of the form" },
    { BLOCKS, SET " block=61", "61 bytes, expected a multiple of the 6 of a step" },
    { BLOCKS, SET, "bytes, expected a multiple of the 6 of a step" },
    { "application/x-astro-voltages,format=CI8", SET, "layout" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line =
        g_strdup_printf("filesrc location=/proc/self/exe blocksize=100 ! %s ! astroobserve %s ! "
                        "fakesink",
                        cases[i].caps, cases[i].properties);
    test_refused_by(line, "astroobserve", cases[i].says);
  }
  test_refused_by("filesrc location=/proc/self/exe ! astroobserve ! fakesink", "astroobserve",
                  "a buffer came without caps");
}

/* Bytes that are marked as a gap hold no samples: those after them keep their times. */
static void test_gap_of_bytes(void)
{
  static const struct {
    gsize bytes;
    gboolean is_gap;
  } pieces[] = { { 5 * STEP + 2, FALSE }, { 4 * STEP, TRUE }, { 3 * STEP + 4, FALSE } };
  static const guint64 firsts[] = { 0, 10 }, steps[] = { 5, 3 };
  GstHarness *h = new_harness(SET, VOLTAGES, GST_FORMAT_BYTES, 0);
  guint8 bytes[32 * STEP];
  gsize at = 0;

  test_fill(bytes, sizeof bytes, 8);
  for (guint i = 0; i < G_N_ELEMENTS(pieces); at += pieces[i++].bytes) {
    GstBuffer *piece = gst_buffer_new_memdup(bytes + at, pieces[i].bytes);
    if (pieces[i].is_gap)
      GST_BUFFER_FLAG_SET(piece, GST_BUFFER_FLAG_GAP);
    g_assert_cmpint(gst_harness_push(h, piece), ==, GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  for (guint i = 0; i < G_N_ELEMENTS(firsts); i++) {
    g_autoptr(GstBuffer) block = gst_harness_try_pull(h);
    g_assert_nonnull(block);
    g_assert_cmpuint(GST_BUFFER_OFFSET(block), ==, firsts[i]);
    g_assert_cmpuint(gst_buffer_get_size(block), ==, steps[i] * STEP);
    g_assert_cmpint(gst_buffer_memcmp(block, 0, bytes + firsts[i] * STEP, steps[i] * STEP), ==, 0);
    g_assert_true(GST_BUFFER_IS_DISCONT(block));
  }
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_teardown(h);
}

/* Samples that are held belong to the previous observation and lie before a gap: they leave
 * first. */
static void test_order(void)
{
  g_autoptr(AstroObservation) first = test_observe("disc", 3), second = test_observe("disc", 3);
  GstHarness *h = new_harness("", VOLTAGES, GST_FORMAT_BYTES, 0);
  guint8 bytes[12 * STEP] = { 0 };

  second->phase_ra += 1;
  observe(h, first);
  push_cut(h, bytes, 0, 4 * STEP + 1, 100);
  g_assert_null(gst_harness_try_pull(h));
  observe(h, second);
  g_autoptr(GstBuffer) block = gst_harness_try_pull(h);
  g_assert_nonnull(block);
  g_assert_cmpuint(gst_buffer_get_size(block), ==, 4 * STEP);
  push_cut(h, bytes, 4 * STEP + 1, 9 * STEP, 100);
  g_assert_null(gst_harness_try_pull(h));
  gst_harness_push_event(h, gst_event_new_gap(0, 1));
  g_autoptr(GstBuffer) next = gst_harness_try_pull(h);
  g_assert_nonnull(next);
  g_assert_cmpuint(GST_BUFFER_OFFSET(next), ==, 4);
  g_assert_cmpuint(gst_buffer_get_size(next), ==, 5 * STEP);
  gst_harness_teardown(h);
}

/* A warning says that a phase centre is below the horizon at the start, by how much and where. */
static void test_horizon(void)
{
  static const struct {
    const char *settings;
    gboolean is_down;
  } cases[] = {
    { SET, FALSE },
    { "array=vla-like phase-centre=200,-89 start-time=2026-11-20T12:00:00", TRUE },
    { "array=vla-like phase-centre=20,-20 start-time=2026-11-20T12:00:00", TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = new_harness(cases[i].settings, VOLTAGES, GST_FORMAT_BYTES, 0);
    g_autoptr(GstBus) bus = gst_bus_new();
    gst_element_set_bus(h->element, bus);
    gst_harness_push(h, gst_buffer_new_allocate(NULL, 10 * STEP, NULL));
    g_assert_cmpint(is_warned(bus, "below the horizon of the array at the start"), ==,
                    cases[i].is_down);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

static void add_tests(void)
{
  g_test_add_func("/observe/bytes", test_bytes);
  g_test_add_func("/observe/lost", test_lost);
  g_test_add_func("/observe/counted-buffers", test_counted_buffers);
  g_test_add_func("/observe/blocks", test_blocks);
  g_test_add_func("/observe/said-again", test_said_again);
  g_test_add_func("/observe/flush", test_flush);
  g_test_add_func("/observe/timed", test_timed);
  g_test_add_func("/observe/stamped-by-source", test_stamped_by_source);
  g_test_add_func("/observe/again", test_again);
  g_test_add_func("/observe/mixed", test_mixed);
  g_test_add_func("/observe/said", test_said);
  g_test_add_func("/observe/baselines", test_baselines);
  g_test_add_func("/observe/another-stream", test_another_stream);
  g_test_add_func("/observe/queries", test_queries);
  g_test_add_func("/observe/file", test_file);
  g_test_add_func("/observe/bad", test_bad);
  g_test_add_func("/observe/gap-of-bytes", test_gap_of_bytes);
  g_test_add_func("/observe/used", test_used);
  g_test_add_func("/observe/history", test_history);
  g_test_add_func("/observe/order", test_order);
  g_test_add_func("/observe/horizon", test_horizon);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
