/* Reads astroselect's lists, and applies them to caps and observation. */
#include "config.h"
#include "elements/astroselect-lists.h"

#include "core/stream/grid.h"
#include "core/stream/power.h"

#include <string.h>

static const struct {
  const char *name; /* of the property and of the caps field */
  AstroAxis axis;
} kinds[ASTRO_SELECT_N_LISTS] = {
  [ASTRO_SELECT_STATIONS] = { "stations", ASTRO_AXIS_STATION },
  [ASTRO_SELECT_CHANNELS] = { "channels", ASTRO_AXIS_CHANNEL },
  [ASTRO_SELECT_POLS] = { "pols", ASTRO_AXIS_POL },
  [ASTRO_SELECT_BEAMS] = { "beams", ASTRO_AXIS_BEAM },
};

void astro_select_texts_clear(AstroSelectTexts *texts)
{
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++)
    g_clear_pointer(&texts->text[k], g_free);
}

void astro_select_lists_clear(AstroSelectLists *lists)
{
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++)
    g_clear_pointer(&lists->list[k], g_array_unref);
  g_clear_pointer(&lists->baselines, g_array_unref);
}

gboolean astro_select_texts_have_names(const AstroSelectTexts *texts)
{
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++)
    if (texts->text[k] && astro_select_has_names(texts->text[k]))
      return TRUE;
  return FALSE;
}

/* ---- names ---- */

gboolean astro_select_has_products(const AstroStream *stream)
{
  return stream->quantity == ASTRO_QUANTITY_UVGRID || stream->quantity == ASTRO_QUANTITY_IMAGE ||
         stream->quantity == ASTRO_QUANTITY_POWER;
}

static char **power_names(const GstCaps *caps, GError **error)
{
  AstroStream stream;
  AstroPowerProducts products;
  if (!astro_power_from_caps(&stream, &products, caps, error))
    return NULL;
  char **names = g_new0(char *, (gsize)products.n + 1);
  for (guint i = 0; i < products.n; i++)
    names[i] = g_strdup(products.names[i]);
  return names;
}

static char **product_names(const AstroStream *stream, const GstCaps *caps, GError **error)
{
  AstroGrid grid;
  char **names = NULL;
  if (stream->quantity == ASTRO_QUANTITY_POWER)
    return power_names(caps, error);
  if (astro_grid_from_image_caps(&grid, caps, error))
    names = g_strdupv(grid.products);
  astro_grid_clear(&grid);
  return names;
}

static char **pol_names(const AstroObservation *observation)
{
  static const char *const linear[] = { "X", "Y", NULL }, *const circular[] = { "R", "L", NULL },
                           *const stokes[] = { "I", NULL };
  return g_strdupv((char **)(g_str_equal(observation->basis, "circular") ? circular
                             : g_str_equal(observation->basis, "stokes") ? stokes
                                                                         : linear));
}

static char **beam_names(const AstroObservation *observation, const AstroStream *stream,
                         GError **error)
{
  if (observation->n_beams != astro_stream_extent(stream, ASTRO_AXIS_BEAM)) {
    astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "beams: the observation names %u beams and the caps have %" G_GUINT64_FORMAT
        ": expected equal numbers, or numbers from 0 and ranges of them in the list",
        observation->n_beams, astro_stream_extent(stream, ASTRO_AXIS_BEAM));
    return NULL;
  }
  char **names = g_new0(char *, (gsize)observation->n_beams + 1);
  for (guint i = 0; i < observation->n_beams; i++)
    names[i] = g_strdup(observation->beams[i].name);
  return names;
}

static char **names_of(AstroSelectList kind, const AstroStream *stream,
                       const AstroObservation *observation, GError **error)
{
  if (kind == ASTRO_SELECT_BEAMS)
    return beam_names(observation, stream, error);
  return kind == ASTRO_SELECT_POLS ? pol_names(observation) : g_strdupv(observation->names);
}

