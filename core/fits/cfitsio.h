/* Helpers for CFITSIO, with which the writers assemble headers and tables in memory. */
#pragma once

#include "core/fits/fits.h"
#include <fitsio.h>

G_BEGIN_DECLS

/* Whether status is free of errors; if not, sets an error "DOING: what CFITSIO says". */
gboolean astro_fits_check(int status, const char *doing, GError **error);

/* Text as FITS allows it: characters other than printable ASCII become question marks. */
char *astro_fits_ascii(const char *text);

typedef struct {
  fitsfile *file;
  void *data;
  size_t bytes; /* allocated; CFITSIO knows how many are used */
} AstroFitsScratch;
/* bytes: an estimate of the size. */
gboolean astro_fits_scratch_open(AstroFitsScratch *scratch, gsize bytes, GError **error);
void astro_fits_scratch_free(AstroFitsScratch *scratch);

G_END_DECLS
