/* What the writer and the reader of UVFITS share.
 *
 * A group holds one baseline at one time: parameters, then for every channel and product real part,
 * imaginary part and weight. Our V_ij = E_i conj(E_j) has j <= i; a group's antennas are a1 <= a2
 * with (u,v,w) from a1 minus a2. So a group is the pair (j, i): the value is conjugated and the
 * cross-hands change places. */
#pragma once

#include "core/fits/cfitsio.h"
#include "core/fits/table/table.h"

G_BEGIN_DECLS

#define ASTRO_UVFITS_CAPS                                                                          \
  "application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, "                       \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"
/* A key of our own: "IN" in a file of raw correlations, whose delays nobody took out. */
#define ASTRO_UVFITS_DELAYS "DELAYS"

#define ASTRO_UVFITS_MAX_STATIONS 65535
/* Days from MJD 0 that an observation may begin on: what is read beyond is no Julian date. */
#define ASTRO_UVFITS_DAYS 100000
#define ASTRO_UVFITS_YEARS "1858 to 2132"

/* How the products of a file stand in ours. FITS numbers them -1 ... -4 (circular) or -5 ... -8. */
#define ASTRO_UVFITS_PRODUCTS 4
typedef struct {
  const char *name[2]; /* in a linear and in a circular basis */
  guint8 pols[2];      /* of a1 and of a2 */
} AstroUvfitsProduct;
extern const AstroUvfitsProduct astro_uvfits_products[ASTRO_UVFITS_PRODUCTS];

typedef struct {
  const char *basis;
  double first; /* the number of the first product on the STOKES axis */
  const char *feeds[2];
  double angles[2]; /* of the feeds, degrees */
} AstroUvfitsBasis;
extern const AstroUvfitsBasis astro_uvfits_bases[2];

/* Of an observation whose basis is one of the two. */
const AstroUvfitsBasis *astro_uvfits_basis_of(const AstroObservation *observation);

/* The AIPS AN table: stations and clocks. */
gboolean astro_uvfits_write_antennas(fitsfile *file, const AstroObservation *observation,
                                     double reference_frequency, GError **error);

/* How a table's offsets from the array's middle stand: x through Greenwich's meridian, or turned to
 * the middle's; y to the east, or the other way. */
typedef enum {
  ASTRO_UVFITS_TURNED = 1,
  ASTRO_UVFITS_LEFT_HANDED = 2,
  ASTRO_UVFITS_FRAMES = 4
} AstroUvfitsFrame;

typedef struct {
  guint arrays; /* tables in the file, of one array each */
  guint n;
  gint *numbers;          /* of each station in the file, NOSTA */
  char **names;           /* n, then NULL */
  double *offsets;        /* x y z of each, metres */
  double middle[3];       /* geocentric metres */
  AstroUvfitsFrame frame; /* of the offsets, as far as keywords tell */
  double seconds_to_utc;  /* added to the file's times */
  char *array;            /* its name; empty where the table has none */
} AstroUvfitsAntennas;
gboolean astro_uvfits_read_antennas(AstroFitsFile *file, AstroUvfitsAntennas *antennas,
                                    GError **error);
/* Where station i is if offsets stand in that frame: geocentric metres. */
void astro_uvfits_place_antenna(const AstroUvfitsAntennas *antennas, guint i,
                                AstroUvfitsFrame frame, double position[3]);
void astro_uvfits_antennas_clear(AstroUvfitsAntennas *antennas);

G_END_DECLS
