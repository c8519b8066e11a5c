/* Makes blocks of heaps of results. */
#include "config.h"
#include "core/packets/results-receiver.h"

#include <string.h>
#include "core/packets/formats.h"
#include "core/packets/receiver-parts.h"
#include "core/packets/results.h"

#define NS_A_DAY (86400 * GST_SECOND)
/* Limits for streams that are only claimed. */
#define MOST_BLOCK_BYTES ((guint64)4 << 30)

/* A stream: what its first heap said, which the others have to repeat. */
struct _AstroResults {
  char *caps;
  guint64 channels;  /* in a heap */
  guint32 full;      /* the count of values without losses, as the latest heap has it */
  AstroLayout block; /* axes of a block */
  char *observation; /* of the blocks that were given; NULL: none yet */
};

/* A block that waits for heaps. */
typedef struct {
  GstBuffer *buffer;
  GstMapInfo map;
  guint32 *counts;
  AstroPartAxes counted;
  guint32 full;
  char *observation;
} Block;

void astro_results_free(AstroResults *results)
{
  g_free(results->caps);
  g_free(results->observation);
  g_free(results);
}

/* ---- settings ---- */

gboolean astro_results_check_settings(const AstroPacketSettings *s, GError **error)
{
  const struct {
    const char *name;
    gboolean is_set;
  } settings[] = {
    { "stations", s->stations && *s->stations },
    { "threads", s->threads && *s->threads },
    { "layout", s->layout && *s->layout },
    { "rate", s->rate && *s->rate },
    { "sync-epoch", s->sync_epoch && *s->sync_epoch },
    { "start-time", s->start_time && *s->start_time },
    { "channels", s->channels > 0 },
    { "pols", s->pols > 0 },
    { "packet-steps", s->packet_steps > 0 },
    { "first-channel", s->first_channel > 0 },
    { "sequence-step", s->sequence_step > 0 },
    { "frequency", s->frequency > 0 },
    { "bandwidth", s->bandwidth > 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
    if (settings[i].is_set)
      return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                        "%s is set, but packets of %s tell all of their stream: leave it out",
                        settings[i].name, ASTRO_RESULTS);
  return TRUE;
}

/* ---- blocks ---- */

static guint groups_of(const AstroReceiver *r)
{
  return r->place.n_streams;
}

static AstroPart part_of(const AstroReceiver *r, guint group, guint step)
{
  const guint64 channels = r->results->channels;
  return astro_part_new(&r->results->block, step, group * channels, channels);
}

static gpointer open_block(gpointer user, guint64 first)
{
  AstroReceiver *r = user;
  (void)first;
  Block *block = g_new0(Block, 1);
  block->buffer = r->functions.allocate(r->user, r->shape.block_bytes);
  if (block->buffer && gst_buffer_map(block->buffer, &block->map, GST_MAP_WRITE))
    return block;
  gst_clear_buffer(&block->buffer);
  g_free(block);
  r->is_out_of_memory = TRUE;
  return NULL;
}

static GstBuffer *close_memory(Block *block)
{
  GstBuffer *buffer = block->buffer;
  gst_buffer_unmap(buffer, &block->map);
  g_free(block->counts);
  g_free(block->observation);
  g_free(block);
  return buffer;
}

static void drop_block(gpointer user, gpointer data)
{
  (void)user;
  gst_buffer_unref(close_memory(data));
}

/* Values that did not come are zeros, and their counts too. */
static void fill_in(AstroReceiver *r, Block *block, const AstroWindowBlock *told)
{
  const gsize bytes = astro_stream_sample_bytes(&r->shape.out);
  for (guint group = 0; group < groups_of(r); group++)
    for (guint i = 0; i < r->shape.block; i++) {
      const AstroPart part = part_of(r, group, i);
      if (!told->came[(gsize)group * r->shape.block + i])
        astro_part_zero(&part, bytes, block->map.data);
    }
  const AstroLayout layout = astro_part_counts_layout(&r->results->block, block->counted);
  AstroValidityMeta *meta = astro_buffer_add_validity(block->buffer, &layout,
                                                      block->full ? block->full : r->results->full);
  const gsize n = astro_layout_samples(&layout);
  if (block->counts)
    memcpy(meta->counts, block->counts, n * sizeof *meta->counts);
  else
    memset(meta->counts, 0, n * sizeof *meta->counts);
}

/* Steps count from the first one that came, and so does the observation's start. */
static AstroObservation *observation_from(const AstroReceiver *r, const char *text, guint64 first)
{
  g_autoptr(GError) error = NULL;
  AstroObservation *observation =
      text && *text ? astro_results_read_observation(text, strlen(text), &error) : NULL;
  if (error)
    r->functions.warn(r->user, error->message);
  if (!observation)
    return astro_packet_observation(FALSE, 0);
  observation->start_ns += astro_stream_time(&r->shape.out, first);
  observation->start_mjd += (gint32)(observation->start_ns / NS_A_DAY);
  observation->start_ns %= NS_A_DAY;
  return observation;
}

static void begin(AstroReceiver *r, const Block *block, const AstroWindowBlock *told)
{
  AstroResults *results = r->results;
  const gboolean is_same = results->observation && block->observation &&
                           strcmp(results->observation, block->observation) == 0;
  if (!told->is_after_start && (is_same || !block->observation))
    return;
  if (told->is_after_start && r->has_begun) {
    r->totals.restarts++;
    r->functions.warn(r->user, "the senders began anew, so the stream restarts");
  }
  g_autoptr(AstroObservation) observation = observation_from(r, block->observation, told->first);
  g_free(results->observation);
  results->observation = g_strdup(block->observation);
  r->has_begun = TRUE;
  r->origin = told->first;
  r->functions.begin(r->user, observation, FALSE);
}

static void close_block(gpointer user, const AstroWindowBlock *told)
{
  AstroReceiver *r = user;
  Block *block = told->data;
  const AstroStream *out = &r->shape.out;
  fill_in(r, block, told);
  begin(r, block, told);
  GstBuffer *buffer = close_memory(block);
  GST_BUFFER_OFFSET(buffer) = told->first - r->origin;
  GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET(buffer) + r->shape.block;
  GST_BUFFER_PTS(buffer) = astro_stream_time(out, GST_BUFFER_OFFSET(buffer));
  GST_BUFFER_DURATION(buffer) =
      astro_stream_time(out, GST_BUFFER_OFFSET_END(buffer)) - GST_BUFFER_PTS(buffer);
  if (told->is_after_start || told->is_after_gap)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  r->functions.take_block(r->user, buffer);
}

static const AstroWindowFunctions blocks = { open_block, close_block, drop_block };

/* ---- the first heap ---- */

static gboolean wrong(GError **error, const char *text)
{
  return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_ALIEN, "%s", text);
}

