/* Headers of HDUs, card by card: for HDUs whose data are written straight to the file. */
#pragma once

#include "core/fits/part-file.h"

G_BEGIN_DECLS

#define ASTRO_FITS_BLOCK 2880

void astro_fits_put_logical(GString *header, const char *key, gboolean value, const char *comment);
void astro_fits_put_integer(GString *header, const char *key, gint64 value, const char *comment);
/* As many digits as bring the same value back. */
void astro_fits_put_double(GString *header, const char *key, double value, const char *comment);
/* What is no printable ASCII becomes a question mark; cut where it is too long for a card. */
void astro_fits_put_string(GString *header, const char *key, const char *value,
                           const char *comment);
/* key with the number behind it, as in CRVAL4. */
void astro_fits_put_integer_n(GString *header, const char *key, guint n, gint64 value,
                              const char *comment);
void astro_fits_put_double_n(GString *header, const char *key, guint n, double value,
                             const char *comment);
void astro_fits_put_string_n(GString *header, const char *key, guint n, const char *value,
                             const char *comment);

/* Adds END and fills the last block. */
gboolean astro_fits_write_cards(AstroPartFile *file, GString *header, GError **error);
/* Fills the last block of the data with zeros. */
gboolean astro_fits_write_padding(AstroPartFile *file, GError **error);

G_END_DECLS
