/* From results, such as visibilities, to heaps that describe themselves. */
#pragma once

#include "core/packets/results.h"
#include "core/packets/row.h"

G_BEGIN_DECLS

typedef struct _AstroResultsSender AstroResultsSender;

/* observation: NULL if there is none. time: of the end of a step. */
AstroResultsSender *astro_results_sender_new(AstroSender *sender, const GstCaps *caps,
                                             const AstroObservation *observation, AstroRowTime time,
                                             gpointer user, GError **error);
void astro_results_sender_free(AstroResultsSender *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroResultsSender, astro_results_sender_free)

guint64 astro_results_sender_groups(const AstroResultsSender *self); /* heaps of a step */

/* Sends the steps from skip on of a mapped buffer of so many, of which the first that is sent is
 * the stream's step first. counts: NULL if all values are good. */
void astro_results_sender_add(AstroResultsSender *self, const guint8 *samples, guint64 steps,
                              guint64 skip, guint64 first, const AstroValidityMeta *counts);

G_END_DECLS