static guint64 steps_in(const AstroStream *stream, guint ms)
{
  return gst_util_uint64_scale_ceil(ms, (guint64)stream->rate_n, 1000 * (guint64)stream->rate_d);
}

/* Multiplies extents that nobody has checked. */
static gboolean bytes_of(const AstroLayout *layout, gsize sample_bytes, guint64 *bytes)
{
  *bytes = sample_bytes;
  for (guint i = 0; i < layout->n_axes; i++)
    if (layout->extents[i] == 0 || *bytes > MOST_BLOCK_BYTES / layout->extents[i])
      return FALSE;
    else
      *bytes *= layout->extents[i];
  return TRUE;
}

static gboolean find_shape(AstroReceiver *r, const AstroResultsHead *head, GError **error)
{
  AstroStream *out = &r->shape.out;
  const gint time = astro_layout_find(&out->layout, ASTRO_AXIS_TIME);
  const guint64 all = astro_stream_extent(out, ASTRO_AXIS_CHANNEL);
  guint64 step_bytes, block_bytes;
  AstroLayout step = out->layout;
  AstroLayout *block = &r->results->block;
  if (head->channels == 0 || all % head->channels ||
      all / head->channels > ASTRO_PACKET_MOST_STREAMS)
    return wrong(error, "a heap's channels do not divide the stream's evenly");
  const guint groups = (guint)(all / head->channels);
  const guint64 window = steps_in(out, r->settings.latency_ms);
  const guint64 steps = time < 0 ? 1 : MAX(steps_in(out, r->settings.block_ms), 1);
  if (time >= 0)
    step.extents[time] = 1;
  *block = step;
  if (time >= 0)
    block->extents[time] = steps;
  if (!bytes_of(&step, astro_stream_sample_bytes(out), &step_bytes) ||
      !bytes_of(block, astro_stream_sample_bytes(out), &block_bytes) ||
      (window / steps + 3) * block_bytes > MOST_BLOCK_BYTES || window > G_MAXINT32)
    return wrong(error, "blocks of the stream that a heap describes would be larger than 4 GiB; a "
                        "smaller block or latency may help");
  r->results->channels = head->channels;
  r->shape.steps = 1;
  r->shape.block = (guint)steps;
  r->shape.window = (guint)window;
  r->shape.block_bytes = (gsize)block_bytes;
  r->shape.streams = g_new0(AstroPlaceStream, groups);
  for (guint i = 0; i < groups; i++)
    r->shape.streams[i].channel = i * head->channels;
  r->place = (AstroPlaceConfig){ .out = *out, .n_streams = groups, .streams = r->shape.streams };
  out->has_counts = TRUE;
  return TRUE;
}

