/* Prints a plan: a table of stages, then how busy the machine would be. */
#include "graphs/plan-print.h"
#include "graphs/format.h"
#include "graphs/table.h"

#include <math.h>

enum {
  NAME,
  WHERE,
  PER,
  OPERATIONS,
  BYTES_IN,
  BYTES_OUT,
  BUS,
  INTENSITY,
  HELD_BY,
  TIME,
  ENERGY,
  HOST,
  DEVICE,
  COLUMNS
};

static const struct {
  const char *title;
  gboolean left;
} columns[COLUMNS] = {
  [NAME] = { "element", TRUE },
  [WHERE] = { "on", TRUE },
  [PER] = { "per", TRUE },
  [OPERATIONS] = { "operations" },
  [BYTES_IN] = { "bytes in" },
  [BYTES_OUT] = { "out" },
  [BUS] = { "bus" },
  [INTENSITY] = { "op/byte" },
  [HELD_BY] = { "held by", TRUE },
  [TIME] = { "time" },
  [ENERGY] = { "energy" },
  [HOST] = { "host memory" },
  [DEVICE] = { "device" },
};

static char *format_number(double value, const char *unit)
{
  static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
  guint prefix = 0;
  for (; value >= 999.5 && prefix + 1 < G_N_ELEMENTS(prefixes); prefix++)
    value /= 1000;
  return g_strdup_printf("%.3g%s%s%s", value, prefix || *unit ? " " : "", prefixes[prefix], unit);
}

static char *format_time(double seconds)
{
  return seconds <= 0     ? g_strdup("-")
         : seconds < 1e-3 ? g_strdup_printf("%.3g us", seconds * 1e6)
         : seconds < 1    ? g_strdup_printf("%.3g ms", seconds * 1e3)
                          : g_strdup_printf("%.3g s", seconds);
}

static char *or_dash(double value, char *(*format)(double value))
{
  return value > 0 ? format(value) : g_strdup("-");
}

const char *astro_plan_roof_name(const AstroPlanRow *row)
{
  static const char *const names[ASTRO_N_ROOFS] = { [ASTRO_ROOF_MEMORY] = "memory",
                                                    [ASTRO_ROOF_BUS_UP] = "bus to GPU",
                                                    [ASTRO_ROOF_BUS_DOWN] = "bus from GPU" };
  return row->stage->passes                   ? "-"
         : row->roof == ASTRO_ROOF_ARITHMETIC ? astro_arithmetic_name(row->kind)
                                              : names[row->roof];
}

/* "1.2 M + ?": there is more, which depends on the data. */
static char *format_operations(const AstroPlanRow *row)
{
  g_autofree char *known = row->stage->told ? format_number(row->operations, "") : NULL;
  return known && row->stage->besides ? g_strconcat(known, " + ?", NULL)
         : known                      ? g_steal_pointer(&known)
                                      : g_strdup("?");
}

static void add_row(GPtrArray *cells, const AstroPlanRow *row)
{
  const AstroPlanStage *stage = row->stage;
  char *values[COLUMNS] = {
    [NAME] = g_strdup(GST_OBJECT_NAME(stage->element)),
    [WHERE] = g_strdup(stage->passes    ? "passes on"
                       : row->on_device ? "GPU"
                                        : "host"),
    [PER] = g_strdup(stage->rate_in > 0 ? "second" : "frame"),
    [OPERATIONS] = format_operations(row),
    [BYTES_IN] = astro_format_bytes(stage->bytes_in),
    [BYTES_OUT] = astro_format_bytes(stage->bytes_out),
    [BUS] = or_dash(row->up + row->down, astro_format_bytes),
    [INTENSITY] = stage->told ? g_strdup_printf("%.3g", row->intensity) : g_strdup("?"),
    [HELD_BY] = g_strdup(astro_plan_roof_name(row)),
    [TIME] = format_time(row->seconds),
    [ENERGY] = row->energy > 0 ? format_number(row->energy, "J") : g_strdup("-"),
    [HOST] = or_dash(row->host, astro_format_bytes),
    [DEVICE] = or_dash(row->device, astro_format_bytes),
  };
  for (guint i = 0; i < COLUMNS; i++)
    g_ptr_array_add(cells, values[i]);
}

static void print_table(const AstroPlanRoofs *roofs, FILE *out)
{
  g_autoptr(GPtrArray) cells = g_ptr_array_new_with_free_func(g_free);
  gboolean left[COLUMNS];
  for (guint i = 0; i < COLUMNS; i++) {
    left[i] = columns[i].left;
    g_ptr_array_add(cells, g_strdup(columns[i].title));
  }
  for (guint i = 0; i < roofs->rows->len; i++)
    add_row(cells, &g_array_index(roofs->rows, AstroPlanRow, i));
  astro_table_print(cells, COLUMNS, left, out);
}

