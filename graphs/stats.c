/* Prints the table of --stats. */
#include "graphs/stats.h"
#include "core/memory/faces.h"
#include "core/memory/memory.h"
#include "graphs/bounds.h"
#include "graphs/counts.h"
#include "graphs/format.h"
#include "graphs/table.h"
#include "graphs/usage.h"

struct _AstroStats {
  AstroBounds *bounds; /* NULL: no machine was given */
  AstroCounts *counts;
  gint64 start;
  AstroMemoryCounters memory; /* at the start */
  guint64 copies_across, bytes_across;
  AstroUsage *usage;
  guint reads; /* the timer that reads it, since energy counters wrap */
};

#define READ_EVERY 60 /* seconds */

static gboolean read_usage(gpointer data)
{
  astro_usage_read(((AstroStats *)data)->usage);
  return G_SOURCE_CONTINUE;
}

AstroStats *astro_stats_new(GstElement *pipeline, const AstroMachine *machine)
{
  AstroStats *stats = g_new0(AstroStats, 1);
  stats->bounds = machine ? astro_bounds_new(pipeline, machine) : NULL;
  stats->counts = astro_counts_new(pipeline);
  stats->start = g_get_monotonic_time();
  astro_memory_counters(&stats->memory);
  stats->copies_across = astro_faces_counters.copies_across;
  stats->bytes_across = astro_faces_counters.bytes_across;
  stats->usage = astro_usage_new(NULL);
  stats->reads = g_timeout_add_seconds(READ_EVERY, read_usage, stats);
  return stats;
}

void astro_stats_hear(AstroStats *stats, GstMessage *message)
{
  if (stats->bounds)
    astro_bounds_hear(stats->bounds, message);
}

typedef struct {
  guint64 buffers_in, buffers_out, bytes_in, bytes_out;
  gboolean own; /* the element counts for itself, including the following */
  guint64 busy, input_wait, output_wait, host_copies, again;
  char *backend;
} Counts;

static Counts read_counts(AstroStats *stats, GstElement *element)
{
  g_autoptr(GstStructure) told = astro_counts_of(stats->counts, element);
  Counts counts = { .own = gst_structure_has_field(told, "busy-ns") };
  const struct {
    const char *field;
    guint64 *value;
  } fields[] = {
    { "buffers-in", &counts.buffers_in },
    { "buffers-out", &counts.buffers_out },
    { "bytes-in", &counts.bytes_in },
    { "bytes-out", &counts.bytes_out },
    { "busy-ns", &counts.busy },
    { "input-wait-ns", &counts.input_wait },
    { "output-wait-ns", &counts.output_wait },
    { "host-copies", &counts.host_copies },
    { "steps-again", &counts.again },
  };
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    gst_structure_get_uint64(told, fields[i].field, fields[i].value);
  counts.backend = g_strdup(gst_structure_get_string(told, "backend"));
  return counts;
}

enum {
  NAME,
  FACTORY,
  BUFFERS_IN,
  BUFFERS_OUT,
  BYTES_IN,
  BYTES_OUT,
  RATE,
  BUSY,
  INPUT_WAIT,
  OUTPUT_WAIT,
  HOST_COPIES,
  AGAIN,
  BACKEND,
  BOUND, /* this and the next only with a machine */
  OF_BOUND,
  COLUMNS
};

static const struct {
  const char *title;
  gboolean left;
} columns[COLUMNS] = {
  [NAME] = { "element", TRUE },
  [FACTORY] = { "factory", TRUE },
  [BUFFERS_IN] = { "buffers in" },
  [BUFFERS_OUT] = { "out" },
  [BYTES_IN] = { "bytes in" },
  [BYTES_OUT] = { "out" },
  [RATE] = { "rate" },
  [BUSY] = { "busy" },
  [INPUT_WAIT] = { "waits in" },
  [OUTPUT_WAIT] = { "out" },
  [HOST_COPIES] = { "host copies" },
  [AGAIN] = { "again" }, /* steps that came repeatedly or late and were left out */
  [BACKEND] = { "backend", TRUE },
  [BOUND] = { "bound", TRUE },
  [OF_BOUND] = { "of bound" },
};

typedef char *Row[COLUMNS];

static guint n_columns(const AstroStats *stats)
{
  return stats->bounds ? COLUMNS : BOUND;
}

static char *format_count(guint64 count)
{
  return g_strdup_printf("%" G_GUINT64_FORMAT, count);
}

