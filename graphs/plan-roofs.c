/* Divides the work of each stage by what the machine does at best. Stages side by side share their
 * machine, so what bounds a graph is the part that is busy for longest. */
#include "graphs/plan-roofs.h"
#include "core/memory/pool.h"
#include "graphs/plan-route.h"

#include <string.h>

const char *const astro_plan_cuda_stages[] = { "beamform",  "channelizer", "convert", "correlator",
                                               "degridder", "delay",       "fft",     "flag",
                                               "gridder",   "histogram",   "image",   "power",
                                               "sideband",  "transpose",   NULL };

void astro_plan_roofs_free(AstroPlanRoofs *roofs)
{
  g_array_unref(roofs->rows);
  g_free(roofs);
}

/* Numbers for which the machine has no rate are computed as wider ones. */
static double rate_of(const AstroMachineUnit *unit, AstroArithmetic arithmetic)
{
  static const AstroArithmetic wider[ASTRO_N_ARITHMETICS] = {
    [ASTRO_ARITHMETIC_INT8] = ASTRO_ARITHMETIC_INT16,
    [ASTRO_ARITHMETIC_INT16] = ASTRO_ARITHMETIC_FLOAT,
    [ASTRO_ARITHMETIC_HALF] = ASTRO_ARITHMETIC_FLOAT,
    [ASTRO_ARITHMETIC_FLOAT] = ASTRO_ARITHMETIC_DOUBLE,
    [ASTRO_ARITHMETIC_DOUBLE] = ASTRO_ARITHMETIC_DOUBLE,
  };
  while (unit->operations[arithmetic] <= 0 && wider[arithmetic] != arithmetic)
    arithmetic = wider[arithmetic];
  return unit->operations[arithmetic];
}

static double divided(double amount, double rate)
{
  return amount > 0 && rate > 0 ? amount / rate : 0;
}

static void find_roof(AstroPlanRow *row, const AstroMachine *machine)
{
  const AstroMachineUnit *unit = row->on_device ? &machine->gpu : &machine->host;
  double seconds[ASTRO_N_ROOFS] = {
    [ASTRO_ROOF_MEMORY] = divided(row->memory, unit->bandwidth),
    [ASTRO_ROOF_BUS_UP] = divided(row->up, machine->bus_up),
    [ASTRO_ROOF_BUS_DOWN] = divided(row->down, machine->bus_down),
  };
  double most = 0;
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++) {
    const double operations = row->stage->operations[i];
    row->operations += operations;
    seconds[ASTRO_ROOF_ARITHMETIC] += divided(operations, rate_of(unit, (AstroArithmetic)i));
    if (operations > most) {
      most = operations;
      row->kind = (AstroArithmetic)i;
    }
  }
  row->roof = ASTRO_ROOF_MEMORY;
  for (guint i = 0; i < ASTRO_N_ROOFS; i++)
    if (seconds[i] > seconds[row->roof])
      row->roof = (AstroRoof)i;
  row->seconds = seconds[row->roof];
  row->intensity = divided(row->operations, row->memory);
  /* Arithmetic and memory work at the same time; the bus needs neither. */
  row->energy = MAX(seconds[ASTRO_ROOF_ARITHMETIC], seconds[ASTRO_ROOF_MEMORY]) * unit->power;
}

static gboolean goes_to_device(const AstroPlanStage *stage, const AstroMachine *machine)
{
  return machine->devices > 0 && !stage->passes &&
         (g_str_equal(stage->backend, "auto") || g_str_equal(stage->backend, "cuda")) &&
         g_strv_contains(astro_plan_cuda_stages, stage->stage);
}

