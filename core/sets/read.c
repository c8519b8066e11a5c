/* Reads Measurement Sets: puts rows together to integrations. */
#include <math.h>
#include <string.h>

#include "core/kit/enum.h"
#include "core/kit/units.h"
#include "core/sets/reader.h"

/* casacore takes some time for each call, so that rows are read together up to so many bytes. */
#define TOGETHER_BYTES (4u << 20)

ASTRO_ENUM_TYPE(astro_set_uvw_get_type, "AstroSetUvw",
                { ASTRO_SET_UVW_AUTO,
                  "Those of the antennas; refused if the set's own would give another picture",
                  "auto" },
                { ASTRO_SET_UVW_FILE, "The set's own, sent along with the buffers", "file" },
                { ASTRO_SET_UVW_TABLE, "Those of the antennas, times and phase centre", "table" })

gboolean astro_set_wrong(const AstroSetReader *r, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  return astro_set_refuse(error, "%s: %s", r->location, text);
}

void astro_set_note(AstroSetReader *r, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *before = r->contents.note;
  r->contents.note = before ? g_strdup_printf("%s; %s", before, text)
                            : g_strdup_printf("%s: %s", r->location, text);
}

/* ---- opening ---- */

static gboolean check_column(const AstroSetReader *r, GError **error)
{
  static const char *const known[] = { "DATA", "CORRECTED_DATA", "MODEL_DATA" };
  g_autoptr(GString) there = g_string_new(NULL);
  if (astro_set_has_column(r->tables, r->column))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    if (astro_set_has_column(r->tables, known[i]))
      g_string_append_printf(there, "%s%s", there->len ? ", " : "", known[i]);
  return astro_set_wrong(r, error, "it has no column %s, expected one of %s", r->column,
                         there->len ? there->str : "visibilities, of which it has none");
}

static void describe_history(AstroSetReader *r)
{
  AstroHistory *done = &r->contents.observation->done;
  done->delays = r->about.ours.delays_are_in ? ASTRO_DELAYS_IN : ASTRO_DELAYS_OUT;
  done->scale = g_str_equal(r->about.unit, "Jy") ? 1 : 0;
}

static gboolean describe_stream(AstroSetReader *r, GError **error)
{
  AstroRowContents *c = &r->contents;
  AstroStream *s = &c->stream;
  const guint64 baselines = astro_rows_baselines(r->rows);
  guint64 bytes;
  if (baselines > G_MAXINT32 ||
      !g_uint64_checked_mul(&bytes, baselines * r->channels, 8 * r->pols * r->pols) ||
      bytes > G_MAXSSIZE)
    return astro_set_wrong(r, error, "%u antennas and %u channels are too many for one integration",
                           c->stations, r->channels);
  s->quantity = ASTRO_QUANTITY_VISIBILITIES;
  s->format = ASTRO_FORMAT_CF32LE;
  s->has_counts = TRUE;
  s->layout =
      (AstroLayout){ 4,
                     { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL, ASTRO_AXIS_POL },
                     { r->channels, baselines, r->pols, r->pols } };
  c->step_ns = (guint64)r->rows->step_ns;
  c->begin_ns = astro_rows_begin(r->rows);
  c->duration_ns = astro_rows_duration(r->rows);
  s->rate_d = 1;
  gst_util_double_to_fraction(ASTRO_NS_PER_SECOND / (double)c->step_ns, &s->rate_n, &s->rate_d);
  return TRUE;
}

static gboolean allocate(AstroSetReader *r, GError **error)
{
  guint channels = 0;
  for (guint i = 0; i < r->n_windows; i++)
    channels = MAX(channels, r->windows[i].channels);
  const gsize row = (gsize)channels * r->setup->n_products;
  r->together = (guint)CLAMP(TOGETHER_BYTES / (8 * row), 1, r->rows->n);
  r->values = g_try_new(float, 2 * row * r->together);
  r->weights = g_try_new(float, row * r->together);
  r->flags = g_try_new(guint8, row * r->together);
  return (r->values && r->weights && r->flags) ||
         astro_set_wrong(r, error, "there is no memory for its rows");
}

