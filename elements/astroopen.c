/**
 * SECTION:element-astroopen
 *
 * Reads whatever input names, with the source that fits its content: FITS files and catalogues in
 * text by astrofitssrc, recordings of telescopes (VDIF, DADA, GUPPI, Mark 5B, SIGPROC) by
 * astrorecordsrc, and packets by astroudpsrc. The names of files do not matter.
 *
 * input is a file, several files separated by commas, a pattern, a folder (all its files), or
 * udp://HOST:PORT, which may be followed by properties of astroudpsrc as in a URL:
 * udp://239.1.0.0-3:7148?packet=vdif&stations=0-3&rate=1000000. Without a host, or with 0.0.0.0, it
 * listens on all addresses. Files of one input are of one kind. For a Measurement Set, uvh5 or
 * another known kind of file that cannot be read, the error says what it is, and how to convert it.
 *
 * The other properties are those of the source that is chosen. One that is set and that this source
 * does not have is an error. format also says that a file without a header is a recording.
 *
 * |[
 * gst-launch-1.0 astroopen input=sky.uvfits ! astrogridder size=512 cell=10 ! astrofft ! \
 *   astroimage ! astrofitssink location=sky.fits
 * ]|
 */
#include "config.h"
#include "elements/astroopen.h"

#include <gio/gio.h>

#include "core/fits/fits.h"
#include "elements/astroopen-find.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrostage.h"

typedef struct {
  char *input;
  char *format, *rate, *start_time, *threads;
  guint channels, pols, bits;
  double frequency, bandwidth;
  char *uvw, *earth_orientation;
  char *ra_column, *dec_column, *weight_column, *region_column, *where;
} Settings;

struct _AstroOpen {
  GstBin parent;
  Settings settings;
  GstPad *src;
  GstElement *source; /* from READY on */
};

G_DEFINE_TYPE(AstroOpen, astro_open, GST_TYPE_BIN)
GST_ELEMENT_REGISTER_DEFINE(astroopen, "astroopen", GST_RANK_NONE, ASTRO_TYPE_OPEN)

static const AstroField fields[] = {
  ASTRO_TEXT(Settings, input, "input", "Input",
             "A file, several separated by commas, a pattern, a folder, or udp://HOST:PORT with "
             "properties of astroudpsrc behind a question mark",
             NULL),
  ASTRO_TEXT(Settings, format, "format", "Format",
             "Of a recording: vdif, dada, guppi, mark5b or sigproc (unset: by its content)", NULL),
  ASTRO_TEXT(Settings, rate, "rate", "Rate",
             "Time steps a second, of a recording or packets that do not tell it", NULL),
  ASTRO_TEXT(Settings, start_time, "start-time", "Start time",
             "UTC of the first sample of a recording or packets that do not tell it", NULL),
  ASTRO_TEXT(Settings, threads, "threads", "Threads",
             "What threads of VDIF are: for a recording station, pol or band, for packets their "
             "numbers",
             NULL),
  ASTRO_UINT(Settings, channels, "channels", "Channels",
             "Channels of a recording or packets that do not tell it (0: told)", 0, 1 << 24, 0),
  ASTRO_UINT(Settings, pols, "pols", "Polarisations",
             "Polarisations of a recording or packets that do not tell it (0: told)", 0, 2, 0),
  ASTRO_UINT(Settings, bits, "bits", "Bits",
             "Bits of a component of a recording that does not tell it (0: told)", 0, 32, 0),
  ASTRO_DOUBLE(Settings, frequency, "frequency", "Frequency",
               "Centre of the band in Hz, of a recording or packets that do not tell it (0: told)",
               0, 1e13, 0),
  ASTRO_DOUBLE(Settings, bandwidth, "bandwidth", "Bandwidth",
               "Width of the band in Hz, of a recording or packets that do not tell it (0: told)",
               0, 1e12, 0),
  ASTRO_TEXT(Settings, uvw, "uvw", "Source of (u,v,w)",
             "For visibilities: auto, file or table, as for astrofitssrc (unset: auto)", NULL),
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

/* ---- telling the source ---- */

static gboolean refuse_property(AstroOpen *self, const AstroOpenFound *found, const char *name,
                                const char *value, const char *why)
{
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                    ("%s=%s is set, and %s is %s, whose source %s %s", name, value, found->first,
                     found->about, found->factory, why),
                    (NULL));
  return FALSE;
}

static gboolean set_property(AstroOpen *self, const AstroOpenFound *found, const char *name,
                             const char *text)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(self->source), name);
  GValue value = G_VALUE_INIT;
  if (!spec || !(spec->flags & G_PARAM_WRITABLE))
    return refuse_property(self, found, name, text, "has no such property");
  g_value_init(&value, spec->value_type);
  if (spec->value_type == G_TYPE_STRING)
    g_value_set_string(&value, text);
  else if (!gst_value_deserialize_with_pspec(&value, text, spec) ||
           g_param_value_validate(spec, &value)) {
    g_value_unset(&value);
    return refuse_property(self, found, name, text, "does not take that value");
  }
  g_object_set_property(G_OBJECT(self->source), name, &value);
  g_value_unset(&value);
  return TRUE;
}

/* The bin's own property, if it is set. */
static gboolean pass_on(AstroOpen *self, const AstroOpenFound *found, const AstroField *field)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(self), field->name);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  g_object_get_property(G_OBJECT(self), field->name, &value);
  const gboolean is_text = spec->value_type == G_TYPE_STRING;
  g_autofree char *text = is_text ? g_value_dup_string(&value) : gst_value_serialize(&value);
  const gboolean is_set = is_text ? text && *text : !g_param_value_defaults(spec, &value);
  g_value_unset(&value);
  return !is_set || set_property(self, found, field->name, text);
}

static gboolean tell_source(AstroOpen *self, const AstroOpenFound *found)
{
  for (guint i = 0; i < found->properties->len; i += 2)
    if (!set_property(self, found, found->properties->pdata[i], found->properties->pdata[i + 1]))
      return FALSE;
  for (const AstroField *field = fields + 1; field->name; field++)
    if (!pass_on(self, found, field))
      return FALSE;
  return TRUE;
}

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

static gboolean make_source(AstroOpen *self, const AstroOpenFound *found)
{
  self->source = gst_element_factory_make(found->factory, "source");
  if (!self->source) {
    GST_ELEMENT_ERROR(self, CORE, MISSING_PLUGIN,
                      ("%s is %s, and the element %s, which reads it, is not there", found->first,
                       found->about, found->factory),
                      (NULL));
    return FALSE;
  }
  gst_bin_add(GST_BIN(self), self->source);
  if (!tell_source(self, found))
    return FALSE;
  g_autoptr(GstPad) pad = gst_element_get_static_pad(self->source, "src");
  ASTRO_INFO(self, "%s is %s: %s reads it", found->first, found->about, found->factory);
  return gst_ghost_pad_set_target(GST_GHOST_PAD(self->src), pad);
}

static gboolean open_source(AstroOpen *self)
{
  g_autofree char *input = astro_fields_copy_text(self, &self->settings.input);
  g_autofree char *format = astro_fields_copy_text(self, &self->settings.format);
  g_autoptr(GError) error = NULL;
  AstroOpenFound found;
  if (!input || !*input) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No input is given."),
                      ("property \"input\" is not set"));
    return FALSE;
  }
  const char *given = g_strcmp0(format, "auto") ? astro_field_given(format) : NULL;
  gboolean is_open = astro_open_find(&found, input, given, &error);
  if (is_open)
    is_open = make_source(self, &found);
  else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED))
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message), (NULL));
  else
    GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  astro_open_found_clear(&found);
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
