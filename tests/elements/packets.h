/* Shared by tests of packets: formats with the streams that they carry, samples that packets hold
 * without loss, and which of them have to arrive. */
#pragma once

#include "core/packets/packets.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

#include <glib/gstdio.h>

#define TEST_START "2026-11-20T12:00:00Z"

typedef struct {
  const char *name;        /* name of the test */
  const char *caps;        /* caps of the samples, without counts */
  const char *pay, *depay; /* properties */
  guint bits;              /* bits per sample, which limit the values */
  guint steps;             /* in a packet */
  guint packets;           /* along the time axis */
} TestPackets;

#define VOLTAGES "application/x-astro-voltages,layout=time:station:pol,"
#define SPECTRA "application/x-astro-spectra,layout=time:channel:station:pol,"
#define SYNC " sync-epoch=2026-11-20T12:00:00"

/* A description in the folder that tests run in. */
#define TEST_HEADER "test-packets-header.txt"
#define TEST_HEADER_TEXT                                                                           \
  "sequence big 0 4\nstation big 4 2\nmagic 6 53594e43\nchannel little 10 2\ninvalid big 12 1 1\n" \
  "payload 16\norder channel:time:pol\nchannels 3\nsteps 5\npols 2\nbits 4 complex\n"              \
  "packing big\ncounts packets\n"

/* A count that wraps, and SPEAD heaps with items of our own. */
#define TEST_WRAP "test-packets-wrap.txt"
#define TEST_WRAP_TEXT                                                                             \
  "sequence little 1 1\nstation big 0 1\npayload 2\norder time:pol\nsteps 10\npols 2\n"            \
  "bits 8 complex\ncode offset\ncounts packets\n"
#define TEST_HEAP "test-packets-heap.txt"
#define TEST_HEAP_TEXT                                                                             \
  "spead 40\nsequence item 0x1600\nstation item 0x2000\npol item 0x2001\nsamples item 0x2002\n"    \
  "order time\nsteps 64\nbits 8 complex\ncounts 2\n"

static const TestPackets test_packets[] = {
  { "vdif-8", VOLTAGES "format=CI8,stations=2,pols=2,rate=1000000/1",
    "packet=vdif packet-steps=400 stations=Ef,Wb", "packet=vdif stations=Ef,Wb pols=2 rate=1000000",
    8, 400, 300 },
  { "vdif-2", VOLTAGES "format=F32LE,stations=3,pols=2,rate=1000000/1",
    "packet=vdif packet-steps=1600", "packet=vdif stations=0-2 pols=2 rate=1000000", 2, 1600, 200 },
  { "vdif-4", VOLTAGES "format=CI8,stations=1,pols=1,rate=1000000/1",
    "packet=vdif bits=4 packet-steps=800", "packet=vdif rate=1000000", 4, 800, 600 },
  { "vdif-1-channels", SPECTRA "format=F32LE,stations=2,pols=1,channels=4,rate=64000/1",
    "packet=vdif bits=1 packet-channels=2 packet-steps=320",
    "packet=vdif stations=0,1 channels=4 rate=64000", 1, 320, 300 },
  { "lofar-16", SPECTRA "format=CI16LE,stations=2,pols=2,channels=6,rate=390625/2",
    "packet=lofar-beamlet packet-channels=3 stations=11,7",
    "packet=lofar-beamlet stations=11,7 channels=6", 16, 16, 300 },
  { "lofar-8", SPECTRA "format=CI8,stations=1,pols=2,channels=5,rate=156250/1",
    "packet=lofar-beamlet", "packet=lofar-beamlet", 8, 16, 900 },
  { "lofar-4", SPECTRA "format=CI8,stations=2,pols=2,channels=2,rate=390625/2",
    "packet=lofar-beamlet bits=4 packet-steps=10", "packet=lofar-beamlet stations=0,1", 4, 10,
    300 },
  { "katgpucbf", SPECTRA "format=CI8,stations=2,pols=2,channels=8,rate=62500/1",
    "packet=katgpucbf-antenna-voltage packet-channels=4 packet-steps=16 packet-bytes=64 "
    "sequence-step=4096 first-channel=512",
    "packet=katgpucbf-antenna-voltage packet-steps=16 channels=8 stations=0-1 sequence-step=4096 "
    "first-channel=512 rate=62500" SYNC,
    8, 16, 400 },
  { "meerkat-digitiser", VOLTAGES "format=I16LE,stations=2,pols=1,rate=1712000/1",
    "packet=meerkat-digitiser packet-bytes=1024 stations=0x10,3",
    "packet=meerkat-digitiser stations=0x10,3 rate=1712000" SYNC, 10, 4096, 200 },
  { "wrap", VOLTAGES "format=CI8,stations=2,pols=2,rate=10000/1", "packet=@" TEST_WRAP,
    "packet=@" TEST_WRAP " stations=0-1 rate=10000" SYNC, 8, 10, 1000 },
  { "heap", VOLTAGES "format=CI8,stations=2,pols=2,rate=64000/1",
    "packet=@" TEST_HEAP " packet-bytes=40",
    "packet=@" TEST_HEAP " stations=0-1 pols=2 rate=64000" SYNC, 8, 64, 300 },
  { "described", SPECTRA "format=CI8,stations=2,pols=2,channels=6,rate=50000/1",
    "packet=@" TEST_HEADER, "packet=@" TEST_HEADER " stations=0-1 channels=6 rate=50000" SYNC, 4, 5,
    700 },
};

