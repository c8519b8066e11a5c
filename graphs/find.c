/* Finds graphs, our plugin and this program's own name, in a build tree or an install. */
#include "core/paths.h"
#include "graphs/find.h"
#include "graphs/format.h"
#include "graphs/near.h"
#include "core/backend/module.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <glib/gstdio.h>

#define PROGRAM "gst-astro"
#define ENDING ".graph"
#define STANDARD_INPUT "-"

/* The directory graphs/ of the build tree that the program runs in, or NULL. The makefile puts a
 * link named source to the graph files there; libtool puts the program itself in .libs below. */
static char *build_directory(void)
{
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  if (!program)
    return NULL;
  g_autofree char *directory = g_path_get_dirname(program);
  g_autofree char *last = g_path_get_basename(directory);
  if (g_str_equal(last, ".libs")) {
    char *up = g_path_get_dirname(directory);
    g_free(directory);
    directory = up;
  }
  g_autofree char *source = g_build_filename(directory, "source", NULL);
  return g_file_test(source, G_FILE_TEST_IS_SYMLINK) ? g_steal_pointer(&directory) : NULL;
}

static char **graph_directories(void)
{
  g_autoptr(GStrvBuilder) directories = g_strv_builder_new();
  const char *list = g_getenv("GST_ASTRO_GRAPHS");
  g_auto(GStrv) listed = g_strsplit(list ? list : "", ":", -1);
  for (guint i = 0; listed[i]; i++)
    if (*listed[i])
      g_strv_builder_add(directories, listed[i]);
  g_autofree char *build = build_directory();
  g_autofree char *own =
      build ? g_build_filename(build, "source", NULL) : astro_relocate(ASTRO_GRAPHDIR);
  g_strv_builder_add(directories, own);
  return g_strv_builder_end(directories);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
  return g_strcmp0(*(char *const *)a, *(char *const *)b);
}

char **astro_find_graph_names(void)
{
  g_auto(GStrv) directories = graph_directories();
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  GPtrArray *names = g_ptr_array_new();
  for (guint i = 0; directories[i]; i++) {
    g_autoptr(GDir) directory = g_dir_open(directories[i], 0, NULL);
    for (const char *file; directory && (file = g_dir_read_name(directory));) {
      if (!g_str_has_suffix(file, ENDING) || *file == '.')
        continue;
      char *name = g_strndup(file, strlen(file) - strlen(ENDING));
      if (g_hash_table_add(seen, name))
        g_ptr_array_add(names, name);
      else
        g_free(name);
    }
  }
  g_ptr_array_sort(names, compare_names);
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(names, FALSE);
}

char *astro_find_beside_graphs(const char *file)
{
  g_auto(GStrv) directories = graph_directories();
  for (guint i = 0; directories[i]; i++) {
    g_autofree char *path = g_build_filename(directories[i], file, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer(&path);
  }
  return NULL;
}

static void file_error(const char *file, const char *reason, GError **error)
{
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_FILE, "%s: %s", file, reason);
}

/* Opens a regular file; reading anything else could block. */
static int open_file(const char *path, GError **error)
{
  struct stat info;
  int fd = g_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0 || fstat(fd, &info) < 0) {
    file_error(path, g_strerror(errno), error);
  } else if (!S_ISREG(info.st_mode)) {
    file_error(path, "not a regular file (a pipe can be given as -)", error);
  } else {
    return fd;
  }
  if (fd >= 0)
    close(fd);
  return -1;
}

/* Reads up to one byte more than a graph may have, so that the parser can refuse it as too long. */
static gboolean read_all(int fd, const char *file, GByteArray *bytes, GError **error)
{
  guint8 block[4096];
  while (bytes->len <= ASTRO_GRAPH_MAX_BYTES) {
    gssize n = read(fd, block, sizeof block);
    if (n == 0)
      return TRUE;
    if (n > 0)
      g_byte_array_append(bytes, block, n);
    else if (errno != EINTR) {
      file_error(file, g_strerror(errno), error);
      return FALSE;
    }
  }
  return TRUE;
}

static AstroGraph *read_graph(int fd, const char *file, GError **error)
{
  g_autoptr(GByteArray) bytes = g_byte_array_new();
  if (!read_all(fd, file, bytes, error))
    return NULL;
  g_byte_array_append(bytes, (const guint8 *)"", 1);
  return astro_graph_parse(file, (const char *)bytes->data, bytes->len - 1, error);
}

gboolean astro_is_graph_path(const char *graph)
{
  return strchr(graph, '/') || g_str_has_suffix(graph, ENDING) ||
         g_str_equal(graph, STANDARD_INPUT);
}

static char *find_path(const char *graph, GError **error)
{
  if (astro_is_graph_path(graph))
    return g_strdup(graph);
  g_auto(GStrv) directories = graph_directories();
  g_autofree char *file = g_strconcat(graph, ENDING, NULL);
  for (guint i = 0; directories[i]; i++) {
    g_autofree char *path = g_build_filename(directories[i], file, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
      return g_steal_pointer(&path);
  }
  g_auto(GStrv) names = astro_find_graph_names();
  g_autofree char *hint = astro_near_hint(graph, (const char *const *)names);
  g_autofree char *shown = g_utf8_make_valid(graph, -1);
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_FILE,
              "no graph %s%s (gst-astro list shows all)", shown, hint);
  return NULL;
}

