/* The opencl backend of transpose. */
#include "config.h"
#include "core/transpose/check.h"
#include "opencl/runtime/opencl.h"

static const AstroOpenclProgram program = { .name = "transpose", .text =
#include "opencl/transpose/transpose.cl.h"
};

#define WIDTH 32       /* as in transpose.cl */
#define LEAST_EXTENT 8 /* shorter axes leave most of a tile empty */

/* As in transpose.cl. */
typedef struct {
  cl_uint n;
  cl_uint extent[ASTRO_MAX_AXES]; /* fastest in the output first */
  cl_ulong from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES];
} Axes;
G_STATIC_ASSERT(ASTRO_MAX_AXES == 8);

/* Samples of each size as a type. Small ones have larger tiles: a work item then has more of them
 * on their way at once. */
static const struct {
  gsize bytes;
  guint tile; /* samples along a side */
  const char *name;
} types[] = { { 1, 64, "uchar" },
              { 2, 64, "ushort" },
              { 4, 32, "uint" },
              { 8, 32, "uint2" },
              { 16, 32, "uint4" } };
#define N_TYPES G_N_ELEMENTS(types)

typedef struct {
  AstroTransposeConfig config;
  AstroPlace place;
  guint rows;                               /* of a group of work items */
  cl_kernel gather[N_TYPES], turn[N_TYPES]; /* made when they are first needed */
} Transpose;

static guint type_of(gsize bytes)
{
  guint t = 0;
  while (types[t].bytes != bytes)
    t++;
  return t;
}

static gboolean need(Transpose *self, guint type, GError **error)
{
  AstroDevice *device = self->place.device;
  if (self->turn[type])
    return TRUE;
  g_autofree char *options = g_strdup_printf("-DTYPE=%s -DTILE=%u -DROWS=%u", types[type].name,
                                             types[type].tile, self->rows);
  if (!self->gather[type])
    self->gather[type] = astro_opencl_kernel(device, &program, options, "gather", error);
  if (self->gather[type])
    self->turn[type] = astro_opencl_kernel(device, &program, options, "turn", error);
  return self->turn[type] != NULL;
}

static void axes_of(const AstroTransposeConfig *config, Axes *axes)
{
  cl_ulong from[ASTRO_MAX_AXES], step = 1;
  for (guint i = config->n_axes; i-- > 0; step *= config->extents[i])
    from[i] = step;
  *axes = (Axes){ .n = config->n_axes };
  step = 1;
  for (guint i = 0; i < axes->n; i++) {
    const guint axis = config->order[axes->n - 1 - i];
    axes->extent[i] = (cl_uint)config->extents[axis];
    axes->from[i] = from[axis];
    axes->to[i] = step;
    step *= config->extents[axis];
  }
}

/* The product of all extents but two. */
static guint64 batch_of(const Axes *axes, guint a, guint b)
{
  guint64 batch = 1;
  for (guint i = 0; i < axes->n; i++)
    batch *= i == a || i == b ? 1 : axes->extent[i];
  return batch;
}

static void leave_out(Axes *axes, guint axis)
{
  axes->n--;
  for (guint i = axis; i < axes->n; i++) {
    axes->extent[i] = axes->extent[i + 1];
    axes->from[i] = axes->from[i + 1];
    axes->to[i] = axes->to[i + 1];
  }
}

/* Axis 0 is the innermost of the output, inner that of the input. */
static gboolean turn_tiles(Transpose *self, gpointer in, gpointer out, const Axes *axes,
                           guint inner, guint type, GError **error)
{
  const cl_uint2 extents = { { axes->extent[inner], axes->extent[0] } };
  const guint tile = types[type].tile;
  const cl_uint2 tiles = { { (extents.s[0] + tile - 1) / tile, (extents.s[1] + tile - 1) / tile } };
  const cl_ulong row_from = axes->from[0], row_to = axes->to[inner];
  const gsize batch = batch_of(axes, 0, inner);
  Axes rest = *axes;
  leave_out(&rest, inner);
  leave_out(&rest, 0);
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(in),     OPENCL_FACE(out),
                                            OPENCL_VALUE(rest),  OPENCL_VALUE(extents),
                                            OPENCL_VALUE(tiles), OPENCL_VALUE(row_from),
                                            OPENCL_VALUE(row_to) };
  const AstroOpenclRange range = {
    2,
    { batch * tiles.s[0] * tiles.s[1] * WIDTH, self->rows },
    { WIDTH, self->rows },
  };
  return astro_opencl_launch(&self->place, self->turn[type], arguments, G_N_ELEMENTS(arguments),
                             &range, error);
}

