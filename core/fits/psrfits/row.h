/* A row of the search mode of PSRFITS that is being filled: samples with their counts become
 * numbers with scales, offsets and weights. */
#pragma once

#include "core/fits/psrfits/psrfits.h"

G_BEGIN_DECLS

/* Whether the samples behind a value were good. */
typedef enum { ASTRO_PSRFITS_LOST, ASTRO_PSRFITS_PARTIAL, ASTRO_PSRFITS_WHOLE } AstroPsrfitsGood;

typedef struct {
  guint channels, pols, bits; /* bits: 8 or 32 */
  guint64 block;              /* time steps that it has room for */
  float *values;              /* [step][pol][channel] */
  guint8 *good;               /* AstroPsrfitsGood of each, in the same order */
  guint64 steps;              /* filled so far, steps that are lost included */
  gboolean is_whole;          /* all of these are */
} AstroPsrfitsRow;

/* The other columns of a row. */
typedef struct {
  float *weights;          /* of each channel */
  float *scales, *offsets; /* of each pol and channel */
} AstroPsrfitsLevels;

void astro_psrfits_row_init(AstroPsrfitsRow *row, guint channels, guint pols, guint bits,
                            guint64 block);
void astro_psrfits_row_clear(AstroPsrfitsRow *row);
/* Empties it for the next steps. */
void astro_psrfits_row_begin(AstroPsrfitsRow *row);
/* Steps up to that one are lost. */
void astro_psrfits_row_skip(AstroPsrfitsRow *row, guint64 to);

/* Weighs the channels, 1 or 0, and gives lost values the mean of their channel. A channel of which
 * a polarisation is lost all through the row has weight 0. Weights in between would tell how many
 * samples are good, but other programs multiply values by them. */
void astro_psrfits_row_weigh(AstroPsrfitsRow *row, float *weights, AstroFitsTally *tally);
/* Chooses scales and offsets. With 8 bits a step is 1/255 of the range that a series has in the
 * row, so that the error is at most half of that. */
void astro_psrfits_row_level(const AstroPsrfitsRow *row, AstroPsrfitsLevels *levels);
/* Adds block steps of numbers as FITS stores them; steps behind the last are those of the last. */
void astro_psrfits_row_pack(const AstroPsrfitsRow *row, const AstroPsrfitsLevels *levels,
                            GByteArray *to);

G_END_DECLS
