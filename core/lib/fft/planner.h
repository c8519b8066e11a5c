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

/* Sets plan to what call makes, with the lock held: an expression that hands `flags` to FFTW. What
 * is known is not measured; only after measuring is there something to save, and asking FFTW for
 * all it has learned takes longer than a plan of what is known. */
#define ASTRO_FFT_PLAN(plan, how, call)                                                            \
  G_STMT_START                                                                                     \
  {                                                                                                \
    unsigned flags = (how) | FFTW_WISDOM_ONLY;                                                     \
    (plan) = (call);                                                                               \
    if (!(plan)) {                                                                                 \
      flags = (how);                                                                               \
      (plan) = (call);                                                                             \
      astro_fft_planner_keep();                                                                    \
    }                                                                                              \
  }                                                                                                \
  G_STMT_END

/* The file for the wisdom of a precision; to be freed. */
char *astro_fft_planner_file(gboolean is_double);

G_END_DECLS
