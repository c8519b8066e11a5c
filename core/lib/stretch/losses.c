/* Keeps account of lost samples, and the counts of values computed from windows. */
#include "config.h"
#include "core/lib/stretch/losses.h"

struct _AstroLosses {
  AstroStream stream;
  guint stations, channels;
  gboolean by_channel; /* some of the losses kept are not of all channels */
  GArray **lost;       /* of each station: AstroLoss, in the order of time; NULL: none yet */
  GArray *latest;      /* AstroLoss of the latest block, by station */
};

AstroLosses *astro_losses_new(const AstroStream *stream)
{
  AstroLosses *losses = g_new0(AstroLosses, 1);
  losses->stream = *stream;
  losses->stations = (guint)astro_stream_extent(stream, ASTRO_AXIS_STATION);
  losses->channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  losses->latest = g_array_new(FALSE, FALSE, sizeof(AstroLoss));
  return losses;
}

void astro_losses_free(AstroLosses *losses)
{
  for (guint station = 0; losses->lost && station < losses->stations; station++)
    g_array_unref(losses->lost[station]);
  g_free(losses->lost);
  g_array_unref(losses->latest);
  g_free(losses);
}

void astro_losses_clear(AstroLosses *losses)
{
  for (guint station = 0; losses->lost && station < losses->stations; station++)
    g_array_set_size(losses->lost[station], 0);
  g_array_set_size(losses->latest, 0);
  losses->by_channel = FALSE;
}

void astro_losses_find(const AstroStream *stream, GstBuffer *in, guint64 first, guint64 steps,
                       AstroLossFunc found, gpointer data)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  const gboolean gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  const guint stations = (guint)astro_stream_extent(stream, ASTRO_AXIS_STATION);
  const guint channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  guint group = channels; /* channels that share a count */
  AstroValiditySamples samples;
  AstroLayout shape;

  if ((!gap && !meta) || steps == 0)
    return;
  astro_stream_shape(stream, steps, &shape);
  if (!gap)
    astro_validity_samples(&samples, meta, &shape);
  if (!gap && astro_validity_all_whole(&samples))
    return;
  if (!gap && samples.channel.stride)
    group = (guint)samples.channel.group;
  for (guint station = 0; station < stations; station++)
    for (guint channel = 0; channel < channels; channel += group) {
      AstroLoss loss = { station, channel, channel + group, first, first + steps };
      if (gap)
        found(data, &loss);
      else
        for (guint64 from, to = 0;
             astro_validity_next_loss(&samples, channel, station, &from, &to);) {
          loss.from = first + from;
          loss.to = first + to;
          found(data, &loss);
        }
    }
}

/* Made only for the first loss: caps may announce any number of stations, but a block that has
 * arrived does have as many. */
static void make_lists(AstroLosses *losses)
{
  losses->lost = g_new(GArray *, losses->stations);
  for (guint station = 0; station < losses->stations; station++)
    losses->lost[station] = g_array_new(FALSE, FALSE, sizeof(AstroLoss));
}

void astro_losses_add(AstroLosses *losses, const AstroLoss *loss)
{
  if (!losses->lost)
    make_lists(losses);
  g_array_append_val(losses->lost[loss->station], *loss);
  if (loss->channel_end - loss->channel < losses->channels)
    losses->by_channel = TRUE;
}

static void add_latest(gpointer data, const AstroLoss *loss)
{
  AstroLosses *losses = data;
  g_array_append_val(losses->latest, *loss);
  astro_losses_add(losses, loss);
}

void astro_losses_read(AstroLosses *losses, GstBuffer *in, guint64 first, guint64 steps,
                       const AstroLoss **latest, guint *n)
{
  g_array_set_size(losses->latest, 0);
  astro_losses_find(&losses->stream, in, first, steps, add_latest, losses);
  *latest = (const AstroLoss *)losses->latest->data;
  *n = losses->latest->len;
}

/* Counts by time, station and perhaps channel, in the order of the values' axes, initially full. */
typedef struct {
  AstroValidityMeta *meta;        /* NULL: not needed so far */
  guint64 time, station, channel; /* strides; 0: all share a count */
} Counts;

