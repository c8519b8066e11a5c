/* The opencl backend of fft: along one axis after the other, the lines of a part of the block at a
 * time. */
#include "config.h"
#include "core/lib/fft/check.h"
#include "opencl/lib/fft/lines.h"

static const char text[] =
#include "opencl/fft/fft.cl.h"
    ;

#define PART_SAMPLES ((guint64)1 << 22)             /* of a part, if a line is not longer */
#define BYTES_OF(self) ((self)->is_double ? 16 : 8) /* of a complex sample */

/* As in fft.cl. */
typedef struct {
  cl_ulong first, count;
  cl_ulong inner, period, first_line, n_lines;
  cl_ulong wanted, n_wanted;
  cl_ulong n, n_in, n_out;
  cl_ulong origin_in, origin_out;
  cl_ulong share, rows, tiles;
  cl_uint is_real, has_map;
} Lines;

typedef struct {
  AstroFftConfig config;
  AstroPlace place;
  gboolean is_double;
  cl_kernel load, store;
  AstroOpenclLines axes[ASTRO_MAX_AXES]; /* of those that are transformed */
  AstroOpenclRooms rooms;                /* for the lines of a part */
  AstroOpenclRoom between; /* complex samples between axes, if the last of them becomes real */
} Fft;

/* ---- passes ---- */

static gboolean launch(Fft *self, cl_kernel kernel, const AstroOpenclArgument *arguments,
                       guint n_arguments, guint64 items, GError **error)
{
  return astro_opencl_launch_items(&self->place, kernel, arguments, n_arguments, items, 64, error);
}

/* Lines of a part are all loaded before one is stored, so that out may be in. */
static gboolean run_part(Fft *self, guint axis, const AstroFftPass *pass, Lines lines, gpointer in,
                         gpointer map, gpointer out, GError **error)
{
  const double scale = pass->inverse ? 1 / (double)pass->n : 1;
  const float single = (float)scale;
  guint at;
  lines.is_real = (cl_uint)pass->real_in;
  const AstroOpenclArgument loads[] = { OPENCL_FACE(in), OPENCL_FACE(map),
                                        OPENCL_FACE(self->rooms.faces[0]), OPENCL_VALUE(lines) };
  if (!launch(self, self->load, loads, G_N_ELEMENTS(loads), lines.count * lines.n, error) ||
      !astro_opencl_lines_run(&self->axes[axis], &self->rooms, lines.count, &at, error))
    return FALSE;
  lines.is_real = (cl_uint)pass->real_out;
  const AstroOpenclArgument stores[] = { OPENCL_FACE(self->rooms.faces[at]), OPENCL_FACE(out),
                                         OPENCL_VALUE(lines),
                                         self->is_double ? OPENCL_VALUE(scale)
                                                         : OPENCL_VALUE(single) };
  return launch(self, self->store, stores, G_N_ELEMENTS(stores), lines.count * lines.n_wanted,
                error);
}

static gboolean run_pass(Fft *self, guint axis, const AstroFftPass *pass,
                         const AstroFftTouched *touched, gpointer in, gpointer out, GError **error)
{
  const guint64 all = pass->outer * (pass->inner / pass->period) * pass->n_lines,
                room = self->axes[axis].room, most = MAX(PART_SAMPLES / room, 1);
  Lines lines = { .inner = pass->inner,
                  .period = pass->period,
                  .first_line = pass->first_line,
                  .n_lines = pass->n_lines,
                  .wanted = pass->wanted,
                  .n_wanted = pass->n_wanted,
                  .n = pass->n,
                  .n_in = pass->n_in,
                  .n_out = pass->n_out,
                  .origin_in = pass->origin_in,
                  .origin_out = pass->origin_out };
  if (touched) {
    lines.has_map = 1;
    lines.share = touched->share;
    lines.rows = touched->rows;
    lines.tiles = touched->tiles;
  }
  if (!astro_opencl_rooms_need(&self->rooms, &self->place, "fft",
                               MIN(most, all) * room * BYTES_OF(self), error))
    return FALSE;
  for (lines.first = 0; lines.first < all; lines.first += lines.count) {
    lines.count = MIN(all - lines.first, most);
    if (!run_part(self, axis, pass, lines, in, touched ? (gpointer)touched->map : NULL, out, error))
      return FALSE;
  }
  return TRUE;
}

