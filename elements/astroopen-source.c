/* Makes the source that reads an input, and tells it the properties of astroopen. */
#include "elements/astroopen-source.h"

#include <string.h>

#include "core/fits/fits.h"
#include "elements/astroopen-uvfits.h"
#include "elements/base/astrorowsrc.h"

/* Bytes that are read at once from a file without a header. */
#define BLOCK (4u << 20)

/* ---- properties ---- */

/* A source, and the first file that it reads. */
typedef struct {
  GstElement *source;
  const char *first, *about, *factory;
} Reader;

static gboolean refuse_property(GstElement *self, const Reader *reader, const char *name,
                                const char *value, const char *why)
{
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS,
                    ("%s=%s is set, and %s is %s, whose source %s %s", name, value, reader->first,
                     reader->about, reader->factory, why),
                    (NULL));
  return FALSE;
}

static GParamSpec *find_property(const Reader *reader, const char *name)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(reader->source), name);
  return spec && (spec->flags & G_PARAM_WRITABLE) ? spec : NULL;
}

static gboolean set_property(GstElement *self, const Reader *reader, const char *name,
                             const char *text)
{
  GParamSpec *spec = find_property(reader, name);
  GValue value = G_VALUE_INIT;
  if (!spec)
    return refuse_property(self, reader, name, text, "has no such property");
  g_value_init(&value, spec->value_type);
  if (spec->value_type == G_TYPE_STRING)
    g_value_set_string(&value, text);
  else if (!gst_value_deserialize_with_pspec(&value, text, spec) ||
           g_param_value_validate(spec, &value)) {
    g_value_unset(&value);
    return refuse_property(self, reader, name, text, "does not take that value");
  }
  g_object_set_property(G_OBJECT(reader->source), name, &value);
  g_value_unset(&value);
  return TRUE;
}

/* The number of stations and the format of samples are compared with what comes. */
static gboolean is_compared(const AstroOpenFound *found, const char *name, const char *text)
{
  return found->is_file &&
         (g_str_equal(name, "stations") ||
          (g_str_equal(name, "format") && astro_format_from_name(text) != ASTRO_FORMAT_UNKNOWN) ||
          (g_str_equal(name, "pols") && !g_str_equal(found->factory, "astrorecordsrc")));
}

/* A property of the bin that is set goes to all readers that have it; one at least must. */
static gboolean pass_on(GstElement *self, const AstroOpenFound *found, GArray *readers,
                        const AstroField *field)
{
  g_autofree char *text = NULL;
  gboolean any = FALSE;
  g_object_get(self, field->name, &text, NULL);
  if (!text || !*text || is_compared(found, field->name, text))
    return TRUE;
  for (guint i = 0; i < readers->len; i++) {
    const Reader *reader = &g_array_index(readers, Reader, i);
    if (!find_property(reader, field->name))
      continue;
    if (!set_property(self, reader, field->name, text))
      return FALSE;
    any = TRUE;
  }
  return any || set_property(self, &g_array_index(readers, Reader, 0), field->name, text);
}

static gboolean tell_readers(GstElement *self, const AstroOpenFound *found, GArray *readers,
                             const AstroField *fields)
{
  const Reader *first = &g_array_index(readers, Reader, 0);
  for (guint i = 0; i < found->properties->len; i += 2)
    if (!set_property(self, first, found->properties->pdata[i], found->properties->pdata[i + 1]))
      return FALSE;
  for (const AstroField *field = fields; field->name; field++)
    if (!pass_on(self, found, readers, field))
      return FALSE;
  return TRUE;
}

static GstElement *make_element(GstElement *self, const char *factory, const char *first,
                                const char *about)
{
  GstElement *source = gst_element_factory_make(factory, "source");
  if (!source)
    GST_ELEMENT_ERROR(self, CORE, MISSING_PLUGIN,
                      ("%s is %s, and the element %s, which reads it, is not there: the "
                       "summary of configure says what this build lacks",
                       first, about, factory),
                      (NULL));
  return source;
}

static void release_reader(gpointer data)
{
  gst_object_unref(((Reader *)data)->source);
}