static void add_row(AstroStats *stats, GstElement *element, double seconds, GArray *rows)
{
  Counts counts = read_counts(stats, element);
  GstElementFactory *factory = gst_element_get_factory(element);
  Row row = {
    [NAME] = gst_object_get_name(GST_OBJECT(element)),
    [FACTORY] = g_strdup(factory ? GST_OBJECT_NAME(factory) : "-"),
    [BUFFERS_IN] = format_count(counts.buffers_in),
    [BUFFERS_OUT] = format_count(counts.buffers_out),
    [BYTES_IN] = astro_format_bytes(counts.bytes_in),
    [BYTES_OUT] = astro_format_bytes(counts.bytes_out),
    [RATE] = astro_format_rate(MAX(counts.bytes_in, counts.bytes_out), seconds),
    [BACKEND] = counts.backend ? counts.backend : g_strdup("-"),
  };
  if (counts.own) {
    row[BUSY] = astro_format_seconds(counts.busy / 1e9);
    row[INPUT_WAIT] = astro_format_seconds(counts.input_wait / 1e9);
    row[OUTPUT_WAIT] = astro_format_seconds(counts.output_wait / 1e9);
    row[HOST_COPIES] = format_count(counts.host_copies);
    row[AGAIN] = format_count(counts.again);
  }
  if (stats->bounds && counts.backend) {
    const AstroBoundWork did = { .bytes_in = counts.bytes_in,
                                 .bytes_out = counts.bytes_out,
                                 .busy = counts.busy / 1e9,
                                 .whole = seconds,
                                 .backend = counts.backend };
    astro_bounds_find(stats->bounds, element, &did, &row[BOUND], &row[OF_BOUND]);
  }
  for (guint i = 0; i < COLUMNS; i++)
    if (!row[i])
      row[i] = g_strdup("-");
  g_array_append_val(rows, row);
}

static void print_rows(GArray *rows, guint n_columns, FILE *out)
{
  g_autoptr(GPtrArray) cells = g_ptr_array_new();
  gboolean left[COLUMNS];
  for (guint j = 0; j < n_columns; j++)
    left[j] = columns[j].left;
  for (guint i = 0; i < rows->len; i++)
    for (guint j = 0; j < n_columns; j++)
      g_ptr_array_add(cells, g_array_index(rows, Row, i)[j]);
  astro_table_print(cells, n_columns, left, out);
}

/* Prints how many blocks were copied between host and GPUs; nothing if none were. */
static void print_copies(const AstroStats *stats, FILE *out)
{
  const AstroMemoryCounters *before = &stats->memory;
  AstroMemoryCounters now;

  astro_memory_counters(&now);
  const guint64 up = now.copies_up - before->copies_up,
                down = now.copies_down - before->copies_down;
  if (up + down == 0)
    return;
  g_autofree char *bytes_up = astro_format_bytes((double)(now.bytes_up - before->bytes_up));
  g_autofree char *bytes_down = astro_format_bytes((double)(now.bytes_down - before->bytes_down));
  fprintf(out,
          "copies to GPUs %" G_GUINT64_FORMAT " (%s), back %" G_GUINT64_FORMAT
          " (%s), on the host %" G_GUINT64_FORMAT "; the host waited %" G_GUINT64_FORMAT " times\n",
          up, bytes_up, down, bytes_down, now.host_copies - before->host_copies,
          now.host_waits - before->host_waits);
  const guint64 across = astro_faces_counters.copies_across - stats->copies_across;
  if (across == 0)
    return;
  g_autofree char *bytes =
      astro_format_bytes((double)(astro_faces_counters.bytes_across - stats->bytes_across));
  fprintf(out, "copies from GPU to GPU %" G_GUINT64_FORMAT " (%s)\n", across, bytes);
}

/* Prints how much an element flagged, and the channels with most of it. */
static void print_flagged(AstroStats *stats, GstElement *element, FILE *out)
{
  g_autofree char *name = gst_object_get_name(GST_OBJECT(element));
  g_autoptr(GstStructure) own = astro_counts_of(stats->counts, element);
  guint64 flagged, judged = 0;
  double percent = 0;
  if (gst_structure_get_uint64(own, "flagged-values", &flagged)) {
    const GValue *channels = gst_structure_get_value(own, "worst-channels"),
                 *values = gst_structure_get_value(own, "worst-values");
    gst_structure_get_uint64(own, "judged-values", &judged);
    gst_structure_get_double(own, "flagged-percent", &percent);
    fprintf(out, "%s flagged %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " values (%.3g %%)", name,
            flagged, judged, percent);
    for (guint i = 0; channels && i < gst_value_array_get_size(channels); i++)
      fprintf(out, "%s %u (%" G_GUINT64_FORMAT ")", i ? "," : ", most in channels",
              g_value_get_uint(gst_value_array_get_value(channels, i)),
              g_value_get_uint64(gst_value_array_get_value(values, i)));
    fprintf(out, "\n");
  }
}

