/* Fourier transforms on the GPU, by cuFFT. A list of steps is made once for each number of time
 * steps that blocks have. Planes are transformed faster without cuFFT (gpu/lib/fft/planes.cu). */
#include "gpu/lib/fft/parts.h"

extern "C" {
#include "core/lib/transpose/config.h"
}

enum {
  MOST_LISTS = 4,
  MOST_LOOPS =
      64, /* transforms queued one by one; if there were more, lines are transposed instead */
};

/* Memory that a step reads and writes: the blocks, and buffers of our own. */
typedef enum { IN, OUT, HELD, LINES_IN, LINES_OUT, N_PLACES } Place;

typedef struct Fft Fft;
typedef struct Step Step;

struct Step {
  gboolean (*run)(Fft *self, const Step *step, GError **error);
  Place from, to;
  AstroFftMove move;
  AstroFftPass pass;
  AstroTransposeConfig turn;
  int plan; /* of cuFFT; -1: none */
  guint64 loops;
  gsize from_step, to_step; /* bytes from loop to loop */
};

typedef struct {
  guint64 steps; /* along the free axis */
  GArray *list;
  gsize bytes[N_PLACES], work_bytes;
} List;

struct Fft {
  AstroFftConfig config;
  AstroPlace place;
  const AstroCufft *cufft;
  gboolean is_double;
  gsize sample_bytes;     /* of a complex sample */
  gpointer transpose;     /* an instance of astro_cuda_transpose, made when first needed */
  AstroFftPlanes *planes; /* if this does the whole transform, or NULL */
  GPtrArray *lists;       /* List *, the most recently used first */
  gpointer places[N_PLACES], work;
  gsize bytes[N_PLACES], work_bytes; /* of our own buffers */
  gpointer taken;                    /* a copy of the block with zeros in untouched tiles */
  gsize taken_bytes;
};

static cudaStream_t stream_of(const Fft *self)
{
  return astro_cuda_stream(self->place.queue);
}

static Step *add_step(List *list, gboolean (*run)(Fft *, const Step *, GError **), Place from,
                      Place to)
{
  Step step = { .run = run, .from = from, .to = to, .plan = -1, .loops = 1 };
  g_array_append_val(list->list, step);
  return &g_array_index(list->list, Step, list->list->len - 1);
}

static void need(List *list, Place place, gsize bytes)
{
  list->bytes[place] = MAX(list->bytes[place], bytes);
}

/* ---- steps ---- */

static gboolean run_move(Fft *self, const Step *step, GError **error)
{
  return astro_fft_move(&step->move, self->places[step->from], self->places[step->to],
                        stream_of(self), error);
}

static gboolean run_clean(Fft *self, const Step *step, GError **error)
{
  return astro_fft_clean(&step->pass, self->is_double, self->places[step->from], stream_of(self),
                         error);
}

static gboolean run_turn(Fft *self, const Step *step, GError **error)
{
  AstroTransposeConfig config = step->turn;
  gsize bytes = config.sample_bytes * config.extents[0] * config.extents[1] * config.extents[2];
  AstroBlock in = { self->places[step->from], bytes }, out = { self->places[step->to], bytes };
  return astro_cuda_transpose.submit(self->transpose, &in, 1, &out, 1, &config, NULL, error);
}

static gboolean execute(Fft *self, const Step *step, guint8 *in, guint8 *out, GError **error)
{
  return astro_cufft_ok(
      self->cufft->exec(step->plan, in, out, self->config.inverse ? CUFFT_INVERSE : CUFFT_FORWARD),
      "cufftXtExec", error);
}

static gboolean run_lines(Fft *self, const Step *step, GError **error)
{
  guint8 *in = (guint8 *)self->places[step->from], *out = (guint8 *)self->places[step->to];
  for (guint64 i = 0; i < step->loops; i++)
    if (!execute(self, step, in + i * step->from_step, out + i * step->to_step, error))
      return FALSE;
  return TRUE;
}

