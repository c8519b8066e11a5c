/* Random work for backends: configurations, blocks and arguments of the stages whose kernels are
 * compared with their references. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_CASE_RANDOM,
  ASTRO_CASE_ODD,     /* prime numbers of everything */
  ASTRO_CASE_EXTREME, /* one of most things, and samples at the ends of their range */
  ASTRO_CASE_TIMED,   /* large enough to be timed */
  ASTRO_N_CASE_KINDS
} AstroCaseKind;

typedef struct {
  char *shape; /* in words, for reports */
  gpointer config, arguments;
  GPtrArray *owned;     /* what these point to */
  AstroFormat from, to; /* of the blocks */
  gsize samples_in, samples_out;
  gsize n_counts; /* that submit writes */
  guint32 full;   /* each of them where nothing is lost, if a backend may say so instead */
  double limit;   /* largest error, as a part of the largest value; 0: equal to the last bit */
  AstroWorkSteps steps;
} AstroQualifyCase;

typedef struct {
  const char *stage;
  const AstroBackend *const *backends;
  AstroTellWork tell;
  /* Fills in the case, which is all zero. */
  void (*make)(AstroQualifyCase *c, AstroCaseKind kind, GRand *rand);
} AstroQualifyStage;

extern const AstroQualifyStage astro_qualify_stages[]; /* ends with one without a name */

void astro_qualify_case_init(AstroQualifyCase *c, const AstroQualifyStage *stage,
                             AstroCaseKind kind, GRand *rand);
void astro_qualify_case_clear(AstroQualifyCase *c);

/* A number for the kind, from least to most: any, a prime, one of the two, or most. */
guint astro_qualify_size(AstroCaseKind kind, GRand *rand, guint least, guint most);

/* The largest difference of two blocks, as a part of the largest value; infinite where one is not
 * finite and the other is, or with limit 0 where any bit differs. Integers that
 * were rounded may be a step apart, unless limit is 0. */
double astro_qualify_error(AstroFormat format, gsize bytes, double limit, gconstpointer expected,
                           gconstpointer found);

/* Samples as they are for the case's kind. */
void astro_qualify_fill(const AstroQualifyCase *c, AstroCaseKind kind, gpointer block, GRand *rand);

G_END_DECLS
