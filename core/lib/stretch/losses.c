/* Keeps account of lost samples, and the counts of values computed from windows. */
#include "config.h"
#include "core/lib/stretch/losses.h"

struct _AstroLosses {
  AstroStream stream;
  guint stations;
  GArray **lost;  /* of each station: AstroLoss, in the order of time; NULL: none yet */
  GArray *latest; /* AstroLoss of the latest block, by station */
};

AstroLosses *astro_losses_new(const AstroStream *stream)
{
  AstroLosses *losses = g_new0(AstroLosses, 1);
  losses->stream = *stream;
  losses->stations = (guint)astro_stream_extent(stream, ASTRO_AXIS_STATION);
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
}

void astro_losses_find(const AstroStream *stream, GstBuffer *in, guint64 first, guint64 steps,
                       AstroLossFunc found, gpointer data)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  const gboolean gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  const guint stations = (guint)astro_stream_extent(stream, ASTRO_AXIS_STATION);
  AstroValiditySamples samples;
  AstroLayout shape;

  if ((!gap && !meta) || steps == 0)
    return;
  astro_stream_shape(stream, steps, &shape);
  if (!gap)
    astro_validity_samples(&samples, meta, &shape);
  for (guint station = 0; station < stations; station++)
    if (gap)
      found(data, &(AstroLoss){ station, first, first + steps });
    else
      for (guint64 from, to = 0; astro_validity_next_loss(&samples, station, &from, &to);)
        found(data, &(AstroLoss){ station, first + from, first + to });
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

/* Counts by time and station, in the order of the values' axes, initially full. */
typedef struct {
  AstroValidityMeta *meta; /* NULL: not needed so far */
  guint64 time, station;   /* strides */
} Counts;

static void add_counts(Counts *counts, GstBuffer *out, const AstroLosses *losses,
                       const AstroLayout *layout, guint64 span, guint64 count)
{
  AstroLayout shape = { 0 };
  guint64 strides[ASTRO_MAX_AXES];

  for (guint i = 0; i < layout->n_axes; i++)
    if (layout->axes[i] == ASTRO_AXIS_TIME || layout->axes[i] == ASTRO_AXIS_STATION) {
      shape.axes[shape.n_axes] = layout->axes[i];
      shape.extents[shape.n_axes++] = layout->axes[i] == ASTRO_AXIS_TIME ? count : losses->stations;
    }
  counts->meta = astro_buffer_add_validity(out, &shape, (guint32)span);
  counts->meta->slowest_first = shape.axes[0] == layout->axes[0];
  astro_layout_strides(&shape, strides);
  counts->time = strides[astro_layout_find(&shape, ASTRO_AXIS_TIME)];
  const gint station = astro_layout_find(&shape, ASTRO_AXIS_STATION);
  counts->station = station < 0 ? 0 : strides[station];
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
static void subtract(guint32 *count, guint64 missing)
{
  *count -= (guint32)MIN(missing, *count);
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
          subtract(&counts.meta->counts[station * counts.station + (n - first) * counts.time],
                   missing);
      }
    }
    forget(lost, end * windows->step - lead);
  }
  return counts.meta && is_empty(counts.meta);
}
