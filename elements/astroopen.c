/**
 * SECTION:element-astroopen
 *
 * Reads whatever input names, with the source that fits its content: FITS files and catalogues in
 * HDF5 or text by astrofitssrc, recordings of telescopes (VDIF, DADA, GUPPI, Mark 5B, SIGPROC) by
 * astrorecordsrc, visibilities in uvh5 by astrouvh5src and in a Measurement Set by astromssrc, and
 * packets by astroudpsrc. The names of files do not matter.
 *
 * input is a file, several files separated by commas or blanks, a pattern, a folder (all its
 * files), or udp://HOST:PORT, which may be followed by properties of astroudpsrc as in a URL:
 * udp://239.1.0.0-3:7148?packet=vdif&stations=0-3&rate=1000000. Without a host, or with 0.0.0.0, it
 * listens on all addresses. For a known kind of file that cannot be read, the error says what it
 * is, and how to convert it.
 *
 * Files of one input are of one kind. Only visibilities may be in UVFITS, uvh5 and Measurement Sets
 * at once: whatever their kinds, several files of visibilities make one stream in order of time, so
 * that they make one image with one weighting. Their weights are used as if they were in one unit;
 * where they differ by more than 1000 times there is a warning. (CASA's exportuvfits divides those
 * of a set by its number of channels.)
 *
 * Files of samples without a header need format=CI8 (or CI4, CI16LE, CF32LE, I8, ...), stations,
 * pols (2 if it is not set), rate and frequency; their axes are time:station:pol. A file with a
 * header tells these itself; what contradicts it is refused.
 *
 * An element message "astro-input" tells what the first buffer holds: location (the first file),
 * files (how many there are, if several), holds (voltages, ...), the fields of the caps, and
 * telescope, start (UTC) and seconds, where they are known.
 *
 * The other properties are those of the source that is chosen. One that is set and that this source
 * does not have is an error. With files of several kinds a property goes to those sources that have
 * it, as column to astromssrc only.
 *
 * |[
 * gst-launch-1.0 astroopen input=sky.uvfits ! astrogridder size=512 cell=10 ! astrofft ! \
 *   astroimage ! astrofitssink location=sky.fits
 * gst-launch-1.0 astroopen input="night1.ms night2.uvfits" ! astrogridder weighting=uniform ! \
 *   astrofft ! astroimage ! astrofitssink location=nights.fits
 * ]|
 */
#include "config.h"
#include "elements/astroopen.h"

#include <gio/gio.h>
#include <string.h>

#include "core/fits/fits.h"
#include "elements/astroopen-find.h"
#include "elements/astroopen-source.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrostage.h"

typedef struct {
  char *input;
  char *format, *stations, *pols, *rate, *frequency, *bandwidth, *start_time;
  char *channels, *bits, *threads;
  char *uvw, *column, *field, *band, *ignore_epoch, *earth_orientation;
  char *ra_column, *dec_column, *weight_column, *region_column, *where;
} Settings;

struct _AstroOpen {
  GstBin parent;
  Settings settings;
  GstPad *src;
  GstElement *source; /* from PAUSED on */
};

G_DEFINE_TYPE(AstroOpen, astro_open, GST_TYPE_BIN)
GST_ELEMENT_REGISTER_DEFINE(astroopen, "astroopen", GST_RANK_NONE, ASTRO_TYPE_OPEN)