/* Every block has counts, since heaps may get lost. */
static gboolean describe(AstroReceiver *r, GstCaps *caps, GError **error)
{
  g_autoptr(GstCaps) counted = gst_caps_make_writable(caps);
  gst_caps_set_simple(counted, "counts", G_TYPE_BOOLEAN, TRUE, NULL);
  return r->functions.describe(r->user, counted, error);
}

/* The first heap of a stream tells of it. */
static gboolean make_ready(AstroReceiver *r, const AstroResultsHeap *heap, gboolean *is_alien,
                           GError **error)
{
  g_autoptr(GError) cause = NULL;
  r->results = g_new0(AstroResults, 1);
  r->results->caps = g_strndup(heap->caps, heap->head.caps_bytes);
  g_autoptr(GstCaps) caps =
      astro_results_read_caps(heap->caps, heap->head.caps_bytes, &r->shape.out, &cause);
  *is_alien = !caps || !find_shape(r, &heap->head, &cause);
  if (*is_alien)
    astro_receiver_warn(r, ASTRO_WARNED_ALIEN, "%s; such heaps are left out", cause->message);
  if (*is_alien || !describe(r, g_steal_pointer(&caps), error)) {
    g_clear_pointer(&r->results, astro_results_free);
    astro_packet_shape_clear(&r->shape);
    return FALSE;
  }
  const AstroWindowConfig config = { groups_of(r), r->shape.block, r->shape.window };
  r->window = astro_window_new(&config, &blocks, r);
  r->invalid = g_new0(guint64, groups_of(r));
  return r->is_ready = TRUE;
}

/* ---- heaps ---- */

static gboolean is_text(const char *text, const char *bytes, gsize length)
{
  return strlen(text) == length && memcmp(text, bytes, length) == 0;
}

/* Whether a heap belongs to the stream; *group: which of its channels it has. */
static gboolean fits(const AstroReceiver *r, const AstroResultsHeap *heap, guint *group)
{
  const AstroResults *results = r->results;
  const AstroResultsHead *head = &heap->head;
  const AstroPart part = part_of(r, 0, 0);
  const AstroPartAxes all = (1u << results->block.n_axes) - 1;
  *group = (guint)(head->first_channel / results->channels);
  return is_text(results->caps, heap->caps, head->caps_bytes) &&
         head->channels == results->channels && head->first_channel % results->channels == 0 &&
         head->first_channel / results->channels < groups_of(r) &&
         head->sample_bytes ==
             astro_part_samples(&part) * astro_stream_sample_bytes(&r->shape.out) &&
         (head->counted & ~all) == 0 &&
         (head->n_counts == 0 || head->n_counts == astro_part_n_counts(&part, head->counted));
}

