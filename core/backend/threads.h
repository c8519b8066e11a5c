/* One pool of threads for the process, sized by the machine. Stages split work into tasks whose
 * number depends on the work alone, so that results do not depend on the number of threads. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef void (*AstroTask)(gpointer data, guint64 task);

/* Runs task(data, 0) ... task(data, n - 1), in any order, and returns when all are done. At most
 * max_threads at once (0: as many as the machine has); over all callers together no more threads
 * are busy than the machine has cores. The calling thread takes part. Tasks may not call this. */
void astro_parallel(guint64 n, guint max_threads, AstroTask task, gpointer data);

guint astro_threads(void); /* cores that this process may use */

G_END_DECLS
