/* Inside the reader of UVFITS: header.c finds out what is in a file, band.c its
 * frequencies, groups.c reads a group and its time, order.c sorts groups by it,
 * places.c finds where stations are, weights.c what weights count, read.c puts
 * groups together to frames. */
#pragma once

#include "core/fits/reader.h"
#include "core/fits/uvfits/parameters.h"
#include "core/fits/uvfits/uvfits.h"

G_BEGIN_DECLS

#define ASTRO_UVFITS_MAX_PARAMETERS 64
/* Steps of the golden section keep in step with no order of baselines. */
#define ASTRO_UVFITS_GOLDEN 0.6180339887498949
/* Times may seem to differ by so much that do not. */
#define ASTRO_UVFITS_NS_OF_ROUNDING 1000000

typedef enum { COMPLEX, STOKES, FREQ, IF, RA, DEC, N_KNOWN_AXES } AstroUvfitsKnownAxis;

typedef struct {
  guint64 n;      /* 1 where the file has no such axis */
  guint64 stride; /* in values */
  double value, pixel, delta;
  gboolean found;
} AstroUvfitsAxis;

/* What a group says of itself. */
typedef struct {
  gint64 middle_ns; /* since the observation's start */
  double seconds;   /* 0: not said */
  guint station[2]; /* indices into the stations */
} AstroUvfitsGroup;

typedef struct {
  AstroFitsFile *file;
  const AstroFitsHeader *header; /* of the groups */
  AstroUvfitsAxis axes[N_KNOWN_AXES];
  guint n_parameters;
  gint place[N_KNOWN_PARAMETERS]; /* in a group; -1: not there */
  double scale[ASTRO_UVFITS_MAX_PARAMETERS], zero[ASTRO_UVFITS_MAX_PARAMETERS];
  guint64 n_groups, group_values;
  guint64 *order; /* of groups by time; NULL: as in the file */
  AstroUvfitsAntennas antennas;
  GHashTable *station_of; /* NOSTA to index + 1 */
  double first_source, first_setup;
  gint64 start_day; /* MJD */
  double start_ns;  /* into it */
  guint pols, channels;
  gint product_at[ASTRO_UVFITS_PRODUCTS]; /* on the STOKES axis; -1: not in the file */
  gboolean upside_down;                   /* frequencies fall along the axis */
  gboolean conjugated;                    /* values are those of station 2 with station 1 */
  gboolean lengths_are_days;              /* INTTIM */
  gint64 integration_ns;                  /* 0: not known */
  guint64 next;                           /* group, from 0 */
  gint64 last_ns;                         /* middle of the frame before */
  gboolean any_before;
  double reference_wavelength; /* metres; of the axis FREQ */
  double metres_per_unit;      /* of the file's (u,v,w), where they go on; else 0 */
  double weight_scale;         /* from weights to counts */
  guint32 full;                /* the largest of them */
  double value_scale, value_zero;
  gboolean has_blank;
  gint64 blank;
  guint8 *raw; /* room for what the file does not keep */
  double *parameters;
  float *values;
} AstroUvfitsReader;

/* Axes, parameters, products, stations; basis tells of which kind the products are. */
gboolean astro_uvfits_read_header(AstroUvfitsReader *r, const AstroUvfitsBasis **basis,
                                  AstroFitsContents *contents, GError **error);
AstroObservation *astro_uvfits_new_observation(const AstroUvfitsReader *r,
                                               const AstroUvfitsBasis *basis);
gboolean astro_uvfits_read_phase_centre(AstroUvfitsReader *r, AstroObservation *o, GError **error);
/* The stream; after the times and the groups' setup are known. */
gboolean astro_uvfits_describe(AstroUvfitsReader *r, AstroFitsContents *contents, GError **error);

/* Groups are numbered by their times from then on. */
gboolean astro_uvfits_sort_groups(AstroUvfitsReader *r, GError **error);
/* In the file. */
guint64 astro_uvfits_place(const AstroUvfitsReader *r, guint64 index);

/* Start of the observation; source and setup of all groups. */
gboolean astro_uvfits_read_start(AstroUvfitsReader *r, AstroObservation *o, GError **error);
/* Sets the integration time, and the duration to the end of the last frame; moves the start where
 * the first frame begins before it. */
gboolean astro_uvfits_read_times(AstroUvfitsReader *r, AstroFitsContents *contents, GError **error);
gboolean astro_uvfits_read_group(AstroUvfitsReader *r, guint64 index, AstroUvfitsGroup *group,
                                 GError **error);
/* Nanoseconds since start_day's midnight. */
gboolean astro_uvfits_read_time(AstroUvfitsReader *r, guint64 index, double *time, GError **error);
gboolean astro_uvfits_read_values(AstroUvfitsReader *r, guint64 index, GError **error);
/* Of the group that was read last. */
double astro_uvfits_parameter(const AstroUvfitsReader *r, AstroUvfitsParameter p);
/* Chooses what weights are multiplied by to be counts; after the order is known. */
gboolean astro_uvfits_scale_weights(AstroUvfitsReader *r, AstroFitsContents *contents,
                                    GError **error);
/* Sets the stations' positions, after the times and the band are known. An error where a picture by
 * the groups' (u,v,w) would be another one, unless uvw says whose hold. */
gboolean astro_uvfits_place_stations(AstroUvfitsReader *r, AstroFitsUvw uvw,
                                     AstroFitsContents *contents, GError **error);
/* Of the group that was read last, in metres, as the file has them; FALSE: they are no numbers. */
gboolean astro_uvfits_group_uvw(const AstroUvfitsReader *r, double uvw[3]);
/* Groups of one frame have one time, give or take what a float of days loses. */
gboolean astro_uvfits_same_time(const AstroUvfitsReader *r, gint64 a, gint64 b);
/* In ns. One that was cut short, as at the end of an observation, is as long as it says. */
gint64 astro_uvfits_length(const AstroUvfitsReader *r, const AstroUvfitsGroup *group);

G_END_DECLS
