/* What the writers share of CFITSIO: it puts headers and tables together in memory. */
#pragma once

#include "core/fits/fits.h"
#include <fitsio.h>

G_BEGIN_DECLS

/* Sets an error "DOING: what CFITSIO says" where status tells of one; whether it did not. */
gboolean astro_fits_check(int status, const char *doing, GError **error);

/* Text as FITS takes it: what is no printable ASCII becomes a question mark. */
char *astro_fits_ascii(const char *text);

typedef struct {
  fitsfile *file;
  void *data;
  size_t bytes; /* allocated; how many are used CFITSIO tells */
} AstroFitsScratch;
/* bytes: what it will take, about. */
gboolean astro_fits_scratch_open(AstroFitsScratch *scratch, gsize bytes, GError **error);
void astro_fits_scratch_free(AstroFitsScratch *scratch);

G_END_DECLS