/* ---- lists of steps ---- */

static void free_list(gpointer data)
{
  List *list = (List *)data;
  for (guint i = 0; i < list->list->len; i++) {
    const Step *step = &g_array_index(list->list, Step, i);
    if (step->plan >= 0)
      astro_cufft_get(NULL)->destroy(step->plan);
  }
  g_array_unref(list->list);
  g_free(list);
}

/* Parameters of a cuFFT plan: `batch` transforms over up to three axes, whose samples lie stride
 * apart; step_in and step_out are the distances between transforms in samples. */
typedef struct {
  guint rank;
  long long n[3];
  gboolean real_in, real_out;
  guint64 stride, step_in, step_out, batch;
} Lines;

static gboolean add_lines(Fft *self, List *list, const Lines *lines, Place from, Place to,
                          GError **error)
{
  const int type = lines->real_in    ? self->is_double ? CUFFT_D2Z : CUFFT_R2C
                   : lines->real_out ? self->is_double ? CUFFT_Z2D : CUFFT_C2R
                                     : (self->is_double ? CUFFT_Z2Z : CUFFT_C2C);
  Step *step = add_step(list, run_lines, from, to);
  long long n[3] = { lines->n[0], lines->n[1], lines->n[2] };
  size_t bytes = 0;

  /* The embedding extents are those of the axes themselves; where a line has more samples than
   * cuFFT uses, they only follow the last axis. */
  if (!astro_cufft_ok(self->cufft->create(&step->plan), "cufftCreate", error) ||
      !astro_cufft_ok(self->cufft->set_auto_allocation(step->plan, 0), "cufftSetAutoAllocation",
                      error) ||
      !astro_cufft_ok(self->cufft->make_plan(step->plan, (int)lines->rank, n, n,
                                             (long long)lines->stride, (long long)lines->step_in, n,
                                             (long long)lines->stride, (long long)lines->step_out,
                                             type, (long long)lines->batch, &bytes),
                      "cufftMakePlanMany64", error) ||
      !astro_cufft_ok(self->cufft->set_stream(step->plan, stream_of(self)), "cufftSetStream",
                      error))
    return FALSE;
  list->work_bytes = MAX(list->work_bytes, bytes);
  return TRUE;
}

/* Lines that are contiguous in the block. */
static Lines lines_of(const AstroFftPass *pass, guint64 batch)
{
  return { 1,    { (long long)pass->n }, pass->real_in, pass->real_out, 1, pass->n_in, pass->n_out,
           batch };
}

static gboolean add_turn(Fft *self, List *list, guint64 outer, guint64 rows, guint64 columns,
                         gboolean real, Place from, Place to, GError **error)
{
  Step *step = add_step(list, run_turn, from, to);
  const char *variant;

  step->turn = { 3, { outer, rows, columns }, { 0, 2, 1 }, self->sample_bytes / (real ? 2 : 1) };
  if (!self->transpose)
    self->transpose = astro_cuda_transpose.create(&step->turn, &self->place, &variant, error);
  return self->transpose != NULL;
}

/* Lines across the block, if too many for a loop, are transposed to be contiguous, and back. */
static gboolean add_turned_lines(Fft *self, List *list, const AstroFftPass *pass, Place from,
                                 Place to, GError **error)
{
  const guint64 lines = pass->outer * pass->inner;
  const gboolean real = pass->real_in || pass->real_out;
  const Place made = real ? LINES_OUT : LINES_IN;
  const Lines along = lines_of(pass, lines);

  need(list, LINES_IN, lines * pass->n_in * self->sample_bytes / (pass->real_in ? 2 : 1));
  if (real)
    need(list, LINES_OUT, lines * pass->n_out * self->sample_bytes / (pass->real_out ? 2 : 1));
  return add_turn(self, list, pass->outer, pass->n_in, pass->inner, pass->real_in, from, LINES_IN,
                  error) &&
         add_lines(self, list, &along, LINES_IN, made, error) &&
         add_turn(self, list, pass->outer, pass->inner, pass->n_out, pass->real_out, made, to,
                  error);
}

