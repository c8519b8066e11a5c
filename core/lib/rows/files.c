/* Opens several files, and reads one after the other. */
#include "core/lib/rows/files.h"

#include <string.h>

#include "core/kit/units.h"
#include "core/lib/rows/join.h"

/* Weights of observations that differ in time, bandwidth and noise differ by less than this. */
#define OTHER_UNIT 1000

struct _AstroRowFiles {
  guint n;
  AstroRowFile *files;     /* in order of time */
  guint now;               /* the file that is read */
  AstroRowContents joined; /* of several files */
  AstroRowFrame own;       /* room for an integration of the file, where its stations are others */
};

void astro_row_contents_clear(AstroRowContents *contents)
{
  g_clear_pointer(&contents->observation, astro_observation_unref);
  g_clear_pointer(&contents->note, g_free);
  g_clear_pointer(&contents->told, g_free);
}

/* ---- opening ---- */

static gint by_time(gconstpointer one, gconstpointer other)
{
  const AstroRowContents *a = ((const AstroRowFile *)one)->contents,
                         *b = ((const AstroRowFile *)other)->contents;
  const gint32 days = a->observation->start_mjd - b->observation->start_mjd;
  const guint64 a_ns = a->observation->start_ns + a->begin_ns,
                b_ns = b->observation->start_ns + b->begin_ns;
  /* Starts lie within their days, and first integrations mostly do. */
  const gint64 ns = (gint64)days * (gint64)ASTRO_NS_PER_DAY + (gint64)a_ns - (gint64)b_ns;
  return (ns > 0) - (ns < 0);
}

static void add_note(AstroRowFiles *f, const char *note)
{
  g_autofree char *before = f->joined.note;
  f->joined.note = before ? g_strdup_printf("%s; all files: %s", before, note)
                          : g_strdup_printf("all files: %s", note);
}

/* Weights may be numbers of samples or 1/Jy^2, and no file says which: together they would leave
 * one of the files out. */
static void warn_of_units(AstroRowFiles *f)
{
  const AstroRowFile *least = NULL, *most = NULL;
  float lowest = 0, highest = 0;
  for (guint i = 0; i < f->n; i++) {
    const float largest = f->files[i].kind->weights(f->files[i].reader)->largest;
    if (!(largest > 0))
      continue;
    if (!least || largest < lowest) {
      least = &f->files[i];
      lowest = largest;
    }
    if (!most || largest > highest) {
      most = &f->files[i];
      highest = largest;
    }
  }
  if (!least || highest / lowest < OTHER_UNIT)
    return;
  g_autofree char *note = g_strdup_printf("weights of %s go up to %.3g and those of %s up to %.3g: "
                                          "they are used as if they were in one "
                                          "unit, so that the first hardly counts",
                                          least->name, lowest, most->name, highest);
  add_note(f, note);
}

/* Weights of all files keep their ratios. */
static void scale_weights(AstroRowFiles *f)
{
  AstroWeightRange all = ASTRO_WEIGHT_RANGE_EMPTY;
  double scale;
  guint32 full;
  for (guint i = 0; i < f->n; i++) {
    const AstroWeightRange *own = f->files[i].kind->weights(f->files[i].reader);
    all.least = MIN(all.least, own->least);
    all.largest = MAX(all.largest, own->largest);
    all.whole = all.whole && own->whole;
  }
  g_autofree char *note = astro_weight_range_scale(&all, &scale, &full);
  for (guint i = 0; i < f->n; i++)
    f->files[i].kind->scale_weights(f->files[i].reader, scale, full);
  if (note)
    add_note(f, note);
  warn_of_units(f);
}

static gboolean open_all(AstroRowFiles *f, const AstroRowInput *inputs, GError **error)
{
  for (guint i = 0; i < f->n; i++) {
    AstroRowFile *file = &f->files[i];
    file->name = g_strdup(inputs[i].name);
    file->kind = inputs[i].kind;
    file->reader = file->kind->open(inputs[i].name, inputs[i].options, error);
    if (!file->reader)
      return FALSE;
    file->contents = file->kind->contents(file->reader);
  }
  if (f->n == 1)
    return TRUE;
  qsort(f->files, f->n, sizeof *f->files, by_time);
  if (!astro_row_files_join(f->files, f->n, &f->joined, error))
    return FALSE;
  scale_weights(f);
  return TRUE;
}

