/* The orientation of the Earth: UT1 - UTC and the position of the pole for each day, as published
 * by the IERS. An observation carries the values with which its delays and (u,v,w) are computed, so
 * that all stages of a stream use the same ones. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef struct {
  double pole_x, pole_y; /* arcsec */
  double ut1_utc;        /* s */
} AstroEarthDay;

typedef struct {
  gint ref_count;
  char *name; /* of the file they were read from */
  gint32 first_mjd;
  guint n; /* number of consecutive days, each at 0h UTC; 0: UT1 is taken as UTC, with no polar
              motion */
  AstroEarthDay *days;
  double *leaps; /* leap seconds between the first day and each day */
} AstroEarth;

#define ASTRO_EARTH_LEAST_DAYS 4 /* needed for interpolation */

/* NULL and an error if a day's values are impossible. */
AstroEarth *astro_earth_new(const char *name, gint32 first_mjd, const AstroEarthDay *days, guint n,
                            GError **error);
/* UT1 = UTC and no polar motion: the default of simulators. */
AstroEarth *astro_earth_new_none(void);
AstroEarth *astro_earth_ref(AstroEarth *earth);
void astro_earth_unref(AstroEarth *earth);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroEarth, astro_earth_unref)

/* Describes what is wrong with a day that follows `before` (NULL: the first day): what was found
 * and expected, to be freed. NULL if nothing is. */
char *astro_earth_wrong_day(const AstroEarthDay *before, const AstroEarthDay *day);

/* The orientation at days_since days after 0h UTC of day mjd, counted by a clock that runs evenly
 * through leap seconds: UT1 is that clock plus ut1_utc. Interpolated from the four nearest days;
 * before the first and after the last day theirs is used. */
void astro_earth_at(const AstroEarth *earth, gint32 mjd, double days_since, AstroEarthDay *now);
gboolean astro_earth_covers(const AstroEarth *earth, gint32 mjd, double days_since);

/* "2026-11-01 to 2027-11-20", to be freed. */
char *astro_earth_span(const AstroEarth *earth);
/* "finals2000A.all (2026-11-01 to 2027-11-20)", or "none, UT1 = UTC"; to be freed. */
char *astro_earth_describe(const AstroEarth *earth);

/* The days around mjd, enough for the longest observation. */
AstroEarth *astro_earth_cut(const AstroEarth *earth, gint32 mjd);

/* The largest shift of a source between the two on that day, in arcsec. */
double astro_earth_difference(const AstroEarth *a, const AstroEarth *b, gint32 mjd);

ASTRO_END_DECLS
