/* A step of the generator is linear in the 256 bits of its state (sums are exclusive or), so that
 * any number of steps is a matrix, made by squaring that of one step. */
#include "core/lib/catalogue/random-jump.h"

struct _AstroRandomJump {
  AstroRandom columns[ASTRO_RANDOM_BITS]; /* where each bit of the state goes */
};

static AstroRandom apply(const AstroRandomJump *jump, const AstroRandom *random)
{
  AstroRandom to = { { 0 } };
  for (guint word = 0; word < 4; word++)
    for (guint64 bits = random->state[word]; bits; bits &= bits - 1) {
      const AstroRandom *column = &jump->columns[64 * word + (guint)__builtin_ctzll(bits)];
      for (guint w = 0; w < 4; w++)
        to.state[w] ^= column->state[w];
    }
  return to;
}

static AstroRandomJump *one_step(void)
{
  AstroRandomJump *jump = g_new0(AstroRandomJump, 1);
  for (guint bit = 0; bit < ASTRO_RANDOM_BITS; bit++) {
    jump->columns[bit].state[bit / 64] = G_GUINT64_CONSTANT(1) << bit % 64;
    astro_random_uniform(&jump->columns[bit]);
  }
  return jump;
}

/* Makes `jump` the jump by `other` that follows it. */
static void follow(AstroRandomJump *jump, const AstroRandomJump *other)
{
  for (guint bit = 0; bit < ASTRO_RANDOM_BITS; bit++)
    jump->columns[bit] = apply(other, &jump->columns[bit]);
}

/* From the highest bit of the number on: twice as far, and one step further where the bit is set.
 */
AstroRandomJump *astro_random_jump_new(guint64 numbers)
{
  g_autoptr(AstroRandomJump) step = one_step();
  AstroRandomJump *jump = one_step();
  for (gint bit = 62 - __builtin_clzll(numbers); bit >= 0; bit--) {
    const AstroRandomJump half = *jump;
    follow(jump, &half);
    if (numbers >> bit & 1)
      follow(jump, step);
  }
  return jump;
}

void astro_random_jump_free(AstroRandomJump *jump)
{
  g_free(jump);
}

void astro_random_jump(const AstroRandomJump *jump, AstroRandom *random)
{
  *random = apply(jump, random);
}

const AstroRandom *astro_random_jump_columns(const AstroRandomJump *jump)
{
  return jump->columns;
}
