/* Writes the headers of PSRFITS, of any mode. */
#pragma once

#include "core/fits/psrfits/psrfits.h"

G_BEGIN_DECLS

typedef struct {
  const char *mode; /* OBS_MODE */
  const AstroObservation *observation;
  const AstroStream *stream;
  gboolean is_circular;
} AstroPsrfitsAbout;

/* The cards of the primary header; start: ns since the observation's start, of the file's first
 * sample. */
void astro_psrfits_put_primary(GString *header, const AstroPsrfitsAbout *about, guint64 start);

typedef struct {
  const char *name;
  char type;
  guint64 repeat;
  const char *unit; /* NULL: none */
} AstroPsrfitsField;

/* The cards that begin a table of that many rows. Returns the bytes of a row. */
guint64 astro_psrfits_put_table(GString *header, const char *name, const AstroPsrfitsField *fields,
                                guint n_fields, guint64 n_rows);

/* Whether the stream and its observation tell what PSRFITS has to: its start, rate and band, and
 * one station or beam. */
gboolean astro_psrfits_check(const AstroFitsContents *contents, const AstroPowerProducts *products,
                             GError **error);

/* Add numbers as FITS stores them. */
void astro_psrfits_put_double(GByteArray *row, double value);
void astro_psrfits_put_floats(GByteArray *row, const float *values, guint64 n);
/* The middles of channels, in MHz. */
void astro_psrfits_put_frequencies(GByteArray *row, const AstroStream *stream, guint channels);

G_END_DECLS
