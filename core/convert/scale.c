/* The scale that scale=auto picks. */
#include "config.h"
#include "core/convert/convert.h"
#include "core/lib/formats/kernels.h"

#include "core/backend/threads.h"

#include <math.h>
#include <string.h>

/* Components of a task; a multiple of LANES. */
#define TASK_COMPONENTS ((guint64)1 << 17)

/* A task adds up this many sums, so that no addition waits for the one before. */
#define LANES 16

/* The sum of the squares of the finite components is squares times 2^(2 exponent). */
typedef struct {
  double squares;
  gint exponent;
  guint64 finite;
} Power;

typedef Power (*PowerFunc)(gconstpointer block, gsize components);

/* Squares of 16-bit integers add up exactly. */
#define POWER_INTEGER(name, type)                                                                  \
  static Power power_##name(gconstpointer block, gsize components)                                 \
  {                                                                                                \
    guint64 squares = 0;                                                                           \
    for (gsize i = 0; i < components; i++) {                                                       \
      type value;                                                                                  \
      memcpy(&value, (const guint8 *)block + i * sizeof value, sizeof value);                      \
      squares += (guint32)((gint32)value * value);                                                 \
    }                                                                                              \
    return (Power){ (double)squares, 0, components };                                              \
  }
POWER_INTEGER(i8, gint8)
POWER_INTEGER(i16, gint16)

static Power power_i4(gconstpointer block, gsize components)
{
  static const guint8 square[16] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 49, 36, 25, 16, 9, 4, 1 };
  const guint8 *bytes = block;
  guint64 squares = 0;
  for (gsize i = 0; i < components / 2; i++)
    squares += square[bytes[i] >> 4] + square[bytes[i] & 15];
  return (Power){ (double)squares, 0, components };
}

/* Values are multiplied by unit, which keeps their squares within the range of double. */
#define POWER_WIDE(name, type)                                                                     \
  static Power power_##name(gconstpointer block, gsize components, double unit)                    \
  {                                                                                                \
    double squares[LANES] = { 0 };                                                                 \
    Power power = { 0 };                                                                           \
    for (gsize i = 0; i < components; i++) {                                                       \
      type value;                                                                                  \
      memcpy(&value, (const guint8 *)block + i * sizeof value, sizeof value);                      \
      gboolean finite = value - value == 0;                                                        \
      double kept = finite ? value * unit : 0;                                                     \
      squares[i % LANES] += kept * kept;                                                           \
      power.finite += finite;                                                                      \
    }                                                                                              \
    for (guint lane = 0; lane < LANES; lane++)                                                     \
      power.squares += squares[lane];                                                              \
    return power;                                                                                  \
  }
POWER_WIDE(any_i32, gint32)
POWER_WIDE(any_u64, guint64)
POWER_WIDE(any_f32, float)
POWER_WIDE(any_f64, double)

static Power power_i32(gconstpointer block, gsize components)
{
  return power_any_i32(block, components, 1);
}

static Power power_u64(gconstpointer block, gsize components)
{
  return power_any_u64(block, components, 1);
}

static Power power_f32(gconstpointer block, gsize components)
{
  return power_any_f32(block, components, 1);
}

/* The unit makes the largest value about 1, or less if such a unit would overflow. */
static Power power_f64(gconstpointer block, gsize components)
{
  double largest = 0;
  for (gsize i = 0; i < components; i++) {
    double value;
    memcpy(&value, (const guint8 *)block + i * sizeof value, sizeof value);
    value = fabs(value);
    largest = value <= G_MAXDOUBLE && value > largest ? value : largest;
  }
  gint exponent = -1000;
  if (largest > 0)
    exponent = MAX(ilogb(largest), exponent);
  Power power = power_any_f64(block, components, ldexp(1, -exponent));
  power.exponent = exponent;
  return power;
}

/* By way of single precision, which holds every half. */
static Power power_f16(gconstpointer block, gsize components)
{
  enum { PIECE = 1024 };
  float piece[PIECE];
  Power power = { 0 };
  for (gsize i = 0; i < components; i += PIECE) {
    gsize n = MIN(PIECE, components - i);
    astro_convert_kernels_c[ASTRO_FORMAT_CF16LE][ASTRO_FORMAT_CF32LE](
        piece, (const guint8 *)block + 2 * i, n, 1);
    Power more = power_f32(piece, n);
    power.squares += more.squares;
    power.finite += more.finite;
  }
  return power;
}

