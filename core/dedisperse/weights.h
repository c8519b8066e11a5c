/* The good samples behind the values of a block, as dedispersion takes them. */
#pragma once

#include "core/dedisperse/dedisperse.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Sets the weights of the arguments, whose steps and full are set; those of a value are the fewest
 * of its products. Returns them, to be freed; NULL: nothing is lost. */
guint32 *astro_dedisperse_read_weights(const AstroValidityMeta *meta, const AstroStream *power,
                                       AstroDedisperseArguments *arguments);

/* The same for coherent dedispersion: full is set to 1, and a weight is 1 where nothing is missing,
 * or, in a stream of beams, where any station is left. */
guint32 *astro_dedisperse_read_good(const AstroValidityMeta *meta, const AstroStream *stream,
                                    AstroDedisperseArguments *arguments);

/* Gives a block of the output its counts, [step][station][last], or one for all where they are the
 * same; counts NULL: nothing is lost. A block without any good sample becomes a GAP. */
void astro_dedisperse_mark(GstBuffer *out, const AstroStream *stream, guint64 steps, guint32 full,
                           const guint32 *counts, AstroAxis last);

G_END_DECLS
