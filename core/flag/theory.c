/* Moments and quantiles of the spectral kurtosis of noise. */
#include "config.h"
#include "core/flag/theory.h"

#include <math.h>

#define POINTS 4096 /* of an integration */

AstroFlagMoments astro_flag_moments(double m)
{
  const double pair = (m + 2) * (m + 3), four = pair * (m + 4) * (m + 5),
               six = four * (m + 6) * (m + 7), less = m - 1;
  return (AstroFlagMoments){
    .variance = 4 * m * m / (less * pair),
    .third = 16 * m * m * m * (5 * m - 7) / (less * less * four),
    .fourth =
        24 * m * m * m * m * (((2 * m + 196) * m - 370) * m + 156) / (less * less * less * six),
  };
}

/* ---- Pearson's family ---- */

/* d ln f / dx = -(x + linear) / (constant + linear x + square x^2), about the mean. */
typedef struct {
  double constant, linear, square;
} Pearson;

static Pearson pearson_of(const AstroFlagMoments *moments)
{
  const double deviation = sqrt(moments->variance),
               skewness = moments->third / (moments->variance * deviation),
               beta1 = skewness * skewness,
               beta2 = moments->fourth / (moments->variance * moments->variance),
               divisor = 10 * beta2 - 12 * beta1 - 18;
  return (Pearson){
    .constant = moments->variance * (4 * beta2 - 3 * beta1) / divisor,
    .linear = deviation * skewness * (beta2 + 3) / divisor,
    .square = (2 * beta2 - 3 * beta1 - 6) / divisor,
  };
}

/* Density at POINTS + 1 places x = deviation sinh(t), which are close where the density is large
 * and reach far along its tail. */
typedef struct {
  double from, step, deviation;
  double logarithm[POINTS + 1], below[POINTS + 1]; /* of the density; and the integral up to it */
} Curve;

static double place_of(const Curve *curve, double i)
{
  return curve->deviation * sinh(curve->from + i * curve->step);
}

/* d ln f / dt; beyond the end of the distribution the density is 0. */
static double slope_at(const Curve *curve, const Pearson *pearson, double i)
{
  const double x = place_of(curve, i),
               below = pearson->constant + x * (pearson->linear + x * pearson->square);
  if (below <= 0)
    return NAN;
  return -(x + pearson->linear) / below * curve->deviation * cosh(curve->from + i * curve->step);
}

/* Integrates the equation from the mean to one end; the density is 0 from where it has one. */
static void integrate_side(Curve *curve, const Pearson *pearson, gint middle, gint direction)
{
  for (gint i = middle; direction > 0 ? i < POINTS : i > 0; i += direction) {
    const double change =
        (slope_at(curve, pearson, i) + 4 * slope_at(curve, pearson, i + direction / 2.) +
         slope_at(curve, pearson, i + direction)) *
        curve->step / 6;
    curve->logarithm[i + direction] =
        isnan(change) ? -INFINITY : curve->logarithm[i] + direction * change;
  }
}

static void sum_up(Curve *curve)
{
  double total = 0, last = 0;
  for (gint i = 0; i <= POINTS; i++) {
    const double density =
        exp(curve->logarithm[i]) * curve->deviation * cosh(curve->from + i * curve->step);
    total += i ? (last + density) / 2 * curve->step : 0;
    curve->below[i] = total;
    last = density;
  }
  for (gint i = 0; i <= POINTS; i++)
    curve->below[i] /= total;
}

/* SK lies between 0 and M + 1, about its mean of 1. */
static void make_curve(Curve *curve, double samples)
{
  const AstroFlagMoments moments = astro_flag_moments(samples);
  const Pearson pearson = pearson_of(&moments);
  curve->deviation = sqrt(moments.variance);
  curve->from = asinh(-1 / curve->deviation);
  curve->step = (asinh(samples / curve->deviation) - curve->from) / POINTS;
  const gint middle = (gint)(-curve->from / curve->step);
  curve->logarithm[middle] = 0;
  integrate_side(curve, &pearson, middle, -1);
  integrate_side(curve, &pearson, middle, 1);
  sum_up(curve);
}

static double quantile(const Curve *curve, double probability)
{
  gint low = 0, high = POINTS;
  while (high - low > 1) {
    const gint between = (low + high) / 2;
    if (curve->below[between] <= probability)
      low = between;
    else
      high = between;
  }
  const double step = curve->below[high] - curve->below[low];
  return 1 + place_of(curve, low + (step > 0 ? (probability - curve->below[low]) / step : 0));
}

AstroFlagLimits astro_flag_limits(double samples, double false_alarm)
{
  g_autofree Curve *curve = g_new(Curve, 1);
  make_curve(curve, samples);
  return (AstroFlagLimits){ quantile(curve, false_alarm / 2),
                            quantile(curve, 1 - false_alarm / 2) };
}

/* ---- a table ---- */

#define EXACT 64  /* from here on nodes are a step in the logarithm apart, */
#define OCTAVE 16 /* so many to a factor of 2 */
#define NODES (EXACT + 26 * OCTAVE + 2)

struct AstroFlagLimitTable {
  double false_alarm;
  AstroFlagLimits nodes[NODES]; /* times the root of the samples, about 1; high 0: not made yet */
};

AstroFlagLimitTable *astro_flag_limit_table_new(double false_alarm)
{
  AstroFlagLimitTable *table = g_new0(AstroFlagLimitTable, 1);
  table->false_alarm = false_alarm;
  return table;
}

void astro_flag_limit_table_free(AstroFlagLimitTable *table)
{
  g_free(table);
}

static const AstroFlagLimits *node_at(AstroFlagLimitTable *table, guint node)
{
  AstroFlagLimits *found = &table->nodes[node];
  if (found->high != 0)
    return found;
  const double samples = node < EXACT ? node : EXACT * exp2((double)(node - EXACT) / OCTAVE);
  const AstroFlagLimits limits = astro_flag_limits(samples, table->false_alarm);
  *found = (AstroFlagLimits){ (limits.low - 1) * sqrt(samples), (limits.high - 1) * sqrt(samples) };
  return found;
}

AstroFlagLimits astro_flag_limit_table_find(AstroFlagLimitTable *table, guint32 samples)
{
  const double at = samples < EXACT ? samples : EXACT + OCTAVE * log2((double)samples / EXACT),
               part = at - floor(at), root = sqrt(samples);
  const AstroFlagLimits *a = node_at(table, (guint)at);
  if (part == 0)
    return (AstroFlagLimits){ 1 + a->low / root, 1 + a->high / root };
  const AstroFlagLimits *b = node_at(table, (guint)at + 1);
  return (AstroFlagLimits){ 1 + (a->low + part * (b->low - a->low)) / root,
                            1 + (a->high + part * (b->high - a->high)) / root };
}
