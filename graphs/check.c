/* Finds mistakes in a pipeline before it starts. */
#include "graphs/check.h"
#include <string.h>
#include <sys/stat.h>

typedef struct {
  guint sources, sinks;
  gboolean late_pads; /* links may still be made while it runs */
  char *unlinked;
  GPtrArray *files; /* sources and sinks with a location */
  char *nameless;   /* a sink whose location is empty */
} Findings;

static void look_at_templates(GstElement *element, Findings *findings)
{
  for (GList *list = gst_element_get_pad_template_list(element); list; list = list->next)
    if (GST_PAD_TEMPLATE_PRESENCE(list->data) == GST_PAD_SOMETIMES)
      findings->late_pads = TRUE;
}

/* An element whose sink pads are all unlinked gets no data; if it is a sink, the pipeline would
 * wait for it forever. */
static void look_at_pads(GstElement *element, Findings *findings)
{
  gboolean linked = FALSE;
  GST_OBJECT_LOCK(element);
  for (GList *list = element->sinkpads; list; list = list->next)
    linked |= gst_pad_is_linked(list->data);
  if (element->sinkpads && !linked && !findings->unlinked)
    findings->unlinked = g_strdup_printf("%s: its input is not linked", GST_OBJECT_NAME(element));
  GST_OBJECT_UNLOCK(element);
}

static gboolean is_sink(GstElement *element)
{
  return GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK);
}

static char *location_of(GstElement *element)
{
  char *location = NULL;
  g_object_get(element, "location", &location, NULL);
  return location;
}

static void look_at_location(GstElement *element, Findings *findings)
{
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "location");
  gboolean is_end = is_sink(element) || GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SOURCE);
  if (!is_end || !spec || spec->value_type != G_TYPE_STRING)
    return;
  g_autofree char *location = location_of(element);
  if (location && *location)
    g_ptr_array_add(findings->files, element);
  /* some sinks only find out when their first data comes, after all of the work */
  else if (location && is_sink(element) && !findings->nameless)
    findings->nameless = g_strdup_printf("%s has an empty location, expected the name of a file",
                                         GST_OBJECT_NAME(element));
}

/* Only regular files clash: several elements may write to a device or a pipe. */
static gboolean is_same_file(const char *a, const char *b)
{
  struct stat of_a, of_b;
  if (!stat(a, &of_a) && !stat(b, &of_b))
    return S_ISREG(of_a.st_mode) && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
  g_autofree char *path_a = g_canonicalize_filename(a, NULL);
  g_autofree char *path_b = g_canonicalize_filename(b, NULL);
  return g_str_equal(path_a, path_b);
}

static char *look_for_clash(GstElement *sink, GstElement *other)
{
  g_autofree char *to = location_of(sink), *place = location_of(other);
  if (sink == other || !is_same_file(to, place))
    return NULL;
  return g_strdup_printf("%s would write to %s, which %s %s", GST_OBJECT_NAME(sink), to,
                         GST_OBJECT_NAME(other), is_sink(other) ? "also writes" : "reads");
}

/* Finds a file that is read while it is replaced, or that two sinks write. */
static char *look_for_clashes(const GPtrArray *files)
{
  char *clash = NULL;
  for (guint s = 0; s < files->len; s++)
    for (guint o = 0; !clash && is_sink(files->pdata[s]) && o < files->len; o++)
      clash = look_for_clash(files->pdata[s], files->pdata[o]);
  return clash;
}

/* Whether the sink is fed by pngenc directly. */
static gboolean gets_png(GstElement *sink)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstPad) peer = pad ? gst_pad_get_peer(pad) : NULL;
  g_autoptr(GstElement) maker = peer ? gst_pad_get_parent_element(peer) : NULL;
  GstElementFactory *factory = maker ? gst_element_get_factory(maker) : NULL;
  return factory && g_str_equal(GST_OBJECT_NAME(factory), "pngenc");
}

/* PNG in a file named as another kind of picture would be one that viewers cannot read. */
static char *look_for_kind(GstElement *sink)
{
  static const char *const others[] = { ".jpg",  ".jpeg", ".gif", ".tif", ".tiff", ".bmp",
                                        ".webp", ".svg",  ".pdf", ".eps", ".ps",   ".fits" };
  g_autofree char *location = location_of(sink), *name = g_ascii_strdown(location, -1);
  for (guint i = 0; i < G_N_ELEMENTS(others); i++)
    if (g_str_has_suffix(name, others[i]) && gets_png(sink))
      return g_strdup_printf("%s would write PNG to %s, expected a name that ends in .png",
                             GST_OBJECT_NAME(sink), location);
  return NULL;
}