/* The extent of an axis of the counts; 0: they do not have it. */
static guint64 counted(const AstroLosses *losses, AstroAxis axis, guint64 count)
{
  switch (axis) {
  case ASTRO_AXIS_TIME:
    return count;
  case ASTRO_AXIS_STATION:
    return losses->stations;
  case ASTRO_AXIS_CHANNEL:
    return losses->by_channel ? losses->channels : 0;
  default:
    return 0;
  }
}

static guint64 stride_of(const AstroLayout *shape, AstroAxis axis)
{
  guint64 strides[ASTRO_MAX_AXES];
  const gint at = astro_layout_find(shape, axis);
  astro_layout_strides(shape, strides);
  return at < 0 ? 0 : strides[at];
}

static void add_counts(Counts *counts, GstBuffer *out, const AstroLosses *losses,
                       const AstroLayout *layout, guint64 span, guint64 count)
{
  AstroLayout shape = { 0 };

  for (guint i = 0; i < layout->n_axes; i++) {
    const guint64 extent = counted(losses, layout->axes[i], count);
    if (!extent)
      continue;
    shape.axes[shape.n_axes] = layout->axes[i];
    shape.extents[shape.n_axes++] = extent;
  }
  counts->meta = astro_buffer_add_validity(out, &shape, (guint32)span);
  counts->meta->slowest_first = shape.axes[0] == layout->axes[0];
  counts->time = stride_of(&shape, ASTRO_AXIS_TIME);
  counts->station = stride_of(&shape, ASTRO_AXIS_STATION);
  counts->channel = stride_of(&shape, ASTRO_AXIS_CHANNEL);
}

/* The number of samples of the window that are lost. */
static guint64 overlap(const AstroWindows *windows, guint64 n, const AstroLoss *loss)
{
  guint64 begin = n * windows->step - windows->lead, end = begin + windows->span;
  begin = MAX(begin, loss->from);
  end = MIN(end, loss->to);
  return end > begin ? end - begin : 0;
}

/* Losses that were moved may overlap, so a count is kept from falling below 0. */
static void subtract(const Counts *counts, guint64 n, const AstroLoss *loss, guint64 missing)
{
  guint32 *of_value = counts->meta->counts + loss->station * counts->station + n * counts->time;
  const guint end = counts->channel ? loss->channel_end : loss->channel + 1;
  for (guint channel = loss->channel; channel < end; channel++) {
    guint32 *count = of_value + channel * counts->channel;
    *count -= (guint32)MIN(missing, *count);
  }
}

/* Forgets a station's losses that end before a sample. */
static void forget(GArray *lost, guint64 before)
{
  guint kept = 0;
  for (guint i = 0; i < lost->len; i++) {
    AstroLoss loss = g_array_index(lost, AstroLoss, i);
    if (loss.to > before)
      g_array_index(lost, AstroLoss, kept++) = loss;
  }
  g_array_set_size(lost, kept);
}

static gboolean is_empty(const AstroValidityMeta *meta)
{
  for (guint64 i = 0; i < astro_validity_n_counts(meta); i++)
    if (meta->counts[i])
      return FALSE;
  return TRUE;
}

gboolean astro_losses_mark(AstroLosses *losses, GstBuffer *out, const AstroLayout *layout,
                           const AstroWindows *windows, guint64 first, guint64 count)
{
  const guint64 end = first + count, span = windows->span, lead = windows->lead;
  Counts counts = { NULL };
  gboolean is_left = FALSE;

  for (guint station = 0; losses->lost && station < losses->stations; station++) {
    GArray *lost = losses->lost[station];
    for (guint i = 0; i < lost->len; i++) {
      const AstroLoss *loss = &g_array_index(lost, AstroLoss, i);
      guint64 n = loss->from + lead >= span ? (loss->from + lead - span) / windows->step : 0;
      for (n = MAX(n, first); n < end && n * windows->step - lead < loss->to; n++) {
        const guint64 missing = overlap(windows, n, loss);
        if (missing && !counts.meta)
          add_counts(&counts, out, losses, layout, span, count);
        if (missing)
          subtract(&counts, n - first, loss, missing);
      }
    }
    forget(lost, end * windows->step - lead);
    is_left = is_left || lost->len > 0;
  }
  losses->by_channel = losses->by_channel && is_left;
  return counts.meta && is_empty(counts.meta);
}
