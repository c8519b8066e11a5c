/* Which samples of a stream are missing, and what values lose by it that are made of windows of
 * them: filter banks, transforms along time, interpolation.
 *
 *   samples    ......xxxxx.......        x: lost, of one station
 *   windows    [-----]                   5 of 7 are good
 *                  [-----]               2 of 7
 *                      [-----]           4 of 7
 */
#pragma once

#include "core/lib/stretch/windows.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Samples of a station, in all its pols, that are to count as zeros, whatever the block holds. */
typedef struct {
  guint station;
  guint64 from, to;
} AstroLoss;

typedef struct _AstroLosses AstroLosses;

AstroLosses *astro_losses_new(const AstroStream *stream); /* whose stations they are */
void astro_losses_free(AstroLosses *losses);
void astro_losses_clear(AstroLosses *losses);

/* What a block says of itself, GAP or its counts: calls found for each run of lost samples, by
 * station, then by time. A sample is good where all pols are. */
typedef void (*AstroLossFunc)(gpointer data, const AstroLoss *loss);
void astro_losses_find(const AstroStream *stream, GstBuffer *in, guint64 first, guint64 steps,
                       AstroLossFunc found, gpointer data);

void astro_losses_add(AstroLosses *losses, const AstroLoss *loss);

/* Adds what a block says of itself, and keeps it apart until the next one: *latest, *n of them. */
void astro_losses_read(AstroLosses *losses, GstBuffer *in, guint64 first, guint64 steps,
                       const AstroLoss **latest, guint *n);

/* Gives a block of values first to first + count the counts of the good samples behind each, by
 * time and station in the order of their layout, if any are missing; and forgets what later ones do
 * not need. TRUE where nothing is left of any of them. */
gboolean astro_losses_mark(AstroLosses *losses, GstBuffer *out, const AstroLayout *layout,
                           const AstroWindows *windows, guint64 first, guint64 count);

G_END_DECLS