/* target: the rms that a stream of this format should have, or 0 to leave it as it is. */
static const struct {
  PowerFunc power;
  double target;
} formats[ASTRO_N_FORMATS] = {
  [ASTRO_FORMAT_CI4] = { power_i4, 2.95 },
  [ASTRO_FORMAT_CI8] = { power_i8, 0x1p7 / 4 },
  [ASTRO_FORMAT_CI16LE] = { power_i16, 0x1p15 / 16 },
  [ASTRO_FORMAT_CI32LE] = { power_i32, 0x1p31 / 16 },
  [ASTRO_FORMAT_CF16LE] = { power_f16, 0 },
  [ASTRO_FORMAT_CF32LE] = { power_f32, 0 },
  [ASTRO_FORMAT_CF64LE] = { power_f64, 0 },
  [ASTRO_FORMAT_F32LE] = { power_f32, 0 },
  [ASTRO_FORMAT_F64LE] = { power_f64, 0 },
  [ASTRO_FORMAT_U64LE] = { power_u64, 0 },
  [ASTRO_FORMAT_I8] = { power_i8, 0x1p7 / 4 },
  [ASTRO_FORMAT_I16LE] = { power_i16, 0x1p15 / 16 },
};

typedef struct {
  AstroFormat format;
  const guint8 *block;
  guint64 components;
  Power *powers; /* one a task, added up in order */
} Work;

static void power_task(gpointer data, guint64 task)
{
  Work *work = data;
  const AstroFormatInfo *info = astro_format_info(work->format);
  guint64 first = task * TASK_COMPONENTS;
  const guint8 *block = work->block + first / (info->is_complex ? 2 : 1) * info->bytes;
  work->powers[task] =
      formats[work->format].power(block, MIN(TASK_COMPONENTS, work->components - first));
}

static Power add(Power a, Power b)
{
  gint exponent = MAX(a.exponent, b.exponent);
  return (Power){ ldexp(a.squares, 2 * (a.exponent - exponent)) +
                      ldexp(b.squares, 2 * (b.exponent - exponent)),
                  exponent, a.finite + b.finite };
}

static Power power_of(AstroFormat format, const guint8 *block, guint64 samples)
{
  Work work = { format, block, samples * (astro_format_info(format)->is_complex ? 2 : 1) };
  guint64 n = (work.components + TASK_COMPONENTS - 1) / TASK_COMPONENTS;
  g_autofree Power *powers = work.powers = g_new(Power, n);
  Power all = { 0 };
  astro_parallel(n, 0, power_task, &work);
  for (guint64 i = 0; i < n; i++)
    all = i ? add(all, powers[i]) : powers[0];
  return all;
}

static double pick(AstroFormat from, AstroFormat to, Power power)
{
  if (!(power.squares > 0))
    return 0;
  double rms = sqrt(power.squares / (double)power.finite);
  /* However faint the block, the scale must stay finite in the precision of the product. */
  return MIN(ldexp(formats[to].target / rms, -power.exponent),
             astro_format_is_double(from) ? G_MAXDOUBLE : (double)G_MAXFLOAT);
}

double astro_convert_auto_scale(AstroFormat from, AstroFormat to, gconstpointer block,
                                guint64 samples)
{
  g_return_val_if_fail(astro_convert_possible(from, to), 1);
  if (formats[to].target == 0)
    return 1;
  return pick(from, to, power_of(from, block, samples));
}

double astro_convert_auto_scale_of_good(AstroFormat from, AstroFormat to, gconstpointer block,
                                        const AstroValidityMeta *meta, const AstroLayout *shape,
                                        gboolean become_sums)
{
  g_return_val_if_fail(astro_convert_possible(from, to), 1);
  if (formats[to].target == 0)
    return 1;
  AstroValidityRun run;
  Power all = { 0 };

  astro_validity_run_init(&run, meta, shape);
  while (astro_validity_next_run(&run)) {
    if (!run.count)
      continue;
    const guint8 *first = (const guint8 *)block + run.first * astro_format_info(from)->bytes;
    Power more = power_of(from, first, run.length);
    if (become_sums)
      more.squares *= (double)run.count * run.count;
    all = all.finite ? add(all, more) : more;
  }
  return pick(from, to, all);
}
