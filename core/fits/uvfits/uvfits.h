/* Shared by the writer and the reader of UVFITS.
 *
 * A group holds one baseline at one time: parameters, then for every channel and product the real
 * part, the imaginary part and the weight. Our V_ij = E_i conj(E_j) has j <= i; a group's antennas
 * are a1 <= a2, with (u,v,w) of a1 minus a2. So a group is the pair (j, i): values are conjugated
 * and the cross-hands exchanged. */
#pragma once

#include "core/fits/cfitsio.h"
#include "core/fits/table/table.h"
#include "core/lib/rows/observed.h"
#include "core/lib/rows/products.h"
#include "core/lib/rows/uvw-sums.h"

G_BEGIN_DECLS

#define ASTRO_UVFITS_CAPS                                                                          \
  "application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, "                       \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"
/* A keyword of our own: "IN" in a file of raw correlations whose delays were not removed. */
#define ASTRO_UVFITS_DELAYS "DELAYS"

#define ASTRO_UVFITS_MAX_STATIONS 65535
/* MJDs on which an observation may begin: larger values are not Julian dates. */
#define ASTRO_UVFITS_DAYS ASTRO_ROW_DAYS
#define ASTRO_UVFITS_YEARS ASTRO_ROW_YEARS

/* The table AIPS AN: stations and clocks. */
gboolean astro_uvfits_write_antennas(fitsfile *file, const AstroObservation *observation,
                                     double reference_frequency, GError **error);

/* How a table's offsets from the array's centre are defined: x toward the meridian of Greenwich, or
 * rotated to that of the centre; y to the east, or the opposite. */
typedef enum {
  ASTRO_UVFITS_ROTATED = 1,
  ASTRO_UVFITS_LEFT_HANDED = 2,
} AstroUvfitsFrame;

typedef struct {
  guint arrays; /* number of tables in the file, one per array */
  guint n;
  gint *numbers;          /* NOSTA of each station */
  char **names;           /* n, then NULL */
  double *offsets;        /* x y z of each station, metres */
  char **wrong;           /* what is wrong with a row of the table; NULL: nothing */
  guint n_rows;           /* of the table */
  double middle[3];       /* geocentric metres */
  AstroUvfitsFrame frame; /* of the offsets, according to the keywords */
  double seconds_to_utc;  /* to be added to the file's times */
  char *array;            /* name of the array; empty if the table has none */
  gboolean are_east;      /* the first feeds of all stations point east, the second ones north */
} AstroUvfitsAntennas;
gboolean astro_uvfits_read_antennas(AstroFitsFile *file, AstroUvfitsAntennas *antennas,
                                    GError **error);
/* Position of station i in geocentric metres, if offsets are defined by frame. */
void astro_uvfits_place_antenna(const AstroUvfitsAntennas *antennas, guint i,
                                AstroUvfitsFrame frame, double position[3]);
void astro_uvfits_antennas_clear(AstroUvfitsAntennas *antennas);

G_END_DECLS