/* The block's axes on one side; without a free axis, frames come first. */
static AstroFftMove move_of(const Fft *self, guint64 steps, gboolean out, gboolean rolls,
                            gboolean turns)
{
  const AstroFftConfig *config = &self->config;
  AstroFftMove move = {
    .backwards = config->inverse, .scale = 1, .from = config->from, .to = config->to
  };
  gboolean has_free = FALSE;

  for (guint i = 0; i < config->n_axes; i++)
    has_free |= config->extents[i] == 0;
  if (!has_free)
    move.axes[move.n_axes++].extent = steps;
  for (guint i = 0; i < config->n_axes; i++) {
    const AstroFftAxis *axis = &config->axes[i];
    const gboolean halved = (gint)i == astro_fft_halved(config);
    auto *to = &move.axes[move.n_axes++];
    to->extent = config->extents[i] ? astro_fft_extent(config, i, out) : steps;
    if (axis->transformed && rolls)
      to->roll = axis->origin_in;
    /* Real samples are transformed along this axis before, or after, phases are rotated. */
    if (axis->transformed && turns && !(halved && !config->inverse))
      to->turn = axis->origin_out;
    to->period = config->extents[i];
  }
  return move;
}

static gboolean moves(const AstroFftMove *move)
{
  for (guint i = 0; i < move->n_axes; i++)
    if (move->axes[i].roll || move->axes[i].turn)
      return TRUE;
  return move->scale != 1;
}

static double scale_of(const AstroFftConfig *config)
{
  double scale = 1;
  for (guint i = 0; config->inverse && i < config->n_axes; i++)
    if (config->axes[i].transformed)
      scale /= (double)config->extents[i];
  return scale;
}

static gboolean add_pass(Fft *self, List *list, const AstroFftPass *pass, guint64 steps, Place from,
                         Place to, GError **error)
{
  const gboolean real = pass->real_in || pass->real_out;

  if (pass->n == 1) {
    AstroFftMove move = move_of(self, steps, FALSE, FALSE, FALSE);
    if (!real)
      move.to = move.from = self->is_double ? ASTRO_FORMAT_CF64LE : ASTRO_FORMAT_CF32LE;
    if (real || from != to)
      add_step(list, run_move, from, to)->move = move;
    return TRUE;
  }
  if (pass->real_out)
    add_step(list, run_clean, from, from)->pass = *pass;
  Lines lines = lines_of(pass, pass->outer);
  if (pass->inner == 1)
    return add_lines(self, list, &lines, from, to, error);
  if (pass->outer > (real ? 1 : MOST_LOOPS))
    return add_turned_lines(self, list, pass, from, to, error);
  lines.stride = lines.batch = pass->inner;
  lines.step_in = lines.step_out = 1;
  if (!add_lines(self, list, &lines, from, to, error))
    return FALSE;
  Step *step = &g_array_index(list->list, Step, list->list->len - 1);
  step->loops = pass->outer;
  step->from_step = pass->n_in * pass->inner * self->sample_bytes;
  step->to_step = pass->n_out * pass->inner * self->sample_bytes;
  return TRUE;
}

/* The last two or three axes together, if all are transformed: cuFFT does better than one by one.
 */
static gboolean add_last_axes(Fft *self, List *list, const AstroFftPass *passes, Place from,
                              guint *done, GError **error)
{
  const AstroFftConfig *config = &self->config;
  guint rank = 0;
  Lines lines = { .stride = 1, .step_in = 1 };

  while (rank < MIN(config->n_axes, 3) && config->axes[config->n_axes - 1 - rank].transformed)
    rank++;
  if (rank < 2)
    return TRUE;
  for (guint i = 0; i < rank; i++) {
    lines.n[rank - 1 - i] = (long long)passes[i].n;
    lines.step_in *= passes[i].n;
    if (passes[i].n == 1)
      return TRUE;
  }
  lines.rank = rank;
  lines.step_out = lines.step_in;
  lines.batch = passes[rank - 1].outer;
  *done = rank;
  return add_lines(self, list, &lines, from, OUT, error);
}