static gboolean read_header(AstroSetReader *r, const AstroSetOptions *options, GError **error)
{
  if (!check_column(r, error) || !astro_set_read_index(r->tables, &r->index, error) ||
      !astro_set_select(r, options, error))
    return FALSE;
  astro_set_index_clear(&r->index);
  describe_history(r);
  return describe_stream(r, error) && astro_set_find_sky(r, options, error) && allocate(r, error);
}

static AstroSetReader *new_reader(const char *location, const AstroSetOptions *options)
{
  AstroSetReader *r = g_new0(AstroSetReader, 1);
  r->location = g_strdup(location);
  r->column = g_intern_string(options->column ? options->column : "DATA");
  return r;
}

AstroSetReader *astro_set_reader_open(const char *location, const AstroSetOptions *options,
                                      GError **error)
{
  AstroSetReader *r = new_reader(location, options);
  r->tables = astro_set_open(location, r->column, &r->about, error);
  if (r->tables && read_header(r, options, error) && astro_set_scale_weights(r, error))
    return r;
  astro_set_reader_close(r);
  return NULL;
}

AstroSetReader *astro_set_reader_open_to_write(const char *location, const AstroSetOptions *options,
                                               GError **error)
{
  AstroSetReader *r = new_reader(location, options);
  r->tables = astro_set_open_to_write(location, r->column, &r->about, error);
  if (r->tables && read_header(r, options, error))
    return r;
  astro_set_reader_close(r);
  return NULL;
}

const AstroRowContents *astro_set_reader_contents(const AstroSetReader *r)
{
  return &r->contents;
}

void astro_set_reader_close(AstroSetReader *r)
{
  g_clear_pointer(&r->tables, astro_set_close);
  for (guint i = 0; i < r->n_windows; i++)
    g_free(r->windows[i].row);
  g_free(r->windows);
  astro_row_contents_clear(&r->contents);
  g_clear_pointer(&r->rows, astro_rows_free);
  astro_set_index_clear(&r->index);
  astro_set_about_clear(&r->about);
  g_free(r->uvw);
  g_free(r->values);
  g_free(r->weights);
  g_free(r->flags);
  g_free(r->location);
  g_free(r);
}

/* ---- integrations ---- */

gboolean astro_set_fetch(AstroSetReader *r, const AstroSetWindow *w, guint64 row, guint n,
                         gboolean only_weights, GError **error)
{
  return astro_set_read_rows(r->tables, r->column, row, n, w->channels, r->setup->n_products,
                             only_weights ? NULL : r->values, only_weights ? NULL : r->flags,
                             r->weights, error);
}

/* Puts the values of a row where they belong in an integration; k: its number among those that were
 * read. */
static void place_row(const AstroSetReader *r, const AstroSetWindow *w, guint64 row, guint k,
                      AstroRowFrame *frame)
{
  const guint products = r->setup->n_products;
  const guint64 baselines = astro_rows_baselines(r->rows),
                baseline = astro_rows_baseline(r->rows, row);
  /* The pair is (j, i); we need its conjugate. */
  const gboolean swapped = r->rows->station[0][row] <= r->rows->station[1][row];
  const float sign = swapped == r->conjugated ? 1 : -1;
  for (guint c = 0; c < w->channels; c++) {
    const guint64 in =
        ((guint64)k * w->channels + (w->upside_down ? w->channels - 1 - c : c)) * products;
    const guint64 to = ((w->first + c) * baselines + baseline) * r->pols * r->pols;
    for (guint p = 0; p < ASTRO_ROW_PRODUCTS; p++) {
      if (r->place[p] < 0)
        continue;
      const guint64 from = in + (guint)r->place[p];
      const guint8 *pols = astro_row_products[p].pols;
      const guint64 at = to + pols[swapped] * r->pols + pols[!swapped];
      const float *value = &r->values[2 * from];
      guint32 count = r->flags[from] ? 0 : astro_weight_count(r->weights[from], r->weight_scale);
      if (count && !(isfinite(value[0]) && isfinite(value[1]))) {
        frame->not_finite++;
        count = 0;
      }
      frame->counts[at] = count;
      frame->data[2 * at] = count ? value[0] : 0;
      frame->data[2 * at + 1] = count ? sign * value[1] : 0;
    }
  }
}

/* Our V_ij needs (u,v,w) of i minus j; a row has those of its first antenna minus its second.
 * Values without (u,v,w) cannot be used. */
