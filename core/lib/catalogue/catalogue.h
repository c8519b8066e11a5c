/* Catalogues of points on the sky: made at random and read from text. Degrees. */
#pragma once

#include "core/backend/threads.h"

G_BEGIN_DECLS

#define ASTRO_CATALOGUE_ERROR astro_catalogue_error_quark()
typedef enum {
  ASTRO_CATALOGUE_ERROR_FOOTPRINT,
  ASTRO_CATALOGUE_ERROR_MODEL,
  ASTRO_CATALOGUE_ERROR_REGIONS,
  ASTRO_CATALOGUE_ERROR_COLUMN,
  ASTRO_CATALOGUE_ERROR_TEXT,
  ASTRO_CATALOGUE_ERROR_FILE,
} AstroCatalogueError;
GQuark astro_catalogue_error_quark(void);

/* Bits of a point, such as the realisations of a survey that select it, are in words of 32, which
 * a column of doubles holds exactly: two for each column of a file, the lower half first. */
#define ASTRO_CATALOGUE_WORDS 8

/* Columns of n values; NULL for a column that is absent. */
typedef struct {
  guint64 n;
  double *ra, *dec, *weight, *region, *distance;
  double *k, *g1, *g2; /* a scalar, such as the convergence, and a shear: x to the west, y north */
  double *bits[ASTRO_CATALOGUE_WORDS];
  char *note; /* doubts about the text that was read; NULL: none */
} AstroCatalogue;
void astro_catalogue_clear(AstroCatalogue *catalogue);
/* Whether both have the same points in the same order, as one file read twice does. */
gboolean astro_catalogue_is_same(const AstroCatalogue *a, const AstroCatalogue *b);
/* FALSE and an error that names the points. */
gboolean astro_catalogue_no_memory(GError **error, guint64 points);

/* Random numbers that are the same everywhere. Streams of different indices are independent. */
typedef struct {
  guint64 state[4];
} AstroRandom;
void astro_random_init(AstroRandom *random, guint64 seed, guint64 index);
double astro_random_uniform(AstroRandom *random); /* 0 <= it < 1 */

/* All points within a radius around a place, a band of right ascensions (eastward from ra_min to
 * ra_max, which may pass 360) and declinations, or the cells in which another catalogue has points
 * (mask.h). */
typedef enum {
  ASTRO_FOOTPRINT_BAND,
  ASTRO_FOOTPRINT_CAP,
  ASTRO_FOOTPRINT_MASK
} AstroFootprintShape;
typedef struct _AstroMask AstroMask;
typedef struct {
  AstroFootprintShape shape;
  double ra, dec, radius;                  /* a cap */
  double ra_min, ra_max, dec_min, dec_max; /* a band */
  const AstroMask *mask;
} AstroFootprint;

gboolean astro_footprint_check(const AstroFootprint *footprint, GError **error);
gboolean astro_footprint_contains(const AstroFootprint *footprint, double ra, double dec);

gboolean astro_catalogue_uniform(const AstroFootprint *footprint, guint64 points,
                                 AstroRandom *random, AstroCatalogue *catalogue, GError **error);

/* The model of Soneira and Peebles: each disc holds `children` smaller ones, over `levels` levels;
 * the centres of the smallest are the points. w(theta) falls as theta^slope from radius down to the
 * smallest disc, if discs shrink by children^(1 / (2 + slope)) from level to level. Points of a
 * disc that reaches over the rim of the footprint are kept only inside it. */
typedef struct {
  double slope;  /* -2 < slope < 0 */
  double radius; /* of the largest discs */
  guint levels, children;
} AstroClustering;

gboolean astro_catalogue_clustered(const AstroFootprint *footprint,
                                   const AstroClustering *clustering, guint64 points,
                                   AstroRandom *random, AstroCatalogue *catalogue, GError **error);

/* The columns of a text: names in its heading or numbers from 1; NULL for none. */
typedef struct {
  const char *ra, *dec, *weight, *region, *distance, *k, *g1, *g2;
  const char *bits[ASTRO_CATALOGUE_WORDS / 2]; /* integers of 64 bits; the first NULL ends them */
  gboolean is_redshift; /* distance names a column of redshifts (distance.h) */
  double omega_m;       /* for distances from redshifts */
} AstroCatalogueColumns;

/* Lines of values, all with the same separator: semicolons if the first line has any, else commas,
 * else tabs, else blanks. A value may be in double quotes. # begins a comment.
 *
 * A first line without a number is a heading; so is a comment above the points that has one word
 * for each column and all the names asked for. Without a heading, columns are found by number, and
 * "ra" and "dec" are the first two, with a note if there are more.
 *
 * Positions are in degrees, unless the header of ECSV says radians; or, if both columns are so
 * throughout, in hours, minutes and seconds of right ascension and degrees, minutes and seconds of
 * declination, with colons or (as in VizieR's tables) blanks between them.
 *
 * The same heading again begins another catalogue: the points of all follow one another, and the
 * number of points up to the end of each catalogue is added to ends (of guint64; may be NULL); a
 * catalogue without points is then an error. So is a last line that was cut; if it may have been
 * cut, the catalogue has a note. name is for error messages. */
gboolean astro_catalogue_parse_text(const char *text, gsize length, const char *name,
                                    const AstroCatalogueColumns *columns, AstroCatalogue *catalogue,
                                    GArray *ends, GError **error);
/* Called for each point before it is read, with its values in all columns; names: of the columns,
 * NULL if they have none. *take: whether the point is read at all. FALSE: error says why reading
 * ends. */
typedef gboolean (*AstroCatalogueSee)(gpointer data, const GPtrArray *names,
                                      const GPtrArray *values, gboolean *take, GError **error);
/* The same for the points that see takes. */
gboolean astro_catalogue_parse_seen(const char *text, gsize length, const char *name,
                                    const AstroCatalogueColumns *columns, AstroCatalogueSee see,
                                    gpointer data, AstroCatalogue *catalogue, GArray *ends,
                                    GError **error);
/* Catalogue i of them, which shares the memory of all. */
AstroCatalogue astro_catalogue_part(const AstroCatalogue *all, const GArray *ends, guint i);

G_END_DECLS
