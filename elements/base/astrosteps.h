/* Where the buffers of a stream lie on its time axis, by what each says of itself: OFFSET where
 * that counts steps, or bytes, else PTS, else that it follows the one before. Of voltages, spectra
 * and visibilities a step counts once: what comes again, or late, is for the caller to leave out.
 */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

typedef struct {
  /* for who sees the events to set */
  gboolean counts_time; /* the segment's format is TIME, so that OFFSET counts steps */
  gboolean retime;      /* after a gap, caps or a segment: the next block's time is its PTS */
  gboolean is_anew;     /* after a segment or an observation: the next block may lie anywhere */

  gboolean is_started;
  guint64 next;           /* step after the last that came */
  GstClockTimeDiff epoch; /* the time of step 0, which may be before the stream's */
  guint64 again;          /* steps that came again or late, since the start */

  /* What the last buffers said that said it, with the step to which that belongs. */
  struct {
    gboolean is_known;
    guint64 step, value;
  } time, bytes;
  gboolean is_renumbered; /* by caps of another rate: OFFSET may count from elsewhere */
  gboolean is_back;       /* a stream that another took the place of: the two are mixed */
  GHashTable *streams;    /* ids of those that began */
} AstroSteps;

typedef struct {
  guint64 first;   /* of the steps that are new */
  guint64 again;   /* how many of the buffer's, before them, are not */
  gboolean is_cut; /* something is missing before it, or was said to be */
} AstroStepsPlace;

/* At a start, a stop and a flush. */
void astro_steps_reset(AstroSteps *steps);
/* At an element's start, after a reset at its stop. Pads are up by then, so that a stream may have
 * begun: what is known of it stays. */
void astro_steps_begin(AstroSteps *s);
/* What an event at that sink pad says of the steps after it, a flush apart. TRUE: what came before
 * it belongs to another stream, or to other times. */
gboolean astro_steps_take_event(AstroSteps *steps, GstPad *sink, GstEvent *event);
/* Steps from here on are those of stream, the ones before were those of another. */
void astro_steps_follow_rate(AstroSteps *steps, const AstroStream *before,
                             const AstroStream *stream);
/* When a step of a stream with a rate begins. */
GstClockTime astro_steps_time(const AstroSteps *steps, const AstroStream *stream, guint64 step);

/* The place of a buffer of n steps, at least one, the next that came. An error where what it says
 * of itself cannot be. */
gboolean astro_steps_find(AstroSteps *steps, const AstroStream *stream, GstBuffer *buffer,
                          guint64 n, AstroStepsPlace *place, GError **error);

/* Whether a stream whose buffers do not say which steps they hold came in the place of no other
 * that came in its own; the error. */
gboolean astro_steps_check_alone(const AstroSteps *steps, GError **error);

/* For who sends a warning about the first steps that were left out. */
char *astro_steps_describe_again(const AstroSteps *steps, const AstroStepsPlace *place);

/* Whether buffers that come at a sink pad with a TIME segment say which steps they hold, or when
 * these were taken, and not when they came; the error. */
gboolean astro_check_times_of_samples(GstPad *sink, const AstroStream *stream, GstBuffer *buffer,
                                      GError **error);

ASTRO_END_DECLS