/* A block has its counts over the axes of its first heap, until one comes that has more. */
static void prepare_counts(const AstroReceiver *r, Block *block, const AstroResultsHead *head)
{
  const AstroPartAxes counted = block->counted | head->counted;
  AstroPart all = { .whole = r->results->block };
  if (block->counts && counted == block->counted)
    return;
  memcpy(all.n, all.whole.extents, sizeof all.n);
  guint32 *counts = g_new0(guint32, astro_part_n_counts(&all, counted));
  if (block->counts)
    astro_part_put_counts(&all, block->counted, block->counts, counted, counts);
  g_free(block->counts);
  block->counts = counts;
  block->counted = counted;
}

static void put_counts(const AstroReceiver *r, Block *block, const AstroPart *part,
                       const AstroResultsHeap *heap)
{
  const AstroResultsHead *head = &heap->head;
  const gsize n = MAX(head->n_counts, 1);
  g_autofree guint32 *own = g_new(guint32, n);
  for (gsize i = 0; i < head->n_counts; i++)
    own[i] = (guint32)astro_packet_read_little(heap->counts + i * sizeof *own, sizeof *own);
  if (head->n_counts == 0)
    own[0] = MAX(head->full, 1);
  prepare_counts(r, block, head);
  r->results->full = MAX(head->full, 1);
  block->full = MAX(block->full, r->results->full);
  astro_part_put_counts(part, head->n_counts ? head->counted : 0, own, block->counted,
                        block->counts);
}

static void put(AstroReceiver *r, const AstroResultsHeap *heap, guint group,
                const AstroWindowPlace *place)
{
  Block *block = place->data;
  const AstroPart part = part_of(r, group, place->packet);
  astro_part_put(&part, astro_stream_sample_bytes(&r->shape.out), heap->samples, block->map.data);
  put_counts(r, block, &part, heap);
  if (!block->observation)
    block->observation = g_strndup(heap->observation, heap->head.observation_bytes);
}

static void take_alien(AstroReceiver *r, const char *text)
{
  r->totals.alien++;
  astro_receiver_warn(r, ASTRO_WARNED_SAMPLES, "%s: such heaps are left out", text);
}

gboolean astro_results_take(AstroReceiver *r, const AstroPacket *packet, const guint8 *payload,
                            GError **error)
{
  g_autoptr(GError) cause = NULL;
  AstroResultsHeap heap;
  AstroWindowPlace place;
  gboolean is_alien = FALSE;
  guint group;
  if (packet->count_bits == 0 ||
      !astro_results_read(payload, packet->payload_bytes, &heap, &cause)) {
    take_alien(r, cause ? cause->message : "a heap does not tell its time step");
    return TRUE;
  }
  if (!r->is_ready && !make_ready(r, &heap, &is_alien, error)) {
    r->totals.alien += is_alien;
    return is_alien;
  }
  if (!fits(r, &heap, &group)) {
    take_alien(r, "a heap of another stream than the first one");
    return TRUE;
  }
  switch (astro_window_take(r->window, group, packet->count, &place)) {
  case ASTRO_WINDOW_PLACED:
    put(r, &heap, group, &place);
    break;
  case ASTRO_WINDOW_FAILED:
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "no memory for blocks of %zu bytes", r->shape.block_bytes);
  case ASTRO_WINDOW_LATE:
    astro_receiver_warn_late(r);
    break;
  case ASTRO_WINDOW_FAR:
  case ASTRO_WINDOW_DUPLICATE:
    break;
  }
  return TRUE;
}