AstroGraph *astro_find_graph(const char *graph, GError **error)
{
  if (g_str_equal(graph, STANDARD_INPUT))
    return read_graph(STDIN_FILENO, "standard input", error);
  g_autofree char *path = find_path(graph, error);
  int fd = path ? open_file(path, error) : -1;
  if (fd < 0)
    return NULL;
  AstroGraph *parsed = read_graph(fd, path, error);
  close(fd);
  return parsed;
}

/* If other graphs have a parameter that this one lacks, the error names them. */
static void add_graphs_with(const AstroGraph *graph, const char *assignment, GError **error)
{
  g_autofree char *parameter = g_strndup(assignment, strcspn(assignment, "="));
  g_autoptr(GString) having = g_string_new(NULL);
  g_auto(GStrv) names = astro_find_graph_names();
  if (astro_graph_parameter(graph, parameter) || !error || !*error)
    return;
  for (guint i = 0; names[i]; i++) {
    g_autoptr(AstroGraph) other = astro_find_graph(names[i], NULL);
    if (other && astro_graph_parameter(other, parameter))
      g_string_append_printf(having, "%s%s", having->len ? ", " : "", names[i]);
  }
  if (!having->len)
    return;
  char *longer = g_strdup_printf("%s. Graphs with parameter %s: %s", (*error)->message, parameter,
                                 having->str);
  g_free((*error)->message);
  (*error)->message = longer;
}

static AstroGraph *find_asked_graph(const AstroArguments *arguments, GError **error)
{
  g_autoptr(AstroGraph) graph = astro_find_graph(arguments->graph, error);
  for (guint i = 0; graph && i < arguments->values->len; i++)
    if (!astro_graph_set(graph, arguments->values->pdata[i], error)) {
      add_graphs_with(graph, arguments->values->pdata[i], error);
      return NULL;
    }
  return graph && astro_graph_settle(graph, error) ? g_steal_pointer(&graph) : NULL;
}

char *astro_find_plugin(void)
{
  g_autoptr(GstPlugin) known = gst_registry_find_plugin(gst_registry_get(), "astro");
  if (known)
    return NULL;
  g_autofree char *build = build_directory();
  g_autofree char *directory = build ? g_build_filename(build, "..", "elements", ".libs", NULL)
                                     : astro_relocate(ASTRO_PLUGINDIR);
  g_autofree char *full = g_canonicalize_filename(directory, NULL);
  return gst_registry_scan_path(gst_registry_get(), full) ? g_steal_pointer(&full) : NULL;
}

int astro_with_asked_graph(const AstroArguments *arguments,
                           int (*use)(const AstroGraph *graph, const char *plugin,
                                      const AstroArguments *arguments))
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroGraph) graph = find_asked_graph(arguments, &error);
  if (!graph)
    return astro_refuse(error->message);
  gst_init(NULL, NULL);
  g_autofree char *plugin = astro_find_plugin();
  const int status = use(graph, plugin, arguments);
  gst_deinit();
  return status;
}

static gboolean is_same_file(const char *a, const char *b)
{
  char *one = realpath(a, NULL), *other = realpath(b, NULL);
  const gboolean same = one && g_strcmp0(one, other) == 0;
  free(one);
  free(other);
  return same;
}

/* The link that bootstrap makes at the top of the sources, if it is there. Otherwise libtool's
 * script, because the program beside it does not find its libraries. */
static char *build_command(const char *build)
{
  g_autofree char *source = g_build_filename(build, "source", NULL);
  g_autofree char *graphs = g_file_read_link(source, NULL);
  g_autofree char *below = graphs ? g_build_filename(graphs, "..", NULL) : NULL;
  g_autofree char *top = below ? g_canonicalize_filename(below, NULL) : NULL;
  g_autofree char *here = g_get_current_dir();
  g_autofree char *link = top ? g_build_filename(top, PROGRAM, NULL) : NULL;
  g_autofree char *program = g_build_filename(build, PROGRAM, NULL);
  /* The link leads to one build tree, and this may be another. */
  if (link && is_same_file(link, program))
    return g_str_equal(here, top) ? g_strdup("./" PROGRAM) : g_steal_pointer(&link);
  return g_steal_pointer(&program);
}

/* Whether the shell finds this very program by its name. */
static gboolean is_in_path(const char *own)
{
  g_autofree char *found = g_find_program_in_path(PROGRAM);
  char *real = found ? realpath(found, NULL) : NULL;
  const gboolean same = g_strcmp0(real, own) == 0;
  free(real);
  return same;
}

char *astro_find_command(void)
{
  g_autofree char *build = build_directory(), *own = g_file_read_link("/proc/self/exe", NULL);
  if (!build)
    return !own || is_in_path(own) ? g_strdup(PROGRAM) : astro_format_word(own);
  g_autofree char *command = build_command(build);
  return astro_format_word(command);
}