/* Names of stations, beams, polarisations or products; NULL with an error: they are not known. */
static char **find_names(AstroSelectList kind, const GstCaps *caps, const AstroStream *stream,
                         const AstroObservation *observation, GError **error)
{
  if (kind == ASTRO_SELECT_POLS && astro_select_has_products(stream))
    return product_names(stream, caps, error);
  if (kind == ASTRO_SELECT_CHANNELS) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "%s have no names here, expected numbers from 0 and ranges of them",
                        kinds[kind].name);
    return NULL;
  }
  if (observation)
    return names_of(kind, stream, observation, error);
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "%s: the stream has no observation to look up names in: expected numbers "
                      "from 0, or astroobserve upstream",
                      kinds[kind].name);
  return NULL;
}

/* ---- lists ---- */

/* Length of the axis; for visibilities, the number of stations behind the baselines. */
static gboolean find_extent(AstroSelectList kind, const AstroStream *stream, guint64 *extent,
                            GError **error)
{
  const gboolean of_pairs =
      kind == ASTRO_SELECT_STATIONS && astro_layout_find(&stream->layout, ASTRO_AXIS_BASELINE) >= 0;
  if (!of_pairs && astro_layout_find(&stream->layout, kinds[kind].axis) < 0) {
    g_autofree char *layout = astro_layout_to_string(&stream->layout);
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS, "%s: %s in layout %s have no axis \"%s\"", kinds[kind].name,
        astro_quantity_name(stream->quantity), layout, astro_axis_name(kinds[kind].axis));
  }
  *extent =
      of_pairs ? astro_stream_stations(stream) : astro_stream_extent(stream, kinds[kind].axis);
  const guint64 pairs = stream->is_full_triangle ? *extent * *extent : *extent * (*extent + 1) / 2;
  return !of_pairs || pairs == astro_stream_extent(stream, ASTRO_AXIS_BASELINE) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "stations: %" G_GUINT64_FORMAT
                             " baselines are not those of a whole array, expected n (n + 1) / 2 "
                             "for n stations",
                             astro_stream_extent(stream, ASTRO_AXIS_BASELINE));
}

static GArray *read_list(AstroSelectList kind, const char *text, const GstCaps *caps,
                         const AstroStream *stream, const AstroObservation *observation,
                         GError **error)
{
  AstroSelectFrom from = { .what = kinds[kind].name };
  g_auto(GStrv) names = NULL;
  if (!find_extent(kind, stream, &from.extent, error))
    return NULL;
  if (astro_select_has_names(text) && !(names = find_names(kind, caps, stream, observation, error)))
    return NULL;
  from.names = names;
  return astro_select_read_list(text, &from, error);
}

static void find_baselines(AstroSelectLists *lists, const AstroStream *stream)
{
  const GArray *stations = lists->list[ASTRO_SELECT_STATIONS];
  if (stations && astro_layout_find(&stream->layout, ASTRO_AXIS_BASELINE) >= 0)
    lists->baselines =
        astro_select_baselines(stations, astro_stream_stations(stream), stream->is_full_triangle);
}

gboolean astro_select_lists_read(AstroSelectLists *lists, const AstroSelectTexts *texts,
                                 const GstCaps *caps, const AstroStream *stream,
                                 const AstroObservation *observation, GError **error)
{
  memset(lists, 0, sizeof *lists);
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++) {
    if (!texts->text[k])
      continue;
    lists->list[k] = read_list(k, texts->text[k], caps, stream, observation, error);
    if (!lists->list[k]) {
      astro_select_lists_clear(lists);
      return FALSE;
    }
  }
  find_baselines(lists, stream);
  return TRUE;
}

void astro_select_lists_count(AstroSelectLists *lists, const AstroSelectTexts *texts,
                              const AstroStream *stream)
{
  memset(lists, 0, sizeof *lists);
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++) {
    guint64 extent;
    if (!texts->text[k] || !find_extent(k, stream, &extent, NULL))
      continue;
    const guint64 n = MIN(astro_select_count(texts->text[k], extent), extent);
    lists->list[k] = g_array_new(FALSE, FALSE, sizeof(guint64));
    for (guint64 i = 0; i < n; i++)
      g_array_append_val(lists->list[k], i);
  }
  find_baselines(lists, stream);
}

