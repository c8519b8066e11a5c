/* The order in which the cpu backend adds up channels: sums that trials share are made once.
 *
 * Two neighbouring channels are a distance of some steps apart, and many trials have the same
 * distance; so each distance has one sum, a row of steps, that all of them take. Four channels are
 * two such sums, some steps apart, and so on: a tree, in which a node has a row for each pattern of
 * rounded delays that occurs among the trials. No delay is changed by it. Where there are about as
 * many patterns as trials, nothing is shared any more: the nodes up to there are the bands, and a
 * trial is the sum of one row of each band. */
#pragma once

#include "core/dedisperse/dedisperse.h"
#include "core/dedisperse/kernels.h"

G_BEGIN_DECLS

typedef struct _AstroDedisperseNode AstroDedisperseNode;
struct _AstroDedisperseNode {
  guint begin, end;                  /* its channels */
  AstroDedisperseNode *left, *right; /* NULL: a single channel, whose steps are its only row */
  guint n;                           /* rows */
  AstroDedisperseSum *sums;          /* how each is made of one of the left and one of the right */
  gsize size;                        /* of all rows, in numbers */
  /* While the plan is made. */
  guint32 *pattern; /* [dm]: the row of a trial of the group */
  guint32 *low;     /* [row]: the delay at which it begins; after it begins */
};

typedef struct {
  AstroDedisperseNode *root;
  guint32 *from; /* [dm]: where the row of a trial begins, among the root's or in the channel */
} AstroDedisperseBand;

/* Neighbouring trials, with trees of their own, whose rows stay in the caches. */
typedef struct {
  guint first, n_dms, n_bands;
  AstroDedisperseBand *bands;
} AstroDedisperseGroup;

typedef struct {
  guint n_groups, most_dms; /* of a group */
  AstroDedisperseGroup *groups;
  guint chunk;      /* steps that are made at once, a multiple of ASTRO_DEDISPERSE_LINE */
  gsize scratch;    /* numbers that the rows of a band take meanwhile */
  double additions; /* for a step of all trials; less than channels x trials */
} AstroDedispersePlan;

AstroDedispersePlan *astro_dedisperse_plan_new(const AstroDedisperseConfig *config, GError **error);
void astro_dedisperse_plan_free(AstroDedispersePlan *plan);

G_END_DECLS
