/* A row of the search mode of PSRFITS that is being filled: samples with their counts become
 * numbers with scales, offsets and weights. */
#pragma once

#include "core/fits/psrfits/psrfits.h"

G_BEGIN_DECLS

typedef struct {
  guint channels, pols, bits; /* bits: 8 or 32 */
  guint64 block;              /* time steps that it has room for */
  float *values;              /* [step][pol][channel]; NaN: none */
  float *parts;               /* of the good samples behind a value, 0 to 1; in the same order */
  guint64 steps;              /* filled so far, steps that are lost included */
} AstroPsrfitsRow;

/* What a row becomes. */
typedef struct {
  float *weights;          /* of each channel */
  float *scales, *offsets; /* of each pol and channel */
} AstroPsrfitsLevels;

void astro_psrfits_row_init(AstroPsrfitsRow *row, guint channels, guint pols, guint bits,
                            guint64 block);
void astro_psrfits_row_clear(AstroPsrfitsRow *row);
/* Steps up to that one are lost. */
void astro_psrfits_row_skip(AstroPsrfitsRow *row, guint64 to);

/* Weighs the channels and gives lost values the mean of their channel. A channel weighs as much as
 * its worst polarisation. full: the count of a value without losses, in which the tally compares.
 */
void astro_psrfits_row_weigh(AstroPsrfitsRow *row, guint32 full, float *weights,
                             AstroFitsTally *tally);
/* Chooses scales and offsets of the numbers, of the polarisation and channel `which`. With 8 bits a
 * step is 1/255 of the range of the row's values, so that the error is at most half of that. */
void astro_psrfits_row_level(const AstroPsrfitsRow *row, guint64 which, float *scale,
                             float *offset);
/* Adds block steps of numbers as FITS stores them; steps behind the last are those of the last. */
void astro_psrfits_row_pack(const AstroPsrfitsRow *row, const AstroPsrfitsLevels *levels,
                            GByteArray *to);

G_END_DECLS
