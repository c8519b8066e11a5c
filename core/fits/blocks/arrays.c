/* Reads arrays from a file of blocks. */
#include "config.h"
#include "core/fits/blocks/read.h"

gboolean astro_blocks_is_named(const AstroFitsHeader *header, const char *name)
{
  const char *found = "";
  return header && astro_fits_get_string(header, "EXTNAME", &found) && g_str_equal(found, name);
}

const AstroFitsHeader *astro_blocks_find_with(const AstroBlocksReader *r, guint begin,
                                              const char *name)
{
  for (guint i = begin + 1;; i++) {
    const AstroFitsHeader *header = astro_fits_file_header(r->file, i);
    if (!header || astro_blocks_is_named(header, "BLOCK"))
      return NULL;
    if (astro_blocks_is_named(header, name))
      return header;
  }
}

gboolean astro_blocks_check_array(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                  const char *name, const AstroFitsWords *words, GError **error)
{
  double zero = 0;
  astro_fits_get_double(header, "BZERO", &zero);
  if (header->bitpix != words->bitpix || zero != astro_fits_words_zero(words))
    return astro_fits_wrong(r->file, error, "%s has BITPIX %d and BZERO %g, expected %d and %g",
                            name, header->bitpix, zero, words->bitpix,
                            astro_fits_words_zero(words));
  if (header->groups || header->n_parameters || header->n_groups != 1)
    return astro_fits_wrong(r->file, error,
                            "%s is not a plain array, according to PCOUNT and GCOUNT", name);
  const guint64 end = astro_fits_file_bytes(r->file);
  if (header->data > end || header->bytes > end - header->data)
    return astro_fits_wrong(r->file, error,
                            "cut short: %s has %" G_GUINT64_FORMAT
                            " bytes, but only %" G_GUINT64_FORMAT " are in the file",
                            name, header->bytes, end - MIN(end, header->data));
  return TRUE;
}

gboolean astro_blocks_read_into(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                const AstroFitsWords *words, gpointer data, GError **error)
{
  if (!astro_fits_file_read(r->file, header->data, data, header->bytes, error))
    return FALSE;
  astro_fits_words_unpack(words, data, data, header->bytes);
  return TRUE;
}

gpointer astro_blocks_read_array(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                 const char *name, const AstroFitsWords *words, GError **error)
{
  if (!astro_blocks_check_array(r, header, name, words, error))
    return NULL;
  g_autofree char *data = g_try_malloc(header->bytes + 1);
  if (!data) {
    astro_fits_wrong(r->file, error, "there is no memory for %s", name);
    return NULL;
  }
  data[header->bytes] = 0;
  return astro_blocks_read_into(r, header, words, data, error) ? g_steal_pointer(&data) : NULL;
}

gint64 astro_blocks_number(const AstroFitsHeader *header, const char *key)
{
  gint64 value = -1;
  astro_fits_get_integer(header, key, &value);
  return value;
}

gboolean astro_blocks_get_number(const AstroBlocksReader *r, const AstroFitsHeader *header,
                                 const char *key, gint64 least, gint64 most, gint64 *value,
                                 GError **error)
{
  *value = astro_blocks_number(header, key);
  return (*value >= least && *value <= most) ||
         astro_fits_wrong(r->file, error,
                          "%s is missing or %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT
                          " to %" G_GINT64_FORMAT,
                          key, *value, least, most);
}
