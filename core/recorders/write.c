/* The part of writing recordings that formats share: levels, blocks, losses, and where a file ends.
 */
#include "config.h"
#include "core/recorders/write.h"

#include <string.h>

#include "core/lib/files/utc-name.h"
#include "core/recorders/write-block.h"
#include "core/recorders/write-levels.h"
#include "core/recorders/write-parts.h"

/* Steps from which the rms is measured, at most, and their bytes. */
#define LEARN_STEPS 16384
#define LEARN_BYTES ((guint64)64 << 20)
/* A longer gap ends the file: filling it would fill the disk with nothing. */
#define LONGEST_GAP 60 /* seconds */
#define NS_A_DAY G_GUINT64_CONSTANT(86400000000000)
#define NS_A_SECOND G_GUINT64_CONSTANT(1000000000)

G_DEFINE_QUARK(astro - record - error - quark, astro_record_error)

static const AstroRecordKind *const kinds[] = { &astro_record_vdif, &astro_record_dada,
                                                &astro_record_guppi, &astro_record_sigproc };

const AstroRecordKind *astro_record_kind(const char *name, GError **error)
{
  g_autoptr(GString) known = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    if (!g_strcmp0(name, kinds[i]->name))
      return kinds[i];
    g_string_append_printf(known, "%s%s", i ? ", " : "", kinds[i]->name);
  }
  astro_record_refuse_setting(error, "format \"%s\" is not known, expected one of %s",
                              name ? name : "", known->str);
  return NULL;
}

const char *astro_record_kind_name(const AstroRecordKind *kind)
{
  return kind->name;
}

const char *astro_record_kind_losses(const AstroRecordKind *kind)
{
  return kind->losses;
}

gboolean astro_record_kind_marks(const AstroRecordKind *kind)
{
  return kind->marks;
}

gboolean astro_record_kind_tells_frequency(const AstroRecordKind *kind)
{
  return kind->tells_frequency;
}

/* ---- what files can hold ---- */

static gboolean check_bits(AstroRecordWriter *w, GError **error)
{
  const AstroRecordKind *kind = w->settings.kind;
  const AstroFormatInfo *format = astro_format_info(w->stream.format);
  g_autoptr(GString) known = g_string_new(NULL);
  guint bits = w->settings.bits;
  /* CI4 has two components in a byte. */
  if (!bits)
    bits = format->is_float ? 8 : MIN(format->bytes * 8 / w->components, 16);
  for (guint i = 0; kind->bits[i]; i++) {
    w->bits = kind->bits[i];
    if (w->bits == bits || (!w->settings.bits && w->bits > bits))
      return TRUE;
    g_string_append_printf(known, "%s%u", i ? ", " : "", w->bits);
  }
  return astro_record_refuse_setting(error, "%s files cannot have bits=%u, expected one of %s",
                                     kind->name, bits, known->str);
}

static gboolean check_axes(const AstroRecordWriter *w, GError **error)
{
  const AstroLayout *layout = &w->stream.layout;
  const AstroRecordKind *kind = w->settings.kind;
  g_autofree char *found = astro_layout_to_string(layout);
  for (guint i = 0; i < layout->n_axes; i++) {
    const AstroAxis axis = layout->axes[i];
    if (axis == ASTRO_AXIS_BEAM && layout->extents[i] == 1)
      continue;
    if (axis == ASTRO_AXIS_BEAM && kind->takes_power)
      return astro_record_refuse(
          error,
          "the stream has %" G_GUINT64_FORMAT " beams, and a %s file holds "
          "one: put astroselect beams=... before an astrorecordsink for each",
          layout->extents[i], kind->name);
    if (axis != ASTRO_AXIS_TIME && axis != ASTRO_AXIS_STATION && axis != ASTRO_AXIS_POL &&
        axis != ASTRO_AXIS_CHANNEL)
      return astro_record_refuse(
          error, "the layout is %s, expected axes among time, station, pol and channel", found);
  }
  if (astro_layout_find(layout, ASTRO_AXIS_TIME) < 0)
    return astro_record_refuse(error, "the layout is %s, expected one with time", found);
  if (w->stations > 1 && !kind->takes_stations)
    return astro_record_refuse(
        error,
        "the stream has %" G_GUINT64_FORMAT " stations, and a %s file holds one: put astroselect "
        "stations=... before an astrorecordsink for each, or choose format=vdif",
        w->stations, kind->name);
  return TRUE;
}

