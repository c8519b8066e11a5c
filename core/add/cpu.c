/* The CPU backend. It handles about a thousand values at a time: the sums over pieces, in double or
 * in wide enough integers, stay in the L1 cache. */
#include "config.h"
#include "core/add/check.h"

#include <string.h>

#include "core/backend/instance.h"
#include "core/backend/threads.h"

#define CHUNK 1024 /* values */

typedef struct {
  AstroAddConfig config;
  guint threads;
} Add;

/* How to find the counts behind a piece's values. */
typedef struct {
  AstroLayout shape;
  AstroValidityAxis axes[ASTRO_MAX_AXES];
  guint64 shared; /* number of neighbours that share a count */
  guint n_axes;   /* the slower axes, which have counts of their own */
} Counts;

typedef struct {
  const AstroAddConfig *config;
  const AstroAddArguments *arguments;
  const AstroBlock *in;
  guint n_in;
  guint8 *out;
  guint64 values; /* per step */
  gsize bytes;    /* per value */
  Counts *counts; /* per piece */
  gint is_large;  /* atomic: a sum did not fit */
} Work;

/* ---- counts ---- */

static void find_counts(const AstroAddConfig *config, const AstroAddPiece *piece, Counts *c)
{
  *c = (Counts){ .shared = 1 };
  if (!piece->meta)
    return;
  astro_add_piece_shape(config, piece, &c->shape);
  astro_validity_axes(piece->meta, &c->shape, c->axes);
  c->n_axes = c->shape.n_axes;
  while (c->n_axes > 0 && c->axes[c->n_axes - 1].stride == 0)
    c->shared *= c->shape.extents[--c->n_axes];
}

static guint32 count_at(const AstroAddPiece *piece, const Counts *c, guint64 value)
{
  guint64 at = 0, rest = value / c->shared;
  for (guint i = c->n_axes; i-- > 0; rest /= c->shape.extents[i])
    at += rest % c->shape.extents[i] / c->axes[i].group * c->axes[i].stride;
  return piece->meta->counts[at];
}

/* ---- chunks ---- */

/* The part of a piece that falls in a chunk of the block's values: it starts at the piece's value
 * `first`, and `into` values into the chunk. */
typedef struct {
  guint64 first, n, into;
} Part;

static gboolean find_part(const Work *work, guint piece, guint64 first, guint64 n, Part *part)
{
  const AstroAddPiece *p = &work->arguments->pieces[piece];
  const guint64 begin = MAX(first, p->at * work->values),
                end = MIN(first + n, (p->at + p->n) * work->values);
  if (!work->in[piece].data || begin >= end)
    return FALSE;
  *part =
      (Part){ begin - p->at * work->values + p->first * work->values, end - begin, begin - first };
  return TRUE;
}

/* parts: the number of components per value. */
static void weigh(double *sums, double *weights, gconstpointer in, guint64 n, guint parts,
                  double count, gboolean is_double)
{
  const double *doubles = in;
  const float *floats = in;
  for (guint64 i = 0; i < n; i++)
    weights[i] += count;
  for (guint64 i = 0; i < parts * n; i++)
    sums[i] += count * (is_double ? doubles[i] : floats[i]);
}

static void add_means(const Work *work, guint64 first, guint64 n)
{
  const AstroFormat format = work->config->stream.format;
  const gboolean is_double = astro_format_is_double(format);
  const guint parts = astro_format_info(format)->is_complex ? 2 : 1;
  double sums[2 * CHUNK] = { 0 }, weights[CHUNK] = { 0 };
  for (guint k = 0; k < work->n_in; k++) {
    const AstroAddPiece *piece = &work->arguments->pieces[k];
    Part part;
    if (!find_part(work, k, first, n, &part))
      continue;
    const guint8 *in = (const guint8 *)work->in[k].data + part.first * work->bytes;
    for (guint64 i = 0, run; i < part.n; i += run) {
      const guint64 shared = work->counts[k].shared;
      run = piece->meta ? MIN(shared - (part.first + i) % shared, part.n - i) : part.n;
      const guint32 count =
          piece->meta ? count_at(piece, &work->counts[k], part.first + i) : piece->full;
      if (count)
        weigh(sums + parts * (part.into + i), weights + part.into + i, in + i * work->bytes, run,
              parts, count, is_double);
    }
  }
  for (guint64 i = 0; i < parts * n; i++) {
    const double mean = weights[i / parts] > 0 ? sums[i] / weights[i / parts] : 0;
    if (is_double)
      ((double *)(gpointer)work->out)[parts * first + i] = mean;
    else
      ((float *)(gpointer)work->out)[parts * first + i] = (float)mean;
  }
}

