/* Cubes as astroterms takes them, and the image that it makes of them, in caps. */
#pragma once

#include "core/terms/terms.h"

G_BEGIN_DECLS

/* Changes caps of a cube into those of its image. */
void astro_terms_describe_output(GstStructure *s, guint terms);

/* Changes caps of an image into those of a cube, or of an image, that it may be made of. */
void astro_terms_describe_input(GstStructure *s);

/* Fills in which products have spectra. FALSE with an error if terms are asked for and none has. */
gboolean astro_terms_read_products(AstroTermsConfig *config, char *const *products, GError **error);

G_END_DECLS