/* Prints how many pairs an element counted: of ranks that share a count, each has its own. */
static void print_pairs(AstroStats *stats, GstElement *element, FILE *out)
{
  g_autofree char *name = gst_object_get_name(GST_OBJECT(element));
  g_autoptr(GstStructure) own = astro_counts_of(stats->counts, element);
  guint64 pairs;
  if (gst_structure_get_uint64(own, "counted-pairs", &pairs))
    fprintf(out, "%s counted %" G_GUINT64_FORMAT " pairs\n", name, pairs);
}

/* Prints what this rank exchanged with others, if it did; the numbers are those of the process. */
static void print_exchanged(AstroStats *stats, double seconds, FILE *out)
{
  g_autoptr(GstStructure) told = astro_counts_of_bins(stats->counts, "astro-ranks");
  guint64 sent = 0, got = 0, moving = 0, held = 0, by_copy = 0, by_nccl = 0;
  guint rank = 0, ranks = 0;
  if (!told || !gst_structure_get(told, "rank", G_TYPE_UINT, &rank, "ranks", G_TYPE_UINT, &ranks,
                                  "bytes-sent", G_TYPE_UINT64, &sent, "bytes-got", G_TYPE_UINT64,
                                  &got, "moving-ns", G_TYPE_UINT64, &moving, "held-ns",
                                  G_TYPE_UINT64, &held, NULL))
    return;
  g_autofree char *bytes_sent = astro_format_bytes((double)sent);
  g_autofree char *bytes_got = astro_format_bytes((double)got);
  gst_structure_get_uint64(told, "bytes-by-copy", &by_copy);
  gst_structure_get_uint64(told, "bytes-by-nccl", &by_nccl);
  g_autofree char *between = astro_format_bytes((double)(by_copy + by_nccl));
  g_autofree char *way = by_copy + by_nccl > 0
                             ? g_strdup_printf(" (%s of it from GPU to GPU)", between)
                             : g_strdup("");
  fprintf(
      out,
      "rank %u of %u sent %s%s, got %s; bytes were on the way %.3g s (%.3g %% of the time), and "
      "streams were held up %.3f s until ranks took them\n",
      rank, ranks, bytes_sent, way, bytes_got, (double)moving / 1e9, (double)moving / 1e7 / seconds,
      (double)held / 1e9);
}

/* Prints what the machine took meanwhile, whoever made use of it, and what is not counted. */
static void print_energy(AstroStats *stats, double seconds, FILE *out)
{
  const AstroUsageTold told = astro_usage_read(stats->usage);
  gboolean has_cpu = FALSE;
  const char *before = "";
  fprintf(out, "energy of the machine:");
  for (guint i = 0; i < told.energies->len; i++) {
    const AstroEnergy *energy = &g_array_index(told.energies, AstroEnergy, i);
    g_autofree char *model = energy->model ? g_strdup_printf(" (%s)", energy->model) : g_strdup("");
    fprintf(out, "%s %s%s %.4g J (%.4g W)", before, energy->name, model, energy->joules,
            energy->joules / seconds);
    has_cpu |= !energy->model;
    before = ",";
  }
  before = told.energies->len > 0 ? ";" : "";
  if (!has_cpu) {
    fprintf(out, "%s not of the CPU: no counter that this user may read", before);
    before = ";";
  }
  if (told.no_gpus)
    fprintf(out, "%s not of GPUs: %s", before, told.no_gpus);
  fprintf(out, "\n");
}

void astro_stats_print(AstroStats *stats, FILE *out)
{
  double seconds = (g_get_monotonic_time() - stats->start) / 1e6;
  g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
  Row titles;
  for (guint i = 0; i < COLUMNS; i++)
    titles[i] = g_strdup(columns[i].title);
  g_array_append_val(rows, titles);
  g_autoptr(GPtrArray) elements = astro_counts_elements(stats->counts);
  for (guint i = 0; i < elements->len; i++)
    add_row(stats, elements->pdata[i], seconds, rows);
  print_rows(rows, n_columns(stats), out);
  print_copies(stats, out);
  print_exchanged(stats, seconds, out);
  print_energy(stats, seconds, out);
  for (guint i = 0; i < elements->len; i++)
    print_flagged(stats, elements->pdata[i], out);
  for (guint i = 0; i < elements->len; i++)
    print_pairs(stats, elements->pdata[i], out);
  for (guint i = 0; i < rows->len; i++)
    for (guint j = 0; j < COLUMNS; j++)
      g_free(g_array_index(rows, Row, i)[j]);
}

void astro_stats_free(AstroStats *stats)
{
  if (!stats)
    return;
  astro_counts_free(stats->counts);
  astro_bounds_free(stats->bounds);
  g_source_remove(stats->reads);
  astro_usage_free(stats->usage);
  g_free(stats);
}
