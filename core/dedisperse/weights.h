/* The good samples behind the values of a block, as dedispersion takes them. */
#pragma once

#include "core/dedisperse/dedisperse.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Sets the weights of the arguments, whose steps and full are set; those of a value are the fewest
 * of its products. Returns them, to be freed; NULL: nothing is lost. */
guint32 *astro_dedisperse_read_weights(const AstroValidityMeta *meta, const AstroStream *power,
                                       AstroDedisperseArguments *arguments);

G_END_DECLS
