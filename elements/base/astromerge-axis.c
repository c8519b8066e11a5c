/* The time axis that the pads of AstroMerge share: where it begins, and which of its steps a
 * buffer of a pad covers. */
#include "config.h"
#include "elements/base/astromerge-parts.h"

#define DAY_NS (G_GINT64_CONSTANT(86400) * GST_SECOND)
/* Observations whose starts are more days apart than this, and times and steps farther from the
 * axis's beginning than this, are not added up: the sums could overflow. */
#define MOST_DAYS 30000
#define FARTHEST (G_GINT64_CONSTANT(1) << 62)
/* Nanoseconds that two times may differ by because each was rounded. */
#define ROUNDING 3

void astro_merge_axis_clear(AstroMergeAxis *axis)
{
  g_free(axis->pad);
  g_free(axis->start_pad);
  *axis = (AstroMergeAxis){ 0 };
}

static gboolean has_start(const AstroMergeStream *of)
{
  return of->observation && of->observation->has_start;
}

static gboolean is_earlier(const AstroObservation *a, const AstroObservation *b)
{
  return a->start_mjd != b->start_mjd ? a->start_mjd < b->start_mjd : a->start_ns < b->start_ns;
}

/* A time as whole steps, and the rest. */
static gint64 to_steps(const AstroMergeAxis *axis, GstClockTimeDiff time, GstClockTimeDiff *rest)
{
  const AstroStream stream = { .rate_n = axis->rate_n, .rate_d = axis->rate_d };
  const guint64 size = time < 0 ? 0 - (guint64)time : (guint64)time;
  const guint64 steps =
      gst_util_uint64_scale_round(size, (guint64)axis->rate_n, GST_SECOND * (guint64)axis->rate_d);
  const gint64 n = steps > (guint64)FARTHEST ? FARTHEST : (gint64)steps;
  *rest = (GstClockTimeDiff)(size - astro_stream_time(&stream, (guint64)n));
  if (time < 0)
    *rest = -*rest;
  return time < 0 ? -n : n;
}

static gboolean refuse_start(const AstroMergePad *pad, const AstroMergeAxis *axis,
                             const AstroMergeStream *of, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: the observation has %s start, and that of pad %s has %s: "
                             "expected all to have one, or none (astroobserve start-time)",
                             GST_PAD_NAME(pad), has_start(of) ? "a" : "no",
                             axis->start_pad ? axis->start_pad : axis->pad,
                             has_start(of) ? "none" : "one");
}

/* The time of step 0 of a stream, on the axis. */
static gboolean find_origin(const AstroMergePad *pad, const AstroMergeAxis *axis,
                            const AstroMergeEntry *entry, GstClockTimeDiff *origin, GError **error)
{
  const AstroObservation *o = entry->of->observation;
  *origin = entry->epoch - axis->epoch;
  if (!has_start(entry->of) && !axis->has_start)
    return TRUE;
  if (has_start(entry->of) != axis->has_start)
    return refuse_start(pad, axis, entry->of, error);
  const gint64 days = (gint64)o->start_mjd - axis->start_mjd;
  if (days > MOST_DAYS || days < -MOST_DAYS)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the observation begins %" G_GINT64_FORMAT
                               " days %s that of pad %s, expected at most %d",
                               GST_PAD_NAME(pad), ABS(days), days < 0 ? "before" : "after",
                               axis->pad, MOST_DAYS);
  *origin += days * DAY_NS + (gint64)(o->start_ns - axis->start_ns);
  return TRUE;
}

static gboolean refuse_part(const AstroMergePad *pad, const AstroMergeAxis *axis,
                            GstClockTimeDiff rest, GError **error)
{
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_CAPS,
      "pad %s: samples are taken %.9f s (%.6g of a step) %s those of pad %s, at a rate of %d/%d: "
      "expected starts that are whole steps apart",
      GST_PAD_NAME(pad), (double)ABS(rest) / GST_SECOND,
      (double)ABS(rest) / GST_SECOND * axis->rate_n / axis->rate_d, rest > 0 ? "after" : "before",
      axis->pad, axis->rate_n, axis->rate_d);
}

