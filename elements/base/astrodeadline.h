/* How long an element may go on with a piece of work (a block, or the results at the end) after it
 * was asked to stop. If its stream is stopped or flushed, not at all: nobody takes the result. If a
 * user asked for the end of the stream (ASTRO_INTERRUPT_EVENT), it has a moment for the work in
 * hand, so that nearly finished work is finished. Work that begins after that, such as the image of
 * everything that came, may take as long as is reasonable, since that is why the stream is ended
 * and not stopped. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"
#include "core/backend/threads.h"

ASTRO_BEGIN_DECLS

/* With what other elements do until the end, a user waits less than a second. */
#define ASTRO_DEADLINE_MS 300
/* Counted from the interrupt, for work that began after it. Programs that are asked to end (by
 * containers, batch systems) are killed after 10 s or more. */
#define ASTRO_DEADLINE_END_MS 8000

typedef struct {
  AstroStop stop; /* for astro_stop_set */
  /* all atomic: any thread sets and reads them */
  gint is_stopped;           /* the stream is stopped */
  gint is_interrupted;       /* by a user */
  gint is_missed;            /* the current piece of work was interrupted: stays set until the next
                              * begins */
  gint64 interrupted, began; /* when, in us */
} AstroDeadline;

/* From then on the struct must not move. */
void astro_deadline_init(AstroDeadline *deadline);
/* Another piece of work begins. */
void astro_deadline_begin(AstroDeadline *deadline);
/* The same if the time is known, as g_get_monotonic_time() has it. */
void astro_deadline_begin_at(AstroDeadline *deadline, gint64 now);

/* The stream is stopped, or goes on again: for unlock, flush, change of state. */
void astro_deadline_set_stopped(AstroDeadline *deadline, gboolean is_stopped);
void astro_deadline_interrupt(AstroDeadline *deadline);
/* Forgets an interrupt: for the start. */
void astro_deadline_clear(AstroDeadline *deadline);

gboolean astro_deadline_is_missed(AstroDeadline *deadline);
/* Whether the stream is stopped, so that nobody waits for the result and no error is posted. */
gboolean astro_deadline_is_stopped(AstroDeadline *deadline);

ASTRO_END_DECLS
