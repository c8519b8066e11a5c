/* The opencl backend of channelizer: the filter writes rows of points, which are transformed by one
 * radix after the other and go to their channels. Samples of earlier blocks are held on the device.
 */
#include "config.h"
#include "opencl/channelizer/instance.h"

#include "core/channelizer/check.h"
#include "opencl/lib/formats/any.h"

static const char text[] =
#include "opencl/runtime/samples.cl.h"
#include "opencl/runtime/clipped.cl.h"
#include "opencl/lib/formats/any.cl.h"
#include "opencl/lib/formats/gather.cl.h"
#include "opencl/channelizer/channelizer.cl.h"
    ;

#define GROUP 64
#define PART_POINTS                                                                                \
  ((guint64)1 << 22) /* of rows that are transformed at a time, if one is no longer */

/* As in channelizer.cl. */
typedef struct {
  cl_long split;
  cl_ulong held, held_row, block_row;
  cl_ulong first, count;
  cl_uint n, taps, turn;
  cl_uint channels, below, coarse;
  cl_uint from, to, has_block, has_gains;
  cl_uint components, bytes;
} Run;

/* Describes the samples from one on. */
static Run run_from(const Channelizer *self, guint64 from,
                    const AstroChannelizerArguments *arguments, gconstpointer block)
{
  const AstroChannelizerConfig *config = &self->config;
  const gboolean is_complex = astro_format_info(config->in.format)->is_complex;
  return (Run){ .split = (cl_long)(arguments->first - from),
                .held = from - MIN(self->held_from, from),
                .held_row = self->span,
                .block_row = arguments->steps,
                .n = (cl_uint)self->step,
                .taps = config->taps,
                .turn = (cl_uint)(astro_channelizer_lead(config) % self->step),
                .channels = config->channels,
                .below = is_complex ? config->channels / 2 : 0,
                .coarse = self->coarse,
                .from = (cl_uint)config->in.format,
                .to = (cl_uint)config->to,
                .has_block = block != NULL,
                .has_gains = self->gains != NULL,
                .components = self->order.components,
                .bytes = self->order.bytes };
}

/* ---- spectra ---- */

static gboolean launch(const Channelizer *self, cl_kernel kernel,
                       const AstroOpenclArgument *arguments, guint n_arguments, guint64 items,
                       GError **error)
{
  return astro_opencl_launch_items(&self->place, kernel, arguments, n_arguments, items, GROUP,
                                   error);
}

/* Makes `rows` rows from run.first on. */
static gboolean make_rows(Channelizer *self, Run run, guint64 rows, gpointer block, gpointer out,
                          GError **error)
{
  const cl_uint items = (cl_uint)(rows * self->step);
  guint at;
  const AstroOpenclArgument filter[] = {
    OPENCL_FACE(self->held[0]),        OPENCL_FACE(block), OPENCL_FACE(self->weights),
    OPENCL_FACE(self->rooms.faces[0]), OPENCL_VALUE(run),  OPENCL_VALUE(items)
  };
  if (!launch(self, self->filter, filter, G_N_ELEMENTS(filter), items, error) ||
      !astro_opencl_lines_run(&self->lines, &self->rooms, rows, &at, error))
    return FALSE;
  const AstroOpenclArgument give[] = {
    OPENCL_FACE(self->rooms.faces[at]), OPENCL_FACE(self->gains), OPENCL_FACE(out),
    OPENCL_FACE(self->clipped.counter), OPENCL_VALUE(run),        OPENCL_VALUE(items)
  };
  return launch(self, self->give, give, G_N_ELEMENTS(give), items, error);
}

static gboolean channelize(Channelizer *self, const AstroSpectra *spectra,
                           const AstroChannelizerArguments *arguments, gpointer block, gpointer out,
                           GError **error)
{
  const guint64 all = self->inputs * spectra->count,
                most = MIN(all, MAX(PART_POINTS / self->lines.room, 1));
  Run run = run_from(self, spectra->first * self->step - astro_channelizer_lead(&self->config),
                     arguments, block);
  run.count = spectra->count;
  if (!astro_opencl_rooms_need(&self->rooms, &self->place, "channelizer",
                               most * self->lines.room * 2 * sizeof(float), error))
    return FALSE;
  for (run.first = 0; run.first < all; run.first += most)
    if (!make_rows(self, run, MIN(all - run.first, most), block, out, error))
      return FALSE;
  return TRUE;
}

