/* Helpers for CFITSIO. */
#include "core/fits/cfitsio.h"

#define BLOCK 2880

gboolean astro_fits_check(int status, const char *doing, GError **error)
{
  char text[FLEN_STATUS] = "";
  if (status == 0)
    return TRUE;
  fits_get_errstatus(status, text);
  fits_clear_errmsg();
  g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_HEADER, "%s: %s (CFITSIO status %d)", doing,
              text, status);
  return FALSE;
}

char *astro_fits_ascii(const char *text)
{
  char *ascii = g_str_to_ascii(text, "C");
  for (char *c = ascii; *c; c++)
    if (!g_ascii_isprint(*c))
      *c = '?';
  return ascii;
}

gboolean astro_fits_scratch_open(AstroFitsScratch *scratch, gsize bytes, GError **error)
{
  int status = 0;
  /* CFITSIO reads a little past its last write. */
  scratch->bytes = (bytes / BLOCK + 16) * BLOCK;
  scratch->data = calloc(scratch->bytes, 1);
  fits_create_memfile(&scratch->file, &scratch->data, &scratch->bytes, 64 * BLOCK, realloc,
                      &status);
  return astro_fits_check(status, "creating a header", error);
}

void astro_fits_scratch_free(AstroFitsScratch *scratch)
{
  int status = 0;
  if (scratch->file)
    fits_close_file(scratch->file, &status);
  free(scratch->data);
  scratch->file = NULL;
  scratch->data = NULL;
}
