/**
 * SECTION:element-astrosave
 *
 * Writes visibilities in the form that the name of the output asks for: NAME.uvh5, NAME.h5 or
 * NAME.hdf5 by astrouvh5sink, NAME.ms by astromssink as a Measurement Set, and any other name
 * (usually NAME.uvfits or NAME.fits) by astrofitssink as UVFITS. Messages, warnings and errors are
 * those of that sink, whose name is "sink".
 *
 * |[
 * gst-launch-1.0 astrovissrc stations=16 num-buffers=60 ! astrosave output=sky.uvh5
 * ]|
 */
#include "elements/astrosave.h"

#include <string.h>

#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrostage.h"

struct _AstroSave {
  GstBin parent;
  char *output, *earth_orientation; /* properties */
  GstPad *pad;
  GstElement *sink; /* from READY on */
};

G_DEFINE_TYPE(AstroSave, astro_save, GST_TYPE_BIN)
GST_ELEMENT_REGISTER_DEFINE(astrosave, "astrosave", GST_RANK_NONE, ASTRO_TYPE_SAVE)

static const AstroField fields[] = {
  ASTRO_TEXT(AstroSave, output, "output", "Output",
             "Path of the file or Measurement Set; its ending says which: .uvh5, .h5, .hdf5, .ms, "
             "or anything else for UVFITS",
             NULL),
  ASTRO_TEXT(AstroSave, earth_orientation, "earth-orientation", "Earth orientation",
             "A file of UT1 - UTC and polar motion, as for the sinks (unset: the stream's own)",
             NULL),
  { 0 },
};

static const struct {
  const char *ending, *sink, *needs;
} kinds[] = {
  { ".uvh5", "astrouvh5sink", "HDF5" },  { ".h5", "astrouvh5sink", "HDF5" },
  { ".hdf5", "astrouvh5sink", "HDF5" },  { ".ms", "astromssink", "casacore" },
  { "", "astrofitssink", "its plugin" },
};

/* The name of a folder may end in slashes. */
static guint kind_of(const char *output)
{
  g_autofree char *name = g_ascii_strdown(output, -1);
  guint i = 0;
  for (gsize n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
    name[n - 1] = 0;
  while (!g_str_has_suffix(name, kinds[i].ending))
    i++;
  return i;
}

static void close_sink(AstroSave *self)
{
  if (!self->sink)
    return;
  gst_ghost_pad_set_target(GST_GHOST_PAD(self->pad), NULL);
  gst_element_set_state(self->sink, GST_STATE_NULL);
  gst_bin_remove(GST_BIN(self), self->sink);
  self->sink = NULL;
}

static gboolean open_sink(AstroSave *self)
{
  g_autofree char *output = astro_fields_copy_text(self, &self->output);
  g_autofree char *earth = astro_fields_copy_text(self, &self->earth_orientation);
  if (!astro_field_given(output)) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND, ("No file name is given."),
                      ("property \"output\" is not set"));
    return FALSE;
  }
  const guint kind = kind_of(output);
  self->sink = gst_element_factory_make(kinds[kind].sink, "sink");
  if (!self->sink) {
    GST_ELEMENT_ERROR(self, CORE, MISSING_PLUGIN,
                      ("%s is written by %s, which is not there: it needs %s", output,
                       kinds[kind].sink, kinds[kind].needs),
                      (NULL));
    return FALSE;
  }
  g_object_set(self->sink, "location", output, "earth-orientation", earth, NULL);
  gst_bin_add(GST_BIN(self), self->sink);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(self->sink, "sink");
  ASTRO_INFO(self, "%s writes %s", kinds[kind].sink, output);
  return gst_ghost_pad_set_target(GST_GHOST_PAD(self->pad), pad);
}

/* A stream begins and ends at READY, where the output may change. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  AstroSave *self = ASTRO_SAVE(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !open_sink(self)) {
    close_sink(self);
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_save_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    close_sink(self);
  return changed;
}

static void astro_save_init(AstroSave *self)
{
  GstPadTemplate *template =
      gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), "sink");
  astro_fields_set_defaults(self);
  self->pad = gst_ghost_pad_new_no_target_from_template("sink", template);
  gst_element_add_pad(GST_ELEMENT(self), self->pad);
  /* The end of a stream has to come here, also while the bin is empty. */
  GST_OBJECT_FLAG_SET(self, GST_ELEMENT_FLAG_SINK);
  gst_bin_set_suppressed_flags(GST_BIN(self), GST_ELEMENT_FLAG_SINK);
}

static void astro_save_class_init(AstroSaveClass *klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  static GstStaticPadTemplate template = GST_STATIC_PAD_TEMPLATE(
      "sink", GST_PAD_SINK, GST_PAD_ALWAYS,
      GST_STATIC_CAPS("application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, "
                      "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "
                      "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"));
  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  gst_element_class_add_static_pad_template(element, &template);
  gst_element_class_set_static_metadata(
      element, "Sink for files of visibilities", "Sink/File",
      "Writes visibilities as UVFITS, uvh5 or a Measurement Set, by the name of the output",
      ASTRO_AUTHOR);
  element->change_state = change_state;
}
