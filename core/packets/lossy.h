/* A network for tests: it loses, doubles and reorders packets, always the same ones for a seed, and
 * counts what it did. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A packet that is reordered goes behind 1 to this many that come after it. */
#define ASTRO_LOSSY_REACH 8

typedef struct {
  double loss, duplicate, reorder; /* of packets, 0 to 1 */
  guint64 seed;
} AstroLossyConfig;

typedef struct {
  guint64 taken, lost, doubled, reordered;
} AstroLossyCounts;

typedef struct _AstroLossy AstroLossy;

/* Called with each packet that goes on; is_copy: the same pointer comes once more, at once. */
typedef void (*AstroLossySend)(gpointer user, gpointer packet, gboolean is_copy);

/* release: of what is lost, or dropped at a reset. */
AstroLossy *astro_lossy_new(const AstroLossyConfig *config, AstroLossySend send,
                            GDestroyNotify release, gpointer user);
void astro_lossy_free(AstroLossy *lossy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroLossy, astro_lossy_free)

/* Takes the packet. Returns whether it was not lost. If it is sent twice,
 * the first time is a copy: who sends it keeps the packet for the second. */
gboolean astro_lossy_take(AstroLossy *lossy, gpointer packet);
void astro_lossy_finish(AstroLossy *lossy); /* sends those that are held back */
void astro_lossy_reset(AstroLossy *lossy);  /* drops them */
AstroLossyCounts astro_lossy_counts(const AstroLossy *lossy);

G_END_DECLS