static gboolean check_backend(const AstroPlanStage *stage, const AstroMachine *machine,
                              char **trouble)
{
  if (g_str_equal(stage->backend, "opencl") && !stage->passes) {
    *trouble = g_strdup_printf("%s: backend=opencl, and machines are described by their CPU and "
                               "their CUDA devices; expected backend=auto, cpu or cuda",
                               GST_OBJECT_NAME(stage->element));
    return FALSE;
  }
  if (!g_str_equal(stage->backend, "cuda") || goes_to_device(stage, machine) || stage->passes)
    return TRUE;
  *trouble = machine->devices > 0
                 ? g_strdup_printf("%s: backend=cuda, and the CUDA module has no %s; expected "
                                   "backend=auto or cpu",
                                   GST_OBJECT_NAME(stage->element), stage->stage)
                 : g_strdup_printf("%s: backend=cuda, and the machine that is planned for has no "
                                   "GPU; expected backend=auto or cpu, or --machine with one that "
                                   "has, such as h100",
                                   GST_OBJECT_NAME(stage->element));
  return FALSE;
}

/* Blocks that a stage makes: as many as its pool holds, each as long as a block of the source, and
 * a step at least. */
static double pool_of(const AstroPlanStage *stage, double block)
{
  return ASTRO_POOL_DEPTH *
         MAX(stage->rate_out > 0 ? stage->bytes_out * block : stage->bytes_out, stage->step_out);
}

static void add_row(AstroPlanRoofs *roofs, const AstroPlanStage *stage, gboolean on_device,
                    const AstroPlanRoute *route, const AstroPlanShapes *shapes,
                    const AstroMachine *machine)
{
  AstroPlanRow row = { .stage = stage, .on_device = on_device };
  const double kept = stage->kept + (stage->passes ? 0 : pool_of(stage, shapes->block));
  if (!stage->passes)
    row.memory = stage->bytes_in + stage->bytes_out + stage->moved;
  row.up = on_device && route->from_host ? stage->bytes_in : 0;
  row.down = on_device && route->to_host ? stage->bytes_out : 0;
  row.device = on_device ? kept : 0;
  row.host = on_device ? 0 : kept;
  find_roof(&row, machine);
  roofs->host += row.host;
  roofs->device += row.device;
  g_array_append_val(roofs->rows, row);
  if (stage->rate_in <= 0)
    return;
  const AstroMachineUnit *unit = on_device ? &machine->gpu : &machine->host;
  double arithmetic = 0;
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++)
    arithmetic += divided(stage->operations[i], rate_of(unit, (AstroArithmetic)i));
  roofs->load[on_device ? ASTRO_PART_DEVICE : ASTRO_PART_HOST] +=
      MAX(arithmetic, divided(row.memory, unit->bandwidth));
  roofs->load[ASTRO_PART_BUS_UP] += divided(row.up, machine->bus_up);
  roofs->load[ASTRO_PART_BUS_DOWN] += divided(row.down, machine->bus_down);
}

static double outside(double amount, double rate)
{
  return amount > 0 && rate <= 0 ? -1 : divided(amount, rate);
}

AstroPlanRoofs *astro_plan_roofs(const AstroPlanShapes *shapes, const AstroMachine *machine,
                                 char **trouble)
{
  g_autoptr(AstroPlanRoofs) roofs = g_new0(AstroPlanRoofs, 1);
  g_autoptr(GHashTable) on_device = g_hash_table_new(NULL, NULL);
  roofs->rows = g_array_new(FALSE, FALSE, sizeof(AstroPlanRow));
  for (guint i = 0; i < shapes->stages->len; i++) {
    const AstroPlanStage *stage = shapes->stages->pdata[i];
    if (!check_backend(stage, machine, trouble))
      return NULL;
    if (goes_to_device(stage, machine))
      g_hash_table_add(on_device, stage->element);
  }
  for (guint i = 0; i < shapes->stages->len; i++) {
    const AstroPlanStage *stage = shapes->stages->pdata[i];
    const AstroPlanRoute route = astro_plan_route(stage->element, on_device);
    add_row(roofs, stage, g_hash_table_contains(on_device, stage->element), &route, shapes,
            machine);
  }
  roofs->load[ASTRO_PART_NETWORK] = outside(shapes->received, machine->network);
  roofs->load[ASTRO_PART_DISK] = outside(shapes->written, machine->disk);
  for (guint i = 0; i < ASTRO_N_PARTS; i++)
    if (roofs->load[i] > roofs->load[roofs->bottleneck])
      roofs->bottleneck = (AstroMachinePart)i;
  return g_steal_pointer(&roofs);
}