static gboolean gather(Transpose *self, gpointer in, gpointer out, const Axes *axes,
                       guint64 samples, guint type, GError **error)
{
  const cl_uint n = (cl_uint)samples;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(in), OPENCL_FACE(out), OPENCL_VALUE(*axes),
                                            OPENCL_VALUE(n) };
  return astro_opencl_launch_items(&self->place, self->gather[type], arguments,
                                   G_N_ELEMENTS(arguments), samples, 64, error);
}

/* Kernels count samples in 31 bits: a larger block is cut along its longest axis, and its parts are
 * transposed one after the other. */
static gboolean turn_part(Transpose *self, guint8 *in, guint8 *out, const Axes *axes, gsize bytes,
                          GError **error)
{
  const guint type = type_of(bytes);
  guint inner = 0, longest = 0;
  guint64 samples = 1;
  for (guint i = 0; i < axes->n; i++) {
    samples *= axes->extent[i];
    longest = axes->extent[i] > axes->extent[longest] ? i : longest;
  }
  if (samples > G_MAXINT32) {
    Axes first = *axes, second = *axes;
    const cl_uint cut = axes->extent[longest] / 2;
    first.extent[longest] = cut;
    second.extent[longest] -= cut;
    return turn_part(self, in, out, &first, bytes, error) &&
           turn_part(self, in + cut * axes->from[longest] * bytes,
                     out + cut * axes->to[longest] * bytes, &second, bytes, error);
  }
  while (inner < axes->n && axes->from[inner] != 1)
    inner++;
  if (inner > 0 && inner < axes->n && axes->extent[inner] >= LEAST_EXTENT &&
      axes->extent[0] >= LEAST_EXTENT)
    return turn_tiles(self, in, out, axes, inner, type, error);
  return gather(self, in, out, axes, samples, type, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Transpose *self = instance;
  AstroTransposeConfig config = arguments ? *(const AstroTransposeConfig *)arguments : self->config;
  gsize bytes;
  Axes axes;

  if (!astro_transpose_check_blocks(&config, in, n_in, out, n_out, error) ||
      !astro_transpose_check(&config, &bytes, error))
    return FALSE;
  const AstroTransposeConfig plain = config;
  astro_transpose_simplify(&config);
  if (config.n_axes < 2)
    return astro_opencl_copy(&self->place, out->data, in->data, bytes, error);
  /* Axes may have been folded into samples that need more alignment than the block has. */
  if ((guintptr)in->data % config.sample_bytes || (guintptr)out->data % config.sample_bytes)
    config = plain;
  axes_of(&config, &axes);
  return need(self, type_of(config.sample_bytes), error) &&
         turn_part(self, in->data, out->data, &axes, config.sample_bytes, error);
}

static void destroy(gpointer instance)
{
  Transpose *self = instance;
  for (guint t = 0; t < N_TYPES; t++) {
    if (self->gather[t])
      clReleaseKernel(self->gather[t]);
    if (self->turn[t])
      clReleaseKernel(self->turn[t]);
  }
  g_free(self);
}

/* The kernels that blocks are most likely to need are made here, so that a compiler that fails does
 * so before the stream begins. */
static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_transpose_shape(config, error))
    return NULL;
  Transpose *self = g_new0(Transpose, 1);
  self->config = *(const AstroTransposeConfig *)config;
  self->place = *place;
  self->rows = astro_opencl_device(place->device)->most_items >= WIDTH * 8 ? 8 : 1;
  AstroTransposeConfig simple = self->config;
  astro_transpose_simplify(&simple);
  *variant = "tiles";
  if (need(self, type_of(simple.sample_bytes), error))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_transpose = {
  .stage = "transpose",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroTransposeConfig),
  .shape = astro_transpose_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
