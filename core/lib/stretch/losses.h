/* Keeps account of the samples of a stream that are missing, and what values lose by it that are
 * computed from windows of samples: filter banks, transforms along time, interpolation.
 *
 *   samples    ......xxxxx.......        x: lost, in one station
 *   windows    [-----]                   5 of 7 are good
 *                  [-----]               2 of 7
 *                      [-----]           4 of 7 */
#pragma once

#include "core/lib/stretch/windows.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Samples of a station, in all its pols and in some channels, that count as zeros, whatever the
 * block holds. Streams without a channel axis have one channel. */
typedef struct {
  guint station;
  guint channel, channel_end; /* the first one, and the one after the last */
  guint64 from, to;
} AstroLoss;

typedef struct _AstroLosses AstroLosses;

AstroLosses *astro_losses_new(const AstroStream *stream); /* of the stations in stream */
void astro_losses_free(AstroLosses *losses);
void astro_losses_clear(AstroLosses *losses);

/* Calls found for each run of lost samples according to the block's GAP flag or counts, by station,
 * then by channel, then by time. A sample is good if it is good in all pols. */
typedef void (*AstroLossFunc)(gpointer data, const AstroLoss *loss);
void astro_losses_find(const AstroStream *stream, GstBuffer *in, guint64 first, guint64 steps,
                       AstroLossFunc found, gpointer data);

void astro_losses_add(AstroLosses *losses, const AstroLoss *loss);

/* Adds the losses of a block, and returns them separately in *latest, n of them, valid until the
 * next call. */
void astro_losses_read(AstroLosses *losses, GstBuffer *in, guint64 first, guint64 steps,
                       const AstroLoss **latest, guint *n);

/* Adds to a block of values first to first + count the counts of good samples in each value, if any
 * are missing, and forgets the losses that later values do not need. The counts are by time and
 * station, and by channels of the input where these lost different samples, in the order of the
 * values' layout. TRUE if no value has any good sample. */
gboolean astro_losses_mark(AstroLosses *losses, GstBuffer *out, const AstroLayout *layout,
                           const AstroWindows *windows, guint64 first, guint64 count);

G_END_DECLS
