/* Writes headers of HDUs card by card. */
#include "core/fits/cards.h"
#include "core/fits/cfitsio.h"

#include <string.h>

#define CARD 80
#define MAX_TEXT 60 /* characters of a string, to leave room for a comment */

static void put_card(GString *header, const char *key, const char *value, const char *comment)
{
  gsize begin = header->len;
  g_string_append_printf(header, "%-8s= %20s / %s", key, value, comment);
  g_string_set_size(header, MIN(header->len, begin + CARD));
  while (header->len < begin + CARD)
    g_string_append_c(header, ' ');
}

void astro_fits_put_logical(GString *header, const char *key, gboolean value, const char *comment)
{
  put_card(header, key, value ? "T" : "F", comment);
}

void astro_fits_put_integer(GString *header, const char *key, gint64 value, const char *comment)
{
  g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);
  put_card(header, key, text, comment);
}

void astro_fits_put_double(GString *header, const char *key, double value, const char *comment)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE + 2];
  g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, "%.15G", value);
  if (g_ascii_strtod(text, NULL) != value)
    g_ascii_formatd(text, G_ASCII_DTOSTR_BUF_SIZE, "%.17G", value);
  if (!strpbrk(text, ".E"))
    strcat(text, ".0");
  put_card(header, key, text, comment);
}

void astro_fits_put_string(GString *header, const char *key, const char *value, const char *comment)
{
  g_autofree char *ascii = astro_fits_ascii(value);
  g_strdelimit(ascii, "'", '?');
  g_autofree char *quoted = g_strdup_printf("'%-8.*s'", MAX_TEXT, ascii);
  g_autofree char *text = g_strdup_printf("%-20s", quoted);
  put_card(header, key, text, comment);
}

void astro_fits_put_integer_n(GString *header, const char *key, guint n, gint64 value,
                              const char *comment)
{
  g_autofree char *name = g_strdup_printf("%s%u", key, n);
  astro_fits_put_integer(header, name, value, comment);
}

void astro_fits_put_double_n(GString *header, const char *key, guint n, double value,
                             const char *comment)
{
  g_autofree char *name = g_strdup_printf("%s%u", key, n);
  astro_fits_put_double(header, name, value, comment);
}

void astro_fits_put_string_n(GString *header, const char *key, guint n, const char *value,
                             const char *comment)
{
  g_autofree char *name = g_strdup_printf("%s%u", key, n);
  astro_fits_put_string(header, name, value, comment);
}

gboolean astro_fits_write_cards(AstroPartFile *file, GString *header, GError **error)
{
  g_string_append_printf(header, "%-*s", CARD, "END");
  while (header->len % ASTRO_FITS_BLOCK)
    g_string_append_c(header, ' ');
  return astro_part_file_write(file, header->str, header->len, error);
}

gboolean astro_fits_write_padding(AstroPartFile *file, GError **error)
{
  static const guint8 zeros[ASTRO_FITS_BLOCK] = { 0 };
  guint64 left = astro_part_file_bytes(file) % ASTRO_FITS_BLOCK;
  return astro_part_file_write(file, zeros, left ? ASTRO_FITS_BLOCK - left : 0, error);
}
