/* A pulsar's ephemeris, as a .par file of TEMPO, TEMPO2 or PINT gives it: rotation, position,
 * dispersion. Isolated pulsars only. Whatever would change the phase and is not known here is
 * refused by line; fit flags and uncertainties are skipped, and so is what only matters to a fit.
 */
#pragma once

#include "core/kit/lines.h"

G_BEGIN_DECLS

#define ASTRO_EPHEMERIS_SPINS 6 /* F0 to F5 */

/* A day and its fraction, so that nothing is lost of the digits of a file. */
typedef struct {
  gint32 mjd;
  long double day;
} AstroEpoch;

/* Where a telescope is whose arrival times a file refers to. */
typedef enum {
  ASTRO_SITE_BARYCENTRE, /* of the solar system; times are TDB */
  ASTRO_SITE_GEOCENTRE,  /* the others: times are UTC */
  ASTRO_SITE_TELESCOPE,  /* that of the stream, by its name */
} AstroSiteKind;

typedef struct {
  char *name;                              /* of the pulsar; "" if the file gives none */
  long double spin[ASTRO_EPHEMERIS_SPINS]; /* Hz, Hz/s, ... at the epoch */
  AstroEpoch epoch;                        /* TDB, at the barycentre of the solar system */
  double longitude, latitude; /* radians; right ascension and declination, or ecliptic */
  double longitude_motion,
      latitude_motion; /* radians a Julian year, the first times cos latitude */
  gboolean is_ecliptic;
  double obliquity; /* of ecliptic coordinates, radians */
  AstroEpoch position_epoch;
  double parallax;         /* radians */
  double dm[3];            /* pc/cm^3, and its derivatives a Julian year, as the file says */
  AstroEpoch dm_epoch;     /* of the derivatives */
  gboolean has_zero;       /* the phase is 0 when a pulse arrived at ... */
  AstroEpoch zero;         /* ... this time, ... */
  double zero_frequency;   /* ... at this frequency, Hz (0: infinity), ... */
  AstroSiteKind zero_site; /* ... here */
  char *zero_telescope;    /* its name, of ASTRO_SITE_TELESCOPE; else NULL */
  char *planets;           /* the ephemeris of planets that the file was fitted with, or NULL */
  char *clock;             /* the realisation of terrestrial time, or NULL */
} AstroEphemeris;

/* Free with astro_ephemeris_free(). NULL and an error that names file, line and term. */
AstroEphemeris *astro_ephemeris_open(const char *path, GError **error);
AstroEphemeris *astro_ephemeris_from_lines(AstroLines *lines, GError **error);
void astro_ephemeris_free(AstroEphemeris *ephemeris);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroEphemeris, astro_ephemeris_free)

/* .par files mean by a DM a delay of DM / 2.41e-4 s MHz^2; this tree, of K = 4.148808e3 DM. The DM
 * that gives the same delay here. */
double astro_ephemeris_dm(const AstroEphemeris *ephemeris);
/* Replaces the file's by such a DM, which does not change. */
void astro_ephemeris_set_dm(AstroEphemeris *ephemeris, double dm);

G_END_DECLS
