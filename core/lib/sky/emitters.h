/* The signals of interference, as every station receives them but for a constant phase. Any part
 * can be computed at any time, always with the same result. */
#pragma once

#include "core/lib/sky/interference.h"
#include "core/lib/sky/store.h"

G_BEGIN_DECLS

typedef struct {
  const AstroInterference *interference; /* not owned */
  guint threads;
  guint64 seed;
  gsize tiles;                 /* made at a time at most */
  double rate;                 /* samples per second */
  double frequency, bandwidth; /* of the band */
} AstroEmittersConfig;

typedef struct AstroEmitters AstroEmitters;

/* An error if there is not enough memory or one of them cannot be made. */
AstroEmitters *astro_emitters_new(const AstroEmittersConfig *config, GError **error);
void astro_emitters_free(AstroEmitters *emitters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroEmitters, astro_emitters_free)

/* The power of all of them together, Jy. */
double astro_emitters_power(const AstroEmitters *emitters);

/* Makes these tiles. */
void astro_emitters_make(AstroEmitters *emitters, gint64 first_tile, gsize tiles);

/* Adds one of them, as an input of that station receives it. */
void astro_emitters_add(const AstroEmitters *emitters, gint64 tile, guint station, guint64 input,
                        AstroTile *out);

G_END_DECLS
