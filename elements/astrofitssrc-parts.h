/* The parts of the element astrofitssrc, which its files share. */
#pragma once

#include "core/fits/fits.h"
#include "elements/astrofitssrc.h"
#include "elements/base/astrostamps.h"

G_BEGIN_DECLS

typedef struct {
  char *location;
  char *ra_column, *dec_column, *weight_column, *region_column, *where;
  char *distance_column, *redshift_column, *k_column, *g1_column, *g2_column;
  char *bitweight_columns;
  double omega_m;
  AstroFitsUvw uvw;
  char *earth_orientation;
  char *band;
  gboolean ignore_epoch;
} AstroFitsSrcSettings;

struct _AstroFitsSrc {
  AstroFileSrc parent;
  AstroFitsSrcSettings settings;
  AstroFitsSrcSettings now; /* copies of the properties, from start to stop */

  GPtrArray *files; /* names; from start to stop */
  guint next_file;  /* the one after reader's */
  GstCaps *wanted;  /* what downstream accepts, asked when the first file is opened */
  AstroFitsReader *reader;
  guint64 frames;     /* sent; under the object's lock, like reader: queries ask for both */
  guint64 not_finite; /* number of NaN or infinite visibilities in them */
  AstroStamps stamps;

  /* Files may continue the first: its caps and observation (NULL: it is another kind), and how
   * many steps later this one begins. */
  GstCaps *first_caps;
  AstroObservation *first_observation;
  guint64 shift;
  guint64 next; /* the step after the last one of these files */
};

static inline gboolean astro_fits_src_is_catalogue(const AstroFitsReader *reader)
{
  return astro_fits_reader_contents(reader)->stream.quantity == ASTRO_QUANTITY_CATALOGUE;
}

/* Posts the error; returns FALSE. */
gboolean astro_fits_src_fail(AstroFitsSrc *self, const GError *error);

/* Finds the files that the location names, of which the first can be opened. */
gboolean astro_fits_src_find_files(AstroFitsSrc *self);
void astro_fits_src_forget_files(AstroFitsSrc *self);
/* Opens the next file. All files have to give the same columns, which the properties name. */
gboolean astro_fits_src_open_next_file(AstroFitsSrc *self);
/* Posts what is wrong with a file that should go on where others end; returns FALSE. */
gboolean astro_fits_src_refuse_next(AstroFitsSrc *self, const char *name, const char *found,
                                    const char *expected);

/* Pools have blocks of one size, counted in 32 bits. Catalogues and blocks of a stream are of any
 * size, and a frame may be larger: these are allocated one by one. */
gboolean astro_fits_src_fits_pool(const AstroFitsReader *reader);
/* Reads the next frame, of the next file where this one has no more. */
GstFlowReturn astro_fits_src_create_frame(AstroFitsSrc *self, GstBuffer **out);

G_END_DECLS