static gboolean keeps_all(const GArray *list, guint64 extent)
{
  for (guint i = 0; i < list->len; i++)
    if (g_array_index(list, guint64, i) != i)
      return FALSE;
  return list->len == extent;
}

static const GArray *list_of(const AstroSelectLists *lists, AstroAxis axis)
{
  if (axis == ASTRO_AXIS_BASELINE)
    return lists->baselines;
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++)
    if (kinds[k].axis == axis)
      return lists->list[k];
  return NULL;
}

gboolean astro_select_lists_to_config(const AstroSelectLists *lists, AstroSelectConfig *config)
{
  const AstroLayout *layout = &config->in.layout;
  gboolean any = FALSE;
  for (guint i = 0; i < layout->n_axes; i++) {
    const GArray *list = list_of(lists, layout->axes[i]);
    if (!list || keeps_all(list, layout->extents[i]))
      continue;
    config->pick[i].index = (const guint64 *)(gconstpointer)list->data;
    config->pick[i].n = list->len;
    any = TRUE;
  }
  return any;
}

/* ---- caps ---- */

/* How many entries of a field's axis are kept; 0: not known. */
static guint64 count_of(const GstStructure *s, const char *field, const char *text)
{
  gint extent = 0;
  gst_structure_get_int(s, field, &extent);
  return astro_select_count(text, (guint64)MAX(extent, 0));
}

/* Leaves the field unchanged where the list does not fit. */
static void set_count(GstStructure *s, const char *field, guint64 n)
{
  gint given;
  if (n > 0 && n <= G_MAXINT)
    gst_structure_set(s, field, G_TYPE_INT, (gint)n, NULL);
  else if (!gst_structure_get_int(s, field, &given))
    gst_structure_remove_field(s, field);
}

static void set_baselines(GstStructure *s, const char *text)
{
  gint baselines = 0;
  gst_structure_get_int(s, "baselines", &baselines);
  const gboolean is_full = astro_name_is_in(gst_structure_get_value(s, "triangle"), "full") &&
                           gst_structure_has_field(s, "triangle");
  const AstroStream stream = { .is_full_triangle = is_full,
                               .layout = { 1, { ASTRO_AXIS_BASELINE }, { (guint64)baselines } } };
  const guint64 n = astro_select_count(text, baselines ? astro_stream_stations(&stream) : 0);
  set_count(s, "baselines", is_full ? n * n : n * (n + 1) / 2);
}

static void drop_band(GstStructure *s)
{
  gst_structure_remove_fields(s, "frequency", "bandwidth", NULL);
}

static void set_band(GstStructure *s, const char *text)
{
  double frequency, bandwidth;
  gint channels = 0;
  gst_structure_get_int(s, "channels", &channels);
  const AstroSelectFrom from = { "channels", (guint64)MAX(channels, 0), NULL };
  g_autoptr(GArray) list = channels > 0 ? astro_select_read_list(text, &from, NULL) : NULL;
  if (!list || !gst_structure_get_double(s, "frequency", &frequency) ||
      !gst_structure_get_double(s, "bandwidth", &bandwidth)) {
    if (channels <= 0)
      drop_band(s);
    return;
  }
  if (astro_select_band(list, from.extent, &frequency, &bandwidth, NULL))
    gst_structure_set(s, "frequency", G_TYPE_DOUBLE, frequency, "bandwidth", G_TYPE_DOUBLE,
                      bandwidth, NULL);
}

static void set_products(GstStructure *s, const char *text)
{
  const char *products = gst_structure_get_string(s, "products");
  g_auto(GStrv) names = products ? g_strsplit(products, ":", -1) : NULL;
  const AstroSelectFrom from = { "pols", names ? g_strv_length(names) : 0, names };
  g_autoptr(GArray) list = names ? astro_select_read_list(text, &from, NULL) : NULL;
  g_autoptr(GString) kept = g_string_new(NULL);
  gboolean psf = FALSE;
  for (guint i = 0; list && i < list->len; i++) {
    const char *name = names[g_array_index(list, guint64, i)];
    g_string_append_printf(kept, "%s%s", i ? ":" : "", name);
    psf |= g_str_equal(name, ASTRO_PRODUCT_PSF);
  }
  if (!list)
    return;
  gst_structure_set(s, "products", G_TYPE_STRING, kept->str, NULL);
  if (gst_structure_has_field(s, "psf"))
    gst_structure_set(s, "psf", G_TYPE_BOOLEAN, psf, NULL);
}

