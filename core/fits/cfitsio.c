#include "core/fits/cfitsio.h"

#include <math.h>

#define BLOCK 2880

gboolean astro_fits_get_string(fitsfile *file, const char *key, char value[FLEN_VALUE])
{
  char found[FLEN_VALUE] = "";
  int status = 0;
  if (fits_read_key(file, TSTRING, key, found, NULL, &status))
    return FALSE;
  g_strchomp(found);
  g_strlcpy(value, found, FLEN_VALUE);
  return TRUE;
}

gboolean astro_fits_get_double(fitsfile *file, const char *key, double *value)
{
  double found = 0;
  int status = 0;
  if (fits_read_key(file, TDOUBLE, key, &found, NULL, &status) || !isfinite(found))
    return FALSE;
  *value = found;
  return TRUE;
}

gboolean astro_fits_get_string_n(fitsfile *file, const char *key, guint n, char value[FLEN_VALUE])
{
  g_autofree char *name = g_strdup_printf("%s%u", key, n);
  return astro_fits_get_string(file, name, value);
}

gboolean astro_fits_get_double_n(fitsfile *file, const char *key, guint n, double *value)
{
  g_autofree char *name = g_strdup_printf("%s%u", key, n);
  return astro_fits_get_double(file, name, value);
}

gboolean astro_fits_check(int status, const char *name, const char *doing, GError **error)
{
  char text[FLEN_STATUS] = "";
  if (status == 0)
    return TRUE;
  fits_get_errstatus(status, text);
  fits_clear_errmsg();
  g_set_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_READ, "%s: %s: %s (CFITSIO status %d)",
              name, doing, text, status);
  return FALSE;
}

gboolean astro_fits_scratch_open(AstroFitsScratch *scratch, GError **error)
{
  int status = 0;
  scratch->bytes = 4 * BLOCK;
  scratch->data = malloc(scratch->bytes);
  fits_create_memfile(&scratch->file, &scratch->data, &scratch->bytes, 64 * BLOCK, realloc,
                      &status);
  return astro_fits_check(status, "memory", "creating a header", error);
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
