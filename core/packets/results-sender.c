/* Sends results as SPEAD heaps. */
#include "config.h"
#include "core/packets/results-sender.h"

#include <string.h>
#include "core/packets/formats.h"
#include "core/packets/results-describe.h"
#include "core/packets/spead.h"

#define refuse(...) astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_WRITE, __VA_ARGS__)

#define ADDRESS 48
#define MJD_1970 40587
/* Heaps have as many channels as fit in this many bytes, unless the user says how many. */
#define HEAP_BYTES ((gsize)1 << 20)
/* Heaps of descriptors have numbers of their own. */
#define DESCRIPTORS ((guint64)1 << 47)
/* Receivers may begin at any time, so descriptors come again. */
#define DESCRIBED_EVERY GST_SECOND

struct _AstroResultsSender {
  AstroSender *sender;
  AstroStream stream;
  AstroRowTime time;
  gpointer user;
  AstroLayout step;               /* of the samples of one step */
  guint64 all_channels, channels; /* of the stream, and of a heap */
  char *caps, *observation;       /* observation: "" if there is none */
  double doubles[ASTRO_RESULTS_N_DOUBLES];
  AstroPartAxes described; /* axes of counts that descriptors told of */
  GstClockTime described_at;
  gboolean is_described;
  guint64 descriptors; /* heaps of them so far */
};

/* ---- the stream ---- */

static gboolean check(const AstroStream *stream, const AstroObservation *observation,
                      GError **error)
{
  if (observation && observation->uvw_metres > 0)
    return refuse("buffers have (u,v,w) of their own, which packets cannot carry: "
                  "astrofitssrc uvw=auto takes those of the stations");
  if (!astro_results_can_describe(stream->format))
    return refuse("packets of %s cannot hold format %s: put astroconvert "
                  "upstream",
                  ASTRO_RESULTS, astro_format_name(stream->format));
  return TRUE;
}

static gsize bytes_of(const AstroResultsSender *self, guint64 channels)
{
  const AstroPart part = astro_part_new(&self->step, 0, 0, channels);
  return astro_part_samples(&part) * astro_stream_sample_bytes(&self->stream);
}

/* As many channels as fit in a heap, and as divide the band evenly. */
static gboolean choose_channels(AstroResultsSender *self, guint wished, GError **error)
{
  if (wished && self->all_channels % wished)
    return refuse("packet-channels=%u does not divide the %" G_GUINT64_FORMAT " channels evenly",
                  wished, self->all_channels);
  self->channels = wished ? wished : self->all_channels;
  while (!wished && self->channels > 1 && bytes_of(self, self->channels) > HEAP_BYTES)
    do
      self->channels--;
    while (self->all_channels % self->channels);
  const gsize bytes = bytes_of(self, self->channels);
  return bytes <= ASTRO_PACKET_MAX_BYTES / 2 ||
         refuse("a heap of %" G_GUINT64_FORMAT " channels would have %zu bytes "
                "of samples, expected %zu at most: packet-channels=1 or "
                "astroselect make it smaller",
                self->channels, bytes, ASTRO_PACKET_MAX_BYTES / 2);
}

static double start_of(const AstroObservation *observation)
{
  return observation && observation->has_start
             ? (observation->start_mjd - MJD_1970) * 86400.0 + (double)observation->start_ns * 1e-9
             : 0;
}

static char *text_of(const AstroObservation *observation)
{
  if (!observation)
    return g_strdup("");
  g_autoptr(GstEvent) event = astro_observation_to_event(observation);
  return gst_structure_to_string(gst_event_get_structure(event));
}

AstroResultsSender *astro_results_sender_new(AstroSender *sender, const GstCaps *caps,
                                             const AstroObservation *observation, AstroRowTime time,
                                             gpointer user, GError **error)
{
  g_autoptr(AstroResultsSender) self = g_new0(AstroResultsSender, 1);
  AstroStream *stream = &self->stream;
  if (!astro_results_take_caps(caps, stream, error) || !check(stream, observation, error))
    return NULL;
  self->sender = sender;
  self->time = time;
  self->user = user;
  self->all_channels = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  astro_stream_shape(stream, 1, &self->step);
  self->caps = gst_caps_to_string(caps);
  self->observation = text_of(observation);
  const double doubles[] = { stream->frequency, stream->bandwidth,
                             (double)stream->rate_d / stream->rate_n, start_of(observation) };
  memcpy(self->doubles, doubles, sizeof doubles);
  if (!choose_channels(self, astro_sender_settings(sender)->packet_channels, error))
    return NULL;
  return g_steal_pointer(&self);
}

