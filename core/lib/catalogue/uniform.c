/* Random points that are even over a footprint. Random numbers come one after the other; threads
 * begin where the numbers of a chunk of points begin (random-jump.h), so that the points are those
 * of a plain loop. */
#include "core/lib/catalogue/uniform.h"

#include "core/backend/backend.h"
#include "core/kit/units.h"
#include "core/lib/catalogue/mask.h"
#include "core/lib/catalogue/random-jump.h"

#include <math.h>

#define POINTS_AT_ONCE 65536

/* The place at a distance and direction (from north through east) from another one. */
static void offset_by(double ra, double dec, double distance, double direction, double *to_ra,
                      double *to_dec)
{
  double d = dec / ASTRO_DEGREES, r = distance / ASTRO_DEGREES;
  double north = sin(r) * cos(direction), east = sin(r) * sin(direction), out = cos(r);
  double x = out * cos(d) - north * sin(d), z = out * sin(d) + north * cos(d);
  *to_ra = fmod(ra + atan2(east, x) * ASTRO_DEGREES + 720, 360);
  *to_dec = atan2(z, hypot(x, east)) * ASTRO_DEGREES;
}

/* The two random numbers for a point. For a band the second is the fourth drawn: an earlier version
 * dropped two, and a seed must keep giving the same points. */
static void draw(const AstroFootprint *footprint, AstroRandom *random, double *u, double *v)
{
  const guint lost = footprint->shape == ASTRO_FOOTPRINT_BAND ? 2 : 0;
  *u = astro_random_uniform(random);
  for (guint i = 0; i < lost; i++)
    astro_random_uniform(random);
  *v = astro_random_uniform(random);
}

void astro_place_in_cap(double ra, double dec, double radius, double u, double v, double *to_ra,
                        double *to_dec)
{
  double half = sin(radius / 2 / ASTRO_DEGREES) * sqrt(u);
  double direction = 2 * G_PI * v;
  offset_by(ra, dec, 2 * asin(half) * ASTRO_DEGREES, direction, to_ra, to_dec);
}

/* Not for a mask, whose points take three numbers. */
static void place_in(const AstroFootprint *footprint, double u, double v, double *ra, double *dec)
{
  if (footprint->shape == ASTRO_FOOTPRINT_CAP) {
    astro_place_in_cap(footprint->ra, footprint->dec, footprint->radius, u, v, ra, dec);
    return;
  }
  double low = sin(footprint->dec_min / ASTRO_DEGREES),
         high = sin(footprint->dec_max / ASTRO_DEGREES);
  double east = footprint->ra_min + (footprint->ra_max - footprint->ra_min) * u;
  *ra = fmod(fmod(east, 360) + 360, 360);
  *dec = asin(CLAMP(low + (high - low) * v, -1, 1)) * ASTRO_DEGREES;
}

void astro_place_in(const AstroFootprint *footprint, AstroRandom *random, double *ra, double *dec)
{
  if (footprint->shape == ASTRO_FOOTPRINT_MASK) {
    astro_mask_random(footprint->mask, random, ra, dec);
    return;
  }
  double u, v;
  draw(footprint, random, &u, &v);
  place_in(footprint, u, v, ra, dec);
}

/* Random numbers for a point. */
static guint draws_of(const AstroFootprint *footprint)
{
  static const guint draws[] = {
    [ASTRO_FOOTPRINT_BAND] = 4, [ASTRO_FOOTPRINT_CAP] = 2, [ASTRO_FOOTPRINT_MASK] = 3
  };
  return draws[footprint->shape];
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
  const AstroFootprint *footprint;
  AstroRandom *begins; /* where the numbers of each chunk begin */
  double *ra, *dec;
  guint64 n;
} Chunks;

static void make_chunk(gpointer data, guint64 task)
{
  const Chunks *chunks = data;
  const guint64 first = task * POINTS_AT_ONCE, last = MIN(first + POINTS_AT_ONCE, chunks->n);
  for (guint64 i = first; i < last; i++)
    astro_place_in(chunks->footprint, &chunks->begins[task], &chunks->ra[i], &chunks->dec[i]);
}

/* The numbers go on where they would after a plain loop. */
static gboolean make_chunks(const AstroFootprint *footprint, guint threads, double *ra, double *dec,
                            guint64 n, AstroRandom *random, GError **error)
{
  const guint64 n_chunks = (n + POINTS_AT_ONCE - 1) / POINTS_AT_ONCE;
  Chunks chunks = { footprint, g_try_new(AstroRandom, MAX(n_chunks, 1)), ra, dec, n };
  if (!chunks.begins)
    return astro_catalogue_no_memory(error, n);
  g_autoptr(AstroRandomJump) jump =
      n_chunks > 1 ? astro_random_jump_new((guint64)draws_of(footprint) * POINTS_AT_ONCE) : NULL;
  chunks.begins[0] = *random;
  for (guint64 c = 1; c < n_chunks; c++) {
    chunks.begins[c] = chunks.begins[c - 1];
    astro_random_jump(jump, &chunks.begins[c]);
  }
  astro_parallel(n_chunks, threads, make_chunk, &chunks);
  if (n_chunks > 0)
    *random = chunks.begins[n_chunks - 1];
  g_free(chunks.begins);
  return TRUE;
}

static gboolean check_blocks(const AstroBlock *out, guint n_out, GError **error)
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
  return check_blocks(out, n_out, error) &&
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
  if (!check_blocks(out, n_out, error))
    return FALSE;
  double *ra = out[0].data, *dec = out[1].data;
  const guint64 n = out[0].bytes / sizeof(double);
  for (guint64 i = 0; i < n && (i % POINTS_AT_ONCE || !astro_is_given_up()); i++)
    astro_place_in(&uniform->footprint, call->random, &ra[i], &dec[i]);
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
