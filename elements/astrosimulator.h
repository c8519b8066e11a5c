/* A source of a simulated stream: how it agrees on caps, memory and times, and what it tells
 * downstream. Elements hold one, and GstBaseSrc's methods call it. */
#pragma once

#include <gst/base/gstbasesrc.h>
#include "core/memory/device.h"
#include "core/sky/scene.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef struct {
  AstroScene scene; /* as properties say */
  AstroScene now;   /* as they said at the start */

  /* from start to stop */
  AstroObservation *observation;
  AstroSky *sky;
  gint rate_n, rate_d; /* time steps a second */
  GstCaps *caps;       /* all that may be made, under the element's lock: asked for by any thread */

  /* of the stream that was agreed on */
  AstroStream stream;
  guint64 next, end;  /* steps; end: G_MAXUINT64 for a stream without one */
  gboolean announced; /* the observation */
  AstroDevice *reader;
  GstBufferPool *pool;

  /* of a live source */
  GstClockTime live_begin; /* its time 0, of the pipeline's time */
  GstClockID wait;         /* for the clock, and whether it may, under the element's lock */
  gboolean is_unlocked;
} AstroSimulator;

/* At the start, before anything else: takes the scene as it is now. Cleared with the element. */
void astro_simulator_take_scene(AstroSimulator *simulator);
void astro_simulator_clear(AstroSimulator *simulator);
/* Makes the observation and its sky. horizon: what the sources have to stay above for so many
 * steps, or NULL. */
gboolean astro_simulator_start(AstroSimulator *simulator, const guint64 *horizon, GError **error);
/* G_MAXUINT64: at the start. */
gboolean astro_simulator_check_horizon(const AstroSimulator *simulator, guint64 steps,
                                       GError **error);
void astro_simulator_stop(AstroSimulator *simulator, GstBaseSrc *base);

/* Steps of the scene's duration; G_MAXUINT64 where it has none. */
guint64 astro_simulator_duration(const AstroSimulator *simulator);
GstClockTime astro_simulator_time(const AstroSimulator *simulator, guint64 step);

/* Once it started: what the fields of caps can be. Takes them. */
void astro_simulator_offer(AstroSimulator *simulator, GstBaseSrc *base, GstCaps *caps);
gboolean astro_simulator_is_started(const AstroSimulator *simulator, GstBaseSrc *base);
GstCaps *astro_simulator_get_caps(AstroSimulator *simulator, GstBaseSrc *base, GstCaps *filter);
/* Sets what downstream names first, of what we can give. what: "voltages", for the error. */
gboolean astro_simulator_negotiate(GstBaseSrc *base, GstCaps *own, const char *what);
/* Blocks come from a pool of our own: nobody else knows their size. Notes who reads them. */
void astro_simulator_decide_allocation(AstroSimulator *simulator, GstQuery *query);
/* NULL where memory is out. */
GstBuffer *astro_simulator_new_block(AstroSimulator *simulator, gsize bytes);

/* Before the first buffer is made: the observation. A live source's time begins here. */
void astro_simulator_announce(AstroSimulator *simulator, GstBaseSrc *base);
/* Says of a buffer which steps it holds, the next ones. */
void astro_simulator_stamp(AstroSimulator *simulator, GstBuffer *buffer, guint64 steps);

/* The answer to a query, of a stream that ends with that step. */
gboolean astro_simulator_answer_duration(const AstroSimulator *simulator, GstQuery *query,
                                         guint64 end);
/* Of a source whose blocks have so many steps; 0: that is not known yet. */
gboolean astro_simulator_answer_latency(const AstroSimulator *simulator, GstBaseSrc *base,
                                        GstQuery *query, guint64 steps);

/* A live source gives a block when the last of its samples was taken: waits for that, also over a
 * pause, and drops it where the stream stops. GstBaseSrc's own wait would add what starting took to
 * the blocks' times. */
GstFlowReturn astro_simulator_wait(AstroSimulator *simulator, GstBaseSrc *base, GstBuffer **buffer);
/* For GstBaseSrc's unlock: whether that is for a pause, which needs no unlocking, since whoever
 * waits looks at the time anew. Some versions of GStreamer would never say that it is over. */
gboolean astro_simulator_pauses(GstBaseSrc *base);
/* From GstBaseSrc's unlock (TRUE) and unlock_stop. */
void astro_simulator_unlock(AstroSimulator *simulator, GstBaseSrc *base, gboolean is_unlocked);

G_END_DECLS
