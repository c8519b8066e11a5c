/* The clock of a live source, which gives each block at the time when its last sample was taken. */
#pragma once

#include <gst/base/gstbasesrc.h>

G_BEGIN_DECLS

typedef struct {
  GstClockTime begin; /* the source's time 0, as a time of the pipeline */
  GstClockID wait;    /* for the clock; whether it may wait, under the element's lock */
  gboolean is_unlocked;
} AstroLiveClock;

/* Time 0 is now, whenever the source was added to the pipeline. The segment tells that downstream,
 * and buffers keep the times of their samples. */
void astro_live_clock_begin(AstroLiveClock *clock, GstBaseSrc *base);

/* Waits until that time of the source, through pauses too. GstBaseSrc's own wait would add the time
 * that starting took to the times of the blocks. */
GstFlowReturn astro_live_clock_wait(AstroLiveClock *clock, GstBaseSrc *base, GstClockTime time);

/* For GstBaseSrc's unlock and unlock_stop. */
void astro_live_clock_unlock(AstroLiveClock *clock, GstBaseSrc *base);
void astro_live_clock_unlock_stop(AstroLiveClock *clock, GstBaseSrc *base);
/* Whether it was unlocked, so that long work is to be given up. */
gboolean astro_live_clock_is_unlocked(const AstroLiveClock *clock, GstBaseSrc *base);

G_END_DECLS
