/* Tells what astroclean did: in messages and warnings, and in the meta of its images. */
#pragma once

#include "core/clean/clean.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

/* results: as many as astro_clean_n_results says; products: the names of those that were cleaned.
 */
void astro_clean_tell_results(GstElement *element, const AstroCleanConfig *config,
                              char *const *products, const AstroCleanResult *results);

/* Passes on the beam, and adds the border and the levels. Each product has the weights of the one
 * it is made from. from: the input's; NULL: it has none. */
void astro_clean_describe(const AstroCleanConfig *config, GstBuffer *in, const AstroImageMeta *from,
                          const AstroCleanResult *results, GstBuffer *out);

/* An exact border leaves half of the image in each direction uncleaned, unless the user set one. */
void astro_clean_warn_of_narrow_psf(GstElement *element, const AstroCleanConfig *config);
/* Channels are cleaned together, and nothing says how much weight each has. */
void astro_clean_warn_of_weights(GstElement *element, const AstroCleanConfig *config);

G_END_DECLS
