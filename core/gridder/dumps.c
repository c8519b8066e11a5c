/* Checks dumps of visibilities, and finds the counts behind their values. */
#include "config.h"
#include "core/gridder/dumps.h"

#include <math.h>
#include <string.h>

/* ---- checks ---- */

#define EARTH_CORE 1e6 /* metres: no station is deeper */

static gboolean check_positions(const AstroObservation *o, GError **error)
{
  for (guint i = 0; o->uvw_metres == 0 && i < o->n_stations; i++) {
    const double *p = &o->positions[3 * i], radius = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    if (!(radius > EARTH_CORE))
      return astro_backend_refuse(error,
                                  "station %s is %.3g m from the earth's centre: expected "
                                  "geocentric positions (ITRF, metres), not local ones",
                                  o->names[i], radius);
  }
  return TRUE;
}

static double channel_frequency(const AstroPrepareConfig *config, guint channel)
{
  return astro_channel_frequency(config->frequency, config->bandwidth, config->channels, channel);
}

static gboolean check(const AstroPrepareConfig *config, const AstroObservation *o, GError **error)
{
  if (!o)
    return astro_backend_refuse(
        error, "the stream has no observation (stations, phase centre, start) to compute (u,v,w) "
               "from: expected astroobserve with array, phase-centre and start-time before this");
  if (!o->has_phase_centre)
    return astro_backend_refuse(error, "the observation has no phase centre");
  if (!o->has_start)
    return astro_backend_refuse(error, "the observation has no start");
  if ((guint64)o->n_stations * (o->n_stations + 1) / 2 != config->baselines)
    return astro_backend_refuse(
        error,
        "%u baselines do not fit the observation's %u stations, which have %" G_GUINT64_FORMAT
        " with the autocorrelations",
        config->baselines, o->n_stations, (guint64)o->n_stations * (o->n_stations + 1) / 2);
  if (!(config->frequency > 0))
    return astro_backend_refuse(
        error, "the caps have no frequency, which is needed for (u,v,w) in wavelengths");
  if (config->channels > 1 && !(config->bandwidth > 0))
    return astro_backend_refuse(error, "the caps have %u channels and no bandwidth",
                                config->channels);
  if (channel_frequency(config, 0) < 0)
    return astro_backend_refuse(error,
                                "a bandwidth of %g Hz about %g Hz has its first channel below 0 Hz",
                                config->bandwidth, config->frequency);
  return check_positions(o, error);
}

static gboolean find_products(AstroDumps *self, char **names, GError **error)
{
  for (self->n_products = 0; names[self->n_products]; self->n_products++) {
    if (self->n_products == ASTRO_MAX_PRODUCTS)
      return astro_backend_refuse(error, "more than %d products", ASTRO_MAX_PRODUCTS);
    if (!astro_product_find(&self->products[self->n_products], names[self->n_products],
                            self->observation->basis, self->config.pols, error))
      return FALSE;
    self->n_counted += !self->products[self->n_products].is_psf;
  }
  return TRUE;
}

/* ---- baselines ---- */

