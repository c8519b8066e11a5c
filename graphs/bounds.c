/* Has the stages of a running pipeline tell their work, and divides it by what a machine allows. */
#include "graphs/bounds.h"
#include "graphs/plan-print.h"
#include "graphs/plan-roofs.h"

struct _AstroBounds {
  const AstroMachine *machine;
  AstroPlanShapes *shapes;
  AstroPlanStage alone; /* the one that is looked at, to which rows of roofs point */
};

AstroBounds *astro_bounds_new(GstElement *pipeline, const AstroMachine *machine)
{
  AstroBounds *bounds = g_new0(AstroBounds, 1);
  bounds->machine = machine;
  bounds->shapes = astro_plan_shapes_new();
  g_autoptr(GstContext) context = gst_context_new(ASTRO_PLAN_CONTEXT, FALSE);
  gst_structure_set(gst_context_writable_structure(context), "run", G_TYPE_BOOLEAN, TRUE, NULL);
  gst_element_set_context(pipeline, context);
  return bounds;
}

void astro_bounds_hear(AstroBounds *bounds, GstMessage *message)
{
  if (gst_message_has_name(message, ASTRO_PLAN_MESSAGE))
    astro_plan_shapes_hear(bounds->shapes, message);
}

/* The stage alone, with the backend that did its work. Blocks that come from the host to a GPU are
 * among the work of the bus, which --stats counts for the whole run. */
static AstroPlanRoofs *roofs_of(AstroBounds *bounds, AstroPlanStage *stage, const char *backend)
{
  g_autoptr(GPtrArray) stages = g_ptr_array_new();
  g_autofree char *trouble = NULL;
  AstroPlanShapes shapes = { .stages = stages };
  bounds->alone = *stage;
  bounds->alone.backend = (char *)backend;
  g_ptr_array_add(stages, &bounds->alone);
  return astro_plan_roofs(&shapes, bounds->machine, &trouble);
}

/* A GPU works beside the host, which does not know how long. */
static double time_of(const AstroBoundWork *did)
{
  return g_str_equal(did->backend, "cuda") ? did->whole : did->busy;
}

gboolean astro_bounds_of(AstroBounds *bounds, GstElement *element, const AstroBoundWork *did,
                         double *seconds, const char **roof)
{
  AstroPlanStage *stage = astro_plan_shapes_stage(bounds->shapes, element);
  if (!stage || !stage->told || stage->besides || stage->passes)
    return FALSE;
  const gboolean has_input = stage->bytes_in > 0;
  if (!has_input && stage->bytes_out <= 0)
    return FALSE;
  const double times = has_input ? (double)did->bytes_in / stage->bytes_in
                                 : (double)did->bytes_out / stage->bytes_out;
  g_autoptr(AstroPlanRoofs) roofs = roofs_of(bounds, stage, did->backend);
  if (!roofs)
    return FALSE;
  const AstroPlanRow *row = &g_array_index(roofs->rows, AstroPlanRow, 0);
  *seconds = row->seconds * times;
  *roof = astro_plan_roof_name(row);
  return *seconds > 0;
}

void astro_bounds_find(AstroBounds *bounds, GstElement *element, const AstroBoundWork *did,
                       char **bound, char **of_bound)
{
  double seconds = 0;
  const char *roof = NULL;
  const double took = time_of(did);
  if (took <= 0 || !astro_bounds_of(bounds, element, did, &seconds, &roof))
    return;
  *bound = g_strdup(roof);
  *of_bound = g_strdup_printf("%.3g %%", 100 * seconds / took);
}

void astro_bounds_free(AstroBounds *bounds)
{
  if (!bounds)
    return;
  astro_plan_shapes_free(bounds->shapes);
  g_free(bounds);
}
