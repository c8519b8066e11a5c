/* Streams as they flow, block by block, between one program's run and the next one's: grids,
 * histograms, spectra and voltages. FITS holds them since every program that astronomers have reads
 * its arrays, and what has to go with them (validity, sums of weights, edges) is arrays too.
 *
 * The primary HDU has no data; its NBLOCKS says how many blocks the file has, so that one that was
 * cut short is known. Arrays of letters CAPS and OBSERVATION (where there is one) tell of the whole
 * stream. Each buffer is an array BLOCK, its axes the stream's, components of complex samples
 * fastest; OFFSET, OFFEND, PTS and DURATION (ns) are the buffer's own. What goes with a block
 * follows it: COUNTS (its axes named in AXES), WEIGHTS of a grid, EDGES, PAIRS and SUMS of a
 * histogram. */
#pragma once

#include "core/fits/fits.h"
#include "core/fits/reader.h"
#include "core/stream/histogram-summary.h"

G_BEGIN_DECLS

extern const AstroFitsReaderKind astro_blocks_reader;
extern const AstroFitsWriterKind astro_uvgrid_writer, astro_histogram_writer, astro_spectra_writer,
    astro_voltages_writer;

/* How numbers stand in an array. Integers whose sign FITS has the other way round are moved by half
 * their range (BZERO). */
typedef struct {
  gint bitpix; /* 0: there is none such */
  gboolean is_moved;
  guint components; /* of a sample */
} AstroFitsWords;

/* Half floats go as the 16 bits that they are, and two nibbles as one byte: FITS has neither. */
AstroFitsWords astro_fits_words_of(AstroFormat format);
double astro_fits_words_zero(const AstroFitsWords *words);
/* Numbers of memory (least byte first) to those of a file, and back. from may be to. */
void astro_fits_words_pack(const AstroFitsWords *words, gconstpointer from, gpointer to,
                           gsize bytes);
void astro_fits_words_unpack(const AstroFitsWords *words, gconstpointer from, gpointer to,
                             gsize bytes);

/* Arrays that hold no samples. */
extern const AstroFitsWords astro_fits_letters, astro_fits_counts, astro_fits_sums,
    astro_fits_doubles;

G_END_DECLS
