/* The parts shared by both backends of terms. */
#pragma once

#include "core/kit/polynomial.h"
#include "core/terms/terms.h"

G_BEGIN_DECLS

gboolean astro_terms_check(gconstpointer config, GError **error);
gboolean astro_terms_check_call(const AstroTermsConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out, GError **error);

gsize astro_terms_pixels(const AstroTermsConfig *config);
/* A plane of the input. */
gconstpointer astro_terms_plane(const AstroTermsConfig *config, gconstpointer in, guint channel,
                                guint product);

guint astro_terms_fitted(const AstroTermsConfig *config, guint product); /* terms of its fit */
/* The fit of a product's channels. *any: a channel has weight; there is no fit without one. FALSE
 * with an error if fewer channels than terms have data. To be cleared either way. */
gboolean astro_terms_fit(const AstroTermsConfig *config, gconstpointer in, guint product,
                         const double *weights, AstroPolynomial *fit, gboolean *any,
                         GError **error);

/* The number in the output of a product's value, slope or curvature; -1: there is none. */
gint astro_terms_find(const AstroTermsConfig *config, AstroTermsKind kind, guint product);

/* Fills in the spectral indexes from values and slopes, which are in out. */
void astro_terms_fill_indexes(const AstroTermsConfig *config, gpointer out);

static inline double astro_terms_get(const AstroTermsConfig *config, gconstpointer data, gsize at)
{
  return config->format == ASTRO_FORMAT_F64LE ? ((const double *)data)[at]
                                              : (double)((const float *)data)[at];
}

static inline void astro_terms_put(const AstroTermsConfig *config, gpointer data, gsize at,
                                   double value)
{
  if (config->format == ASTRO_FORMAT_F64LE)
    ((double *)data)[at] = value;
  else
    ((float *)data)[at] = (float)value;
}

G_END_DECLS
