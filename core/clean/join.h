/* Channels that are cleaned together: their mean, in which peaks are searched, and the spectrum of
 * a component. */
#pragma once

#include "core/clean/method.h"

G_BEGIN_DECLS

/* Shares from the sums of weights (AstroCleanArguments.weights) and the point-spread functions of
 * work, whose join is not set yet. NULL with an error if fewer channels than spectral terms have
 * data, but some. */
AstroCleanJoin *astro_clean_join_new(const AstroCleanMethod *method, const AstroCleanWork *work,
                                     guint product, const double *weights, GError **error);
/* The same planes, for components with these responses; those of planes without a share are not
 * used. NULL if too few planes see such components. */
AstroCleanJoin *astro_clean_join_for(const AstroCleanJoin *join, const double *response);
void astro_clean_join_free(AstroCleanJoin *join);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroCleanJoin, astro_clean_join_free)

/* Whether any plane is cleaned. */
gboolean astro_clean_join_has_data(const AstroCleanJoin *join);
/* The response of the mean of the planes. */
double astro_clean_join_response(const AstroCleanJoin *join);

/* Turns residuals at a peak, one a plane, into the fluxes of a component in each plane. */
void astro_clean_component(const AstroCleanWork *work, double *values);

/* Makes the mean of the residuals anew. There is nothing to do for a single plane. */
void astro_clean_search_sum(const AstroCleanMethod *method, const AstroCleanWork *work);

/* Enters results of planes from a channel on, and of the mean of joined ones. */
void astro_clean_tell(const AstroCleanMethod *method, const AstroCleanWork *work, guint channel,
                      guint product, const AstroCleanResult *cleaned, AstroCleanResult *results);

G_END_DECLS