guint64 astro_results_sender_groups(const AstroResultsSender *self)
{
  return self->all_channels / self->channels;
}

void astro_results_sender_free(AstroResultsSender *self)
{
  g_free(self->caps);
  g_free(self->observation);
  g_free(self);
}

/* ---- heaps ---- */

typedef struct {
  guint item;
  gboolean is_value;
  guint64 value;
} Pointer;

static void send_heap(AstroResultsSender *self, guint64 number, const Pointer *pointers, guint n,
                      const guint8 *bytes, gsize size, GstClockTime time)
{
  const gsize most = astro_sender_settings(self->sender)->packet_bytes;
  guint8 header[ASTRO_PACKET_MAX_HEADER];
  for (gsize at = 0; at < size; at += most) {
    const gsize length = MIN(most, size - at);
    AstroSpeadItemWriter writer = astro_spead_begin(header, ADDRESS);
    astro_spead_put_heap(&writer, number, size, at, length);
    for (guint i = 0; i < n; i++)
      astro_spead_put(&writer, pointers[i].is_value, pointers[i].item, pointers[i].value);
    const gsize begin = astro_spead_end(&writer);
    GstBuffer *datagram = gst_buffer_new_allocate(NULL, begin + length, NULL);
    gst_buffer_fill(datagram, 0, header, begin);
    gst_buffer_fill(datagram, begin, bytes + at, length);
    GST_BUFFER_PTS(datagram) = time;
    astro_sender_put(self->sender, datagram);
  }
}

static void describe(AstroResultsSender *self, AstroPartAxes counted, GstClockTime time)
{
  g_autoptr(GArray) places = NULL;
  if (self->is_described && self->described == counted && GST_CLOCK_TIME_IS_VALID(time) &&
      time < self->described_at + DESCRIBED_EVERY)
    return;
  g_autoptr(GByteArray) heap =
      astro_results_describe(&self->stream, self->channels, counted, &places);
  g_autofree Pointer *pointers = g_new(Pointer, places->len);
  for (guint i = 0; i < places->len; i++)
    pointers[i] = (Pointer){ ASTRO_SPEAD_DESCRIPTOR, FALSE, g_array_index(places, guint64, i) };
  send_heap(self, DESCRIPTORS | self->descriptors++, pointers, places->len, heap->data, heap->len,
            time);
  self->is_described = TRUE;
  self->described = counted;
  self->described_at = time;
}

/* All axes but polarisations, which are mostly lost together. */
static AstroPartAxes usual_axes(const AstroLayout *layout)
{
  AstroPartAxes axes = 0;
  for (guint i = 0; i < layout->n_axes; i++)
    axes |= (layout->axes[i] != ASTRO_AXIS_POL ? 1u : 0) << i;
  return axes;
}

static void write_counts(const AstroPart *part, AstroPartAxes axes, const AstroValidityMeta *counts,
                         guint8 *to)
{
  const guint64 n = astro_part_n_counts(part, axes);
  g_autofree guint32 *own = g_new(guint32, n);
  astro_part_take_counts(part, axes, counts, own);
  for (guint64 i = 0; i < n; i++)
    astro_packet_write_little(to + i * sizeof *own, sizeof *own, own[i]);
}

/* A buffer of several steps may have an axis of time in front that the stream does not name. */
static guint added_axes(const AstroResultsSender *self, const AstroLayout *shape)
{
  return shape->n_axes - self->stream.layout.n_axes;
}

static AstroResultsHead head_of(const AstroResultsSender *self, const AstroPart *part,
                                guint64 channel, const AstroValidityMeta *counts)
{
  const guint added = added_axes(self, &part->whole);
  AstroResultsHead head = {
    .first_channel = channel,
    .channels = self->channels,
    .full = counts ? counts->full : 1,
    .sample_bytes = astro_part_samples(part) * astro_stream_sample_bytes(&self->stream),
    .caps_bytes = strlen(self->caps),
    .observation_bytes = strlen(self->observation),
  };
  head.counted = usual_axes(&self->stream.layout);
  if (counts && astro_part_counted(part, counts) >> added & ~head.counted)
    head.counted = (1u << self->stream.layout.n_axes) - 1;
  head.n_counts = counts ? astro_part_n_counts(part, head.counted << added) : 0;
  return head;
}

