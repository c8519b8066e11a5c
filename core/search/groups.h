/* Groups of hits that have one cause: friends of friends. Two hits of a beam or station are friends
 * if their dispersion measures are at most two trials apart and their times overlap, or are no
 * farther apart than the width of the later one. */
#pragma once

#include "core/search/search.h"

G_BEGIN_DECLS

#define ASTRO_SEARCH_FRIENDS 2 /* trials of the dispersion measure */

typedef struct {
  AstroSearchHit peak;      /* the hit with the highest S/N */
  guint64 begin, end;       /* steps */
  guint dm_low, dm_high, n; /* trials, and hits */
} AstroSearchCandidate;

typedef struct _AstroSearchGroups AstroSearchGroups;

AstroSearchGroups *astro_search_groups_new(guint widest);
void astro_search_groups_free(AstroSearchGroups *groups);
void astro_search_groups_clear(AstroSearchGroups *groups);
void astro_search_groups_add(AstroSearchGroups *groups, const AstroSearchHit *hit);
/* Appends the groups that no hit from step `settled` on can join, by the time of their peaks, to an
 * array of AstroSearchCandidate. G_MAXUINT64: all groups. */
void astro_search_groups_take(AstroSearchGroups *groups, guint64 settled, GArray *candidates);

G_END_DECLS