/* All steps of the stream for a row of the table. */
typedef struct {
  const TestPackets *what;
  AstroStream stream;
  guint64 steps, n; /* samples */
  guint8 *samples;
} TestPacketsData;

/* Values that fit in that many bits. */
static inline void test_packets_fill(const TestPackets *what, const AstroStream *stream,
                                     gpointer samples, guint64 n, guint32 seed)
{
  const AstroFormatInfo *info = astro_format_info(stream->format);
  const guint64 components = n * (info->is_complex ? 2 : 1);
  g_autofree guint16 *random = g_new(guint16, components);
  const guint levels = 1u << what->bits;
  test_fill(random, components * sizeof *random, seed);
  for (guint64 i = 0; i < components; i++) {
    const gint value = (gint)(random[i] % levels) - (gint)levels / 2;
    if (info->is_float)
      ((float *)samples)[i] =
          (value >= 0 ? 1 : -1) *
          (random[i] % levels % 3 == 0 && levels > 2 ? ASTRO_PACKET_HIGH_LEVEL : 1);
    else if (what->bits <= 8)
      ((gint8 *)samples)[i] = (gint8)value;
    else
      ((gint16 *)samples)[i] = (gint16)value;
  }
}

/* The packets, or whole heaps, that went through a pad, each once. */
typedef struct {
  AstroPackets *packets;
  GHashTable *seen;  /* GBytes of datagrams */
  GHashTable *heaps; /* bytes of each heap that came, by number */
  guint whole;
} TestPacketsSent;

static inline void test_packets_note(TestPacketsSent *sent, GstBuffer *buffer)
{
  AstroPacket packet;
  GstMapInfo map;
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_assert_true(astro_packets_parse(sent->packets, map.data, map.size, &packet, NULL));
  g_assert_cmpuint(packet.bytes, ==, map.size);
  if (g_hash_table_add(sent->seen, g_bytes_new(map.data, map.size))) {
    if (packet.spead_address == 0) {
      sent->whole++;
    } else {
      gpointer key = GSIZE_TO_POINTER(packet.heap);
      const gsize came =
          GPOINTER_TO_SIZE(g_hash_table_lookup(sent->heaps, key)) + packet.payload_bytes;
      g_hash_table_insert(sent->heaps, key, GSIZE_TO_POINTER(came));
      sent->whole += came == packet.heap_bytes;
    }
  }
  gst_buffer_unmap(buffer, &map);
}

