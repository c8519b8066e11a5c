/* Blocks of a receiver: their memory, validity and times. */
#include "config.h"
#include "core/packets/receiver-parts.h"

static gpointer open_block(gpointer user, guint64 first)
{
  AstroReceiver *r = user;
  (void)first;
  AstroReceiverBlock *block = g_new0(AstroReceiverBlock, 1);
  block->rows = r->turn ? g_new0(AstroTurnRow *, r->shape.block) : NULL;
  block->buffer = r->functions.allocate(r->user, r->shape.block_bytes);
  if (block->buffer && gst_buffer_map(block->buffer, &block->map, GST_MAP_WRITE))
    return block;
  gst_clear_buffer(&block->buffer);
  g_free(block->rows);
  g_free(block);
  r->is_out_of_memory = TRUE;
  return NULL;
}

static GstBuffer *close_memory(AstroReceiverBlock *block)
{
  GstBuffer *buffer = block->buffer;
  gst_buffer_unmap(buffer, &block->map);
  g_free(block->is_bad);
  g_free(block->rows);
  g_free(block);
  return buffer;
}

static void drop_block(gpointer user, gpointer data)
{
  AstroReceiver *r = user;
  AstroReceiverBlock *block = data;
  for (guint i = 0; block->rows && i < r->shape.block; i++)
    if (block->rows[i])
      astro_turn_drop(r->turn, block->rows[i]);
  gst_buffer_unref(close_memory(block));
}

/* Missing samples become zeros marked as invalid, so that the same packets always make the same
 * blocks. */
static void fill_in(AstroReceiver *r, AstroReceiverBlock *block, const AstroWindowBlock *told)
{
  const gsize n = (gsize)r->place.n_streams * r->shape.block;
  g_autofree guint8 *is_good = g_memdup2(told->came, n);
  g_autofree guint8 *is_turned = g_malloc0(r->shape.block);
  for (guint i = 0; block->rows && i < r->shape.block; i++)
    if (block->rows[i]) {
      astro_turn_end(r->turn, g_steal_pointer(&block->rows[i]), i, block->map.data);
      is_turned[i] = 1;
    }
  for (gsize i = 0; i < n; i++) {
    if (block->is_bad && block->is_bad[i])
      is_good[i] = 0;
    if (!is_good[i] && !is_turned[i % r->shape.block])
      astro_place_zeros(&r->place, (guint)(i / r->shape.block), (guint)(i % r->shape.block),
                        block->map.data, r->shape.block);
  }
  astro_place_validity(&r->place, is_good, r->shape.block, block->buffer);
}

static guint64 earliest(const AstroReceiver *r, const AstroWindowBlock *told)
{
  guint64 least = r->shape.block;
  for (guint stream = 0; stream < r->place.n_streams; stream++)
    for (guint64 i = 0; i < least; i++)
      if (told->came[(gsize)stream * r->shape.block + i])
        least = i;
  return told->first + (least < r->shape.block ? least : 0);
}

/* Headers and this computer's clock may be off by the latency of a network, and not by more. */
#define MOST_DISAGREEMENT GST_SECOND

static void check_clock(AstroReceiver *r, gint64 told, gint64 by_arrival)
{
  const gint64 off = by_arrival - told;
  if (by_arrival == 0 || ABS(off) <= (gint64)MOST_DISAGREEMENT)
    return;
  astro_receiver_warn(r, ASTRO_WARNED_CLOCK,
                      "by the packets' time they arrived %.3f s %s their samples were taken: the "
                      "sender's clock, this computer's clock, or sync-epoch or start-time is "
                      "wrong; the stream has the packets' time",
                      (double)ABS(off) / GST_SECOND, off < 0 ? "before" : "after");
}

static void begin(AstroReceiver *r, const AstroReceiverBlock *block, const AstroWindowBlock *told)
{
  gint64 ns = 0;
  gboolean is_known = astro_packet_epoch_time(&r->epoch, &r->shape, &r->sequence, &r->first,
                                              told->first, earliest(r, told), &ns);
  const gboolean is_theirs = r->epoch.has_sync || r->epoch.has_start;
  if (r->has_begun) {
    r->totals.restarts++;
    is_known &= !is_theirs;
    g_autofree char *text = g_strdup_printf(
        "the senders began anew, so the stream restarts%s",
        is_theirs ? "; its start is unknown, since sync-epoch and start-time hold only until then"
                  : "");
    r->functions.warn(r->user, text);
  }
  const gboolean is_by_arrival = !is_known && !is_theirs && block->begun;
  if (is_by_arrival)
    ns = block->begun;
  else if (is_known)
    check_clock(r, ns, block->begun);
  r->has_begun = TRUE;
  r->origin = told->first;
  g_autoptr(AstroObservation) observation = astro_packet_observation(is_known || is_by_arrival, ns);
  r->functions.begin(r->user, observation, is_by_arrival);
}

static void close_block(gpointer user, const AstroWindowBlock *told)
{
  AstroReceiver *r = user;
  AstroReceiverBlock *block = told->data;
  fill_in(r, block, told);
  if (told->is_after_start)
    begin(r, block, told);
  GstBuffer *buffer = close_memory(block);
  const AstroStream *out = &r->shape.out;
  GST_BUFFER_OFFSET(buffer) = (told->first - r->origin) * r->shape.steps;
  GST_BUFFER_OFFSET_END(buffer) = GST_BUFFER_OFFSET(buffer) + r->shape.block * r->shape.steps;
  GST_BUFFER_PTS(buffer) = astro_stream_time(out, GST_BUFFER_OFFSET(buffer));
  GST_BUFFER_DURATION(buffer) =
      astro_stream_time(out, GST_BUFFER_OFFSET_END(buffer)) - GST_BUFFER_PTS(buffer);
  if (told->is_after_start || told->is_after_gap)
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  r->functions.take_block(r->user, buffer);
}

const AstroWindowFunctions astro_receiver_blocks = { open_block, close_block, drop_block };
