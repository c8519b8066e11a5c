/* Statistics of a receiver. */
#include "config.h"
#include "core/packets/receiver-parts.h"

const AstroStream *astro_receiver_stream(const AstroReceiver *r)
{
  return r->is_ready ? &r->shape.out : NULL;
}

GstClockTime astro_receiver_latency(const AstroReceiver *r)
{
  return r->is_ready
             ? astro_stream_time(&r->shape.out,
                                 ((guint64)r->shape.block + r->shape.window) * r->shape.steps)
             : 0;
}

static AstroReceiverCounts counts_of(const AstroReceiver *r, guint stream)
{
  const AstroWindowCounts c = astro_window_counts(r->window, stream);
  return (AstroReceiverCounts){ c.packets, c.lost, c.late, c.duplicate, c.far, r->invalid[stream] };
}

AstroReceiverTotals astro_receiver_totals(const AstroReceiver *r)
{
  AstroReceiverTotals totals = r->totals;
  totals.incomplete = astro_heaps_incomplete(r->heaps);
  totals.sum.duplicate += astro_heaps_copied(r->heaps);
  for (guint i = 0; r->is_ready && i < r->place.n_streams; i++) {
    const AstroReceiverCounts c = counts_of(r, i);
    totals.sum.packets += c.packets;
    totals.sum.lost += c.lost;
    totals.sum.late += c.late;
    totals.sum.duplicate += c.duplicate;
    totals.sum.far += c.far;
    totals.sum.invalid += c.invalid;
  }
  return totals;
}

static void tell_counts(GstStructure *s, const AstroReceiverCounts *c)
{
  gst_structure_set(s, "packets", G_TYPE_UINT64, c->packets, "lost", G_TYPE_UINT64, c->lost, "late",
                    G_TYPE_UINT64, c->late, "duplicate", G_TYPE_UINT64, c->duplicate, "far",
                    G_TYPE_UINT64, c->far, "invalid", G_TYPE_UINT64, c->invalid, NULL);
}

void astro_receiver_tell(const AstroReceiver *r, GstStructure *structure)
{
  const AstroReceiverTotals totals = astro_receiver_totals(r);
  GValue streams = G_VALUE_INIT;
  tell_counts(structure, &totals.sum);
  gst_structure_set(structure, "bytes", G_TYPE_UINT64, totals.bytes, "alien", G_TYPE_UINT64,
                    totals.alien, "aside", G_TYPE_UINT64, totals.aside, "unplaced", G_TYPE_UINT64,
                    totals.unplaced, "incomplete", G_TYPE_UINT64, totals.incomplete, "restarts",
                    G_TYPE_UINT64, totals.restarts, NULL);
  g_value_init(&streams, GST_TYPE_ARRAY);
  for (guint i = 0; r->is_ready && i < r->place.n_streams; i++) {
    const AstroPlaceStream *first = &r->place.streams[i];
    const AstroReceiverCounts counts = counts_of(r, i);
    GstStructure *one =
        gst_structure_new("stream", "station", G_TYPE_UINT64, first->station, "pol", G_TYPE_UINT64,
                          first->pol, "channel", G_TYPE_UINT64, first->channel, NULL);
    GValue value = G_VALUE_INIT;
    tell_counts(one, &counts);
    g_value_init(&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed(&value, one);
    gst_value_array_append_and_take_value(&streams, &value);
  }
  gst_structure_take_value(structure, "streams", &streams);
}
