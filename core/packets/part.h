/* Part of an array: some of its steps and channels, and everything along its other axes. Copies
 * parts to arrays of their own and back, with the counts of their good samples. */
#pragma once

#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  AstroLayout whole; /* all extents are set */
  guint64 first[ASTRO_MAX_AXES], n[ASTRO_MAX_AXES];
} AstroPart;

/* A step and some channels; whichever axis the array does not have is left as it is. */
AstroPart astro_part_new(const AstroLayout *whole, guint64 step, guint64 channel, guint64 channels);
guint64 astro_part_samples(const AstroPart *part);

/* whole: samples of the array; own: those of the part, in the same order of axes. */
void astro_part_take(const AstroPart *part, gsize sample_bytes, const guint8 *whole, guint8 *own);
void astro_part_put(const AstroPart *part, gsize sample_bytes, const guint8 *own, guint8 *whole);
void astro_part_zero(const AstroPart *part, gsize sample_bytes, guint8 *whole);

/* Counts are over a set of the array's axes: bit i stands for axis i. */
typedef guint32 AstroPartAxes;

/* Axes over which counts differ. */
AstroPartAxes astro_part_counted(const AstroPart *part, const AstroValidityMeta *counts);
guint64 astro_part_n_counts(const AstroPart *part, AstroPartAxes axes);
/* Layout of the counts of the whole array. */
AstroLayout astro_part_counts_layout(const AstroLayout *whole, AstroPartAxes axes);
/* own: the part's counts over axes, from those of a buffer. */
void astro_part_take_counts(const AstroPart *part, AstroPartAxes axes,
                            const AstroValidityMeta *counts, guint32 *own);
/* Puts counts of the part, over some of the axes, among those of the whole array, over axes. */
void astro_part_put_counts(const AstroPart *part, AstroPartAxes own_axes, const guint32 *own,
                           AstroPartAxes axes, guint32 *whole);

G_END_DECLS