/* Items that are empty have no pointer. */
static guint point(const AstroResultsSender *self, const AstroResultsHead *head, guint64 step,
                   Pointer *pointers)
{
  const gsize samples = ASTRO_RESULTS_BEGIN, counts = samples + head->sample_bytes,
              caps = counts + head->n_counts * sizeof(guint32), told = caps + head->caps_bytes;
  const AstroStream *stream = &self->stream;
  const gint baseline = astro_layout_find(&stream->layout, ASTRO_AXIS_BASELINE);
  const guint64 baselines = baseline < 0 ? 0 : stream->layout.extents[baseline];
  const Pointer all[] = {
    { ASTRO_RESULTS_STEP, TRUE, step },
    { ASTRO_RESULTS_FIRST_CHANNEL, TRUE, head->first_channel },
    { ASTRO_RESULTS_CHANNELS, TRUE, self->all_channels },
    { ASTRO_RESULTS_STATIONS, TRUE, astro_stream_stations(stream) },
    { ASTRO_RESULTS_BASELINES, TRUE, baselines },
    { ASTRO_RESULTS_HEAD, FALSE, 0 },
    { ASTRO_RESULTS_FREQUENCY, FALSE, ASTRO_RESULTS_DOUBLES },
    { ASTRO_RESULTS_BANDWIDTH, FALSE, ASTRO_RESULTS_DOUBLES + 8 },
    { ASTRO_RESULTS_INTERVAL, FALSE, ASTRO_RESULTS_DOUBLES + 16 },
    { ASTRO_RESULTS_START, FALSE, ASTRO_RESULTS_DOUBLES + 24 },
    { ASTRO_RESULTS_SAMPLES, FALSE, samples },
    { ASTRO_RESULTS_CAPS, FALSE, caps },
    { ASTRO_RESULTS_COUNTS, FALSE, counts },
    { ASTRO_RESULTS_OBSERVATION, FALSE, told },
  };
  const guint n = G_N_ELEMENTS(all) - (head->observation_bytes == 0);
  memcpy(pointers, all, sizeof all);
  if (head->n_counts == 0)
    pointers[G_N_ELEMENTS(all) - 2] = pointers[G_N_ELEMENTS(all) - 1];
  return n - (head->n_counts == 0);
}

static void send_part(AstroResultsSender *self, const AstroPart *part, guint64 channel,
                      guint64 step, const guint8 *samples, const AstroValidityMeta *counts)
{
  Pointer pointers[16];
  const AstroResultsHead head = head_of(self, part, channel, counts);
  const gsize size = astro_results_heap_bytes(&head);
  g_autofree guint8 *heap = g_malloc0(size);
  guint8 *at = heap + ASTRO_RESULTS_BEGIN;
  astro_results_write_head(&head, heap);
  for (guint i = 0; i < ASTRO_RESULTS_N_DOUBLES; i++) {
    guint64 bits;
    memcpy(&bits, &self->doubles[i], sizeof bits);
    astro_packet_write_little(heap + ASTRO_RESULTS_DOUBLES + 8 * i, 8, bits);
  }
  astro_part_take(part, astro_stream_sample_bytes(&self->stream), samples, at);
  at += head.sample_bytes;
  if (head.n_counts)
    write_counts(part, head.counted << added_axes(self, &part->whole), counts, at);
  at += head.n_counts * sizeof(guint32);
  memcpy(at, self->caps, head.caps_bytes);
  memcpy(at + head.caps_bytes, self->observation, head.observation_bytes);

  const GstClockTime time = self->time(self->user, step + 1);
  const guint64 groups = astro_results_sender_groups(self);
  const guint64 number = (step * groups + channel / self->channels) & (DESCRIPTORS - 1);
  describe(self, head.counted, time);
  send_heap(self, number, pointers, point(self, &head, step, pointers), heap, size, time);
}

void astro_results_sender_add(AstroResultsSender *self, const guint8 *samples, guint64 steps,
                              guint64 skip, guint64 first, const AstroValidityMeta *counts)
{
  AstroLayout shape;
  astro_stream_shape(&self->stream, steps, &shape);
  for (guint64 step = skip; step < steps; step++)
    for (guint64 channel = 0; channel < self->all_channels; channel += self->channels) {
      const AstroPart part = astro_part_new(&shape, step, channel, self->channels);
      send_part(self, &part, channel, first + step - skip, samples, counts);
    }
}
