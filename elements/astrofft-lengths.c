/* How extents, rates and bands in caps change. */
#include "config.h"
#include "elements/astrofft-parts.h"

static guint64 bins_of(guint64 n, gboolean real)
{
  return real ? n / 2 + 1 : n;
}

guint64 astro_fft_samples_of(const AstroFftSettings *settings, guint64 bins, gboolean real)
{
  if (!real)
    return bins;
  return settings->length / 2 + 1 == bins ? settings->length : MAX(2 * (bins - 1), 1);
}

/* Multiplies the rate by a fraction. */
static void scale_rate(GstStructure *s, gint n, gint d)
{
  gint rate_n, rate_d, out_n, out_d;
  if (!gst_structure_get_fraction(s, "rate", &rate_n, &rate_d))
    return;
  if (rate_n > 0 && gst_util_fraction_multiply(rate_n, rate_d, n, d, &out_n, &out_d))
    gst_structure_set(s, "rate", GST_TYPE_FRACTION, out_n, out_d, NULL);
  else
    gst_structure_remove_field(s, "rate");
}

/* The lower edge and width of the band: as wide as the rate for complex samples, half as wide for
 * real ones. */
static gboolean get_band(const GstStructure *s, double *low, double *width)
{
  double frequency;
  if (!gst_structure_get_double(s, "frequency", &frequency) ||
      !gst_structure_get_double(s, "bandwidth", width))
    return FALSE;
  *low = frequency - *width / 2;
  return TRUE;
}

static void set_band(GstStructure *s, double low, double width)
{
  gst_structure_set(s, "frequency", G_TYPE_DOUBLE, low + width / 2, "bandwidth", G_TYPE_DOUBLE,
                    width, NULL);
}

/* Channels ascend. The band's centre is in channel length / 2 or, for real samples, its lower edge
 * in channel 0. There is no frequency for channels in any other order. */
static void band_of_channels(const AstroFftSettings *settings, GstStructure *s, gboolean real)
{
  double n = (double)settings->length, low, width;

  if (!real && settings->centred == ASTRO_CENTRED_FALSE) {
    gst_structure_remove_fields(s, "frequency", "bandwidth", NULL);
  } else if (get_band(s, &low, &width)) {
    double channel = real ? width * 2 / n : width / n;
    if (real)
      set_band(s, low - channel / 2, channel * (double)bins_of(settings->length, TRUE));
    else if (settings->length % 2 == 0)
      set_band(s, low - channel / 2, width);
  }
}

static void band_of_samples(const AstroFftSettings *settings, GstStructure *s, guint64 bins,
                            guint64 samples, gboolean real)
{
  double low, width;

  if (!real && settings->centred == ASTRO_CENTRED_FALSE) {
    gst_structure_remove_fields(s, "frequency", "bandwidth", NULL);
  } else if (get_band(s, &low, &width)) {
    double channel = width / (double)bins;
    if (real)
      set_band(s, low + channel / 2, channel * (double)samples / 2);
    else if (samples % 2 == 0)
      set_band(s, low + channel / 2, width);
  }
}

void astro_fft_set_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                           gboolean real_in, gboolean real_out)
{
  const char *text = gst_structure_get_string(s, "layout");
  AstroLayout layout;
  gboolean has_layout = text && astro_layout_parse(&layout, text, in, NULL);
  gint channels, extent;

  if (astro_fft_splits_time(settings, in)) {
    gst_structure_set(s, "channels", G_TYPE_INT, (gint)bins_of(settings->length, real_in), NULL);
    band_of_channels(settings, s, real_in);
    scale_rate(s, 1, (gint)settings->length);
  } else if (astro_fft_joins_time(settings, in)) {
    if (gst_structure_get_int(s, "channels", &channels) && channels > 0) {
      guint64 samples = astro_fft_samples_of(settings, (guint64)channels, real_out);
      band_of_samples(settings, s, (guint64)channels, samples, real_out);
      scale_rate(s, (gint)samples, 1);
    } else {
      gst_structure_remove_fields(s, "rate", "frequency", "bandwidth", NULL);
    }
    /* A layout that cannot be joined keeps its channels, for the error that follows. */
    if (!has_layout || astro_fft_join_time(&layout))
      gst_structure_remove_field(s, "channels");
  } else if (has_layout && (real_in || real_out)) {
    for (guint i = layout.n_axes; i-- > 0;)
      if (astro_fft_is_transformed(settings, in, layout.axes[i]) &&
          astro_axis_field(layout.axes[i])) {
        const char *field = astro_axis_field(layout.axes[i]);
        if (gst_structure_get_int(s, field, &extent) && extent > 0)
          gst_structure_set(s, field, G_TYPE_INT,
                            real_in ? (gint)bins_of((guint64)extent, TRUE)
                                    : (gint)astro_fft_samples_of(settings, (guint64)extent, TRUE),
                            NULL);
        return;
      }
  }
}

void astro_fft_forget_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                              gboolean real)
{
  if (astro_fft_splits_time(settings, in) || astro_fft_joins_time(settings, in))
    gst_structure_remove_fields(s, "rate", "frequency", "bandwidth", "channels", NULL);
  for (AstroAxis axis = ASTRO_AXIS_NONE + 1; real && axis < ASTRO_N_AXES; axis++)
    if (astro_fft_is_transformed(settings, in, axis) && astro_axis_field(axis))
      gst_structure_remove_field(s, astro_axis_field(axis));
}