/* Sums of Type computed in Wide; parts is the number of components per value. */
#define SUM(name, Type, Wide, PLUS, FITS)                                                          \
  static void name(Work *work, guint64 first, guint64 n, guint parts)                              \
  {                                                                                                \
    Wide sums[2 * CHUNK] = { 0 };                                                                  \
    Type *out = (Type *)(gpointer)work->out + parts * first;                                       \
    gboolean fits = TRUE;                                                                          \
    for (guint k = 0; k < work->n_in; k++) {                                                       \
      Part part;                                                                                   \
      if (!find_part(work, k, first, n, &part))                                                    \
        continue;                                                                                  \
      const Type *in = (const Type *)work->in[k].data + parts * part.first;                        \
      Wide *to = sums + parts * part.into;                                                         \
      for (guint64 i = 0; i < parts * part.n; i++)                                                 \
        PLUS(to[i], in[i]);                                                                        \
    }                                                                                              \
    for (guint64 i = 0; i < parts * n; i++) {                                                      \
      fits &= FITS(sums[i]);                                                                       \
      out[i] = (Type)sums[i];                                                                      \
    }                                                                                              \
    if (!fits)                                                                                     \
      g_atomic_int_set(&work->is_large, TRUE);                                                     \
  }
#define ADD(a, b) (a) += (b)
#define ADD_CHECKED(a, b) fits &= g_uint64_checked_add(&(a), (a), (b))
#define ANY(a) TRUE
#define IS_INT32(a) ((a) >= G_MININT32 && (a) <= G_MAXINT32)

SUM(add_floats, float, double, ADD, ANY)
SUM(add_doubles, double, double, ADD, ANY)
SUM(add_integers, gint32, gint64, ADD, IS_INT32)
SUM(add_wide, guint64, guint64, ADD_CHECKED, ANY)

static void add_chunk(gpointer data, guint64 task)
{
  Work *work = data;
  const guint64 first = task * CHUNK, n = MIN(CHUNK, work->arguments->steps * work->values - first);
  const AstroFormat format = work->config->stream.format;
  const guint parts = astro_format_info(format)->is_complex ? 2 : 1;
  if (astro_add_is_mean(&work->config->stream))
    add_means(work, first, n);
  else if (format == ASTRO_FORMAT_U64LE)
    add_wide(work, first, n, parts);
  else if (format == ASTRO_FORMAT_CI32LE)
    add_integers(work, first, n, parts);
  else if (astro_format_is_double(format))
    add_doubles(work, first, n, parts);
  else
    add_floats(work, first, n, parts);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const Add *self = instance;
  Work work = { .config = &self->config, .arguments = data, .in = in, .n_in = n_in };
  if (!astro_add_check(&self->config, in, n_in, out, n_out, data, error))
    return FALSE;
  g_autofree Counts *counts = g_new(Counts, n_in);
  for (guint i = 0; i < n_in; i++)
    find_counts(&self->config, &work.arguments->pieces[i], &counts[i]);
  work.counts = counts;
  work.out = out->data;
  work.values = astro_add_values(&self->config);
  work.bytes = astro_stream_sample_bytes(&self->config.stream);
  astro_parallel((work.arguments->steps * work.values + CHUNK - 1) / CHUNK, self->threads,
                 add_chunk, &work);
  return !g_atomic_int_get(&work.is_large) || astro_add_refuse_large(&self->config, error);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Add *self = astro_instance_new(&astro_add_cpu, sizeof *self, config, error);
  if (!self)
    return NULL;
  self->threads = place->threads;
  *variant = "c";
  return self;
}

const AstroBackend astro_add_cpu = {
  .stage = "add",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroAddConfig),
  .shape = astro_add_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};

const AstroBackend *const astro_add_backends[] = { &astro_add_cpu, &astro_add_reference, NULL };