/* Holds the samples that later spectra need. */
static gboolean keep_last(Channelizer *self, guint64 next_spectrum,
                          const AstroChannelizerArguments *arguments, gpointer block,
                          GError **error)
{
  const guint64 end = arguments->first + arguments->steps,
                from = MIN(next_spectrum * self->step - astro_channelizer_lead(&self->config), end);
  const cl_ulong n = end - from;
  const Run run = run_from(self, from, arguments, block);
  const AstroOpenclArgument given[] = { OPENCL_FACE(self->held[0]), OPENCL_FACE(block),
                                        OPENCL_FACE(self->held[1]), OPENCL_VALUE(run),
                                        OPENCL_VALUE(n) };
  const AstroOpenclRange range = { 2, { n, self->inputs }, { GROUP, 1 } };
  if (!astro_opencl_launch(&self->place, self->keep, given, G_N_ELEMENTS(given), &range, error))
    return FALSE;
  gpointer swap = self->held[0];
  self->held[0] = self->held[1];
  self->held[1] = swap;
  self->held_from = from;
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  Channelizer *self = instance;
  const AstroChannelizerArguments *arguments = given;
  AstroSpectra spectra;
  gpointer block = NULL;
  if (!astro_channelizer_call_spectra(&self->config, arguments, self->begin, self->end, &spectra,
                                      error) ||
      !astro_channelizer_check_call(&self->config, in, n_in, out, n_out, arguments, spectra.count,
                                    error))
    return FALSE;
  if (arguments->restart)
    self->begin = self->held_from = arguments->first;
  self->end = arguments->first + arguments->steps;
  return (!n_in || !arguments->steps ||
          astro_opencl_channelizer_gather(self, in, arguments, &block, error)) &&
         (!spectra.count || channelize(self, &spectra, arguments, block, out->data, error)) &&
         keep_last(self, spectra.first + spectra.count, arguments, block, error);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  Channelizer *self = instance;
  return astro_opencl_clipped_drain(&self->clipped, &self->place, result, error);
}

/* ---- the backend ---- */

static void destroy(gpointer instance)
{
  Channelizer *self = instance;
  const cl_kernel kernels[] = { self->filter, self->give, self->keep, self->gather, self->drop };
  gpointer *const faces[] = { &self->weights, &self->gains,         &self->held[0],
                              &self->held[1], &self->gathered.face, &self->losses.face };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i])
      clReleaseKernel(kernels[i]);
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->place, faces[i]);
  astro_opencl_lines_clear(&self->lines);
  astro_opencl_rooms_clear(&self->rooms, &self->place);
  astro_opencl_clipped_clear(&self->clipped, &self->place);
  g_free(self);
}

static gboolean open_kernels(Channelizer *self, GError **error)
{
  const AstroOpenclProgram program = { "channelizer", text, FALSE };
  g_autofree char *options = astro_opencl_any_options();
  const struct {
    cl_kernel *kernel;
    const char *name;
  } kernels[] = { { &self->filter, "filter" },
                  { &self->give, "give" },
                  { &self->keep, "keep" },
                  { &self->gather, "gather" },
                  { &self->drop, "drop" } };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (!(*kernels[i].kernel =
              astro_opencl_kernel(self->place.device, &program, options, kernels[i].name, error)))
      return FALSE;
  return TRUE;
}

static gboolean send(Channelizer *self, gpointer *face, const float *values, guint64 n,
                     GError **error)
{
  return astro_opencl_alloc(&self->place, "channelizer", face, n, sizeof *values, error) &&
         astro_opencl_upload(&self->place, *face, values, n * sizeof *values, error);
}

/* In the order of the transform's points: those at multiples of the step come first. */
static gboolean send_weights(Channelizer *self, GError **error)
{
  const guint64 turn = astro_channelizer_lead(&self->config) % self->step;
  g_autofree double *weights = g_new(double, self->span);
  g_autofree float *turned = g_new(float, self->span);
  astro_channelizer_weights(&self->config, weights);
  for (guint64 i = 0; i < self->span; i++)
    turned[i] = (float)weights[i / self->step * self->step + (i + turn) % self->step];
  return send(self, &self->weights, turned, self->span, error);
}

static gboolean open_memory(Channelizer *self, GError **error)
{
  const guint64 held = self->inputs * self->span;
  return send_weights(self, error) &&
         (!self->config.gains ||
          send(self, &self->gains, self->config.gains, self->config.channels, error)) &&
         astro_opencl_alloc(&self->place, "channelizer", &self->held[0], held, self->sample_bytes,
                            error) &&
         astro_opencl_alloc(&self->place, "channelizer", &self->held[1], held, self->sample_bytes,
                            error) &&
         astro_opencl_clipped_init(&self->clipped, &self->place, error);
}

static gpointer create(gconstpointer given, const AstroPlace *place, const char **variant,
                       GError **error)
{
  const AstroChannelizerConfig *config = given;
  if (!astro_channelizer_shape(config, error))
    return NULL;
  Channelizer *self = g_new0(Channelizer, 1);
  self->config = *config;
  self->place = *place;
  self->sample_bytes = astro_stream_sample_bytes(&config->in);
  self->inputs = (guint)(astro_stream_step_bytes(&config->in) / self->sample_bytes);
  self->coarse = astro_channelizer_coarse(config);
  self->order = astro_opencl_gather_of(&config->in, 1);
  self->step = astro_channelizer_step(config);
  self->span = astro_channelizer_span(config);
  *variant = "passes";
  if (open_kernels(self, error) && open_memory(self, error) &&
      astro_opencl_lines_init(&self->lines, place, "channelizer", self->step, FALSE, FALSE, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_channelizer = {
  .stage = "channelizer",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroChannelizerConfig),
  .shape = astro_channelizer_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
