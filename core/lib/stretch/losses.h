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

/* Samples of a station, in all its pols and in some channels, that count as zeros, whatever the
 * block holds. Streams without a channel axis have one channel. */
typedef struct {
  guint station;
  guint channel, channel_end; /* from the one to before the other */
  guint64 from, to;
} AstroLoss;

typedef struct _AstroLosses AstroLosses;

AstroLosses *astro_losses_new(const AstroStream *stream); /* whose stations they are */
void astro_losses_free(AstroLosses *losses);
void astro_losses_clear(AstroLosses *losses);

/* Calls found for each run of samples that a block says are lost, by GAP or its counts: by station,
 * then by channel, then by time. A sample is good where all pols are whole. */
typedef void (*AstroLossFunc)(gpointer data, const AstroLoss *loss);
void astro_losses_find(const AstroStream *stream, GstBuffer *in, guint64 first, guint64 steps,
                       AstroLossFunc found, gpointer data);

void astro_losses_add(AstroLosses *losses, const AstroLoss *loss);

/* Adds what a block says of itself, and keeps it apart until the next one: *latest, *n of them. */
void astro_losses_read(AstroLosses *losses, GstBuffer *in, guint64 first, guint64 steps,
                       const AstroLoss **latest, guint *n);

/* Gives a block of values first to first + count the counts of the good samples behind each, if
 * any are missing, and forgets what later values do not need. They count over time and station, and
 * over the channels of the input where these lost different samples, in the order of the values'
 * layout. TRUE where nothing is left of any value. */
gboolean astro_losses_mark(AstroLosses *losses, GstBuffer *out, const AstroLayout *layout,
                           const AstroWindows *windows, guint64 first, guint64 count);

G_END_DECLS