static gboolean check_stream(AstroRecordWriter *w, GError **error)
{
  const AstroStream *stream = &w->stream;
  const AstroRecordKind *kind = w->settings.kind;
  if (kind->takes_power != (stream->quantity == ASTRO_QUANTITY_POWER))
    return astro_record_refuse(error, "the stream has %s, and %s files hold %s",
                               astro_quantity_name(stream->quantity), kind->name,
                               kind->takes_power
                                   ? "power: astropower makes it of spectra"
                                   : "voltages or spectra: choose format=sigproc for power");
  if (stream->rate_n == 0)
    return astro_record_refuse(error, "caps have no field \"rate\", which %s files record",
                               kind->name);
  if (!w->observation || !w->observation->has_start)
    return astro_record_refuse(error,
                               "%s files record when their samples were taken, which is not "
                               "known: put astroobserve start-time=... upstream",
                               kind->name);
  /* Power of all stations or of a beam has no station axis. */
  if (!kind->takes_power && w->observation->n_stations && w->observation->n_stations != w->stations)
    return astro_record_refuse(error,
                               "the observation has %u stations, and the stream %" G_GUINT64_FORMAT,
                               w->observation->n_stations, w->stations);
  if (w->components == 1 && !kind->takes_real)
    return astro_record_refuse(error,
                               "the samples are real (%s), and %s files hold complex ones: choose "
                               "another format, or make spectra with astrochannelizer",
                               astro_format_name(stream->format), kind->name);
  return check_axes(w, error);
}

/* ---- files ---- */

void astro_record_time(const AstroRecordWriter *w, gint64 step, gint32 *mjd, guint64 *ns)
{
  const unsigned __int128 unit = (unsigned __int128)NS_A_SECOND * (guint)w->stream.rate_d;
  const guint64 n = (guint64)w->stream.rate_n, away = (guint64)ABS(step);
  const guint64 since = (guint64)((away * unit + n / 2) / n);
  *mjd = w->observation->start_mjd;
  *ns = w->observation->start_ns;
  if (step >= 0) {
    *ns += since;
  } else {
    for (; *ns < since; *ns += NS_A_DAY)
      --*mjd;
    *ns -= since;
  }
  *mjd += (gint32)(*ns / NS_A_DAY);
  *ns %= NS_A_DAY;
}

gsize astro_record_step_bytes(const AstroRecordWriter *w)
{
  return (w->stations * w->pols * w->channels * w->components * w->bits + 7) / 8;
}

guint64 astro_record_block_steps(const AstroRecordWriter *w, gsize bytes)
{
  const gsize step = w->stations * w->pols * w->channels * w->sample_bytes;
  return MAX((bytes + step - 1) / step, 1);
}

static gboolean refuse_limit(const AstroRecordWriter *w, const char *setting, GError **error)
{
  const guint64 bytes = w->settings.kind->bytes(w, w->grain);
  return astro_record_refuse_setting(
      error,
      "%s is less than the smallest %s file of this stream, which has %" G_GUINT64_FORMAT
      " steps in %" G_GUINT64_FORMAT " bytes",
      setting, w->settings.kind->name, w->grain, bytes);
}

