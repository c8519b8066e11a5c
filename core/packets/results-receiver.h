/* The part of a receiver that makes blocks of heaps of results. */
#pragma once

#include "core/packets/receiver.h"

G_BEGIN_DECLS

/* Settings that such heaps leave nothing to say for are refused. */
gboolean astro_results_check_settings(const AstroPacketSettings *settings, GError **error);

/* Takes a whole heap. FALSE and the error: its stream is not wanted, or memory ran out. */
gboolean astro_results_take(AstroReceiver *receiver, const AstroPacket *packet,
                            const guint8 *payload, GError **error);

typedef struct _AstroResults AstroResults;
void astro_results_free(AstroResults *results);

G_END_DECLS