static const AstroField fields[] = {
  ASTRO_TEXT(
      Settings, input, "input", "Input",
      "A file, several separated by commas or blanks, a pattern, a folder, or udp://HOST:PORT with "
      "properties of astroudpsrc behind a question mark",
      NULL),
  ASTRO_TEXT(Settings, format, "format", "Format",
             "Of a recording: vdif, dada, guppi, mark5b, sigproc or cu8; of samples without a "
             "header: CI8 or another format of voltages (unset: by the content)",
             NULL),
  ASTRO_TEXT(
      Settings, stations, "stations", "Stations",
      "For packets their identifiers; else their number, which files without a header do not "
      "tell",
      NULL),
  ASTRO_TEXT(Settings, pols, "pols", "Polarisations",
             "Polarisations of each station, 1 or 2, where files or packets do not tell (unset: 2 "
             "for samples without a header)",
             NULL),
  ASTRO_TEXT(Settings, rate, "rate", "Rate",
             "Time steps a second, as 1e6 or 390625/2, where files or packets do not tell", NULL),
  ASTRO_TEXT(Settings, frequency, "frequency", "Frequency",
             "Centre of the band in Hz, where files or packets do not tell", NULL),
  ASTRO_TEXT(Settings, bandwidth, "bandwidth", "Bandwidth",
             "Width of the band in Hz, where files or packets do not tell", NULL),
  ASTRO_TEXT(Settings, start_time, "start-time", "Start time",
             "UTC of the first sample, where recordings or packets do not tell", NULL),
  ASTRO_TEXT(Settings, channels, "channels", "Channels",
             "Channels of spectra, where recordings or packets do not tell", NULL),
  ASTRO_TEXT(Settings, bits, "bits", "Bits", "Bits of a component, where recordings do not tell",
             NULL),
  ASTRO_TEXT(Settings, threads, "threads", "Threads",
             "What threads of VDIF are: for a recording station, pol or band, for packets their "
             "numbers",
             NULL),
  ASTRO_TEXT(Settings, uvw, "uvw", "Source of (u,v,w)",
             "For visibilities: auto, file or table, as for astrofitssrc (unset: auto)", NULL),
  ASTRO_TEXT(Settings, column, "column", "Column",
             "Of a Measurement Set: DATA, CORRECTED_DATA or MODEL_DATA (unset: DATA)", NULL),
  ASTRO_TEXT(Settings, field, "field", "Field",
             "For visibilities in uvh5 or a Measurement Set: name or number of the phase centre "
             "whose rows are read (unset: the only one)",
             NULL),
  ASTRO_TEXT(Settings, band, "band", "Band",
             "For visibilities of several bands: which are read, as for the source (unset: all)",
             NULL),
  ASTRO_TEXT(Settings, ignore_epoch, "ignore-epoch", "Ignore EPOCH",
             "For visibilities: true takes the phase centre of UVFITS as of J2000 (unset: false)",
             NULL),
  ASTRO_TEXT(Settings, earth_orientation, "earth-orientation", "Earth orientation",
             "For visibilities: a file of UT1 - UTC and polar motion (unset: the file's own)",
             NULL),
  ASTRO_TEXT(Settings, ra_column, "ra-column", "Right ascension column",
             "For a catalogue: name or number from 1 (unset: RA)", NULL),
  ASTRO_TEXT(Settings, dec_column, "dec-column", "Declination column",
             "For a catalogue: name or number from 1 (unset: DEC)", NULL),
  ASTRO_TEXT(Settings, weight_column, "weight-column", "Weight column",
             "For a catalogue: name or number from 1 (unset: none)", NULL),
  ASTRO_TEXT(Settings, region_column, "region-column", "Region column",
             "For a catalogue: name or number from 1 (unset: none)", NULL),
  ASTRO_TEXT(Settings, where, "where", "Rows",
             "For a catalogue: which rows are read, as for astrofitssrc (unset: all)", NULL),
  { 0 },
};

/* ---- the source ---- */

static void close_source(AstroOpen *self)
{
  if (!self->source)
    return;
  gst_ghost_pad_set_target(GST_GHOST_PAD(self->src), NULL);
  gst_element_set_state(self->source, GST_STATE_NULL);
  gst_bin_remove(GST_BIN(self), self->source);
  self->source = NULL;
}

/* ---- telling the user ---- */

static gboolean copy_field(GQuark field, const GValue *value, gpointer to)
{
  gst_structure_id_set_value(to, field, value);
  return TRUE;
}

static void tell_observation(GstPad *pad, GstStructure *told)
{
  for (guint i = 0;; i++) {
    g_autoptr(GstEvent) event =
        gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, i);
    if (!event)
      return;
    if (!astro_event_is_observation(event))
      continue;
    g_autoptr(AstroObservation) o = astro_observation_from_event(event, NULL);
    g_autofree char *start = o ? astro_observation_tell_time(o, 0) : NULL;
    if (o && o->telescope && strcmp(o->telescope, ASTRO_TELESCOPE_UNKNOWN))
      gst_structure_set(told, "telescope", G_TYPE_STRING, o->telescope, NULL);
    if (start)
      gst_structure_set(told, "start", G_TYPE_STRING, start, NULL);
  }
}

/* A file and what the user says of it. */
typedef struct {
  char *first;
  guint files; /* of which it is the first */
  AstroOpenSamples told;
} Opened;

static void opened_free(gpointer data)
{
  Opened *opened = data;
  g_free(opened->first);
  astro_open_samples_clear(&opened->told);
  g_free(opened);
}

static gboolean agrees(GstElement *self, const Opened *opened, const GstStructure *caps,
                       const char *name, const char *said)
{
  const GValue *value = gst_structure_get_value(caps, name);
  g_autofree char *found = value ? gst_value_serialize(value) : NULL;
  if (!said || !*said || g_strcmp0(said, found) == 0)
    return TRUE;
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                    ("%s=%s is set, but %s has %s%s%s: leave it out, or open another file", name,
                     said, opened->first, found ? name : "no ", found ? "=" : name,
                     found ? found : ""),
                    (NULL));
  return FALSE;
}

/* format may also be that of a recording, which its source compares. */
static gboolean agree(GstElement *self, const Opened *opened, const GstStructure *caps)
{
  const AstroOpenSamples *told = &opened->told;
  const gboolean is_of_samples =
      told->format && astro_format_from_name(told->format) != ASTRO_FORMAT_UNKNOWN;
  return agrees(self, opened, caps, "format", is_of_samples ? told->format : NULL) &&
         agrees(self, opened, caps, "stations", told->stations) &&
         agrees(self, opened, caps, "pols", told->pols);
}