void astro_select_forward(const AstroSelectTexts *texts, GstStructure *s)
{
  const char *channels = texts->text[ASTRO_SELECT_CHANNELS], *pols = texts->text[ASTRO_SELECT_POLS],
             *stations = texts->text[ASTRO_SELECT_STATIONS];
  if (channels)
    set_band(s, channels);
  if (pols)
    set_products(s, pols);
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++)
    if (texts->text[k] && gst_structure_has_field(s, kinds[k].name))
      set_count(s, kinds[k].name, count_of(s, kinds[k].name, texts->text[k]));
  if (stations && gst_structure_has_field(s, "baselines"))
    set_baselines(s, stations);
}

void astro_select_backward(const AstroSelectTexts *texts, GstStructure *s)
{
  for (guint k = 0; k < ASTRO_SELECT_N_LISTS; k++)
    if (texts->text[k])
      gst_structure_remove_field(s, kinds[k].name);
  if (texts->text[ASTRO_SELECT_STATIONS])
    gst_structure_remove_field(s, "baselines");
  if (texts->text[ASTRO_SELECT_CHANNELS])
    drop_band(s);
  if (texts->text[ASTRO_SELECT_POLS])
    gst_structure_remove_fields(s, "products", "psf", NULL);
}

/* ---- the observation ---- */

static gboolean keep_beams(const AstroSelectLists *lists, const AstroStream *stream,
                           AstroObservation *observation, GError **error)
{
  const GArray *beams = lists->list[ASTRO_SELECT_BEAMS];
  const guint64 extent = astro_stream_extent(stream, ASTRO_AXIS_BEAM);
  if (!beams || observation->n_beams == 0)
    return TRUE;
  if (observation->n_beams != extent)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "beams: the observation has %u and the caps %" G_GUINT64_FORMAT
                               ", expected equal numbers",
                               observation->n_beams, extent);
  g_autoptr(AstroObservation) all = astro_observation_copy(observation);
  astro_observation_clear_beams(observation);
  for (guint i = 0; i < beams->len; i++) {
    const AstroBeam *beam = &all->beams[g_array_index(beams, guint64, i)];
    if (!astro_observation_add_beam(observation, beam->name, beam->kind, beam->frame, beam->x,
                                    beam->y, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean keep_stations(const AstroSelectLists *lists, const AstroStream *stream,
                              AstroObservation *observation, GError **error)
{
  const GArray *stations = lists->list[ASTRO_SELECT_STATIONS];
  if (!stations)
    return TRUE;
  if (observation->n_stations != astro_stream_stations(stream))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "stations: the observation has %u and the caps %" G_GUINT64_FORMAT
                               ", expected equal numbers",
                               observation->n_stations, astro_stream_stations(stream));
  g_autoptr(AstroObservation) kept = astro_observation_new(stations->len);
  g_free(kept->telescope);
  kept->telescope = g_strdup(observation->telescope);
  for (guint i = 0; i < stations->len; i++) {
    const guint64 from = g_array_index(stations, guint64, i);
    g_free(kept->names[i]);
    kept->names[i] = g_strdup(observation->names[from]);
    memcpy(&kept->positions[3 * i], &observation->positions[3 * from], 3 * sizeof(double));
  }
  astro_observation_swap_array(observation, kept);
  return TRUE;
}

gboolean astro_select_observe(const AstroSelectLists *lists, const AstroStream *stream,
                              AstroObservation *observation, GError **error)
{
  return keep_stations(lists, stream, observation, error) &&
         keep_beams(lists, stream, observation, error);
}
