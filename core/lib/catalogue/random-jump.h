/* Skips random numbers: the state far ahead in a sequence, without those in between. */
#pragma once

#include "core/lib/catalogue/catalogue.h"

G_BEGIN_DECLS

typedef struct _AstroRandomJump AstroRandomJump;

/* A jump over so many numbers, 1 or more. Making it takes about a millisecond, jumping less than a
 * microsecond. */
AstroRandomJump *astro_random_jump_new(guint64 numbers);
void astro_random_jump_free(AstroRandomJump *jump);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRandomJump, astro_random_jump_free)

void astro_random_jump(const AstroRandomJump *jump, AstroRandom *random);

/* The jump as a matrix: where each bit of the state goes, from the lowest of its first word on. */
#define ASTRO_RANDOM_BITS 256
const AstroRandom *astro_random_jump_columns(const AstroRandomJump *jump);

G_END_DECLS
