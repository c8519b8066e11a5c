/* Values computed from windows of samples, of a stream that is an unbroken stretch.
 *
 *   samples    begin.............end
 *   windows      [-----]                 value n is computed from the span samples from
 *                    [-----]             n step - lead on; samples of a block that do not
 *                        [-----]         fill a window wait for the next block
 *
 * Each stage holds the samples that wait in its own way, since each reads them differently. The
 * filter bank (core/channelizer/stretch.c) reads a block where it lies and holds one window beside
 * it. Delays (core/delay/window.c) need one contiguous run, as long as the delays make it, so they
 * copy each block. Transforms (core/fft/cut.c) hold the beginning of one transform, in the order of
 * the stream's axes. One buffer for all three would cost the filter bank a copy of every block and
 * the transforms a transposition, which neither makes now. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint64 step, span, lead;
} AstroWindows;

typedef struct {
  guint64 first, count;
} AstroSpectra;

/* The values whose windows are complete between two samples. */
AstroSpectra astro_windows_between(const AstroWindows *windows, guint64 begin, guint64 end);

/* The values that a block adds to a stretch that began at begin: those that are complete with it
 * but were not before. An error if the sample indices would overflow. */
gboolean astro_windows_of_block(const AstroWindows *windows, guint64 begin, guint64 first,
                                guint64 steps, AstroSpectra *values, GError **error);

G_END_DECLS
