/* Decides which gains are good, and counts why others are not. */
#include "config.h"
#include "core/calibrate/solved.h"

#include <math.h>

/* A sum of squares is known to this part of the energy it is the rest of. */
#define ROUNDING 1e-14

#define MOST_SNR 1e9f /* of data without noise */

void astro_calibrate_solved_begin(const AstroCalibrateConfig *config, AstroCalibrateSolved *solved)
{
  const guint values = astro_calibrate_values(config), groups = astro_calibrate_groups(config);
  const gsize n = (gsize)astro_calibrate_size(config).stations * groups * values;
  for (gsize i = 0; i < n; i++) {
    const gboolean is_off = values == 4 && (i % 4 == 1 || i % 4 == 2);
    solved->gains[i] = is_off ? 0 : 1;
    solved->snr[i] = 0;
    solved->delays[i] = 0;
  }
  solved->iterations = solved->free_angles = 0;
  solved->tally = (AstroCalibrateTally){ 0 };
  solved->reference_moved = FALSE;
  solved->rms = 0;
  solved->visibilities = 0;
  solved->chi_squared = solved->unexplained = 0;
  solved->misfit = (AstroCalibrateMisfit){ 0 };
}

/* Where a gain of a station that has one is counted. */
static guint64 *judge(const AstroCalibrateConfig *config, const AstroCalibrateFound *found,
                      guint station, double snr, AstroCalibrateTally *tally)
{
  if (!found->graph->present[station])
    return &tally->no_data;
  if (!found->graph->joined[station])
    return &tally->unconnected;
  if (found->undetermined)
    return &tally->undetermined;
  if (!found->converged)
    return &tally->not_converged;
  return isfinite(snr) && snr > 0 && snr >= config->min_snr ? &tally->solved : &tally->low_snr;
}

static double norm_of(const complex double *gain, guint n)
{
  double sum = 0;
  for (guint k = 0; k < n; k++)
    sum += pow(cabs(gain[k]), 2);
  return sqrt(sum / (n > 1 ? 2 : 1));
}

static void add_station(const AstroCalibrateConfig *config, const AstroCalibrateFound *found,
                        guint station, double rms, AstroCalibrateSolved *solved)
{
  const guint values = astro_calibrate_values(config), groups = astro_calibrate_groups(config);
  const guint n = config->type == ASTRO_GAINS_FULL ? values : 1;
  const gsize at = ((gsize)station * groups + found->group) * values + found->pol;
  const complex double *gain = found->gains + (gsize)station * n;
  const double snr = norm_of(gain, n) * sqrt(found->weight[station]) / rms;
  guint64 *counter = judge(config, found, station, snr, &solved->tally);
  *counter += n;
  if (counter != &solved->tally.solved)
    return;
  for (guint k = 0; k < n; k++) {
    solved->gains[at + k] = gain[k];
    solved->snr[at + k] = (float)MIN(snr, MOST_SNR);
    solved->delays[at + k] = found->delays ? found->delays[station] : 0;
  }
}

/* Sums over cells go on in the result: chi_squared is what they say so far. */
static void add_misfit(const AstroCalibrateFound *found, AstroCalibrateMisfit *misfit,
                       AstroCalibrateSolved *solved)
{
  const double factors = (double)found->scatter.factors, values = (double)found->values,
               numbers = values - found->freedom;
  if (factors == 0)
    return;
  misfit->energy += found->energy;
  misfit->noise += MAX(found->scatter.squares, ROUNDING * found->energy);
  misfit->noise_freedom += values - factors;
  misfit->added += MAX(found->squares - found->scatter.squares, 0);
  misfit->added_freedom += factors - numbers;
  if (misfit->noise_freedom < 1 || misfit->added_freedom < 1 || !(misfit->energy > 0))
    return;
  solved->chi_squared =
      misfit->added / misfit->added_freedom / (misfit->noise / misfit->noise_freedom);
  solved->unexplained = misfit->added / misfit->energy;
}

void astro_calibrate_solved_add(const AstroCalibrateConfig *config,
                                const AstroCalibrateFound *found, AstroCalibrateSolved *solved)
{
  const guint stations = astro_calibrate_size(config).stations;
  const double squares = MAX(found->squares, ROUNDING * found->energy),
               rms = sqrt(squares / MAX(found->freedom, 0.5));
  for (guint i = 0; i < stations; i++)
    add_station(config, found, i, rms, solved);
  const double before = solved->rms * solved->rms * (double)solved->visibilities;
  solved->visibilities += found->values;
  if (solved->visibilities)
    solved->rms = sqrt((before + rms * rms * (double)found->values) / (double)solved->visibilities);
  add_misfit(found, &solved->misfit, solved);
  solved->iterations = MAX(solved->iterations, found->iterations);
  solved->free_angles = MAX(solved->free_angles, found->free_angles);
  solved->reference_moved |= found->graph->n > 0 && found->graph->reference != found->reference;
}
