/* How long an element may go on with a piece of work (a block, what is made at the end) that it was
 * asked to end. Not at all where its stream is stopped or flushed: nobody takes what it makes.
 * Where a user asked for the end of the stream (ASTRO_INTERRUPT_EVENT): a moment with what it is
 * at, in which what is nearly done is done; and as long as it takes, within reason, with what it
 * begins then, such as the image of all that came, since that is what an end of the stream makes.
 */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"
#include "core/backend/threads.h"

ASTRO_BEGIN_DECLS

/* With what others do until the end a user waits less than a second. */
#define ASTRO_DEADLINE_MS 300
/* From the interrupt, for work that began after it; work that is done in a moment has no end. Those
 * who send signals to end programs (containers, batch systems) kill them after 10 s or more. */
#define ASTRO_DEADLINE_END_MS 8000

typedef struct {
  AstroStop stop; /* for astro_stop_set */
  /* all atomic: set and read by any thread */
  gint is_stopped;           /* the stream is */
  gint is_interrupted;       /* by a user */
  gint is_missed;            /* in this piece of work: it stays so until the next */
  gint64 interrupted, began; /* when, in us */
} AstroDeadline;

/* It must stay where it is from then on. */
void astro_deadline_init(AstroDeadline *deadline);
/* Another piece of work begins. */
void astro_deadline_begin(AstroDeadline *deadline);

/* The stream is stopped or goes on: at unlock, flush, change of state. */
void astro_deadline_set_stopped(AstroDeadline *deadline, gboolean is_stopped);
void astro_deadline_interrupt(AstroDeadline *deadline);
/* Forgets that it was interrupted: at the start. */
void astro_deadline_clear(AstroDeadline *deadline);

gboolean astro_deadline_is_missed(AstroDeadline *deadline);
/* Whether nobody is told of it, since nobody waits for what is made. */
gboolean astro_deadline_is_stopped(AstroDeadline *deadline);

ASTRO_END_DECLS