/* A column of a Measurement Set, which is a folder, is written into one that exists. */
static gboolean writes_into_folder(GstElement *sink)
{
  g_autofree char *column = NULL;
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(sink), "column"))
    g_object_get(sink, "column", &column, NULL);
  return column && *column;
}

/* Some sinks only open their file when their first data comes, after all of the work. */
static char *look_for_folder(GstElement *sink)
{
  g_autofree char *location = location_of(sink);
  const char *name = GST_OBJECT_NAME(sink);
  if (strstr(location, "://"))
    return NULL;
  if (g_file_test(location, G_FILE_TEST_IS_DIR))
    return writes_into_folder(sink)
               ? NULL
               : g_strdup_printf("%s would write to %s, which is a folder", name, location);
  g_autofree char *folder = g_path_get_dirname(location);
  if (strchr(folder, '%') || g_file_test(folder, G_FILE_TEST_IS_DIR))
    return NULL;
  return g_strdup_printf("%s would write to %s, but folder %s does not exist", name, location,
                         folder);
}

/* Whether a sink puts the number of a picture into the name of its file, as printf does, and each
 * picture, once it is whole, in the place of what had that name. */
static gboolean numbers_files(GstElement *sink)
{
  GstElementFactory *factory = gst_element_get_factory(sink);
  return factory && g_str_equal(GST_OBJECT_NAME(factory), "multifilesink");
}

/* Where a name has a percent sign that does not begin the only number or stand for itself. */
static const char *find_percent(const char *location)
{
  gboolean has_number = FALSE;
  for (const char *at = location; (at = strchr(at, '%')); at++) {
    const gsize digits = strspn(at + 1, "0123456789");
    if (at[1] == '%')
      at++;
    else if (!at[1 + digits] || !strchr("diouxX", at[1 + digits]) || digits > 2 || has_number)
      return at;
    else
      has_number = TRUE;
  }
  return NULL;
}

/* Other names would be those of other files, or end the program. */
static char *look_for_percent(GstElement *sink)
{
  g_autofree char *location = location_of(sink);
  const char *at = numbers_files(sink) ? find_percent(location) : NULL;
  return at ? g_strdup_printf(
                  "%s would write to %s, where \"%s\" is no number: expected one number "
                  "at most, such as %%04d, and %%%% for a percent sign",
                  GST_OBJECT_NAME(sink), location, at)
            : NULL;
}

/* A device or pipe would become a file. */
static char *look_for_device(GstElement *sink)
{
  g_autofree char *location = location_of(sink);
  struct stat there;
  if (!numbers_files(sink) || stat(location, &there) || S_ISREG(there.st_mode) ||
      S_ISDIR(there.st_mode))
    return NULL;
  return g_strdup_printf("%s would take the place of %s, which is no regular file",
                         GST_OBJECT_NAME(sink), location);
}

static char *look_for_places(const GPtrArray *files)
{
  static char *(*const looks[])(GstElement *) = { look_for_percent, look_for_device,
                                                  look_for_folder, look_for_kind };
  char *trouble = NULL;
  for (guint i = 0; i < files->len; i++)
    for (guint l = 0; is_sink(files->pdata[i]) && !trouble && l < G_N_ELEMENTS(looks); l++)
      trouble = looks[l](files->pdata[i]);
  return trouble;
}

static void look(const GValue *value, gpointer data)
{
  GstElement *element = g_value_get_object(value);
  Findings *findings = data;
  look_at_templates(element, findings);
  look_at_location(element, findings);
  if (GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SOURCE))
    findings->sources++;
  if (is_sink(element))
    findings->sinks++;
  if (!GST_IS_BIN(element))
    look_at_pads(element, findings);
}

char *astro_check_pipeline(GstElement *pipeline)
{
  g_autoptr(GPtrArray) files = g_ptr_array_new();
  Findings findings = { .files = files };
  GstIterator *elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, look, &findings);
  gst_iterator_free(elements);
  g_autofree char *unlinked = findings.unlinked, *nameless = findings.nameless;
  if (unlinked && !findings.late_pads)
    return g_steal_pointer(&unlinked);
  if (!findings.sources)
    return g_strdup("the pipeline has no source: no data would flow");
  if (!findings.sinks) /* only sinks report the end of a stream */
    return g_strdup("the pipeline has no sink: it would never end");
  if (nameless)
    return g_steal_pointer(&nameless);
  char *clash = look_for_clashes(files);
  return clash ? clash : look_for_places(files);
}