static void place_uvw(const AstroSetReader *r, guint64 row, AstroRowFrame *frame)
{
  const double sign = r->rows->station[0][row] <= r->rows->station[1][row] ? -1 : 1,
               *uvw = &r->uvw[3 * row];
  const guint64 baselines = astro_rows_baselines(r->rows),
                baseline = astro_rows_baseline(r->rows, row);
  const guint products = r->pols * r->pols;
  if (isfinite(uvw[0]) && isfinite(uvw[1]) && isfinite(uvw[2])) {
    for (guint k = 0; k < 3; k++)
      frame->uvw[3 * baseline + k] = sign * uvw[k];
    return;
  }
  for (guint c = 0; c < r->channels; c++)
    for (guint k = 0; k < products; k++) {
      guint32 *count = &frame->counts[(c * baselines + baseline) * products + k];
      frame->not_finite += *count > 0;
      *count = 0;
    }
}

/* Rows of an integration that follow each other in the set are read together. */
static gboolean read_window(AstroSetReader *r, const AstroSetWindow *w, AstroRowFrame *frame,
                            GError **error)
{
  const guint64 *order = r->rows->order, end = r->rows->frame[r->next + 1];
  for (guint64 at = r->rows->frame[r->next]; at < end;) {
    const guint64 first = w->row[order[at]];
    guint n = 1;
    if (first == ASTRO_SET_NO_ROW) {
      at++;
      continue;
    }
    while (n < r->together && at + n < end && w->row[order[at + n]] == first + n)
      n++;
    if (!astro_set_fetch(r, w, first, n, FALSE, error))
      return FALSE;
    for (guint k = 0; k < n; k++)
      place_row(r, w, order[at + k], k, frame);
    at += n;
  }
  return TRUE;
}

gboolean astro_set_reader_read(AstroSetReader *r, AstroRowFrame *frame, gboolean *end,
                               GError **error)
{
  const guint64 baselines = astro_rows_baselines(r->rows),
                values = baselines * r->channels * r->pols * r->pols;
  *end = r->next == r->rows->n_frames;
  if (*end)
    return FALSE;
  memset(frame->data, 0, values * 2 * sizeof *frame->data);
  memset(frame->counts, 0, values * sizeof *frame->counts);
  if (r->gives_uvw)
    memset(frame->uvw, 0, 3 * baselines * sizeof *frame->uvw);
  frame->not_finite = 0;
  for (guint i = 0; i < r->n_windows; i++)
    if (!read_window(r, &r->windows[i], frame, error))
      return FALSE;
  if (r->gives_uvw)
    for (guint64 at = r->rows->frame[r->next]; at < r->rows->frame[r->next + 1]; at++)
      place_uvw(r, r->rows->order[at], frame);
  if (frame->absent) {
    memset(frame->absent, TRUE, baselines);
    for (guint64 at = r->rows->frame[r->next]; at < r->rows->frame[r->next + 1]; at++)
      frame->absent[astro_rows_baseline(r->rows, r->rows->order[at])] = FALSE;
  }
  frame->full = r->full;
  frame->duration_ns = (guint64)astro_rows_length(r->rows, r->next);
  frame->start_ns = astro_rows_middle(r->rows, r->next) - (gint64)frame->duration_ns / 2;
  r->next++;
  return TRUE;
}

/* ---- for sources ---- */

static gpointer kind_open(const char *location, gconstpointer options, GError **error)
{
  return astro_set_reader_open(location, options, error);
}

static const AstroRowContents *kind_contents(gpointer reader)
{
  return astro_set_reader_contents(reader);
}

static const AstroWeightRange *kind_weights(gpointer reader)
{
  return &((AstroSetReader *)reader)->range;
}

static void kind_scale_weights(gpointer reader, double scale, guint32 full)
{
  AstroSetReader *r = reader;
  r->weight_scale = scale;
  r->full = full;
}

static gboolean kind_read(gpointer reader, AstroRowFrame *frame, gboolean *end, GError **error)
{
  return astro_set_reader_read(reader, frame, end, error);
}

static void kind_close(gpointer reader)
{
  astro_set_reader_close(reader);
}

const AstroRowReaderKind astro_set_reader_kind = {
  .name = "Measurement Set",
  .open = kind_open,
  .contents = kind_contents,
  .weights = kind_weights,
  .scale_weights = kind_scale_weights,
  .read = kind_read,
  .close = kind_close,
};