/* With the first buffer all is known. */
static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_autoptr(GstElement) source = gst_pad_get_parent_element(pad);
  g_autoptr(GstObject) self = source ? gst_object_get_parent(GST_OBJECT(source)) : NULL;
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  const Opened *opened = data;
  gint64 duration = 0;
  if (!self || !caps || !gst_caps_is_fixed(caps))
    return GST_PAD_PROBE_REMOVE;
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const AstroQuantity quantity = astro_quantity_from_media_type(gst_structure_get_name(s));
  if (!agree(GST_ELEMENT(self), opened, s)) {
    gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
    GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_ERROR;
    return GST_PAD_PROBE_HANDLED;
  }
  GstStructure *told =
      gst_structure_new("astro-input", "location", G_TYPE_STRING, opened->first, "holds",
                        G_TYPE_STRING, astro_quantity_name(quantity), NULL);
  if (opened->files > 1)
    gst_structure_set(told, "files", G_TYPE_UINT, opened->files, NULL);
  gst_structure_foreach(s, copy_field, told);
  tell_observation(pad, told);
  if (gst_pad_query_duration(pad, GST_FORMAT_TIME, &duration) && duration > 0)
    gst_structure_set(told, "seconds", G_TYPE_DOUBLE, (double)duration / GST_SECOND, NULL);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(self, told));
  return GST_PAD_PROBE_REMOVE;
}

static gboolean make_source(AstroOpen *self, const AstroOpenFound *found,
                            const AstroOpenSamples *samples)
{
  self->source = astro_open_source_new(GST_ELEMENT(self), found, fields + 1);
  if (!self->source)
    return FALSE;
  gst_bin_add(GST_BIN(self), self->source);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(self->source, "src");
  ASTRO_INFO(self, "%s is %s: %s reads it", found->first, found->about, found->factory);
  Opened *opened = g_new0(Opened, 1);
  opened->first = g_strdup(found->first);
  opened->files = found->n_files;
  if (found->is_file)
    opened->told = (AstroOpenSamples){
      .format = g_strdup(samples->format),
      .stations = g_strdup(samples->stations),
      .pols = g_strdup(samples->pols),
    };
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, opened, opened_free);
  return gst_ghost_pad_set_target(GST_GHOST_PAD(self->src), pad);
}

static gboolean open_source(AstroOpen *self)
{
  g_autofree char *input = astro_fields_copy_text(self, &self->settings.input);
  g_autoptr(GError) error = NULL;
  AstroOpenFound found;
  AstroOpenSamples samples = {
    .format = astro_fields_copy_text(self, &self->settings.format),
    .stations = astro_fields_copy_text(self, &self->settings.stations),
    .pols = astro_fields_copy_text(self, &self->settings.pols),
    .rate = astro_fields_copy_text(self, &self->settings.rate),
    .frequency = astro_fields_copy_text(self, &self->settings.frequency),
    .bandwidth = astro_fields_copy_text(self, &self->settings.bandwidth),
  };
  if (!input || !*input) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No input is given."),
                      ("property \"input\" is not set"));
    astro_open_samples_clear(&samples);
    return FALSE;
  }
  gboolean is_open = astro_open_find(&found, input, &samples, &error);
  if (is_open)
    is_open = make_source(self, &found, &samples);
  else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT))
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  astro_open_found_clear(&found);
  astro_open_samples_clear(&samples);
  if (!is_open)
    close_source(self);
  return is_open;
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  AstroOpen *self = ASTRO_OPEN(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !open_source(self))
    return GST_STATE_CHANGE_FAILURE;
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_open_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    close_source(self);
  return changed;
}

static void astro_open_init(AstroOpen *self)
{
  GstPadTemplate *template = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), "src");
  astro_fields_set_defaults(self);
  self->src = gst_ghost_pad_new_no_target_from_template("src", template);
  gst_element_add_pad(GST_ELEMENT(self), self->src);
  GST_OBJECT_FLAG_SET(self, GST_ELEMENT_FLAG_SOURCE);
  gst_bin_set_suppressed_flags(GST_BIN(self), GST_ELEMENT_FLAG_SOURCE);
}

static void astro_open_class_init(AstroOpenClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autofree char *text = astro_fits_reader_caps();
  g_autoptr(GstCaps) caps = gst_caps_merge(gst_caps_new_empty(), gst_caps_from_string(text));

  astro_fields_install(G_OBJECT_CLASS(klass), fields, G_STRUCT_OFFSET(AstroOpen, settings));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(
      element, "Source for anything", "Source/File/Network",
      "Reads FITS files, catalogues, recordings of telescopes or packets, whichever it finds",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(element, "takes", "files or packets");
  gst_element_class_add_static_metadata(element, "gives", "what is in them");
  element->change_state = change_state;
}
