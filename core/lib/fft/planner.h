/* FFTW's planner, which only one thread of a process may use at a time. Executing plans needs no
 * lock.
 *
 * What FFTW learns about this machine (wisdom) is kept in the user's cache folder, so that a shape
 * is measured only once, and so that the same shape gets the same plan, hence the same bits, in
 * every instance. If the folder cannot be written, the only cost is the time to measure again. A
 * file of that name that is damaged, another user's or not a regular file is not read, and is
 * replaced (wisdom.h). */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* To be held around every call of fftw[f]_plan_... and fftw[f]_destroy_plan. The first call reads
 * the wisdom. */
void astro_fft_planner_lock(void);
void astro_fft_planner_unlock(void);

/* Saves what was learned since the last save. To be called with the lock held, after planning. */
void astro_fft_planner_keep(void);

/* The file for the wisdom of a precision; to be freed. */
char *astro_fft_planner_file(gboolean is_double);

G_END_DECLS