static GArray *new_readers(void)
{
  GArray *readers = g_array_new(FALSE, FALSE, sizeof(Reader));
  g_array_set_clear_func(readers, release_reader);
  return readers;
}

/* Leaves a floating reference to the first reader. */
static GstElement *take_first(GArray *readers)
{
  GstElement *source = gst_object_ref(g_array_index(readers, Reader, 0).source);
  g_object_force_floating(G_OBJECT(source));
  return source;
}

/* ---- files of one kind ---- */

static GstElement *make_one(GstElement *self, const AstroOpenFound *found, const AstroField *fields)
{
  g_autoptr(GArray) readers = new_readers();
  GstElement *source = make_element(self, found->factory, found->first, found->about);
  if (!source)
    return NULL;
  const Reader reader = { gst_object_ref_sink(source), found->first, found->about, found->factory };
  g_array_append_val(readers, reader);
  return tell_readers(self, found, readers, fields) ? take_first(readers) : NULL;
}

/* ---- files of several kinds ---- */

#define UVFITS "astrofitssrc"

static GstElement *find_reader(GArray *readers, const char *factory)
{
  for (guint i = 0; i < readers->len; i++)
    if (g_str_equal(g_array_index(readers, Reader, i).factory, factory))
      return g_array_index(readers, Reader, i).source;
  return NULL;
}

/* One for each kind of file. The first becomes the source in the pipeline; it is never that of
 * UVFITS, which no factory knows. */
static gboolean make_readers(GstElement *self, const AstroOpenFound *found, GArray *readers)
{
  for (guint i = 0; i < found->mixed->len; i++) {
    const AstroOpenFile *file = &g_array_index(found->mixed, AstroOpenFile, i);
    if (find_reader(readers, file->factory))
      continue;
    const gboolean is_uvfits = g_str_equal(file->factory, UVFITS);
    GstElement *source = is_uvfits ? g_object_new(ASTRO_TYPE_OPEN_UVFITS, NULL)
                                   : make_element(self, file->factory, file->name, file->about);
    if (!source)
      return FALSE;
    const Reader reader = { gst_object_ref_sink(source), file->name, file->about, file->factory };
    if (is_uvfits)
      g_array_append_val(readers, reader);
    else
      g_array_prepend_val(readers, reader);
  }
  return TRUE;
}

/* Each file is read as its own kind, and all are one stream of the first reader. */
static GstElement *make_mixed(GstElement *self, const AstroOpenFound *found,
                              const AstroField *fields)
{
  g_autoptr(GArray) readers = new_readers();
  if (!make_readers(self, found, readers) || !tell_readers(self, found, readers, fields))
    return NULL;
  GstElement *first = g_array_index(readers, Reader, 0).source;
  for (guint i = 0; i < found->mixed->len; i++) {
    const AstroOpenFile *file = &g_array_index(found->mixed, AstroOpenFile, i);
    GstElement *reader = find_reader(readers, file->factory);
    astro_row_src_add_file((AstroRowSrc *)first, reader == first ? NULL : (AstroRowSrc *)reader,
                           file->name);
  }
  return take_first(readers);
}

/* ---- samples without a header ---- */

/* A file without a header is read as bytes, with caps that say what they are. */
static GstElement *make_bytes(const AstroOpenFound *found)
{
  GstElement *bin = gst_bin_new("source");
  GstElement *file = gst_element_factory_make("filesrc", NULL);
  GstElement *caps = gst_element_factory_make("capsfilter", NULL);
  g_object_set(file, "location", found->first, "blocksize", BLOCK, NULL);
  g_object_set(caps, "caps", found->caps, NULL);
  gst_bin_add_many(GST_BIN(bin), file, caps, NULL);
  gst_element_link(file, caps);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(caps, "src");
  gst_element_add_pad(bin, gst_ghost_pad_new("src", pad));
  return bin;
}

GstElement *astro_open_source_new(GstElement *self, const AstroOpenFound *found,
                                  const AstroField *fields)
{
  if (found->caps)
    return make_bytes(found);
  return found->mixed ? make_mixed(self, found, fields) : make_one(self, found, fields);
}