static const char *const parts[ASTRO_N_PARTS] = {
  [ASTRO_PART_HOST] = "the host's cores and memory",
  [ASTRO_PART_DEVICE] = "the GPU",
  [ASTRO_PART_BUS_UP] = "the bus to the GPU",
  [ASTRO_PART_BUS_DOWN] = "the bus from the GPU",
  [ASTRO_PART_NETWORK] = "the network",
  [ASTRO_PART_DISK] = "the disk",
};

static char *format_percent(double part)
{
  return g_strdup_printf(part < 1 ? "%.3g%%" : "%.0f%%", 100 * part);
}

static void print_loads(const AstroPlanRoofs *roofs, FILE *out)
{
  fprintf(out, "busy at best, of the time that the stream takes:");
  const char *separator = "";
  for (guint i = 0; i < ASTRO_N_PARTS; i++) {
    if (roofs->load[i] == 0)
      continue;
    g_autofree char *percent = format_percent(roofs->load[i]);
    fprintf(out, "%s %s %s", separator, parts[i], roofs->load[i] > 0 ? percent : "not known");
    separator = ",";
  }
  fprintf(out, "\n");
}

/* All loads are proportional to the band, as long as channels stay as wide as they are. */
static void print_limits(const AstroPlanShapes *shapes, const AstroPlanRoofs *roofs,
                         gboolean is_whole, FILE *out)
{
  const double load = roofs->load[roofs->bottleneck];
  print_loads(roofs, out);
  fprintf(out, "bottleneck: %s; one machine %s\n", parts[roofs->bottleneck],
          load > 1   ? "does not keep up with the stream"
          : is_whole ? "keeps up with the stream"
                     : "keeps up with what is counted");
  if (shapes->bandwidth > 0) {
    g_autofree char *band = format_number(shapes->bandwidth, "Hz");
    g_autofree char *most = format_number(shapes->bandwidth / load, "Hz");
    fprintf(out,
            "largest band in real time: %s%s (this graph has %s), with channels of this width\n",
            is_whole ? "" : "below ", most, band);
  }
  fprintf(out, "machines for this band: %s%.0f\n", is_whole ? "" : "at least ", ceil(load));
}

static gboolean is_untold(const AstroPlanRow *row)
{
  return !row->stage->told || row->stage->besides;
}

/* Says for which work rows have a "?". FALSE: there is none. */
static gboolean print_untold(const AstroPlanRoofs *roofs, FILE *out)
{
  gboolean any = FALSE;
  for (guint i = 0; i < roofs->rows->len; i++) {
    const AstroPlanRow *row = &g_array_index(roofs->rows, AstroPlanRow, i);
    if (!is_untold(row))
      continue;
    fprintf(out, "not counted: %s: %s\n", GST_OBJECT_NAME(row->stage->element),
            row->stage->besides ? row->stage->besides : "its operations are not told");
    any = TRUE;
  }
  if (any)
    fprintf(out, "the machine is busier than what follows says, by what is not counted\n");
  return any;
}

static void print_frames(const AstroPlanRoofs *roofs, FILE *out)
{
  const char *separator = "not counted below: ";
  for (guint i = 0; i < roofs->rows->len; i++) {
    const AstroPlanRow *row = &g_array_index(roofs->rows, AstroPlanRow, i);
    if (row->stage->rate_in > 0)
      continue;
    fprintf(out, "%s%s", separator, GST_OBJECT_NAME(row->stage->element));
    separator = ", ";
  }
  if (g_str_equal(separator, ", "))
    fprintf(out, ", whose streams have no rate\n");
}

static void print_memory(const AstroPlanRoofs *roofs, const AstroMachine *machine, FILE *out)
{
  g_autofree char *host = astro_format_bytes(roofs->host),
                  *of_host = astro_format_bytes(machine->host.memory);
  fprintf(out, "memory: %s of %s on the host", host, of_host);
  if (machine->devices > 0) {
    g_autofree char *device = astro_format_bytes(roofs->device),
                    *of_device = astro_format_bytes(machine->gpu.memory);
    fprintf(out, ", %s of %s on the GPU", device, of_device);
  }
  fprintf(out, "%s\n",
          roofs->host > machine->host.memory || roofs->device > machine->gpu.memory ? ": too much"
                                                                                    : "");
}

void astro_plan_print(const AstroPlanShapes *shapes, const AstroPlanRoofs *roofs,
                      const AstroMachine *machine, FILE *out)
{
  fprintf(out, "machine: %s\n", machine->name);
  print_table(roofs, out);
  const gboolean is_whole = !print_untold(roofs, out);
  print_frames(roofs, out);
  if (roofs->load[roofs->bottleneck] > 0)
    print_limits(shapes, roofs, is_whole, out);
  print_memory(roofs, machine, out);
}
