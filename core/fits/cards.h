/* Writes headers of HDUs card by card, for HDUs whose data are written straight to the file. */
#pragma once

#include "core/lib/files/part-file.h"

G_BEGIN_DECLS

#define ASTRO_FITS_BLOCK 2880

void astro_fits_put_logical(GString *header, const char *key, gboolean value, const char *comment);
void astro_fits_put_integer(GString *header, const char *key, gint64 value, const char *comment);
/* Writes as many digits as are needed to read the same value back. */
void astro_fits_put_double(GString *header, const char *key, double value, const char *comment);
/* Characters other than printable ASCII become question marks; a text too long for a card is cut.
 */
void astro_fits_put_string(GString *header, const char *key, const char *value,
                           const char *comment);
/* For keywords with a number behind them, as in CRVAL4. */
void astro_fits_put_integer_n(GString *header, const char *key, guint n, gint64 value,
                              const char *comment);
void astro_fits_put_double_n(GString *header, const char *key, guint n, double value,
                             const char *comment);
void astro_fits_put_string_n(GString *header, const char *key, guint n, const char *value,
                             const char *comment);

/* Adds END and pads the last block. */
gboolean astro_fits_write_cards(AstroPartFile *file, GString *header, GError **error);
/* Pads the last block of the data with zeros. */
gboolean astro_fits_write_padding(AstroPartFile *file, GError **error);

G_END_DECLS
