/* Private to the reader of UVFITS: header.c finds out what is in a file, band.c its frequencies,
 * groups.c reads a group and its time, stations.c who took part, order.c sorts groups by time,
 * places.c finds where stations are, weights.c converts weights to counts, read.c puts groups
 * together to frames. */
#pragma once

#include "core/fits/reader.h"
#include "core/fits/uvfits/parameters.h"
#include "core/fits/uvfits/uvfits.h"
#include "core/lib/rows/weights.h"

G_BEGIN_DECLS

#define ASTRO_UVFITS_MAX_PARAMETERS 64
/* Steps of the golden section do not coincide with any regular order of baselines. */
#define ASTRO_UVFITS_GOLDEN 0.6180339887498949
/* Equal times may seem to differ by this much. */
#define ASTRO_UVFITS_NS_OF_ROUNDING 1000000

typedef enum { COMPLEX, STOKES, FREQ, IF, RA, DEC, N_KNOWN_AXES } AstroUvfitsKnownAxis;

typedef struct {
  guint64 n;      /* 1 if the file has no such axis */
  guint64 stride; /* in values */
  double value, pixel, delta;
  gboolean found;
} AstroUvfitsAxis;

/* The parameters of a group. */
typedef struct {
  gint64 middle_ns; /* since the observation's start */
  double seconds;   /* 0: unknown */
  guint station[2]; /* indices of stations */
} AstroUvfitsGroup;

typedef struct {
  AstroFitsFile *file;
  const AstroFitsHeader *header; /* of the HDU with the groups */
  AstroUvfitsAxis axes[N_KNOWN_AXES];
  guint n_parameters;
  gint place[N_KNOWN_PARAMETERS]; /* position in a group; -1: not there */
  double scale[ASTRO_UVFITS_MAX_PARAMETERS], zero[ASTRO_UVFITS_MAX_PARAMETERS];
  guint64 n_groups, group_values;
  guint64 *order; /* groups by time; NULL: as in the file */
  AstroUvfitsAntennas antennas;
  GHashTable *station_of; /* NOSTA to index + 1 */
  double first_source, first_setup;
  gint64 start_day; /* MJD */
  double start_ns;  /* since 0h of start_day */
  guint pols, channels;
  gint product_at[ASTRO_ROW_PRODUCTS]; /* position on the STOKES axis; -1: not in the file */
  gboolean upside_down;                /* frequencies decrease along the axis */
  gboolean conjugated;                 /* values are those of station 2 with station 1 */
  gboolean lengths_are_days;           /* INTTIM */
  gboolean ignore_epoch;               /* of the phase centre: 2000 is right */
  guint64 first_if, n_ifs;             /* that are read, of the axis IF */
  gint64 integration_ns;               /* 0: unknown */
  guint64 next;                        /* group, from 0 */
  gint64 last_ns;                      /* middle of the previous frame */
  gboolean any_before;
  double reference_wavelength; /* metres, at the value of the axis FREQ */
  double metres_per_unit;      /* of the file's (u,v,w), if they are used; else 0 */
  AstroWeightRange weights;    /* of all groups */
  double weight_scale;         /* counts are weights times this */
  guint32 full;                /* the largest count */
  double value_scale, value_zero;
  gboolean has_blank;
  gint64 blank;
  guint8 *raw; /* buffer for reads that the cache cannot serve */
  double *parameters;
  float *values;
} AstroUvfitsReader;

/* Reads axes, parameters, products and stations; basis says which kind of products they are. */
gboolean astro_uvfits_read_header(AstroUvfitsReader *r, const AstroRowBasis **basis,
                                  AstroFitsContents *contents, GError **error);
AstroObservation *astro_uvfits_new_observation(const AstroUvfitsReader *r,
                                               const AstroRowBasis *basis);
gboolean astro_uvfits_read_phase_centre(AstroUvfitsReader *r, AstroObservation *o, GError **error);
/* Describes the stream; the times and the groups' setup must be known. */
gboolean astro_uvfits_describe(AstroUvfitsReader *r, AstroFitsContents *contents, GError **error);

/* Makes station_of; leaves out stations of a broken row of the table that no group uses. */
gboolean astro_uvfits_index_stations(AstroUvfitsReader *r, GError **error);
/* Those of the group that was read last. */
void astro_uvfits_station_numbers(const AstroUvfitsReader *r, double number[2], double *baseline,
                                  double *subarray);
/* Chooses IFs: "2" or "2-4", from 1; NULL: all. */
gboolean astro_uvfits_choose_band(AstroUvfitsReader *r, const char *band, GError **error);

/* From then on groups are numbered in order of time. */
gboolean astro_uvfits_sort_groups(AstroUvfitsReader *r, GError **error);
/* The position of a group in the file. */
guint64 astro_uvfits_place(const AstroUvfitsReader *r, guint64 index);

/* Finds the start of the observation, and the source and setup of all groups. */
gboolean astro_uvfits_read_start(AstroUvfitsReader *r, AstroObservation *o, GError **error);
/* Sets the integration time, and the duration up to the end of the last frame; moves the start if
 * the first frame begins before it. */
gboolean astro_uvfits_read_times(AstroUvfitsReader *r, AstroFitsContents *contents, GError **error);
gboolean astro_uvfits_read_group(AstroUvfitsReader *r, guint64 index, AstroUvfitsGroup *group,
                                 GError **error);
/* Nanoseconds since midnight of start_day. */
gboolean astro_uvfits_read_time(AstroUvfitsReader *r, guint64 index, double *time, GError **error);
gboolean astro_uvfits_read_values(AstroUvfitsReader *r, guint64 index, GError **error);
/* A parameter of the group that was read last. */
double astro_uvfits_parameter(const AstroUvfitsReader *r, AstroUvfitsParameter p);
/* Chooses the factor between weights and counts; the order must be known. */
gboolean astro_uvfits_scale_weights(AstroUvfitsReader *r, AstroFitsContents *contents,
                                    GError **error);
/* Sets the stations' positions; the times and the band must be known. An error if the groups'
 * (u,v,w) would give another picture, unless uvw says which to use. */
gboolean astro_uvfits_place_stations(AstroUvfitsReader *r, AstroFitsUvw uvw,
                                     AstroFitsContents *contents, GError **error);
/* (u,v,w) of the group that was read last, in metres, as in the file; FALSE: NaN or infinite. */
gboolean astro_uvfits_group_uvw(const AstroUvfitsReader *r, double uvw[3]);
/* Groups of one frame have the same time, apart from rounding of a float of days. */
gboolean astro_uvfits_same_time(const AstroUvfitsReader *r, gint64 a, gint64 b);
/* Integration time in ns. A shortened one, as at the end of an observation, has its own length. */
gint64 astro_uvfits_length(const AstroUvfitsReader *r, const AstroUvfitsGroup *group);

G_END_DECLS