static inline GstPadProbeReturn test_packets_probe(GstPad *pad, GstPadProbeInfo *info,
                                                   gpointer user)
{
  (void)pad;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
    GstBufferList *list = GST_PAD_PROBE_INFO_BUFFER_LIST(info);
    for (guint i = 0; i < gst_buffer_list_length(list); i++)
      test_packets_note(user, gst_buffer_list_get(list, i));
  } else {
    test_packets_note(user, GST_PAD_PROBE_INFO_BUFFER(info));
  }
  return GST_PAD_PROBE_OK;
}

static inline TestPacketsSent *test_packets_watch(GstElement *pay, const char *format)
{
  TestPacketsSent *sent = g_new0(TestPacketsSent, 1);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(pay, "src");
  sent->packets = astro_packets_new(format, NULL);
  sent->seen =
      g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  sent->heaps = g_hash_table_new(NULL, NULL);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST,
                    test_packets_probe, sent, NULL);
  return sent;
}

static inline void test_packets_sent_free(TestPacketsSent *sent)
{
  astro_packets_free(sent->packets);
  g_hash_table_unref(sent->seen);
  g_hash_table_unref(sent->heaps);
  g_free(sent);
}

/* ns from the start of a to that of b. */
static inline gint64 test_packets_between(const AstroObservation *a, const AstroObservation *b)
{
  return (gint64)(b->start_mjd - a->start_mjd) * 86400 * (gint64)GST_SECOND +
         ((gint64)b->start_ns - (gint64)a->start_ns);
}

/* The same in time steps. */
static inline gint64 test_packets_shift(const AstroStream *stream, const AstroObservation *a,
                                        const AstroObservation *b)
{
  const double steps = (double)test_packets_between(a, b) * 1e-9 * stream->rate_n / stream->rate_d;
  return (gint64)(steps < 0 ? steps - 0.5 : steps + 0.5);
}

/* Checks a block: values whose count is not 0 are those that were sent, all others are 0. sent: all
 * steps that were sent; step n of the block is step n + shift of them. Returns how many samples
 * count. */
static inline guint64 test_packets_compare(const AstroStream *stream, GstBuffer *block,
                                           const guint8 *sent, guint64 sent_steps, gint64 shift)
{
  const gsize bytes = astro_format_info(stream->format)->bytes;
  const AstroValidityMeta *counts = astro_buffer_get_validity(block);
  static const guint8 zeros[16];
  AstroValidityRun run;
  AstroLayout shape;
  GstMapInfo map;
  guint64 steps, good = 0;
  g_assert_true(gst_buffer_map(block, &map, GST_MAP_READ));
  g_assert_true(astro_stream_steps(stream, map.size, &steps, NULL));
  g_assert_cmpuint(GST_BUFFER_OFFSET_END(block) - GST_BUFFER_OFFSET(block), ==, steps);
  g_assert_nonnull(counts);
  const guint64 of_step = astro_stream_step_bytes(stream) / bytes;
  const gint64 first = (gint64)GST_BUFFER_OFFSET(block) + shift;
  astro_stream_shape(stream, steps, &shape);
  for (astro_validity_run_init(&run, counts, &shape); astro_validity_next_run(&run);) {
    good += run.count ? run.length : 0;
    for (guint64 i = run.first; i < run.first + run.length; i++) {
      const gint64 step = first + (gint64)(i / of_step);
      const guint8 *value = map.data + i * bytes;
      if (run.count == 0) {
        g_assert_cmpmem(value, bytes, zeros, bytes);
        continue;
      }
      g_assert_cmpuint(run.count, ==, 1);
      g_assert_true(step >= 0 && (guint64)step < sent_steps);
      if (memcmp(value, sent + ((guint64)step * of_step + i % of_step) * bytes, bytes) != 0)
        g_error("value %" G_GUINT64_FORMAT " of step %" G_GINT64_FORMAT " is not what was sent",
                i % of_step, step);
    }
  }
  gst_buffer_unmap(block, &map);
  return good;
}

static inline guint64 test_packets_count(GstElement *element, const char *name)
{
  GstStructure *stats;
  guint64 value = G_MAXUINT64;
  g_object_get(element, "stats", &stats, NULL);
  g_assert_true(gst_structure_get_uint64(stats, name, &value));
  gst_structure_free(stats);
  return value;
}

