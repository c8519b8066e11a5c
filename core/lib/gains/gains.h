/* A table of gains: what the signal of each station was multiplied by, in intervals of time and
 * groups of channels, as astrocalibrate solves it.
 *
 * A visibility is V_ij = J_i M_ij J_j^H, with M_ij that of the sky and J the gains: a number for
 * each polarisation, or for type full a matrix of 2 x 2. For type delay the gain at a frequency f
 * is value x exp(-2 pi i delay (f - centre)): the signal arrives that much late.
 *
 * Between the middles of intervals and of groups, gains are interpolated (amplitude and phase; the
 * elements of matrices as complex numbers). Within the first and last half interval and group they
 * are those of its middle. Anywhere else nothing is known, and the data are to be flagged. Only a
 * table of one solution for a whole stream (is_constant) holds at all times. */
#pragma once

#include <complex.h>

#include "core/kit/fail.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_GAINS_PHASE,    /* amplitudes are 1 */
  ASTRO_GAINS_GAIN,     /* amplitude and phase */
  ASTRO_GAINS_FULL,     /* a Jones matrix */
  ASTRO_GAINS_DELAY,    /* phase and delay; amplitudes are 1 */
  ASTRO_GAINS_BANDPASS, /* amplitude and phase, with a group for each channel unless told */
  ASTRO_N_GAINS_TYPES
} AstroGainsType;

const char *astro_gains_type_name(AstroGainsType type);
gboolean astro_gains_type_parse(const char *name, AstroGainsType *type);

#define ASTRO_GAINS_MAX_VALUES 4

typedef struct {
  double begin, end; /* seconds since the table's start */
} AstroGainsInterval;

typedef struct {
  AstroGainsType type;
  guint stations, pols, groups;
  guint values; /* of a station in a group: pols, or 4 for full, in rows: XX XY YX YY */
  char **names; /* of the stations, then NULL */
  char *basis;
  gint32 start_mjd;
  guint64 start_ns;       /* as in the observation */
  double low, high, step; /* Hz: the band, and the width of a group; the last may be narrower */
  gboolean is_constant;
  /* The visibilities had no known scale, and the gains hold it: what they correct is in Jy. */
  gboolean to_jansky;
  GArray *intervals; /* AstroGainsInterval, rising */
  GArray *gains;     /* complex double [interval][station][group][value] */
  GArray *snr;       /* float, the same; 0: flagged */
  GArray *delays;    /* double, the same; seconds; zeros for types without delays */
} AstroGains;

/* An empty table for the stations of an observation. */
AstroGains *astro_gains_new(const AstroObservation *observation, AstroGainsType type, guint pols,
                            guint groups);
void astro_gains_free(AstroGains *gains);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroGains, astro_gains_free)

/* Adds the solutions of an interval; arrays as above. delays: NULL for zeros. */
void astro_gains_add(AstroGains *gains, double begin, double end, const complex double *values,
                     const float *snr, const double *delays);

gsize astro_gains_row(const AstroGains *gains); /* values of an interval */
double astro_gains_group_middle(const AstroGains *gains, guint group);

/* A checksum of all of it, which tells tables apart. */
char *astro_gains_sum(const AstroGains *gains);

/* Finds the table's station for each station of an observation, by name; -1: it has none. An error
 * if it has none of them, or is for other polarisations. */
gboolean astro_gains_match(const AstroGains *gains, const AstroObservation *observation, guint pols,
                           gint *stations, GError **error);

/* Seconds from the table's start to a time of an observation. */
double astro_gains_time(const AstroGains *gains, const AstroObservation *observation,
                        double seconds);

/* A matrix of gains, row by row; off-diagonal elements are 0 for types other than full. With one
 * polarisation only [0] is used. has: whether the gain of each polarisation is known. */
typedef struct {
  complex double jones[4];
  gboolean has[2];
} AstroGainsAt;

/* The gain of one of the table's stations. seconds: since the table's start. */
void astro_gains_at(const AstroGains *gains, guint station, double seconds, double frequency,
                    AstroGainsAt *at);

G_END_DECLS
