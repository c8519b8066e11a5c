/* Gains between and beside the middles of a table's intervals and groups of channels. */
#include "config.h"
#include "core/lib/gains/gains.h"

#include <math.h>

/* Two neighbours on an axis, and the part of the second; both the same if there is one. */
typedef struct {
  guint at[2];
  double part;
} Place;

/* Rounding of times (ns) and frequencies must not put data out of the interval they are in. */
#define SLACK 1e-6

static const AstroGainsInterval *interval_of(const AstroGains *gains, guint i)
{
  return &g_array_index(gains->intervals, AstroGainsInterval, i);
}

static double middle_of(const AstroGains *gains, guint i)
{
  const AstroGainsInterval *interval = interval_of(gains, i);
  return (interval->begin + interval->end) / 2;
}

/* The number of intervals whose middle is at that time or before. */
static guint count_before(const AstroGains *gains, double seconds)
{
  guint first = 0, last = gains->intervals->len;
  while (first < last) {
    const guint middle = first + (last - first) / 2;
    if (middle_of(gains, middle) <= seconds)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

static gboolean find_time(const AstroGains *gains, double seconds, Place *place)
{
  const guint n = gains->intervals->len;
  if (n == 0)
    return FALSE;
  *place = (Place){ { 0, 0 }, 0 };
  if (gains->is_constant)
    return TRUE;
  const guint after = count_before(gains, seconds);
  if (after == 0)
    return seconds >= interval_of(gains, 0)->begin - SLACK;
  *place = (Place){ { after - 1, after - 1 }, 0 };
  if (after == n)
    return seconds <= interval_of(gains, n - 1)->end + SLACK;
  const double from = middle_of(gains, after - 1), to = middle_of(gains, after);
  *place = (Place){ { after - 1, after }, (seconds - from) / (to - from) };
  return TRUE;
}

static gboolean find_group(const AstroGains *gains, double frequency, Place *place)
{
  const double slack = SLACK * gains->step;
  *place = (Place){ { 0, 0 }, 0 };
  if (!(frequency >= gains->low - slack && frequency <= gains->high + slack))
    return FALSE;
  double at = (frequency - gains->low) / gains->step - 0.5;
  const guint last = gains->groups - 1;
  const guint group = (guint)CLAMP(floor(at), 0, last);
  *place = (Place){ { group, group }, 0 };
  if (at <= 0 || group == last)
    return TRUE;
  const double from = astro_gains_group_middle(gains, group),
               to = astro_gains_group_middle(gains, group + 1);
  *place = (Place){ { group, group + 1 }, CLAMP((frequency - from) / (to - from), 0, 1) };
  return TRUE;
}

/* Along the shorter arc. */
static complex double between(const AstroGains *gains, complex double a, complex double b,
                              double part)
{
  if (part == 0)
    return a;
  if (gains->type == ASTRO_GAINS_FULL || a == 0)
    return (1 - part) * a + part * b;
  const double amplitude = (1 - part) * cabs(a) + part * cabs(b);
  return amplitude * a / cabs(a) * cexp(I * part * carg(b * conj(a)));
}

/* A value at one interval, interpolated in frequency. FALSE: it is flagged there. Where only one
 * neighbour is good, it serves within its own group. */
static gboolean value_in(const AstroGains *gains, guint interval, guint station, guint value,
                         const Place *group, double frequency, complex double *to)
{
  const gsize row =
      interval * astro_gains_row(gains) + (gsize)station * gains->groups * gains->values;
  gsize at[2];
  gboolean good[2];
  for (guint k = 0; k < 2; k++) {
    at[k] = row + (gsize)group->at[k] * gains->values + value;
    good[k] = g_array_index(gains->snr, float, at[k]) > 0;
  }
  const guint own = group->part < 0.5 ? 0 : 1;
  if (!good[own])
    return FALSE;
  const complex double *gain = (const complex double *)(gconstpointer)gains->gains->data;
  const double delay = g_array_index(gains->delays, double, at[own]);
  *to = good[!own] ? between(gains, gain[at[0]], gain[at[1]], group->part) : gain[at[own]];
  if (delay != 0)
    *to *=
        cexp(-2 * G_PI * I * delay * (frequency - astro_gains_group_middle(gains, group->at[own])));
  return TRUE;
}

static gboolean is_within(const AstroGains *gains, guint interval, double seconds)
{
  const AstroGainsInterval *i = interval_of(gains, interval);
  return gains->is_constant || (seconds >= i->begin - SLACK && seconds <= i->end + SLACK);
}

/* The same at a time. Between two intervals both must be good; within an interval its own
 * suffices. */
static gboolean value_at(const AstroGains *gains, guint station, guint value, double seconds,
                         const Place *time, const Place *group, double frequency,
                         complex double *to)
{
  complex double values[2];
  gboolean good[2], within[2];
  for (guint k = 0; k < 2; k++) {
    good[k] = value_in(gains, time->at[k], station, value, group, frequency, &values[k]);
    within[k] = is_within(gains, time->at[k], seconds);
  }
  for (guint k = 0; k < 2; k++)
    if (within[k] && !good[k])
      return FALSE;
  if (good[0] && good[1]) {
    *to = between(gains, values[0], values[1], time->part);
    return TRUE;
  }
  for (guint k = 0; k < 2; k++)
    if (within[k] && good[k]) {
      *to = values[k];
      return TRUE;
    }
  return FALSE;
}

void astro_gains_at(const AstroGains *gains, guint station, double seconds, double frequency,
                    AstroGainsAt *at)
{
  Place time, group;
  *at = (AstroGainsAt){ .jones = { 1, 0, 0, 1 } };
  if (!find_time(gains, seconds, &time) || !find_group(gains, frequency, &group))
    return;
  const gboolean is_full = gains->type == ASTRO_GAINS_FULL;
  gboolean all = TRUE;
  for (guint v = 0; v < gains->values; v++) {
    complex double *to = &at->jones[is_full ? v : 3 * v];
    const gboolean good = value_at(gains, station, v, seconds, &time, &group, frequency, to);
    all &= good;
    if (!is_full)
      at->has[v] = good && *to != 0;
  }
  if (is_full)
    at->has[0] = at->has[1] =
        all && cabs(at->jones[0] * at->jones[3] - at->jones[1] * at->jones[2]) > 0;
}
