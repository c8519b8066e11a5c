/* What the kinds of FITS files share of CFITSIO, and the reader's side of the table. */
#pragma once

#include "core/fits/fits.h"
#include <fitsio.h>

G_BEGIN_DECLS

typedef struct {
  const char *name; /* "UVFITS" */
  const char *caps; /* what it gives */
  /* Both find the file at its primary header. name is for messages. */
  gboolean (*recognises)(fitsfile *file);
  gpointer (*open)(fitsfile *file, const char *name, AstroFitsContents *contents, GError **error);
  gboolean (*read)(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error);
  void (*close)(gpointer reader); /* leaves the file open */
} AstroFitsReaderKind;

/* FALSE where there is no such keyword of that type (or no finite number): the value stays. */
gboolean astro_fits_get_string(fitsfile *file, const char *key, char value[FLEN_VALUE]);
gboolean astro_fits_get_double(fitsfile *file, const char *key, double *value);
/* key with the number behind it, as in CRVAL4. */
gboolean astro_fits_get_string_n(fitsfile *file, const char *key, guint n, char value[FLEN_VALUE]);
gboolean astro_fits_get_double_n(fitsfile *file, const char *key, guint n, double *value);

/* Sets an error "NAME: DOING: what CFITSIO says" where status tells of one; whether it did not. */
gboolean astro_fits_check(int status, const char *name, const char *doing, GError **error);

/* Whole FITS blocks in memory: where CFITSIO puts headers and tables together before they are
 * written. */
typedef struct {
  fitsfile *file;
  void *data;
  size_t bytes; /* allocated; how many are used CFITSIO tells */
} AstroFitsScratch;
gboolean astro_fits_scratch_open(AstroFitsScratch *scratch, GError **error);
void astro_fits_scratch_free(AstroFitsScratch *scratch);

G_END_DECLS
