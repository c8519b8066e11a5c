#include "config.h"
#include "core/channelizer/losses.h"

struct AstroChannelizerLosses {
  AstroChannelizerConfig config;
  guint stations;
  GArray **lost;  /* of each station: AstroChannelizerLoss, in the order of time; NULL: none yet */
  GArray *latest; /* AstroChannelizerLoss of the block read last, by station */
};

AstroChannelizerLosses *astro_channelizer_losses_new(const AstroChannelizerConfig *config)
{
  AstroChannelizerLosses *losses = g_new0(AstroChannelizerLosses, 1);
  losses->config = *config;
  losses->stations = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_STATION);
  losses->latest = g_array_new(FALSE, FALSE, sizeof(AstroChannelizerLoss));
  return losses;
}

void astro_channelizer_losses_free(AstroChannelizerLosses *losses)
{
  for (guint station = 0; losses->lost && station < losses->stations; station++)
    g_array_unref(losses->lost[station]);
  g_free(losses->lost);
  g_array_unref(losses->latest);
  g_free(losses);
}

void astro_channelizer_losses_clear(AstroChannelizerLosses *losses)
{
  for (guint station = 0; losses->lost && station < losses->stations; station++)
    g_array_set_size(losses->lost[station], 0);
  g_array_set_size(losses->latest, 0);
}

/* Caps may tell of any number of stations, a block that came has as many. */
static void make_lists(AstroChannelizerLosses *losses)
{
  losses->lost = g_new(GArray *, losses->stations);
  for (guint station = 0; station < losses->stations; station++)
    losses->lost[station] = g_array_new(FALSE, FALSE, sizeof(AstroChannelizerLoss));
}

static void add(AstroChannelizerLosses *losses, guint station, guint64 from, guint64 to)
{
  AstroChannelizerLoss loss = { station, from, to };
  g_array_append_val(losses->latest, loss);
  g_array_append_val(losses->lost[station], loss);
}

void astro_channelizer_losses_read(AstroChannelizerLosses *losses, GstBuffer *in, guint64 first,
                                   guint64 steps)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  const gboolean gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  AstroValiditySamples samples;
  AstroLayout shape;

  g_array_set_size(losses->latest, 0);
  if ((!gap && !meta) || steps == 0)
    return;
  if (!losses->lost)
    make_lists(losses);
  astro_stream_shape(&losses->config.in, steps, &shape);
  if (!gap)
    astro_validity_samples(&samples, meta, &shape);
  for (guint station = 0; station < losses->stations; station++)
    if (gap)
      add(losses, station, first, first + steps);
    else
      for (guint64 from, to = 0; astro_validity_next_loss(&samples, station, &from, &to);)
        add(losses, station, first + from, first + to);
}

void astro_channelizer_losses_tell(AstroChannelizerLosses *losses,
                                   AstroChannelizerArguments *arguments)
{
  arguments->losses = (const AstroChannelizerLoss *)losses->latest->data;
  arguments->n_losses = losses->latest->len;
}

/* The order of the output: station, where there is one, and time. */
static AstroValidityMeta *add_counts(const AstroChannelizerLosses *losses, GstBuffer *out,
                                     guint64 spectra)
{
  AstroLayout shape = { 0 };
  gboolean stations = astro_layout_find(&losses->config.in.layout, ASTRO_AXIS_STATION) >= 0;
  gboolean pols = astro_layout_find(&losses->config.in.layout, ASTRO_AXIS_POL) >= 0;
  if (stations) {
    shape.axes[shape.n_axes] = ASTRO_AXIS_STATION;
    shape.extents[shape.n_axes++] = losses->stations;
  }
  shape.axes[shape.n_axes] = ASTRO_AXIS_TIME;
  shape.extents[shape.n_axes++] = spectra;
  AstroValidityMeta *meta =
      astro_buffer_add_validity(out, &shape, (guint32)astro_channelizer_span(&losses->config));
  meta->slowest_first = stations || !pols;
  return meta;
}

/* What of the spectrum's samples lies between from and to. */
static guint32 overlap(const AstroChannelizerConfig *config, guint64 spectrum, guint64 from,
                       guint64 to)
{
  guint64 begin = spectrum * astro_channelizer_step(config) - astro_channelizer_lead(config);
  guint64 end = begin + astro_channelizer_span(config);
  begin = MAX(begin, from);
  end = MIN(end, to);
  return end > begin ? (guint32)(end - begin) : 0;
}

/* Takes the station's losses from the counts of its spectra, and gives what is left of them all. */
static void count(const AstroChannelizerLosses *losses, guint station, AstroSpectra spectra,
                  GstBuffer *out, AstroValidityMeta **meta)
{
  const AstroChannelizerConfig *config = &losses->config;
  guint64 step = astro_channelizer_step(config), lead = astro_channelizer_lead(config);
  guint64 span = astro_channelizer_span(config), end = spectra.first + spectra.count;
  const GArray *lost = losses->lost[station];

  for (guint i = 0; i < lost->len; i++) {
    const AstroChannelizerLoss *loss = &g_array_index(lost, AstroChannelizerLoss, i);
    guint64 n = loss->from + lead >= span ? (loss->from + lead - span) / step : 0;
    for (n = MAX(n, spectra.first); n < end && n * step < loss->to + lead; n++) {
      guint32 missing = overlap(config, n, loss->from, loss->to);
      if (missing && !*meta)
        *meta = add_counts(losses, out, spectra.count);
      if (missing)
        (*meta)->counts[station * spectra.count + n - spectra.first] -= missing;
    }
  }
}

static void forget(GArray *lost, guint64 before)
{
  guint kept = 0;
  for (guint i = 0; i < lost->len; i++) {
    AstroChannelizerLoss loss = g_array_index(lost, AstroChannelizerLoss, i);
    if (loss.to > before)
      g_array_index(lost, AstroChannelizerLoss, kept++) = loss;
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

void astro_channelizer_losses_mark(AstroChannelizerLosses *losses, GstBuffer *out,
                                   AstroSpectra spectra)
{
  guint64 next = (spectra.first + spectra.count) * astro_channelizer_step(&losses->config) -
                 astro_channelizer_lead(&losses->config);
  AstroValidityMeta *meta = NULL;
  for (guint station = 0; losses->lost && station < losses->stations; station++) {
    count(losses, station, spectra, out, &meta);
    forget(losses->lost[station], next);
  }
  if (meta && is_empty(meta))
    GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
}
