/* One pool of threads for the process, sized by the machine. Stages split work into tasks whose
 * number depends on the work alone, so that results do not depend on the number of threads. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef void (*AstroTask)(gpointer data, guint64 task);

/* Runs task(data, 0) ... task(data, n - 1), in any order, and returns when all are done. At most
 * max_threads at once (0: as many as the machine has); over all callers together no more threads
 * are busy than the machine has cores. The calling thread takes part. Tasks may not call this. */
void astro_parallel(guint64 n, guint max_threads, AstroTask task, gpointer data);

/* Whether work is to be given up: asked from any thread, at any time. */
typedef struct {
  gboolean (*asked)(gpointer data);
  gpointer data;
} AstroStop;

/* One piece of work that may be given up. Once it is it stays so, whatever is said later. */
typedef struct {
  const AstroStop *stop; /* NULL: it is not */
  gint stopped;          /* atomic */
} AstroStoppable;
gboolean astro_is_stopped(AstroStoppable *work);

/* What holds for the calling thread from now on, and for the tasks that it has others do: once stop
 * is asked for, tasks that have not begun are passed over and long loops end, so that what they
 * were to make is not there. Whoever set it looks at astro_is_given_up() before he uses anything
 * that was made; until then stop must not take back what it said. Gives what held before, to be set
 * again. NULL: what follows is done whatever is said. */
const AstroStop *astro_stop_set(const AstroStop *stop);
/* Whether what the calling thread does is to be given up. Loops that may take more than a tenth of
 * a second ask between their parts; it takes some nanoseconds. */
gboolean astro_is_given_up(void);

guint astro_threads(void); /* cores that this process may use */

ASTRO_END_DECLS
