/* Random points that are even over a footprint. Random numbers come one after the other; threads
 * begin where the numbers of a chunk of points begin (random-jump.h), so that the points are those
 * of a plain loop. */
#include "core/lib/catalogue/uniform.h"

#include "core/backend/backend.h"
#include "core/lib/catalogue/mask.h"
#include "core/lib/catalogue/placing.h"
#include "core/lib/catalogue/random-jump.h"

AstroPlacing astro_placing_of(const AstroFootprint *f)
{
  AstroPlacing placing = { .shape = f->shape };
  double unused;
  if (f->shape == ASTRO_FOOTPRINT_MASK) {
    astro_mask_place(f->mask, &placing);
  } else if (f->shape == ASTRO_FOOTPRINT_CAP) {
    placing.ra = f->ra;
    astro_sin_cos(f->dec, &placing.sin_dec, &placing.cos_dec);
    astro_sin_cos(f->radius / 2, &placing.half, &unused);
  } else {
    placing.ra = f->ra_min;
    placing.width = f->ra_max - f->ra_min;
    astro_sin_cos(f->dec_min, &placing.low, &unused);
    astro_sin_cos(f->dec_max, &placing.high, &unused);
  }
  return placing;
}

gboolean astro_catalogue_alloc(AstroCatalogue *catalogue, guint64 points, GError **error)
{
  *catalogue = (AstroCatalogue){ .n = points,
                                 .ra = g_try_new(double, MAX(points, 1)),
                                 .dec = g_try_new(double, MAX(points, 1)) };
  if (catalogue->ra && catalogue->dec)
    return TRUE;
  astro_catalogue_clear(catalogue);
  return astro_catalogue_no_memory(error, points);
}

/* ---- backends ---- */

typedef struct {
  AstroFootprint footprint;
  guint threads;
} Uniform;

static gboolean shape(gconstpointer config, GError **error)
{
  return astro_footprint_check(config, error);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char *name,
                       const char **variant, GError **error)
{
  if (!shape(config, error))
    return NULL;
  Uniform *uniform = g_new(Uniform, 1);
  *uniform = (Uniform){ *(const AstroFootprint *)config, place ? place->threads : 0 };
  *variant = name;
  return uniform;
}

typedef struct {
  const AstroPlacing *placing;
  AstroRandom *begins; /* where the numbers of each chunk begin */
  double *ra, *dec;
  guint64 n;
} Chunks;

static void make_chunk(gpointer data, guint64 task)
{
  const Chunks *chunks = data;
  const guint64 first = task * ASTRO_UNIFORM_CHUNK,
                last = MIN(first + ASTRO_UNIFORM_CHUNK, chunks->n);
  for (guint64 i = first; i < last; i++)
    astro_place(chunks->placing, &chunks->begins[task], &chunks->ra[i], &chunks->dec[i]);
}

AstroRandom *astro_uniform_begins(AstroFootprintShape shape, guint64 n, const AstroRandom *random,
                                  guint64 *n_chunks, GError **error)
{
  *n_chunks = (n + ASTRO_UNIFORM_CHUNK - 1) / ASTRO_UNIFORM_CHUNK;
  AstroRandom *begins = g_try_new(AstroRandom, MAX(*n_chunks, 1));
  if (!begins) {
    astro_catalogue_no_memory(error, n);
    return NULL;
  }
  g_autoptr(AstroRandomJump) jump =
      *n_chunks > 1
          ? astro_random_jump_new((guint64)astro_placing_draws(shape) * ASTRO_UNIFORM_CHUNK)
          : NULL;
  begins[0] = *random;
  for (guint64 c = 1; c < *n_chunks; c++) {
    begins[c] = begins[c - 1];
    astro_random_jump(jump, &begins[c]);
  }
  return begins;
}

