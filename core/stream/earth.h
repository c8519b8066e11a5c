/* How the earth stands beside an even clock: UT1 - UTC and the pole, a value a day, as the IERS
 * publishes them. An observation carries those that its delays and (u,v,w) are computed with, so
 * that all stages along a stream use the same ones. */
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
  char *name; /* of the file they are from */
  gint32 first_mjd;
  guint
      n; /* days that follow each other, at 0h UTC; 0: UT1 is taken for UTC, with no polar motion */
  AstroEarthDay *days;
  double *leaps; /* seconds of UTC's that lie between the first day and each */
} AstroEarth;

#define ASTRO_EARTH_LEAST_DAYS 4 /* that an interpolation reads */

/* NULL and an error where a day cannot be true. */
AstroEarth *astro_earth_new(const char *name, gint32 first_mjd, const AstroEarthDay *days, guint n,
                            GError **error);
/* UT1 is taken for UTC, as simulators do that are told nothing else. */
AstroEarth *astro_earth_new_none(void);
AstroEarth *astro_earth_ref(AstroEarth *earth);
void astro_earth_unref(AstroEarth *earth);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroEarth, astro_earth_unref)

/* What is wrong with a day that follows before (NULL: the first): found and expected, to be freed.
 * NULL: nothing. */
char *astro_earth_wrong_day(const AstroEarthDay *before, const AstroEarthDay *day);

/* So many days after 0h UTC of a day, on a clock that runs on evenly through leap seconds: what
 * ut1_utc adds to that clock is UT1. Interpolated through the four days around; before the first
 * and behind the last day theirs. */
void astro_earth_at(const AstroEarth *earth, gint32 mjd, double days_since, AstroEarthDay *now);
gboolean astro_earth_covers(const AstroEarth *earth, gint32 mjd, double days_since);

/* "2026-11-01 to 2027-11-20", to be freed. */
char *astro_earth_span(const AstroEarth *earth);
/* "finals2000A.all (2026-11-01 to 2027-11-20)", or "none, UT1 = UTC"; to be freed. */
char *astro_earth_describe(const AstroEarth *earth);

/* The days around that one, for as long as an observation may last. */
AstroEarth *astro_earth_cut(const AstroEarth *earth, gint32 mjd);

/* How far apart two of them put a source on that day, at most: arcsec. */
double astro_earth_difference(const AstroEarth *a, const AstroEarth *b, gint32 mjd);

ASTRO_END_DECLS
