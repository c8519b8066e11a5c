/* One pool of threads for the process, sized by the machine. Stages split work into tasks whose
 * number depends only on the work, so that results do not depend on the number of threads. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef void (*AstroTask)(gpointer data, guint64 task);

/* Runs task(data, 0) ... task(data, n - 1), in any order, and returns when all are done. At most
 * max_threads run at once (0: as many as the machine has cores); over all callers together no more
 * threads are busy than the machine has cores. The calling thread takes part. Tasks must not call
 * this. */
void astro_parallel(guint64 n, guint max_threads, AstroTask task, gpointer data);

/* Asks whether work is to be given up; called from any thread at any time. */
typedef struct {
  gboolean (*asked)(gpointer data);
  gpointer data;
} AstroStop;

/* A piece of work that may be given up. Once stopped it stays stopped, even if stop changes its
 * answer. */
typedef struct {
  const AstroStop *stop; /* NULL: it is never given up */
  gint stopped;          /* atomic */
} AstroStoppable;
gboolean astro_is_stopped(AstroStoppable *work);

/* Sets the stop of the calling thread, and of the tasks that it hands out, from now on: once stop
 * says so, tasks that have not begun are skipped and long loops end, so that their results are
 * missing. Whoever sets it calls astro_is_given_up() before using any result; until then stop must
 * not take back its answer. Returns the stop that was set before, to be restored. NULL: work is
 * never given up. */
const AstroStop *astro_stop_set(const AstroStop *stop);
/* Whether the calling thread's work is to be given up. Loops that may take more than a tenth of a
 * second ask between their parts; a call takes some nanoseconds. */
gboolean astro_is_given_up(void);

guint astro_threads(void); /* number of cores that this process may use */

ASTRO_END_DECLS
