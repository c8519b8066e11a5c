/* Finds where buffers lie on the time axis of their stream: by OFFSET, if it counts steps or bytes,
 * else by PTS, else after the previous buffer. In voltages, spectra and visibilities each step
 * counts once: the caller leaves out steps that come again or late. */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

typedef struct {
  /* set by the caller, who sees the events */
  gboolean counts_time; /* the segment's format is TIME, so that OFFSET counts steps */
  gboolean retime;      /* after a gap, caps or a segment: PTS says where the next block is */
  gboolean is_anew;     /* after a segment or observation: the next block may lie anywhere */

  gboolean is_started;
  guint64 next;           /* the step after the last one that came */
  GstClockTimeDiff epoch; /* time of step 0, which may be before the stream began */
  guint64 again;          /* steps that came again or late, since the start */

  /* The OFFSET and PTS of the last buffers that had them, and the steps that these belong to. */
  struct {
    gboolean is_known;
    guint64 step, value;
  } time, bytes;
  gboolean is_renumbered; /* by caps of another rate: OFFSET may count anew */
  gboolean is_back;       /* a stream that another replaced: buffers of both may come mixed */
  GHashTable *streams;    /* ids of the streams that began */
} AstroSteps;

typedef struct {
  guint64 first;   /* the first new step */
  guint64 again;   /* how many steps of the buffer, before those, are not new */
  gboolean is_cut; /* steps are missing before it, or DISCONT says so */
} AstroStepsPlace;

/* Whether each step of such a stream has a place in time and counts once: several buffers of grids,
 * images or catalogues may have the same index. */
gboolean astro_steps_count_once(const AstroStream *stream);

/* For a start, a stop and a flush. */
void astro_steps_reset(AstroSteps *steps);
/* For an element's start; its stop has called reset. The pads are active by then, so a stream may
 * have begun: what is known of it stays. */
void astro_steps_begin(AstroSteps *s);
/* Notes what an event at that sink pad says about the steps after it (flushes apart). TRUE: what
 * came before belongs to another stream or to other times. */
gboolean astro_steps_take_event(AstroSteps *steps, GstPad *sink, GstEvent *event);
/* From here on steps are those of `stream`; before they were those of another. */
void astro_steps_follow_rate(AstroSteps *steps, const AstroStream *before,
                             const AstroStream *stream);
/* When a step begins, in a stream with a rate. */
GstClockTime astro_steps_time(const AstroSteps *steps, const AstroStream *stream, guint64 step);

/* Finds the place of the next buffer, which has n steps, at least one. An error if what the buffer
 * says cannot be right. */
gboolean astro_steps_find(AstroSteps *steps, const AstroStream *stream, GstBuffer *buffer,
                          guint64 n, AstroStepsPlace *place, GError **error);

/* For a stream whose buffers do not say which steps they hold: an error if it has replaced a stream
 * that was not over. */
gboolean astro_steps_check_alone(const AstroSteps *steps, GError **error);

/* The text of a warning about the first steps that were left out. */
char *astro_steps_describe_again(const AstroSteps *steps, const AstroStepsPlace *place);

/* An error if buffers at a sink pad with a TIME segment do not say which steps they hold or when
 * those were taken, but when they arrived. */
gboolean astro_check_times_of_samples(GstPad *sink, const AstroStream *stream, GstBuffer *buffer,
                                      GError **error);

ASTRO_END_DECLS