static gboolean is_foreign(const AstroMergeAxis *axis, const AstroMergeEntry *entry)
{
  return axis->is_there && (gint64)entry->of->stream.rate_n * axis->rate_d !=
                               (gint64)axis->rate_n * entry->of->stream.rate_d;
}

gboolean astro_merge_axis_place(const AstroMergeAxis *axis, const AstroMergePad *pad,
                                AstroMergeEntry *entry, GError **error)
{
  GstClockTimeDiff origin, rest;
  if (entry->is_placed || is_foreign(axis, entry))
    return TRUE;
  entry->is_placed = TRUE;
  entry->place = (gint64)entry->first;
  if (!astro_steps_count_once(&entry->of->stream))
    return TRUE;
  if (!find_origin(pad, axis, entry, &origin, error))
    return FALSE;
  if (axis->rate_n == 0)
    return TRUE;
  const gint64 steps = to_steps(axis, origin, &rest);
  entry->place += steps;
  return ABS(rest) <= ROUNDING || refuse_part(pad, axis, rest, error);
}

static void set_start(AstroMergeAxis *axis, const GPtrArray *pads)
{
  const AstroObservation *earliest = NULL;
  for (guint i = 0; i < pads->len; i++) {
    const AstroMergeEntry *head = astro_merge_pad_head(astro_merge_pad_at(pads, i));
    const AstroMergeStream *of = head ? head->of : astro_merge_pad_at(pads, i)->latest;
    if (!of || !has_start(of) || (earliest && !is_earlier(of->observation, earliest)))
      continue;
    earliest = of->observation;
    g_free(axis->start_pad);
    axis->start_pad = gst_pad_get_name(GST_PAD(astro_merge_pad_at(pads, i)));
  }
  axis->has_start = earliest != NULL;
  if (!earliest)
    return;
  axis->start_mjd = earliest->start_mjd;
  axis->start_ns = earliest->start_ns;
}

gboolean astro_merge_axis_make(AstroMergePrivate *priv, const GPtrArray *pads, GError **error)
{
  AstroMergeAxis *axis = &priv->axis;
  AstroMergePad *first = NULL;
  for (guint i = 0; i < pads->len && !first; i++)
    if (astro_merge_pad_head(astro_merge_pad_at(pads, i)))
      first = astro_merge_pad_at(pads, i);
  const AstroMergeEntry *head = astro_merge_pad_head(first);
  astro_merge_axis_clear(axis);
  axis->is_there = TRUE;
  axis->pad = gst_pad_get_name(first);
  axis->rate_n = head->of->stream.rate_n;
  axis->rate_d = head->of->stream.rate_d;
  set_start(axis, pads);
  GstClockTimeDiff origin, rest = 0;
  if (astro_steps_count_once(&head->of->stream) && axis->rate_n > 0) {
    if (!find_origin(first, axis, head, &origin, error))
      return FALSE;
    to_steps(axis, origin, &rest);
    axis->epoch = rest;
  }
  priv->next = 0;
  for (guint i = 0; i < pads->len; i++)
    for (GList *link = astro_merge_pad_at(pads, i)->entries.head; link; link = link->next)
      ((AstroMergeEntry *)link->data)->is_placed = FALSE;
  return TRUE;
}

gint64 astro_merge_axis_gap_end(const AstroMergeAxis *axis, const AstroMergePad *pad)
{
  const AstroMergeEntry gap = { .of = pad->latest };
  GstClockTimeDiff origin, rest;
  if (!GST_CLOCK_TIME_IS_VALID(pad->gap_end) || !pad->latest || axis->rate_n == 0 ||
      !find_origin(pad, axis, &gap, &origin, NULL))
    return G_MININT64;
  return to_steps(axis, origin + (GstClockTimeDiff)pad->gap_end, &rest);
}

GstClockTime astro_merge_time(const AstroMergePrivate *priv, guint64 step)
{
  const GstClockTime since = astro_stream_time(&priv->out, step);
  const GstClockTimeDiff epoch = priv->axis.epoch;
  return epoch < 0 && (guint64)-epoch > since ? 0 : since + (guint64)epoch;
}