/* Complex samples are moved first, to where they are transformed. Real ones are moved while real,
 * and their phases rotated once they are complex. */
static gboolean add_passes(Fft *self, List *list, guint64 steps, GError **error)
{
  const AstroFftConfig *config = &self->config;
  const gboolean to_real = !astro_format_info(config->to)->is_complex;
  const gboolean from_real = !astro_format_info(config->from)->is_complex;
  AstroFftPass passes[ASTRO_MAX_AXES];
  const guint n = astro_fft_passes(config, steps, passes);
  AstroFftMove move = move_of(self, steps, FALSE, TRUE, !from_real),
               turn = move_of(self, steps, TRUE, FALSE, TRUE);
  Place at = IN, between = to_real ? HELD : OUT;

  move.scale = scale_of(config);
  if (to_real) {
    move.to = move.from;
    need(list, HELD, passes[0].outer * passes[0].n_in * passes[0].inner * self->sample_bytes);
  } else if (from_real) {
    move.to = move.from;
    need(list, HELD, passes[0].outer * passes[0].n_in * passes[0].inner * self->sample_bytes / 2);
  }
  if (moves(&move) || to_real) {
    add_step(list, run_move, IN, from_real ? HELD : between)->move = move;
    at = from_real ? HELD : between;
  }
  guint done = 0;
  if (!from_real && !to_real && !add_last_axes(self, list, passes, at, &done, error))
    return FALSE;
  at = done ? OUT : at;
  for (guint i = done; i < n; i++) {
    const Place to = i + 1 < n ? between : OUT;
    if (!add_pass(self, list, &passes[i], steps, at, to, error))
      return FALSE;
    at = to;
    if (from_real && i == 0 && moves(&turn)) {
      turn.from = turn.to;
      add_step(list, run_move, OUT, OUT)->move = turn;
    }
  }
  return TRUE;
}

/* ---- buffers ---- */

gboolean astro_fft_need_room(const AstroPlace *place, gpointer *room, gsize *bytes, gsize wanted,
                             GError **error)
{
  const AstroDeviceFuncs *funcs = place->device->funcs;

  if (*bytes >= wanted)
    return TRUE;
  if (!CUDA_TRY(cudaStreamSynchronize(astro_cuda_stream(place->queue))))
    return FALSE;
  astro_cuda_free(place, room);
  *bytes = 0;
  if (!funcs->alloc(place->device, wanted, room, error))
    return FALSE;
  *bytes = wanted;
  return TRUE;
}

static gboolean make_room(Fft *self, const List *list, GError **error)
{
  for (guint i = HELD; i < N_PLACES; i++)
    if (!astro_fft_need_room(&self->place, &self->places[i], &self->bytes[i], list->bytes[i],
                             error))
      return FALSE;
  if (!astro_fft_need_room(&self->place, &self->work, &self->work_bytes, list->work_bytes, error))
    return FALSE;
  for (guint i = 0; i < list->list->len; i++) {
    const Step *step = &g_array_index(list->list, Step, i);
    if (step->plan >= 0 && self->work &&
        !astro_cufft_ok(self->cufft->set_work_area(step->plan, self->work), "cufftSetWorkArea",
                        error))
      return FALSE;
  }
  return TRUE;
}

