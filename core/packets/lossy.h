/* A simulated network for tests: it loses, duplicates and reorders packets, always the same ones
 * for the same seed, and counts them. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A reordered packet is sent after 1 to this many later packets. */
#define ASTRO_LOSSY_REACH 8

typedef struct {
  double loss, duplicate, reorder; /* fractions of the packets, 0 to 1 */
  guint64 seed;
} AstroLossyConfig;

typedef struct {
  guint64 taken, lost, doubled, reordered;
} AstroLossyCounts;

typedef struct _AstroLossy AstroLossy;

/* Called with each packet that gets through. is_copy: the same pointer follows once more,
 * immediately. */
typedef void (*AstroLossySend)(gpointer user, gpointer packet, gboolean is_copy);

/* release: frees packets that are lost, or dropped by a reset. */
AstroLossy *astro_lossy_new(const AstroLossyConfig *config, AstroLossySend send,
                            GDestroyNotify release, gpointer user);
void astro_lossy_free(AstroLossy *lossy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroLossy, astro_lossy_free)

/* Takes ownership of the packet. FALSE: it was lost. A duplicated packet is sent twice: the first
 * call has is_copy set and must leave the packet alive for the second. */
gboolean astro_lossy_take(AstroLossy *lossy, gpointer packet);
void astro_lossy_finish(AstroLossy *lossy); /* sends packets that are held back */
void astro_lossy_reset(AstroLossy *lossy);  /* drops them */
AstroLossyCounts astro_lossy_counts(const AstroLossy *lossy);

G_END_DECLS