static inline guint test_packets_streams(GstElement *depay)
{
  GstStructure *stats;
  g_object_get(depay, "stats", &stats, NULL);
  const guint n = gst_value_array_get_size(gst_structure_get_value(stats, "streams"));
  gst_structure_free(stats);
  return n;
}

static inline AstroStream test_packets_stream(const char *caps)
{
  g_autoptr(GstCaps) parsed = gst_caps_from_string(caps);
  AstroStream stream;
  g_autoptr(GError) error = NULL;
  astro_stream_from_caps(&stream, parsed, &error);
  g_assert_no_error(error);
  return stream;
}

static inline GstHarness *test_packets_harness(const char *line, const char *caps)
{
  g_autoptr(GstCaps) parsed = gst_caps_from_string(caps);
  g_autoptr(AstroObservation) observation = astro_observation_new(0);
  GstHarness *h = gst_harness_new_parse(line);
  astro_observation_set_start(observation, TEST_START, NULL);
  gst_harness_set_live(h, FALSE);
  gst_harness_set_src_caps(h, g_steal_pointer(&parsed));
  gst_harness_push_event(h, astro_observation_to_event(observation));
  return h;
}

/* Pushes the samples in buffers of varying length. */
static inline void test_packets_push(GstHarness *h, const AstroStream *stream,
                                     const guint8 *samples, guint64 steps)
{
  const gsize of_step = astro_stream_step_bytes(stream);
  for (guint64 step = 0, i = 0; step < steps; i++) {
    const guint64 n = MIN(steps - step, 1 + i * 7919 % 3000);
    GstBuffer *buffer = gst_buffer_new_memdup(samples + step * of_step, n * of_step);
    GST_BUFFER_OFFSET(buffer) = step;
    GST_BUFFER_OFFSET_END(buffer) = step + n;
    GST_BUFFER_PTS(buffer) = astro_stream_time(stream, step);
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
    step += n;
  }
}

static inline GstElement *test_packets_named(GstHarness *h, const char *factory)
{
  GstIterator *all = gst_bin_iterate_all_by_element_factory_name(GST_BIN(h->element), factory);
  GValue value = G_VALUE_INIT;
  g_assert_cmpint(gst_iterator_next(all, &value), ==, GST_ITERATOR_OK);
  GstElement *element = g_value_dup_object(&value);
  g_value_unset(&value);
  gst_iterator_free(all);
  return element;
}

/* Writes descriptions to the directory where the test runs, which no other test shares. */
static inline TestPacketsData test_packets_data(const TestPackets *what, guint32 seed)
{
  g_assert_cmpint(g_chdir(g_get_tmp_dir()), ==, 0);
  TestPacketsData data = { .what = what, .stream = test_packets_stream(what->caps) };
  const gsize of_step = astro_stream_step_bytes(&data.stream);
  data.steps = (guint64)what->steps * what->packets;
  data.n = data.steps * of_step / astro_stream_sample_bytes(&data.stream);
  data.samples = g_malloc(data.steps * of_step);
  test_packets_fill(what, &data.stream, data.samples, data.n, seed);
  g_assert_true(g_file_set_contents(TEST_HEADER, TEST_HEADER_TEXT, -1, NULL));
  g_assert_true(g_file_set_contents(TEST_WRAP, TEST_WRAP_TEXT, -1, NULL));
  g_assert_true(g_file_set_contents(TEST_HEAP, TEST_HEAP_TEXT, -1, NULL));
  return data;
}

static inline void test_packets_data_clear(TestPacketsData *data)
{
  g_free(data->samples);
  g_unlink(TEST_HEADER);
  g_unlink(TEST_WRAP);
  g_unlink(TEST_HEAP);
}

static inline const TestPackets *test_packets_find(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(test_packets); i++)
    if (g_str_equal(test_packets[i].name, name))
      return &test_packets[i];
  g_error("there are no packets %s", name);
}
