/* Values that are made of windows of samples, of a stream that is an unbroken stretch.
 *
 *   samples    begin.............end
 *   windows      [-----]                 value n is made of the span samples from
 *                    [-----]             n step - lead on; what of a block makes no
 *                        [-----]         whole window waits for the next one
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint64 step, span, lead;
} AstroWindows;

typedef struct {
  guint64 first, count;
} AstroSpectra;

/* The values whose windows are whole between two samples. */
AstroSpectra astro_windows_between(const AstroWindows *windows, guint64 begin, guint64 end);

/* Those that a block adds to a stretch that began at begin: complete with it, and not before. An
 * error where sample indices cannot count so far. */
gboolean astro_windows_of_block(const AstroWindows *windows, guint64 begin, guint64 first,
                                guint64 steps, AstroSpectra *values, GError **error);

G_END_DECLS
