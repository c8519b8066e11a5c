/* Random points on a device, the same as those of the host to the bit (core/lib/catalogue/placing.h
 * is compiled for both). The host skips numbers up to where each chunk of points begins, a block
 * takes a chunk, and each of its threads skips those of the threads before it. */
#include "gpu/runtime/upload.h"

extern "C" {
#include "core/lib/catalogue/mask.h"
#include "core/lib/catalogue/placing.h"
#include "core/lib/catalogue/random-jump.h"
#include "core/lib/catalogue/uniform.h"
}

#define STAGE "uniform"

enum { THREADS = 256, RUNGS = 8, POINTS = ASTRO_UNIFORM_CHUNK / THREADS };
static_assert(1 << RUNGS == THREADS, "a thread's number has a bit for each rung");

/* Jumps over the points of 1, 2, 4, ... threads. */
struct Ladder {
  AstroRandom columns[RUNGS][ASTRO_RANDOM_BITS];
};

struct Uniform {
  AstroFootprint footprint;
  AstroPlace place;
  Ladder *ladder; /* on the device */
  AstroPlacing placing;
  AstroCudaUpload mask, begins;
};

/* ---- the kernel ---- */

/* All lanes read the same column, whether they take it or not. */
__device__ static void jump(AstroRandom *random, const AstroRandom *columns)
{
  AstroRandom to = {};
  for (guint bit = 0; bit < ASTRO_RANDOM_BITS; bit++) {
    const guint64 takes = 0 - (random->state[bit / 64] >> bit % 64 & 1);
    for (guint w = 0; w < 4; w++)
      to.state[w] ^= columns[bit].state[w] & takes;
  }
  *random = to;
}

__global__ void __launch_bounds__(THREADS)
    make_points(const __grid_constant__ AstroPlacing placing, const Ladder *ladder,
                const AstroRandom *begins, double *ra, double *dec, guint64 n)
{
  AstroRandom random = begins[blockIdx.x];
  for (guint rung = 0; rung < RUNGS; rung++)
    if (threadIdx.x >> rung & 1)
      jump(&random, ladder->columns[rung]);
  const guint64 first = (guint64)blockIdx.x * ASTRO_UNIFORM_CHUNK + threadIdx.x * POINTS;
  for (guint64 i = first; i < first + POINTS && i < n; i++)
    astro_place(&placing, &random, &ra[i], &dec[i]);
}

/* ---- the backend ---- */

static gboolean shape(gconstpointer config, GError **error)
{
  return astro_footprint_check((const AstroFootprint *)config, error);
}

static gboolean send_ladder(Uniform *self, GError **error)
{
  g_autofree Ladder *ladder = g_new(Ladder, 1);
  const guint64 draws = (guint64)astro_placing_draws(self->footprint.shape) * POINTS;
  for (guint rung = 0; rung < RUNGS; rung++) {
    g_autoptr(AstroRandomJump) step = astro_random_jump_new(draws << rung);
    memcpy(ladder->columns[rung], astro_random_jump_columns(step), sizeof ladder->columns[rung]);
  }
  return astro_cuda_alloc(&self->place, STAGE, &self->ladder, 1, sizeof *ladder, error) &&
         CUDA_TRY(cudaMemcpyAsync(self->ladder, ladder, sizeof *ladder, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue))) &&
         astro_cuda_drain(&self->place, error);
}

static gboolean send_mask(Uniform *self, GError **error)
{
  AstroPlacing *placing = &self->placing;
  AstroCudaPiece pieces[] = { { placing->cells, placing->n_cells * sizeof *placing->cells },
                              { placing->area, placing->n_cells * sizeof *placing->area } };
  if (placing->n_cells == 0)
    return TRUE;
  if (!astro_cuda_upload(&self->mask, &self->place, STAGE, pieces, G_N_ELEMENTS(pieces), error))
    return FALSE;
  placing->cells = (const AstroMaskBounds *)pieces[0].device;
  placing->area = (const double *)pieces[1].device;
  return TRUE;
}

static void destroy(gpointer instance)
{
  Uniform *self = (Uniform *)instance;
  astro_cuda_enter(self->place.device, NULL);
  astro_cuda_drain(&self->place, NULL);
  astro_cuda_free(&self->place, &self->ladder);
  astro_cuda_free(&self->place, &self->mask.block);
  astro_cuda_free(&self->place, &self->begins.block);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Uniform *self = g_new0(Uniform, 1);
  self->footprint = *(const AstroFootprint *)config;
  self->place = *place;
  self->placing = astro_placing_of(&self->footprint);
  if (!send_ladder(self, error) || !send_mask(self, error)) {
    destroy(self);
    return NULL;
  }
  *variant = "chunks";
  return self;
}

/* The numbers go on where they would after a plain loop. */
static void go_on(const Uniform *self, AstroRandom *random, const AstroRandom *last, guint64 n)
{
  const guint64 left = n % ASTRO_UNIFORM_CHUNK ? n % ASTRO_UNIFORM_CHUNK : ASTRO_UNIFORM_CHUNK;
  *random = *last;
  for (guint64 i = 0; i < left * astro_placing_draws(self->footprint.shape); i++)
    astro_random_step(random);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Uniform *self = (Uniform *)instance;
  const AstroUniformCall *call = (const AstroUniformCall *)arguments;
  if (!astro_uniform_check(out, n_out, error) || !astro_cuda_enter(self->place.device, error))
    return FALSE;
  const guint64 n = out[0].bytes / sizeof(double);
  guint64 n_chunks;
  g_autofree AstroRandom *begins =
      astro_uniform_begins(self->footprint.shape, n, call->random, &n_chunks, error);
  if (!begins || n_chunks == 0)
    return begins != NULL;
  AstroCudaPiece piece = { begins, n_chunks * sizeof *begins };
  if (!astro_cuda_upload(&self->begins, &self->place, STAGE, &piece, 1, error))
    return FALSE;
  make_points<<<(guint)n_chunks, THREADS, 0, astro_cuda_stream(self->place.queue)>>>(
      self->placing, self->ladder, (const AstroRandom *)piece.device, (double *)out[0].data,
      (double *)out[1].data, n);
  go_on(self, call->random, &begins[n_chunks - 1], n);
  return CUDA_TRY(cudaGetLastError());
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(&((Uniform *)instance)->place, error);
}

extern const AstroBackend astro_cuda_uniform = {
  .stage = STAGE,
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroFootprint),
  .shape = shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
