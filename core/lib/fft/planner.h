/* FFTW's planner, which only one thread of a process may be in at a time. Executing plans needs no
 * lock.
 *
 * What it learns about this machine (wisdom) is kept in the user's cache folder, so that a shape is
 * measured once and planned at once ever after, and so that the same shape gives the same plan,
 * hence the same bits, in every instance. A folder that cannot be written costs only the time to
 * measure again. A file of that name that is not whole, not ours or no file at all is left unread
 * and replaced (wisdom.h). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Around every call of fftw[f]_plan_... and fftw[f]_destroy_plan. The first call reads the wisdom.
 */
void astro_fft_planner_lock(void);
void astro_fft_planner_unlock(void);

/* Keeps what was learned since it was last kept. With the lock held, after planning. */
void astro_fft_planner_keep(void);

/* Where wisdom of a precision is kept; to be freed. */
char *astro_fft_planner_file(gboolean is_double);

G_END_DECLS
