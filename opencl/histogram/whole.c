/* Counts pairs by angle on the device, and the products of their weights, where cells whose pairs
 * fall into one bin have been counted as a whole. */
#include "config.h"
#include "opencl/histogram/counter.h"

static const char text[] =
#include "opencl/histogram/seeds.cl.h"
#include "opencl/histogram/histogram.cl.h"
    ;

gboolean astro_opencl_whole_open(OpenclCounter *self, GError **error)
{
  const AstroOpenclProgram program = { "histogram", text, TRUE };
  self->whole =
      astro_opencl_kernel(self->place.device, &program,
                          self->counter->config.weighted ? "-DWEIGHTED" : "", "count_pairs", error);
  return self->whole != NULL;
}

gboolean astro_opencl_whole_count(OpenclWalk *walk)
{
  OpenclCounter *self = walk->self;
  const cl_uint n_edges = self->counter->config.n_edges;
  const cl_uint has_weights = (walk->a.carried ? 1u : 0u) | (walk->b.carried ? 2u : 0u);
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(self->seeds),       OPENCL_FACE(self->rows),      OPENCL_FACE(walk->a.positions),
    OPENCL_FACE(walk->b.positions), OPENCL_FACE(walk->a.carried), OPENCL_FACE(walk->b.carried),
    OPENCL_FACE(self->counts),      OPENCL_FACE(self->sums),      OPENCL_VALUE(n_edges),
    OPENCL_VALUE(has_weights)
  };
  const AstroOpenclRange range = { 1, { (gsize)self->n_seeds * OPENCL_GROUP }, { OPENCL_GROUP } };
  return astro_opencl_launch(&self->place, self->whole, arguments, G_N_ELEMENTS(arguments), &range,
                             walk->error);
}
