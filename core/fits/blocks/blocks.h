/* Files of streams, block by block, so that one run of a program can continue from another's:
 * grids, histograms, spectra, power, profiles and voltages. FITS is used because all astronomers'
 * programs read its arrays, and everything that goes with a block (validity, sums of weights,
 * edges) can be arrays too.
 *
 * The primary HDU has no data; its NBLOCKS gives the number of blocks, to detect a file that was
 * cut short. The arrays of characters CAPS and OBSERVATION (if there is one) apply to the whole
 * stream. Each buffer is an array BLOCK with the axes of the stream, the components of complex
 * samples being the fastest; OFFSET, OFFEND, PTS and DURATION (ns) are those of the buffer. Arrays
 * that belong to a block follow it: COUNTS (with its axes in AXES), WEIGHTS of a grid, EDGES, PAIRS
 * and SUMS of a histogram. */
#pragma once

#include "core/fits/fits.h"
#include "core/fits/reader.h"
#include "core/stream/histogram-summary.h"

G_BEGIN_DECLS

extern const AstroFitsReaderKind astro_blocks_reader;
extern const AstroFitsWriterKind astro_uvgrid_writer, astro_histogram_writer, astro_spectra_writer,
    astro_power_writer, astro_profile_writer, astro_voltages_writer;

/* How numbers are stored in an array. Integers that are signed where FITS has unsigned ones, or the
 * other way round, are offset by half their range (BZERO). */
typedef struct {
  gint bitpix; /* 0: the format cannot be stored */
  gboolean is_moved;
  guint components; /* per sample */
} AstroFitsWords;

/* Half floats are stored as 16-bit integers and a pair of nibbles as one byte, since FITS has
 * neither. */
AstroFitsWords astro_fits_words_of(AstroFormat format);
double astro_fits_words_zero(const AstroFitsWords *words);
/* Converts numbers in memory (little-endian) to those of a file, and back. from may be to. */
void astro_fits_words_pack(const AstroFitsWords *words, gconstpointer from, gpointer to,
                           gsize bytes);
void astro_fits_words_unpack(const AstroFitsWords *words, gconstpointer from, gpointer to,
                             gsize bytes);

/* The formats of arrays other than samples. */
extern const AstroFitsWords astro_fits_letters, astro_fits_counts, astro_fits_sums,
    astro_fits_doubles;

G_END_DECLS
