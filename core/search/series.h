/* The series of a search: what all backends share. A method measures windows and adds boxcars up;
 * around it samples are placed, windows are cut, and boxcars above the threshold become hits. */
#pragma once

#include "core/search/search.h"

G_BEGIN_DECLS

#define ASTRO_SEARCH_LEAST_GOOD 32         /* values that a baseline and a noise need */
#define ASTRO_SEARCH_MAD 1.482602218505602 /* the rms of a Gaussian over its median deviation */
#define ASTRO_SEARCH_CLIP 3.0              /* rms */
#define ASTRO_SEARCH_CLIPPED 0.9733369246625415 /* variance of a Gaussian that is cut there */

typedef struct {
  const char *variant;
  /* Baseline and noise of the values with weights above 0. scratch has room for 3 n numbers. FALSE:
   * they are too few, or all the same. */
  gboolean (*measure)(const float *x, const float *w, guint n, double *scratch, double *baseline,
                      double *noise);
  /* The best S/N of boxcars that end with value `from` to `to` - 1, none of which begins before
   * value `origin`; 0: there is none. which: their widths. scratch has room for 2 (to + 1). */
  void (*scan)(const double *z, const double *v, guint origin, guint from, guint to,
               const AstroSearchConfig *config, double *scratch, double *best, guint32 *which);
} AstroSearchMethod;

/* The longest stretch of values that is kept of a series. */
guint astro_search_held(const AstroSearchConfig *config);

gpointer astro_search_create(const AstroSearchConfig *config, const AstroSearchMethod *method,
                             guint threads, GError **error);
gboolean astro_search_submit(gpointer instance, const AstroBlock *in, guint n_in,
                             const AstroBlock *out, guint n_out, gconstpointer argument,
                             AstroResult *result, GError **error);
void astro_search_destroy(gpointer instance);

G_END_DECLS
