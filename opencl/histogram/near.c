/* Looks at each pair of near cells on the device: in space, and where points carry something or
 * pairs have weights of their own. */
#include "config.h"
#include "core/histogram/pair-weights.h"
#include "core/histogram/space.h"
#include "opencl/histogram/counter.h"

static const char text[] =
#include "opencl/histogram/seeds.cl.h"
#include "opencl/histogram/values.cl.h"
    "#ifdef FIELDS\n"
#include "core/histogram/carried.cl.h"
    "#endif\n"
#include "opencl/histogram/near.cl.h"
    ;

/* Local memory has 32 KiB or more, of which the bins of a group get so much. */
#define MOST_LOCAL_BYTES 24576

gboolean astro_opencl_near_is_wanted(const AstroHistogramConfig *config)
{
  return config->kind != ASTRO_BINNING_ANGULAR || config->fields != ASTRO_PAIR_FIELDS_NONE ||
         config->weighs_pairs;
}

gboolean astro_opencl_near_open(OpenclCounter *self, GError **error)
{
  const AstroHistogramConfig *config = &self->counter->config;
  const AstroOpenclProgram program = { "histogram", text, TRUE };
  const char *options = config->fields != ASTRO_PAIR_FIELDS_NONE ? "-DWEIGHTED -DFIELDS"
                        : config->weighs_pairs                   ? "-DWEIGHTED -DWEIGHS_PAIRS"
                        : config->weighted                       ? "-DWEIGHTED"
                                                                 : "";
  self->near = astro_opencl_kernel(self->place.device, &program, options, "count_near", error);
  return self->near != NULL;
}

gboolean astro_opencl_near_count(OpenclWalk *walk)
{
  OpenclCounter *self = walk->self;
  const AstroHistogramConfig *config = &self->counter->config;
  const SpaceRule *rule = config->kind == ASTRO_BINNING_ANGULAR ? NULL : self->counter->rule;
  const gboolean has_bits = walk->a.bits || walk->b.bits;
  const PairTable *table = walk->count.call ? walk->count.call->table : NULL;
  const gsize bins = astro_histogram_bins(config);
  const cl_uint kind = config->kind, fields = config->fields,
                n_planes = config->weighted ? astro_pair_fields_planes(config->fields) : 0;
  const cl_uint has = (walk->a.carried ? 1u : 0u) | (walk->b.carried ? 2u : 0u) |
                      (walk->a.bits ? 4u : 0u) | (walk->b.bits ? 8u : 0u);
  const cl_uint n_edges = config->n_edges, n_columns = rule ? rule->n_columns : 1,
                n_words =
                    has_bits ? MAX(walk->count.a->n_bit_words, walk->count.b->n_bit_words) : 0,
                n_table = table ? table->n : 0;
  const cl_double limit = rule ? rule->limit : INFINITY;
  const cl_ulong values = self->values;
  const cl_uint is_local =
      bins * (sizeof(cl_uint) + n_planes * sizeof(cl_double)) <= MOST_LOCAL_BYTES ? 1 : 0;
  const gsize local = is_local ? bins : 1;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->seeds),
                                            OPENCL_FACE(self->rows),
                                            OPENCL_FACE(self->columns),
                                            OPENCL_FACE(walk->a.positions),
                                            OPENCL_FACE(walk->b.positions),
                                            OPENCL_FACE(walk->a.carried),
                                            OPENCL_FACE(walk->b.carried),
                                            OPENCL_FACE(walk->a.bits),
                                            OPENCL_FACE(walk->b.bits),
                                            OPENCL_FACE(self->of_bits),
                                            OPENCL_FACE(walk->squares),
                                            OPENCL_FACE(walk->weights),
                                            OPENCL_FACE(self->counts),
                                            OPENCL_FACE(self->sums),
                                            OPENCL_VALUE(kind),
                                            OPENCL_VALUE(fields),
                                            OPENCL_VALUE(n_planes),
                                            OPENCL_VALUE(has),
                                            OPENCL_VALUE(n_edges),
                                            OPENCL_VALUE(n_columns),
                                            OPENCL_VALUE(limit),
                                            OPENCL_VALUE(n_words),
                                            OPENCL_VALUE(n_table),
                                            OPENCL_VALUE(values),
                                            OPENCL_VALUE(is_local),
                                            OPENCL_LOCAL(local * sizeof(cl_uint)),
                                            OPENCL_LOCAL(local * MAX(n_planes, 1) *
                                                         sizeof(cl_double)) };
  const AstroOpenclRange range = { 1, { (gsize)self->n_seeds * OPENCL_GROUP }, { OPENCL_GROUP } };
  return astro_opencl_launch(&self->place, self->near, arguments, G_N_ELEMENTS(arguments), &range,
                             walk->error);
}