/* The numbers go on where they would after a plain loop. */
static gboolean make_chunks(const AstroFootprint *footprint, guint threads, double *ra, double *dec,
                            guint64 n, AstroRandom *random, GError **error)
{
  const AstroPlacing placing = astro_placing_of(footprint);
  guint64 n_chunks;
  g_autofree AstroRandom *begins =
      astro_uniform_begins(footprint->shape, n, random, &n_chunks, error);
  Chunks chunks = { &placing, begins, ra, dec, n };
  if (!begins)
    return FALSE;
  astro_parallel(n_chunks, threads, make_chunk, &chunks);
  if (n_chunks > 0)
    *random = begins[n_chunks - 1];
  return TRUE;
}

gboolean astro_uniform_check(const AstroBlock *out, guint n_out, GError **error)
{
  return (n_out == 2 && out[0].bytes == out[1].bytes) ||
         astro_backend_refuse(error, "random points are written to two blocks of equal size");
}

static gboolean submit_cpu(gpointer instance, const AstroBlock *in, guint n_in,
                           const AstroBlock *out, guint n_out, gconstpointer arguments,
                           AstroResult *result, GError **error)
{
  const Uniform *uniform = instance;
  const AstroUniformCall *call = arguments;
  return astro_uniform_check(out, n_out, error) &&
         make_chunks(&uniform->footprint, uniform->threads, out[0].data, out[1].data,
                     out[0].bytes / sizeof(double), call->random, error);
}

/* Asks only at every 65536th point, since making a point takes little longer than asking. */
static gboolean submit_reference(gpointer instance, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out, gconstpointer arguments,
                                 AstroResult *result, GError **error)
{
  const Uniform *uniform = instance;
  const AstroUniformCall *call = arguments;
  if (!astro_uniform_check(out, n_out, error))
    return FALSE;
  double *ra = out[0].data, *dec = out[1].data;
  const guint64 n = out[0].bytes / sizeof(double);
  const AstroPlacing placing = astro_placing_of(&uniform->footprint);
  for (guint64 i = 0; i < n && (i % ASTRO_UNIFORM_CHUNK || !astro_is_given_up()); i++)
    astro_place(&placing, call->random, &ra[i], &dec[i]);
  return TRUE;
}

static gpointer create_cpu(gconstpointer config, const AstroPlace *place, const char **variant,
                           GError **error)
{
  return create(config, place, "c", variant, error);
}

static gpointer create_reference(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  return create(config, place, "reference", variant, error);
}

const AstroBackend astro_uniform_reference = {
  .stage = "uniform",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroFootprint),
  .shape = shape,
  .create = create_reference,
  .submit = submit_reference,
  .destroy = g_free,
};

const AstroBackend astro_uniform_cpu = {
  .stage = "uniform",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroFootprint),
  .shape = shape,
  .create = create_cpu,
  .submit = submit_cpu,
  .destroy = g_free,
};

const AstroBackend *const astro_uniform_backends[] = { &astro_uniform_reference, &astro_uniform_cpu,
                                                       NULL };

/* ---- catalogues ---- */

gboolean astro_uniform_make(const AstroBackend *backend, const AstroPlace *place,
                            const AstroFootprint *footprint, guint64 points, AstroRandom *random,
                            AstroCatalogue *catalogue, GError **error)
{
  const char *variant;
  gpointer instance = backend->create(footprint, place, &variant, error);
  if (!instance)
    return FALSE;
  gboolean good = astro_catalogue_alloc(catalogue, points, error);
  const gsize bytes = points * sizeof(double);
  const AstroBlock out[2] = { { catalogue->ra, bytes }, { catalogue->dec, bytes } };
  if (good && !(good = backend->submit(instance, NULL, 0, out, 2, &(AstroUniformCall){ random },
                                       NULL, error)))
    astro_catalogue_clear(catalogue);
  backend->destroy(instance);
  return good;
}

gboolean astro_catalogue_uniform(const AstroFootprint *footprint, guint64 points,
                                 AstroRandom *random, AstroCatalogue *catalogue, GError **error)
{
  return astro_uniform_make(&astro_uniform_cpu, NULL, footprint, points, random, catalogue, error);
}