/* Finds how many steps a file has at most: a multiple of the grain. */
static gboolean find_limit(AstroRecordWriter *w, GError **error)
{
  const AstroRecordSettings *s = &w->settings;
  guint64 most = G_MAXUINT64;
  if (s->most_ns) {
    const unsigned __int128 unit = (unsigned __int128)NS_A_SECOND * (guint)w->stream.rate_d;
    const unsigned __int128 steps = (unsigned __int128)s->most_ns * (guint)w->stream.rate_n / unit;
    most = (guint64)MIN(steps, G_MAXINT64) / w->grain * w->grain;
    if (most == 0)
      return refuse_limit(w, "max-file-duration", error);
  }
  if (s->most_bytes) {
    guint64 low = 0, high = MIN(s->most_bytes, G_MAXINT64) / w->grain + 1;
    while (high - low > 1) { /* in grains: a file of `low` fits and one of `high` does not */
      const guint64 middle = low + (high - low) / 2;
      if (s->kind->bytes(w, middle * w->grain) <= s->most_bytes)
        low = middle;
      else
        high = middle;
    }
    if (low == 0)
      return refuse_limit(w, "max-file-size", error);
    most = MIN(most, low * w->grain);
  }
  if (most == G_MAXUINT64)
    return TRUE;
  if (s->kind->has_blocks && most > w->block.steps)
    most = most / w->block.steps * w->block.steps;
  w->block.steps = MIN(w->block.steps, most);
  w->most_steps = most;
  return TRUE;
}

static gboolean open_file(AstroRecordWriter *w, guint64 first, GError **error)
{
  gint32 mjd;
  guint64 ns;
  astro_record_time(w, (gint64)first, &mjd, &ns);
  g_autofree char *name = astro_utc_name(w->pattern, mjd, ns, w->n_files);
  if (g_hash_table_contains(w->names, name))
    return astro_record_refuse_setting(
        error,
        "another file of this recording is already named %s: expected a location that tells files "
        "apart by their time (%%Y%%m%%dT%%H%%M%%S.%%f) or number (%%i)",
        name);
  w->part = astro_part_file_create(name, error);
  if (!w->part)
    return FALSE;
  w->file = (AstroRecordFile){ .name = g_strdup(name), .first = first };
  g_hash_table_add(w->names, g_steal_pointer(&name));
  w->n_files++;
  return w->settings.kind->open(w, error);
}

static gboolean close_file(AstroRecordWriter *w, GError **error)
{
  if (!w->part)
    return TRUE;
  w->file.bytes = astro_part_file_bytes(w->part);
  w->file.clipped = w->misfits.clipped;
  w->file.nans = w->misfits.nans;
  w->file.partial = w->partial;
  w->misfits = (AstroRecordMisfits){ 0 };
  w->partial = 0;
  w->file.samples = w->file.steps * w->stations * w->pols * w->channels;
  if (!w->settings.kind->close(w, error) ||
      !astro_part_file_commit(g_steal_pointer(&w->part), error))
    return FALSE;
  w->done(w->user, &w->file);
  g_clear_pointer(&w->file.name, g_free);
  return TRUE;
}

static gboolean write_block(AstroRecordWriter *w, GError **error)
{
  AstroRecordBlock *block = &w->block;
  if (block->filled == 0)
    return TRUE;
  if (!w->settings.kind->write(w, error))
    return FALSE;
  block->first += (gint64)block->filled;
  block->filled = 0;
  block->has_loss = FALSE;
  return TRUE;
}

/* The end of a file that does not end with a whole grain is filled up with lost samples. */
static gboolean end_file(AstroRecordWriter *w, GError **error)
{
  const guint64 into = w->block.filled % w->grain;
  if (into)
    astro_record_block_lose(w, w->grain - into);
  return write_block(w, error) && close_file(w, error);
}

/* Opens the next file with a sample at that step. */
static gboolean begin_file(AstroRecordWriter *w, guint64 step, GError **error)
{
  const guint64 into = (w->origin + step) % w->grain;
  w->block.first = (gint64)step - (gint64)into;
  if (!open_file(w, step, error))
    return FALSE;
  if (into)
    astro_record_block_lose(w, into);
  return TRUE;
}

/* ---- samples ---- */

static guint64 left_in_file(const AstroRecordWriter *w)
{
  const guint64 begun = w->file.first - (w->origin + w->file.first) % w->grain;
  return w->most_steps ? begun + w->most_steps - w->next : G_MAXUINT64;
}

