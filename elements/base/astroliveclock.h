/* The clock of a live source, which gives a block when the last of its samples was taken. */
#pragma once

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct {
  GstClockTime begin; /* the source's time 0, of the pipeline's time */
  GstClockID wait;    /* for the clock, and whether it may, under the element's lock */
  gboolean is_unlocked;
} AstroLiveClock;

/* Time 0 is now, whenever the source came to the pipeline: the segment says so, and times stay
 * those of the samples. */
void astro_live_clock_begin(AstroLiveClock *clock, GstBaseSrc *base);

/* Until that time of the source, also over a pause. GstBaseSrc's own wait would add what starting
 * took to the blocks' times. */
GstFlowReturn astro_live_clock_wait(AstroLiveClock *clock, GstBaseSrc *base, GstClockTime time);

/* For GstBaseSrc's unlock and unlock_stop. */
void astro_live_clock_unlock(AstroLiveClock *clock, GstBaseSrc *base);
void astro_live_clock_unlock_stop(AstroLiveClock *clock, GstBaseSrc *base);
/* Whether it was unlocked: work that takes long is to be given up. */
gboolean astro_live_clock_is_unlocked(const AstroLiveClock *clock, GstBaseSrc *base);

G_END_DECLS