/* The list for blocks of this many time steps. A new list replaces the least recently used one. */
static List *find_list(Fft *self, guint64 steps, GError **error)
{
  guint at = 0;

  while (at < self->lists->len && ((List *)self->lists->pdata[at])->steps != steps)
    at++;
  if (at < self->lists->len) {
    List *found = (List *)g_ptr_array_steal_index(self->lists, at);
    g_ptr_array_insert(self->lists, 0, found);
    return found;
  }
  if (self->lists->len == MOST_LISTS) {
    if (!CUDA_TRY(cudaStreamSynchronize(stream_of(self))))
      return NULL;
    g_ptr_array_remove_index(self->lists, MOST_LISTS - 1);
  }
  List *list = g_new0(List, 1);
  list->steps = steps;
  list->list = g_array_new(FALSE, TRUE, sizeof(Step));
  if (!add_passes(self, list, steps, error)) {
    free_list(list);
    return NULL;
  }
  g_ptr_array_insert(self->lists, 0, list);
  return list;
}

/* Copies touched tiles, with zeros elsewhere, to a buffer of our own, which then replaces the
 * input. */
static gboolean take_touched(Fft *self, const AstroBlock *in, const guint8 *touched, guint64 steps,
                             GError **error)
{
  const AstroFftConfig *config = &self->config;
  const guint64 height = config->extents[config->n_axes - 2],
                width = config->extents[config->n_axes - 1];
  const AstroFftMap map = { touched, config->share_map, (guint32)height, (guint32)width };
  guint64 planes = steps;

  for (guint i = 0; i + 2 < config->n_axes; i++)
    planes *= config->extents[i] ? config->extents[i] : 1;
  if (!astro_fft_need_room(&self->place, &self->taken, &self->taken_bytes,
                           planes * height * width * self->sample_bytes, error))
    return FALSE;
  self->places[IN] = self->taken;
  return astro_fft_take_touched(&map, in->data, self->taken, planes, self->is_double,
                                stream_of(self), error);
}

/* ---- the backend ---- */

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Fft *self = (Fft *)instance;
  const guint64 *steps = (const guint64 *)arguments;

  if (!astro_fft_check_call(&self->config, in, n_in, out, n_out, steps, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (*steps == 0)
    return TRUE;
  const guint8 *touched = n_in > 1 ? (const guint8 *)in[1].data : NULL;
  if (self->planes)
    return astro_fft_planes_run(self->planes, in->data, touched, out->data, *steps, error);
  const List *list = find_list(self, *steps, error);
  if (!list || !make_room(self, list, error))
    return FALSE;
  self->places[IN] = in->data;
  if (touched && !take_touched(self, in, touched, *steps, error))
    return FALSE;
  self->places[OUT] = out->data;
  for (guint i = 0; i < list->list->len; i++) {
    const Step *step = &g_array_index(list->list, Step, i);
    if (!step->run(self, step, error))
      return FALSE;
  }
  return TRUE;
}

static void destroy(gpointer instance)
{
  Fft *self = (Fft *)instance;

  astro_cuda_enter(self->place.device, NULL); /* cuFFT destroys plans of the current device */
  g_ptr_array_unref(self->lists);
  if (self->transpose)
    astro_cuda_transpose.destroy(self->transpose);
  if (self->planes)
    astro_fft_planes_free(self->planes);
  astro_cuda_free(&self->place, &self->work);
  astro_cuda_free(&self->place, &self->taken);
  for (guint i = HELD; i < N_PLACES; i++)
    astro_cuda_free(&self->place, &self->places[i]);
  g_free(self);
}

static gboolean shape(gconstpointer config, GError **error)
{
  return astro_fft_check(config, error) && astro_cufft_get(error) != NULL;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Fft *self = g_new0(Fft, 1);
  self->config = *(const AstroFftConfig *)config;
  self->place = *place;
  self->cufft = astro_cufft_get(NULL);
  self->is_double = astro_format_is_double(self->config.from);
  self->sample_bytes = self->is_double ? 2 * sizeof(double) : 2 * sizeof(float);
  self->lists = g_ptr_array_new_with_free_func(free_list);
  *variant = "cufft";
  if (!astro_fft_planes_fit(&self->config, place))
    return self;
  *variant = "planes";
  self->planes = astro_fft_planes_new(&self->config, scale_of(&self->config), place, error);
  if (self->planes)
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_cuda_fft = {
  .stage = "fft",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroFftConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
