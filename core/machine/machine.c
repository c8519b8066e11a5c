/* Reads and writes descriptions of machines. */
#include "config.h"
#include "core/machine/machine.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(astro_machine_error, astro_machine_error)

/* A field of the file: either a text or a number. */
typedef struct {
  const char *group, *key, *comment;
  gsize at; /* in AstroMachine */
  gboolean is_text, is_needed;
} Field;

#define AT(member) G_STRUCT_OFFSET(AstroMachine, member)
#define UNIT(group, unit, needed)                                                                  \
  { group, "memory", "bytes", AT(unit.memory), FALSE, needed },                                    \
      { group, "bandwidth", "of memory, bytes a second", AT(unit.bandwidth), FALSE, needed },      \
      { group, "int8", "operations a second", AT(unit.operations[ASTRO_ARITHMETIC_INT8]) },        \
      { group, "int16", NULL, AT(unit.operations[ASTRO_ARITHMETIC_INT16]) },                       \
      { group, "half", NULL, AT(unit.operations[ASTRO_ARITHMETIC_HALF]) },                         \
      { group, "float", NULL, AT(unit.operations[ASTRO_ARITHMETIC_FLOAT]), FALSE, needed },        \
      { group, "double", NULL, AT(unit.operations[ASTRO_ARITHMETIC_DOUBLE]) },                     \
  {                                                                                                \
    group, "power", "watts at full work", AT(unit.power)                                           \
  }

static const Field fields[] = {
  { "machine", "name", NULL, AT(name), TRUE, TRUE },
  { "machine", "source", "where the numbers come from", AT(source), TRUE, TRUE },
  { "host", "cores", NULL, AT(cores) },
  UNIT("host", host, TRUE),
  { "device", "devices", "how many", AT(devices) },
  { "device", "name", NULL, AT(device), TRUE },
  UNIT("device", gpu, FALSE),
  { "bus", "up", "bytes a second to a GPU", AT(bus_up) },
  { "bus", "down", "bytes a second from it", AT(bus_down) },
  { "network", "bandwidth", "bytes a second", AT(network) },
  { "disk", "bandwidth", "bytes a second written", AT(disk) },
};

static const Field *find_field(const char *group, const char *key)
{
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    if (g_str_equal(fields[i].group, group) && g_str_equal(fields[i].key, key))
      return &fields[i];
  return NULL;
}

static gboolean refuse(GError **error, const char *path, const char *group, const char *key,
                       const char *text)
{
  return astro_fail(error, ASTRO_MACHINE_ERROR, ASTRO_MACHINE_ERROR_VALUE,
                    "%s: %s of [%s] is %s, expected a number that is not negative", path, key,
                    group, text);
}

static gboolean read_field(GKeyFile *file, const char *path, const char *group, const char *key,
                           AstroMachine *machine, GError **error)
{
  const Field *field = find_field(group, key);
  g_autofree char *text = g_key_file_get_string(file, group, key, NULL);
  char *end = NULL;
  if (!field)
    return astro_fail(error, ASTRO_MACHINE_ERROR, ASTRO_MACHINE_ERROR_VALUE,
                      "%s: there is no field %s in [%s] of a machine; gst-astro machine writes "
                      "all that there are",
                      path, key, group);
  if (field->is_text) {
    G_STRUCT_MEMBER(char *, machine, field->at) = g_steal_pointer(&text);
    return TRUE;
  }
  const double value = text ? g_ascii_strtod(text, &end) : -1;
  if (!text || !*text || *end || !isfinite(value) || value < 0)
    return refuse(error, path, group, key, text ? text : "no text");
  G_STRUCT_MEMBER(double, machine, field->at) = value;
  return TRUE;
}

static gboolean read_group(GKeyFile *file, const char *path, const char *group,
                           AstroMachine *machine, GError **error)
{
  g_auto(GStrv) keys = g_key_file_get_keys(file, group, NULL, NULL);
  for (guint i = 0; keys && keys[i]; i++)
    if (!read_field(file, path, group, keys[i], machine, error))
      return FALSE;
  return TRUE;
}

static gboolean check(const AstroMachine *machine, const char *path, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    const Field *field = &fields[i];
    const gboolean is_there = field->is_text ? G_STRUCT_MEMBER(char *, machine, field->at) != NULL
                                             : G_STRUCT_MEMBER(double, machine, field->at) > 0;
    if (field->is_needed && !is_there)
      return astro_fail(error, ASTRO_MACHINE_ERROR, ASTRO_MACHINE_ERROR_VALUE,
                        "%s: [%s] lacks %s, without which nothing can be planned", path,
                        field->group, field->key);
  }
  if (machine->devices > 0 && (machine->gpu.bandwidth <= 0 || machine->bus_up <= 0 ||
                               machine->bus_down <= 0 || machine->gpu.memory <= 0))
    return astro_fail(error, ASTRO_MACHINE_ERROR, ASTRO_MACHINE_ERROR_VALUE,
                      "%s: the machine has GPUs, and memory or bandwidth of [device], or up or "
                      "down of [bus], is missing",
                      path);
  return TRUE;
}

AstroMachine *astro_machine_read(const char *path, GError **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) reason = NULL;
  g_autoptr(AstroMachine) machine = g_new0(AstroMachine, 1);
  if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &reason)) {
    astro_fail(error, ASTRO_MACHINE_ERROR, ASTRO_MACHINE_ERROR_FILE, "%s: %s", path,
               reason->message);
    return NULL;
  }
  g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
  for (guint i = 0; groups[i]; i++)
    if (!read_group(file, path, groups[i], machine, error))
      return NULL;
  return check(machine, path, error) ? g_steal_pointer(&machine) : NULL;
}

/* Values that are not known are left out. */
char *astro_machine_to_text(const AstroMachine *machine)
{
  GString *text = g_string_new(NULL);
  const char *group = "";
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++) {
    const Field *field = &fields[i];
    const char *word = field->is_text ? G_STRUCT_MEMBER(char *, machine, field->at) : NULL;
    const double value = field->is_text ? 0 : G_STRUCT_MEMBER(double, machine, field->at);
    if (field->is_text ? !word : value <= 0)
      continue;
    if (!g_str_equal(group, field->group))
      g_string_append_printf(text, "%s[%s]\n", text->len ? "\n" : "", field->group);
    group = field->group;
    if (field->comment)
      g_string_append_printf(text, "# %s\n", field->comment);
    if (field->is_text)
      g_string_append_printf(text, "%s=%s\n", field->key, word);
    else
      g_string_append_printf(text, "%s=%.4g\n", field->key, value);
  }
  return g_string_free(text, FALSE);
}

void astro_machine_free(AstroMachine *machine)
{
  g_free(machine->name);
  g_free(machine->source);
  g_free(machine->device);
  g_free(machine);
}