AstroRowFiles *astro_row_files_open_inputs(const AstroRowInput *inputs, guint n, GError **error)
{
  AstroRowFiles *f = g_new0(AstroRowFiles, 1);
  f->n = n;
  f->files = g_new0(AstroRowFile, n);
  if (open_all(f, inputs, error))
    return f;
  astro_row_files_close(f);
  return NULL;
}

AstroRowFiles *astro_row_files_open(const AstroRowReaderKind *kind, const char *const *names,
                                    gconstpointer options, GError **error)
{
  const guint n = g_strv_length((char **)names);
  g_autofree AstroRowInput *inputs = g_new(AstroRowInput, n);
  for (guint i = 0; i < n; i++)
    inputs[i] = (AstroRowInput){ kind, names[i], options };
  return astro_row_files_open_inputs(inputs, n, error);
}

const AstroRowContents *astro_row_files_contents(const AstroRowFiles *f)
{
  return f->n == 1 ? f->files[0].contents : &f->joined;
}

static void close_file(AstroRowFile *file)
{
  if (file->reader)
    file->kind->close(g_steal_pointer(&file->reader));
  file->contents = NULL;
}

static void clear_own(AstroRowFiles *f)
{
  g_clear_pointer(&f->own.data, g_free);
  g_clear_pointer(&f->own.counts, g_free);
  g_clear_pointer(&f->own.uvw, g_free);
  g_clear_pointer(&f->own.absent, g_free);
}

void astro_row_files_close(AstroRowFiles *f)
{
  for (guint i = 0; i < f->n; i++) {
    close_file(&f->files[i]);
    g_free(f->files[i].name);
    g_free(f->files[i].station_of);
  }
  g_free(f->files);
  astro_row_contents_clear(&f->joined);
  clear_own(f);
  g_free(f);
}

/* ---- reading ---- */

static gboolean make_room(AstroRowFiles *f, const AstroRowFile *file, GError **error)
{
  const AstroStream *s = &file->contents->stream;
  const guint64 values = astro_layout_samples(&s->layout);
  if (f->own.data)
    return TRUE;
  f->own.data = g_try_new(float, 2 * values);
  f->own.counts = g_try_new(guint32, values);
  f->own.absent = g_try_new(guint8, astro_stream_extent(s, ASTRO_AXIS_BASELINE));
  if (file->contents->observation->uvw_metres > 0)
    f->own.uvw = g_try_new(double, 3 * astro_stream_extent(s, ASTRO_AXIS_BASELINE));
  return (f->own.data && f->own.counts && f->own.absent &&
          (f->own.uvw || !(file->contents->observation->uvw_metres > 0))) ||
         astro_fail(error, ASTRO_ROWS_ERROR, ASTRO_ROWS_ERROR_READ,
                    "%s: there is no memory for an integration", file->name);
}

static gboolean read_file(AstroRowFiles *f, AstroRowFile *file, AstroRowFrame *frame, gboolean *end,
                          GError **error)
{
  if (f->n == 1 || file->is_same)
    return file->kind->read(file->reader, frame, end, error);
  if (!make_room(f, file, error) || !file->kind->read(file->reader, &f->own, end, error))
    return FALSE;
  astro_row_place(file, &f->joined.stream, &f->own, frame);
  return TRUE;
}

/* Files that have been read are closed, since each may hold much memory. */
gboolean astro_row_files_read(AstroRowFiles *f, AstroRowFrame *frame, gboolean *end, GError **error)
{
  *end = FALSE;
  while (f->now < f->n) {
    AstroRowFile *file = &f->files[f->now];
    if (read_file(f, file, frame, end, error)) {
      frame->start_ns += file->later_ns;
      return TRUE;
    }
    if (!*end)
      return FALSE;
    f->now++;
    clear_own(f);
    if (f->n > 1)
      close_file(file);
  }
  *end = TRUE;
  return FALSE;
}
