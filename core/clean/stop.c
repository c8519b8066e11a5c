/* Decides when the minor cycles end. */
#include "config.h"
#include "core/clean/stop.h"

#include <math.h>

#include "core/backend/threads.h"
#include "core/clean/check.h"
#include "core/kit/noise.h"

/* Number of pixels that give the noise to a percent, in a millisecond. */
#define SAMPLE 32768

/* The highest peaks of noise alone in a large image, in units of the noise. */
#define NOISE_PEAKS 4.0

void astro_clean_stop_init(AstroCleanStop *stop, const AstroCleanWork *work,
                           const AstroCleanLimits *limits, gboolean is_double)
{
  *stop = (AstroCleanStop){ .work = work,
                            .limits = limits,
                            .is_double = is_double,
                            .noise = limits->noise,
                            .is_final = limits->noise > 0 };
  stop->sizes = g_new(double, 2 * SAMPLE);
}

void astro_clean_stop_clear(AstroCleanStop *stop)
{
  g_clear_pointer(&stop->sizes, g_free);
}

static double size_at(const AstroCleanStop *stop, gsize at)
{
  return fabs(stop->is_double ? ((const double *)stop->work->search)[at]
                              : (double)((const float *)stop->work->search)[at]);
}

/* Measures the noise inside the border. The step is odd, so that samples do not all come from a few
 * columns. */
static double measure(const AstroCleanStop *stop)
{
  const guint size = stop->work->config->size, border = stop->work->config->border,
              side = size - 2 * border;
  const gsize n = (gsize)side * side, step = (n / SAMPLE) | 1;
  gsize used = 0;

  for (gsize i = 0; i < n; i += step) {
    const double value = size_at(stop, (border + i / side) * size + border + i % side);
    if (isfinite(value))
      stop->sizes[used++] = value;
  }
  return astro_noise_of_sizes(stop->sizes, used);
}

/* Whether the peak is at most `times` the noise. */
static gboolean is_within(AstroCleanStop *stop, double peak, double times)
{
  if (!stop->is_final && peak <= times * stop->noise)
    stop->noise = measure(stop);
  return peak <= times * stop->noise;
}

gboolean astro_clean_stop(AstroCleanStop *stop, double peak, AstroCleanResult *result)
{
  const AstroCleanLimits *limits = stop->limits;
  const double times = limits->times;

  result->peak = peak;
  if (result->iterations == 0) {
    result->first = result->lowest = peak;
    if (!stop->is_final)
      stop->noise = measure(stop);
  }
  result->lowest = MIN(result->lowest, peak);
  stop->is_final = stop->is_final || is_within(stop, peak, MAX(times, NOISE_PEAKS));
  const double highest = limits->highest > 0 ? limits->highest : result->first;
  result->end = ASTRO_CLEAN_ITERATIONS;
  if (peak <= limits->threshold)
    result->end = ASTRO_CLEAN_THRESHOLD;
  else if (peak > ASTRO_CLEAN_ASTRAY * result->lowest)
    result->end = ASTRO_CLEAN_DIVERGED;
  else if (times > 0 && is_within(stop, peak, times))
    result->end = ASTRO_CLEAN_NOISE;
  else if (peak <= limits->fraction * highest)
    result->end = ASTRO_CLEAN_FRACTION;
  else if (result->iterations < limits->iterations && !astro_is_given_up())
    return FALSE;
  else if (result->iterations < limits->iterations)
    result->end = ASTRO_CLEAN_INTERRUPTED;
  result->noise = stop->is_final ? stop->noise : measure(stop);
  return TRUE;
}
