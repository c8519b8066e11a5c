/* Shared by all benchmarks. A figure is printed beside the limit measured in the same run, with
 * their ratio. */
#pragma once

#include "tests/bench/record.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*BenchFunc)(gpointer data);

/* Seconds for one call: the median of at least `rounds` calls after one to warm up. */
static inline int bench_compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double bench_seconds(BenchFunc func, gpointer data, guint rounds)
{
  double *seconds = g_new(double, rounds);
  func(data);
  for (guint i = 0; i < rounds; i++) {
    gint64 start = g_get_monotonic_time();
    func(data);
    seconds[i] = (g_get_monotonic_time() - start) * 1e-6;
  }
  qsort(seconds, rounds, sizeof *seconds, bench_compare);
  double median = seconds[rounds / 2];
  g_free(seconds);
  return median;
}

/* After a rest caches are cold and cores slow: gives them time to reach their state during work. */
#define BENCH_WARM_UP 20000

static inline double bench_once(BenchFunc func, gpointer data, gulong rest)
{
  gint64 start;
  if (rest) {
    g_usleep(rest);
    start = g_get_monotonic_time();
    do
      func(data);
    while (g_get_monotonic_time() - start < BENCH_WARM_UP);
  }
  start = g_get_monotonic_time();
  func(data);
  return (g_get_monotonic_time() - start) * 1e-6;
}

/* Times the two alternately, so that a drift in the machine's speed does not favour one; gives
 * medians. rest: microseconds before each, if threads of the other spin for a while after it. */
static inline void bench_pair_rested(BenchFunc a, gpointer a_data, BenchFunc b, gpointer b_data,
                                     guint rounds, gulong rest, double *a_seconds,
                                     double *b_seconds)
{
  double *x = g_new(double, 2 * rounds), *y = x + rounds;
  a(a_data);
  b(b_data);
  for (guint i = 0; i < rounds; i++) {
    x[i] = bench_once(a, a_data, rest);
    y[i] = bench_once(b, b_data, rest);
  }
  qsort(x, rounds, sizeof *x, bench_compare);
  qsort(y, rounds, sizeof *y, bench_compare);
  *a_seconds = x[rounds / 2];
  *b_seconds = y[rounds / 2];
  g_free(x);
}

static inline void bench_pair(BenchFunc a, gpointer a_data, BenchFunc b, gpointer b_data,
                              guint rounds, double *a_seconds, double *b_seconds)
{
  bench_pair_rested(a, a_data, b, b_data, rounds, 0, a_seconds, b_seconds);
}

/* Prints what, achieved, limit, unit, ratio, and the ratio that the project asks for (0: none). */
static inline void bench_row(const char *what, double achieved, double limit, const char *unit,
                             double wanted)
{
  printf("%-64s %10.4g %10.4g %-8s %6.3f", what, achieved, limit, unit, achieved / limit);
  if (wanted > 0)
    printf("  (at least %.2f)%s", wanted, achieved / limit < wanted ? "  SHORT" : "");
  printf("\n");
  bench_record(what, achieved, limit, unit, wanted);
}

static inline void bench_head(const char *title)
{
  bench_record_table(title);
  printf("\n%s\n%-64s %10s %10s %-8s %6s\n", title, "", "achieved", "limit", "unit", "ratio");
}
