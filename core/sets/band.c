/* Puts the channels of spectral windows together to one band. */
#include "core/sets/reader.h"

#include <math.h>

#define CLOSE 1e-3 /* of a channel */
#define ROUNDING 1e-7

static gboolean read_window(const AstroSetReader *r, AstroSetWindow *w, GError **error)
{
  const AstroSetBand *band = &r->about.bands[w->band];
  const guint n = band->n_channels;
  const double *f = band->frequencies;
  const double width = fabs(band->widths[0]), apart = n > 1 ? (f[n - 1] - f[0]) / (n - 1) : width;
  /* The width has fewer roundings in it. */
  const double step =
      fabs(fabs(apart) - width) <= ROUNDING * width ? copysign(width, apart) : apart;
  for (guint c = 0; c < n; c++)
    if (!(fabs(f[c] - (f[0] + c * step)) <= CLOSE * fabs(step)))
      return astro_set_wrong(r, error,
                             "spectral window %d has channels at uneven distances: channel %u is "
                             "at %.0f Hz, expected %.0f Hz",
                             w->band, c, f[c], f[0] + c * step);
  if (!(fabs(step) > 0))
    return astro_set_wrong(r, error, "spectral window %d has channels without a width", w->band);
  w->channels = n;
  w->upside_down = step < 0;
  w->step = fabs(step);
  w->lowest = MIN(f[0], f[n - 1]);
  w->highest = MAX(f[0], f[n - 1]);
  return TRUE;
}

static int by_frequency(gconstpointer one, gconstpointer two)
{
  const AstroSetWindow *a = one, *b = two;
  return (a->lowest > b->lowest) - (a->lowest < b->lowest);
}

static char *list_windows(const AstroSetReader *r)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < r->n_windows; i++) {
    const AstroSetWindow *w = &r->windows[i];
    g_string_append_printf(text, "%s%d (%u channels from %.6g MHz)", i ? ", " : "", w->band,
                           w->channels, w->lowest / 1e6);
  }
  return g_string_free(text, FALSE);
}

static gboolean adjoins(const AstroSetWindow *before, const AstroSetWindow *w)
{
  const double expected = before->lowest + before->channels * before->step;
  return fabs(w->step - before->step) <= CLOSE * w->step / w->channels &&
         fabs(w->lowest - expected) <= CLOSE * w->step;
}

static gboolean check_adjoining(const AstroSetReader *r, GError **error)
{
  for (guint i = 1; i < r->n_windows; i++)
    if (!adjoins(&r->windows[i - 1], &r->windows[i])) {
      g_autofree char *all = list_windows(r);
      return astro_set_wrong(r, error,
                             "its spectral windows do not make one band, as %d does not begin "
                             "where %d ends: band=NUMBER reads one of %s",
                             r->windows[i].band, r->windows[i - 1].band, all);
    }
  return TRUE;
}

static gboolean same_products(const AstroSetSetup *a, const AstroSetSetup *b)
{
  return a->n_products == b->n_products &&
         memcmp(a->products, b->products, a->n_products * sizeof *a->products) == 0;
}

gboolean astro_set_join_bands(AstroSetReader *r, const guint8 *used, GError **error)
{
  guint64 channels = 0;
  r->windows = g_new0(AstroSetWindow, r->about.n_setups);
  for (guint i = 0; i < r->about.n_setups; i++) {
    const AstroSetSetup *setup = &r->about.setups[i];
    if (!used[i])
      continue;
    if (r->setup && !same_products(r->setup, setup))
      return astro_set_wrong(r, error,
                             "spectral windows %d and %u have different products of polarisations: "
                             "band=NUMBER reads one of them",
                             r->windows[0].band, setup->band);
    r->setup = setup;
    AstroSetWindow *w = &r->windows[r->n_windows++];
    w->band = (gint)setup->band;
    if (!read_window(r, w, error))
      return FALSE;
    channels += w->channels;
  }
  if (channels > G_MAXINT32)
    return astro_set_wrong(r, error, "%" G_GUINT64_FORMAT " channels are too many", channels);
  qsort(r->windows, r->n_windows, sizeof *r->windows, by_frequency);
  if (!check_adjoining(r, error))
    return FALSE;
  for (guint i = 0; i < r->n_windows; i++) {
    r->windows[i].first = r->channels;
    r->channels += r->windows[i].channels;
  }
  AstroStream *s = &r->contents.stream;
  s->bandwidth = r->channels * r->windows[0].step;
  s->frequency = 0.5 * (r->windows[0].lowest + r->windows[r->n_windows - 1].highest);
  return s->frequency > 0 ||
         astro_set_wrong(r, error, "the middle of the band is at %g Hz, expected more than 0",
                         s->frequency);
}
