/* From samples to the levels of so many bits: signed integers, one to a component.
 *
 * Integers that fit are kept, and so are floats with 32 bits. All others become floor(value * gain
 * + shift), held to the lowest and highest level, where the gain follows from the rms of the
 * component:
 *
 *   bits   gain        shift  levels
 *   1      1 / rms     0      -1 to 0: the sign
 *   2      1 / rms     0      -2 to 1, cut at -rms, 0 and rms
 *   4      2.95 / rms  1/2    -8 to 7
 *   8      35.5 / rms  1/2    -128 to 127
 *   16     2048 / rms  1/2    -32768 to 32767
 *
 * These are baseband's, so that it gives values of the same rms for any number of bits. With 1 to 4
 * bits each station, polarisation and channel has an rms of its own, as the levels of recorders
 * have; with 8 and 16 bits a station's polarisation has one for all channels, which keeps the
 * bandpass. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct _AstroRecordLevels AstroRecordLevels;

/* bits: 1, 2, 4, 8 or 16, or 32 for F32LE. rms: 0 to measure it. */
AstroRecordLevels *astro_record_levels_new(const AstroStream *stream, guint bits, double rms);
void astro_record_levels_free(AstroRecordLevels *levels);

/* Whether samples stay as they are, and need no room. */
gboolean astro_record_levels_copy(const AstroRecordLevels *levels);
/* Bytes of a component's level: 1 for up to 8 bits, 2 for 16, 4 for 32. */
gsize astro_record_levels_bytes(const AstroRecordLevels *levels);
/* Whether the rms has still to be measured. */
gboolean astro_record_levels_wait(const AstroRecordLevels *levels);
/* Measures the rms from n steps of a buffer, from one on, and from the buffers of the calls before.
 * good: which samples count, one byte for each in the stream's layout; NULL: all of them. */
void astro_record_levels_measure(AstroRecordLevels *levels, gconstpointer samples,
                                 const guint8 *good, guint64 steps, guint64 from, guint64 n);
/* Sets the gains. */
void astro_record_levels_learn(AstroRecordLevels *levels);

/* Components that do not fit. */
typedef struct {
  guint64 clipped; /* beyond the highest or lowest level of 8 or 16 bits */
  guint64 nans;    /* which become 0 */
} AstroRecordMisfits;

/* Fills out with the levels of a buffer's samples, in the stream's layout, and adds to misfits. */
void astro_record_levels_make(AstroRecordLevels *levels, gpointer out, gconstpointer samples,
                              guint64 steps, AstroRecordMisfits *misfits);

G_END_DECLS