/* Adds so many steps of a buffer from one on, or lost ones if levels is NULL. */
static gboolean add_steps(AstroRecordWriter *w, const guint8 *levels, const guint8 *mask,
                          guint64 steps, guint64 at, guint64 n, GError **error)
{
  while (n > 0) {
    if (!w->part && !begin_file(w, w->next, error))
      return FALSE;
    AstroRecordBlock *block = &w->block;
    const guint64 now = MIN(MIN(n, block->steps - block->filled), left_in_file(w));
    if (levels) {
      astro_record_block_place(w, levels, mask, steps, at, now);
    } else {
      astro_record_block_lose(w, now);
      w->file.lost += now * w->stations * w->pols * w->channels;
    }
    w->file.steps += now;
    w->next += now;
    at += now;
    n -= now;
    const gboolean is_file_full = left_in_file(w) == 0;
    if (is_file_full ? !end_file(w, error)
                     : block->filled == block->steps && !write_block(w, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean cross_gap(AstroRecordWriter *w, guint64 first, GError **error)
{
  const guint64 gap = first - w->next;
  const double seconds = (double)gap * w->stream.rate_d / w->stream.rate_n;
  if (gap == 0 || !w->has_begun)
    return TRUE;
  if (seconds <= LONGEST_GAP)
    return add_steps(w, NULL, NULL, 0, 0, gap, error);
  if (!astro_utc_name_is_pattern(w->pattern))
    return astro_record_refuse(
        error,
        "%.6g s are missing in the stream. After more than %d s another file begins, which needs "
        "a name of its own: expected a location with the time, as in rec-%%Y%%m%%dT%%H%%M%%S.%s",
        seconds, LONGEST_GAP, w->settings.kind->name);
  return end_file(w, error);
}

static guint8 *room(guint8 **room, gsize *has, gsize bytes)
{
  if (*has < bytes) {
    g_free(*room);
    *room = g_malloc(bytes);
    *has = bytes;
  }
  return *room;
}

static gboolean add_now(AstroRecordWriter *w, gconstpointer data, guint64 steps, guint64 skip,
                        guint64 first, const guint8 *mask, GError **error)
{
  if (!cross_gap(w, first, error))
    return FALSE;
  w->next = first;
  w->has_begun = TRUE;
  if (data && !astro_record_levels_copy(w->levels)) {
    const gsize bytes = steps * w->stations * w->pols * w->channels * w->sample_bytes;
    guint8 *made = room(&w->made, &w->made_bytes, bytes);
    astro_record_levels_make(w->levels, made, data, steps, &w->misfits);
    data = made;
  }
  return add_steps(w, data, mask, steps, skip, steps - skip, error);
}

/* ---- waiting for the rms ---- */

typedef struct {
  guint8 *data, *mask;
  guint64 steps, skip, first;
} Held;

static void held_free(gpointer data)
{
  Held *held = data;
  g_free(held->data);
  g_free(held->mask);
  g_free(held);
}

/* How many steps the rms is measured from: a number that does not depend on the buffers. */
static guint64 steps_to_learn(const AstroRecordWriter *w)
{
  return CLAMP(LEARN_BYTES / astro_stream_step_bytes(&w->stream), 1, LEARN_STEPS);
}

static gboolean release_held(AstroRecordWriter *w, GError **error)
{
  guint64 left = steps_to_learn(w);
  gboolean is_good = TRUE;
  for (guint i = 0; i < w->held->len && left > 0; i++) {
    const Held *held = w->held->pdata[i];
    const guint64 n = MIN(held->steps - held->skip, left);
    if (held->data)
      astro_record_levels_measure(w->levels, held->data, held->mask, held->steps, held->skip, n);
    left -= n;
  }
  astro_record_levels_learn(w->levels);
  for (guint i = 0; i < w->held->len && is_good; i++) {
    const Held *held = w->held->pdata[i];
    is_good = add_now(w, held->data, held->steps, held->skip, held->first, held->mask, error);
  }
  g_ptr_array_set_size(w->held, 0);
  return is_good;
}

static gboolean hold(AstroRecordWriter *w, gconstpointer data, guint64 steps, guint64 skip,
                     guint64 first, const guint8 *mask, GError **error)
{
  Held *held = g_new0(Held, 1);
  const guint64 samples = steps * w->stations * w->pols * w->channels;
  *held = (Held){ .steps = steps, .skip = skip, .first = first };
  held->data = data ? g_memdup2(data, samples * astro_stream_sample_bytes(&w->stream)) : NULL;
  held->mask = mask ? g_memdup2(mask, samples) : NULL;
  g_ptr_array_add(w->held, held);
  w->held_steps += steps - skip;
  return w->held_steps < steps_to_learn(w) || release_held(w, error);
}

gboolean astro_record_writer_add(AstroRecordWriter *w, gconstpointer data, guint64 steps,
                                 guint64 skip, guint64 first, const AstroValidityMeta *counts,
                                 GError **error)
{
  const guint8 *mask = NULL;
  if (data && counts && counts->counts) {
    const guint64 samples = steps * w->stations * w->pols * w->channels;
    guint8 *marked = room(&w->mask, &w->mask_bytes, samples);
    const gint is_marked = astro_record_block_mask(w, marked, counts, steps, skip, error);
    if (is_marked < 0)
      return FALSE;
    mask = is_marked ? marked : NULL;
  }
  if (!data && w->held->len == 0)
    return add_now(w, NULL, steps, skip, first, NULL, error);
  return astro_record_levels_wait(w->levels) ? hold(w, data, steps, skip, first, mask, error)
                                             : add_now(w, data, steps, skip, first, mask, error);
}

gboolean astro_record_writer_finish(AstroRecordWriter *w, GError **error)
{
  return (w->held->len == 0 || release_held(w, error)) && (!w->part || end_file(w, error));
}

gboolean astro_record_writer_has_begun(const AstroRecordWriter *w)
{
  return w->has_begun || w->held->len > 0;
}

/* ---- making ---- */

AstroRecordWriter *astro_record_writer_new(const AstroRecordSettings *settings,
                                           const AstroStream *stream,
                                           const AstroObservation *observation,
                                           void (*done)(gpointer user, const AstroRecordFile *file),
                                           gpointer user, GError **error)
{
  g_autoptr(AstroRecordWriter) w = g_new0(AstroRecordWriter, 1);
  const gboolean has_several = settings->most_ns || settings->most_bytes;
  w->settings = *settings;
  w->settings.location = NULL; /* the caller's */
  w->stream = *stream;
  w->observation = observation ? astro_observation_copy(observation) : NULL;
  w->done = done;
  w->user = user;
  w->stations = astro_stream_extent(stream, ASTRO_AXIS_STATION);
  w->pols = astro_stream_extent(stream, ASTRO_AXIS_POL);
  w->channels = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  w->components = astro_format_info(stream->format)->is_complex ? 2 : 1;
  w->held = g_ptr_array_new_with_free_func(held_free);
  w->names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  w->grain = 1;
  if (!astro_utc_name_check(settings->location, error))
    return NULL;
  w->pattern =
      has_several ? astro_utc_name_complete(settings->location) : g_strdup(settings->location);
  if (!check_stream(w, error) || !check_bits(w, error))
    return NULL;
  w->levels = astro_record_levels_new(stream, w->bits, settings->rms);
  w->level_bytes = astro_record_levels_bytes(w->levels);
  w->sample_bytes = w->level_bytes * w->components;
  if (!settings->kind->begin(w, error) || !find_limit(w, error))
    return NULL;
  astro_record_block_new(w);
  return g_steal_pointer(&w);
}

void astro_record_writer_free(AstroRecordWriter *w)
{
  g_clear_pointer(&w->part, astro_part_file_discard);
  g_clear_pointer(&w->levels, astro_record_levels_free);
  g_clear_pointer(&w->observation, astro_observation_unref);
  g_ptr_array_unref(w->held);
  g_hash_table_unref(w->names);
  g_free(w->file.name);
  g_free(w->pattern);
  g_free(w->block.levels);
  g_free(w->block.good);
  g_free(w->made);
  g_free(w->mask);
  g_free(w->room);
  g_free(w);
}