/* The axis of each pass, in their order (core/lib/fft/check.c). */
static guint next_axis(const AstroFftConfig *config, gboolean becomes_real, guint *k)
{
  for (;;) {
    const guint axis = becomes_real ? *k : config->n_axes - 1 - *k;
    (*k)++;
    if (config->axes[axis].transformed)
      return axis;
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Fft *self = instance;
  const AstroFftConfig *config = &self->config;
  const guint64 *steps = arguments;
  const gboolean becomes_real = !astro_format_info(config->to)->is_complex;
  AstroFftPass passes[ASTRO_MAX_AXES];
  AstroFftTouched touched;
  if (!astro_fft_check_call(config, in, n_in, out, n_out, steps, error))
    return FALSE;
  const guint n_passes = astro_fft_passes(config, *steps, passes);
  const gboolean has_map = astro_fft_touched(config, in, n_in, &touched);
  gpointer from = in->data;
  if (becomes_real && n_passes > 1 &&
      !astro_opencl_make_room(&self->place, "fft", &self->between,
                              passes[0].outer * passes[0].n_out * passes[0].inner * BYTES_OF(self),
                              error))
    return FALSE;
  for (guint i = 0, k = 0; i < n_passes; i++) {
    gpointer to = becomes_real && i + 1 < n_passes ? self->between.face : out->data;
    if (!run_pass(self, next_axis(config, becomes_real, &k), &passes[i],
                  has_map && i == 0 ? &touched : NULL, from, to, error))
      return FALSE;
    from = to;
  }
  return TRUE;
}

/* ---- the backend ---- */

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_opencl_drain(&((Fft *)instance)->place, error);
}

static void destroy(gpointer instance)
{
  Fft *self = instance;
  const cl_kernel kernels[] = { self->load, self->store };
  for (guint i = 0; i < G_N_ELEMENTS(kernels); i++)
    if (kernels[i])
      clReleaseKernel(kernels[i]);
  for (guint i = 0; i < G_N_ELEMENTS(self->axes); i++)
    astro_opencl_lines_clear(&self->axes[i]);
  astro_opencl_rooms_clear(&self->rooms, &self->place);
  astro_opencl_free(&self->place, &self->between.face);
  g_free(self);
}

static gboolean open_kernels(Fft *self, GError **error)
{
  AstroDevice *device = self->place.device;
  const AstroOpenclProgram program = { "fft", text, self->is_double };
  g_autofree char *options =
      g_strdup_printf("-DREAL=%s -DTILE=%d", self->is_double ? "double" : "float", ASTRO_GRID_TILE);
  return (self->load = astro_opencl_kernel(device, &program, options, "load", error)) &&
         (self->store = astro_opencl_kernel(device, &program, options, "store", error));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_fft_check(config, error))
    return NULL;
  Fft *self = g_new0(Fft, 1);
  self->config = *(const AstroFftConfig *)config;
  self->place = *place;
  self->is_double = self->config.to == ASTRO_FORMAT_CF64LE || self->config.to == ASTRO_FORMAT_F64LE;
  if (variant)
    *variant = self->is_double ? "double" : "single";
  gboolean ok = open_kernels(self, error);
  for (guint i = 0; i < self->config.n_axes && ok; i++)
    ok = !self->config.axes[i].transformed ||
         astro_opencl_lines_init(&self->axes[i], place, "fft", self->config.extents[i],
                                 self->config.inverse, self->is_double, error);
  if (ok)
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_fft = {
  .stage = "fft",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroFftConfig),
  .shape = astro_fft_check,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
  .in_place = TRUE,
};