static double longest_metres(const AstroObservation *observation)
{
  const guint n = observation->uvw_metres > 0 ? 0 : observation->n_stations;
  double longest = observation->uvw_metres;
  for (guint i = 0; i < n; i++)
    for (guint j = 0; j < i; j++) {
      const double *a = &observation->positions[3 * i], *b = &observation->positions[3 * j];
      longest = MAX(longest, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
    }
  return longest;
}

double astro_prepare_longest(const AstroPrepareConfig *config, const AstroObservation *observation)
{
  const double highest =
      config->frequency + config->bandwidth / 2 * (1 - 1.0 / MAX(config->channels, 1));
  return longest_metres(observation) * highest / ASTRO_LIGHT_SPEED;
}

/* ---- channels that are added up ---- */

/* The mean of n phasors whose phases differ by `turns` from one to the next. */
static double mean_of_phasors(guint n, double turns)
{
  return sin(G_PI * n * turns) / (n * sin(G_PI * turns));
}

/* How many channels may be added up where the delay of the farthest source changes the phase by so
 * many turns from one channel to the next. */
static guint channels_together(guint channels, double turns, double smearing)
{
  guint n = 1;
  if (smearing <= 0)
    return 1;
  if (turns <= 0)
    return channels;
  while (n < channels && (n + 1) * turns < 1 && 1 - mean_of_phasors(n + 1, turns) <= smearing)
    n++;
  return n;
}

static void find_groups(AstroDumps *self)
{
  const AstroPrepareConfig *config = &self->config;
  const double width = config->bandwidth / MAX(config->channels, 1);
  const double seconds = longest_metres(self->observation) / ASTRO_LIGHT_SPEED *
                         astro_grid_farthest_wanted(&self->grid);
  const guint most = channels_together(config->channels, width * seconds, config->smearing);
  self->groups = (config->channels + most - 1) / most;
  self->group = (config->channels + self->groups - 1) / self->groups;
  self->groups = (config->channels + self->group - 1) / self->group;
  self->group_wavenumbers = g_new0(double, self->groups);
  for (guint c = 0; c < config->channels; c++) {
    const guint first = c / self->group * self->group;
    self->group_wavenumbers[c / self->group] +=
        self->wavenumbers[c] / MIN(self->group, config->channels - first);
  }
}

gboolean astro_dumps_init(AstroDumps *self, const AstroPrepareConfig *config, const AstroGrid *grid,
                          AstroObservation *observation, GError **error)
{
  memset(self, 0, sizeof *self);
  if (!check(config, observation, error))
    return FALSE;
  self->config = *config;
  self->grid = *grid;
  self->grid.products = NULL;
  self->observation = astro_observation_ref(observation);
  self->stations = observation->n_stations;
  self->pairs = config->baselines - self->stations;
  self->wavenumbers = g_new(double, config->channels);
  self->totals.sums = g_new0(double, config->channels);
  const double r2 = grid->centre_l * grid->centre_l + grid->centre_m * grid->centre_m;
  self->centre_n_minus_1 = -r2 / (1 + sqrt(1 - r2));
  self->track = astro_track_new(observation);
  for (guint c = 0; c < config->channels; c++)
    self->wavenumbers[c] = channel_frequency(config, c) / ASTRO_LIGHT_SPEED;
  find_groups(self);
  return find_products(self, grid->products, error);
}

void astro_dumps_clear(AstroDumps *self)
{
  g_clear_pointer(&self->track, astro_track_free);
  g_clear_pointer(&self->observation, astro_observation_unref);
  g_clear_pointer(&self->wavenumbers, g_free);
  g_clear_pointer(&self->group_wavenumbers, g_free);
  g_clear_pointer(&self->totals.sums, g_free);
}

/* ---- totals ---- */

void astro_dumps_miss(AstroDumps *self)
{
  self->totals.missing += (guint64)self->config.channels * self->pairs;
  self->totals.are_known = FALSE;
}

void astro_dumps_forget_missing(AstroDumps *self)
{
  self->totals.missing = 0;
  self->totals.are_known = FALSE;
}

void astro_dumps_begin_totals(AstroDumps *self)
{
  self->totals.are_known = TRUE;
  self->totals.counts = (AstroGridCounts){ .flagged = self->totals.missing * self->n_counted };
}

void astro_dumps_add_totals(AstroDumps *self, guint channel, double weights,
                            const AstroGridCounts *visibilities)
{
  AstroGridCounts *counts = &self->totals.counts;
  self->totals.sums[channel] = weights;
  counts->used += visibilities->used * self->n_counted;
  counts->outside += visibilities->outside * self->n_counted;
  counts->flagged += visibilities->flagged * self->n_counted;
  counts->not_finite += visibilities->not_finite * self->n_counted;
}

/* ---- counts of good samples ---- */

void astro_dumps_count(AstroDumpCounts *counts, const AstroValidityMeta *meta,
                       const AstroLayout *shape, guint64 number)
{
  *counts = (AstroDumpCounts){ .n = 1, .channel = { 1, 0 }, .baseline = { 1, 0 } };
  if (!meta || !meta->counts)
    return;
  gsize base = 0;
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  guint pols_seen = 0;
  astro_validity_axes(meta, shape, axes);
  counts->full = MAX(meta->full, 1);
  for (guint a = 0; a < shape->n_axes; a++) {
    const guint64 group = axes[a].group, stride = axes[a].stride;
    AstroCountedAxis *axis = shape->axes[a] == ASTRO_AXIS_CHANNEL    ? &counts->channel
                             : shape->axes[a] == ASTRO_AXIS_BASELINE ? &counts->baseline
                                                                     : NULL;
    if (shape->axes[a] != ASTRO_AXIS_TIME)
      counts->n += (shape->extents[a] - 1) / group * stride;
    if (axis) {
      *axis = (AstroCountedAxis){ (guint32)group, (guint32)stride };
    } else if (shape->axes[a] == ASTRO_AXIS_POL) {
      for (guint k = 0; k < 4; k++)
        counts->pol[k] += (guint32)((pols_seen ? k % 2 : k / 2) / group * stride);
      pols_seen++;
    } else if (shape->axes[a] == ASTRO_AXIS_TIME) {
      base = number / group * stride;
    }
  }
  counts->counts = meta->counts + base;
}

void astro_dumps_forget_whole(AstroDumpCounts *counts)
{
  for (guint64 i = 0; counts->counts && i < counts->n; i++)
    if (counts->counts[i] != counts->full)
      return;
  counts->counts = NULL;
}
