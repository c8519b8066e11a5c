/* Brings packets into another order of axes, a row at once: the packets that all streams have for
 * the same time. One packet alone would be scattered over the block, some bytes to each cache
 * line; a row that stays in the caches fills whole lines. */
#pragma once

#include "core/packets/streams.h"

G_BEGIN_DECLS

typedef struct _AstroTurn AstroTurn;
typedef struct _AstroTurnRow AstroTurnRow;

/* packets: of a stream in a block. NULL: packets are placed as well one by one. */
AstroTurn *astro_turn_new(const AstroPlaceConfig *config, const AstroPacketGroups *groups,
                          guint packets);
void astro_turn_free(AstroTurn *turn); /* its rows have to be dropped before */

AstroTurnRow *astro_turn_begin(AstroTurn *turn);
/* Where the unpacked samples of a stream's packet go. */
guint8 *astro_turn_place(const AstroTurn *turn, AstroTurnRow *row, guint stream);
/* Counts a packet that is in its place. TRUE: it was the last one of the row. */
gboolean astro_turn_is_whole(const AstroTurn *turn, AstroTurnRow *row);
/* Puts the row's samples into the block, those of missing packets as zeros, and drops the row. */
void astro_turn_end(AstroTurn *turn, AstroTurnRow *row, guint packet, gpointer block);
void astro_turn_drop(AstroTurn *turn, AstroTurnRow *row);

G_END_DECLS
