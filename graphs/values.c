/* Checks the values of properties and caps in a graph. */
#include "graphs/values.h"

#include "graphs/whole.h"

#include <float.h>
#include <gst/gst.h>
#include <math.h>
#include <string.h>

#define MANY 16 /* values of an enumeration: more are not listed */

/* NULL: there is no such element, which GStreamer reports itself. */
static GObjectClass *class_of(const char *word)
{
  g_autoptr(GstElementFactory) known = gst_element_factory_find(word);
  if (!known)
    return NULL;
  g_autoptr(GstPluginFeature) loaded = gst_plugin_feature_load(GST_PLUGIN_FEATURE(known));
  GType type = loaded ? gst_element_factory_get_element_type(GST_ELEMENT_FACTORY(loaded)) : 0;
  return type ? g_type_class_ref(type) : NULL;
}

static char *describe_values(const GEnumClass *klass)
{
  g_autoptr(GString) text = g_string_new("expected ");
  if (klass->n_values > MANY)
    return g_strdup_printf("expected one of %u values, from %s to %s", klass->n_values,
                           klass->values[0].value_nick,
                           klass->values[klass->n_values - 1].value_nick);
  for (guint i = 0; i < klass->n_values; i++)
    g_string_append_printf(text, "%s%s",
                           i == 0                    ? ""
                           : i + 1 < klass->n_values ? ", "
                                                     : " or ",
                           klass->values[i].value_nick);
  return g_strdup(text->str);
}

static char *describe_reals(double least, double most)
{
  if (most < DBL_MAX)
    return g_strdup_printf("expected a number from %g to %g", least, most);
  return least > -DBL_MAX ? g_strdup_printf("expected a number of at least %g", least)
                          : g_strdup("expected a number");
}

/* Describes the values that are expected; NULL for types other than numbers and enumerations. */
static char *describe(GParamSpec *spec)
{
  const char *own = g_param_spec_get_qdata(spec, g_quark_from_static_string("astro-expected"));
  if (own)
    return g_strdup(own);
  if (G_IS_PARAM_SPEC_ENUM(spec))
    return describe_values(G_PARAM_SPEC_ENUM(spec)->enum_class);
  if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    return g_strdup("expected true or false");
  if (G_IS_PARAM_SPEC_DOUBLE(spec))
    return describe_reals(G_PARAM_SPEC_DOUBLE(spec)->minimum, G_PARAM_SPEC_DOUBLE(spec)->maximum);
  if (G_IS_PARAM_SPEC_FLOAT(spec) && G_PARAM_SPEC_FLOAT(spec)->maximum < FLT_MAX)
    return describe_reals(G_PARAM_SPEC_FLOAT(spec)->minimum, G_PARAM_SPEC_FLOAT(spec)->maximum);
  if (G_IS_PARAM_SPEC_UINT64(spec))
    return g_strdup_printf("expected a whole number from %" G_GUINT64_FORMAT
                           " to %" G_GUINT64_FORMAT,
                           G_PARAM_SPEC_UINT64(spec)->minimum, G_PARAM_SPEC_UINT64(spec)->maximum);
  if (G_IS_PARAM_SPEC_UINT(spec))
    return g_strdup_printf("expected a whole number from %u to %u",
                           G_PARAM_SPEC_UINT(spec)->minimum, G_PARAM_SPEC_UINT(spec)->maximum);
  if (G_IS_PARAM_SPEC_INT(spec))
    return g_strdup_printf("expected a whole number from %d to %d", G_PARAM_SPEC_INT(spec)->minimum,
                           G_PARAM_SPEC_INT(spec)->maximum);
  return NULL;
}

/* Whether a number was read as another one than is written, as -64 is for an unsigned property. -1
 * is allowed: GStreamer uses it for the largest number. */
static gboolean is_wrapped(const char *text, const GValue *value)
{
  GValue read = G_VALUE_INIT;
  char *end;
  double written = g_ascii_strtod(text, &end);
  if (*end || end == text || written == -1 || G_VALUE_HOLDS_ENUM(value) ||
      G_VALUE_HOLDS_FLOAT(value))
    return FALSE;
  g_value_init(&read, G_TYPE_DOUBLE);
  return g_value_transform(value, &read) && g_value_get_double(&read) != written;
}

/* GStreamer would read an empty text as 0 or as the first value of an enumeration. */
static gboolean is_good(GParamSpec *spec, const char *text)
{
  GValue value = G_VALUE_INIT;
  if (!*text)
    return FALSE;
  g_value_init(&value, spec->value_type);
  gboolean good = gst_value_deserialize_with_pspec(&value, text, spec) &&
                  !is_wrapped(text, &value) && !g_param_value_validate(spec, &value);
  g_value_unset(&value);
  return good;
}

static gboolean is_whole(const GParamSpec *spec)
{
  static const GType types[] = { G_TYPE_INT, G_TYPE_UINT, G_TYPE_INT64, G_TYPE_UINT64 };
  for (guint i = 0; i < G_N_ELEMENTS(types); i++)
    if (spec->value_type == types[i])
      return TRUE;
  return FALSE;
}

/* Writes out 1e6 as 1000000 if the property accepts that. */
static gboolean write_out(AstroToken *token, GParamSpec *spec, const char *text)
{
  g_autofree char *digits = is_whole(spec) ? astro_whole_digits(text) : NULL;
  if (!digits || !is_good(spec, digits))
    return FALSE;
  astro_token_replace(token, digits);
  return TRUE;
}

static gboolean check(const AstroGraph *graph, AstroToken *token, const char *element,
                      GParamSpec *spec, GError **error)
{
  g_autofree char *text = astro_token_text(graph, token);
  g_autofree char *expected = describe(spec);
  if (!expected || is_good(spec, text) || write_out(token, spec, text))
    return TRUE;
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
              "%s:%u: could not set property \"%s\" in element \"%s\" to \"%s\": %s", graph->file,
              token->line, spec->name, element, text, expected);
  return FALSE;
}

/* If a property is set twice, GLib takes the first value and prints a critical. */
static gboolean check_once(const AstroGraph *graph, const AstroToken *token, const char *element,
                           GParamSpec *spec, GHashTable *set, GError **error)
{
  if (g_hash_table_add(set, spec))
    return TRUE;
  g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
              "%s:%u: property \"%s\" of element \"%s\" is set twice", graph->file, token->line,
              spec->name, element);
  return FALSE;
}

static gboolean has_bins(const AstroGraph *graph)
{
  for (guint i = 0; i < graph->tokens->len; i++)
    if (!g_strcmp0(astro_token_literal(graph->tokens->pdata[i], ASTRO_TOKEN_WORD), "("))
      return TRUE;
  return FALSE;
}

/* GStreamer would drop the second element of a name, and only print a critical. Within bins a name
 * may be used again. */
static gboolean check_names(const AstroGraph *graph, GError **error)
{
  g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  if (has_bins(graph))
    return TRUE;
  for (guint i = 1; i < graph->tokens->len; i++) {
    const AstroToken *token = graph->tokens->pdata[i], *before = graph->tokens->pdata[i - 1];
    if (token->kind != ASTRO_TOKEN_VALUE ||
        g_strcmp0(astro_token_literal(before, ASTRO_TOKEN_WORD), "name=") != 0)
      continue;
    char *name = astro_token_text(graph, token);
    if (!g_hash_table_contains(names, name)) {
      g_hash_table_add(names, name);
      continue;
    }
    g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
                "%s:%u: two elements are named \"%s\", expected a name of its own for each",
                graph->file, token->line, name);
    g_free(name);
    return FALSE;
  }
  return TRUE;
}

/* Says what should stand in the caps instead of this value, or returns NULL if the value is good.
 * GStreamer would read an empty value as 0, with a critical; and a NaN never matches other caps,
 * which would be reported far from here. */
static const char *expected_of_caps(const char *before, const char *value)
{
  char *end;
  const double number = g_ascii_strtod(value, &end);

  if (!*value)
    return g_strcmp0(before, "=") == 0 || g_strcmp0(before, ")") == 0 ? "a value" : NULL;
  return !*end && !isfinite(number) ? "a finite number" : NULL;
}

/* Whether a field counts something: 0 would be a mistake that elements report one by one. */
static gboolean is_count(const char *field)
{
  static const char *const counts[] = { "stations", "pols", "channels", "baselines", NULL };
  return field && g_strv_contains(counts, field);
}

static gboolean is_digits(const char *text, guint64 least)
{
  return g_ascii_string_to_unsigned(text, 10, least, G_MAXINT, NULL, NULL);
}

/* A parameter followed by a slash and digits. */
static gboolean is_fraction(const AstroToken *token)
{
  const AstroPart *lower = token->parts->len == 2 ? token->parts->pdata[1] : NULL;
  return lower && !lower->parameter && lower->text[0] == '/' && is_digits(lower->text + 1, 1);
}

static const char *expected_of_field(const AstroToken *token, const char *field, const char *before,
                                     const char *value)
{
  const char *expected = expected_of_caps(before, value);
  if (expected || g_strcmp0(before, "=") != 0)
    return expected;
  if (is_count(field))
    return is_digits(value, 1) ? NULL : "a whole number of at least 1";
  g_autofree char *upper = g_strndup(value, strcspn(value, "/"));
  return is_fraction(token) && !is_digits(upper, 0) ? "a whole number such as 1000000 or 1e6"
                                                    : NULL;
}

/* Writes out the digits, for fields that are counts or fractions. */
static char *digits_of_field(const char *field, const char *before, const char *value)
{
  if (g_strcmp0(before, "=") != 0)
    return NULL;
  if (!is_count(field))
    return astro_whole_fraction(value);
  g_autofree char *digits = astro_whole_digits(value);
  return digits && is_digits(digits, 1) ? g_steal_pointer(&digits) : NULL;
}

static const char *caps_literal(const AstroGraph *graph, guint token)
{
  return astro_token_literal(graph->tokens->pdata[token], ASTRO_TOKEN_CAPS);
}

/* Checks a value in caps, where each punctuation mark is a token of its own. */
static gboolean check_caps(AstroGraph *graph, guint at, GError **error)
{
  AstroToken *token = graph->tokens->pdata[at];
  const AstroPart *part = token->parts->pdata[0];
  const char *field = at > 1 ? caps_literal(graph, at - 2) : NULL;
  const char *before = caps_literal(graph, at - 1);
  g_autofree char *text = astro_token_text(graph, token);
  g_autofree char *digits = part->parameter ? digits_of_field(field, before, text) : NULL;
  const char *expected =
      part->parameter && !digits ? expected_of_field(token, field, before, text) : NULL;

  if (digits)
    astro_token_replace(token, digits);
  if (!expected)
    return TRUE;
  const AstroParameter *parameter =
      astro_parameter_source(astro_graph_reference(graph, part->text));
  if (!parameter->set)
    g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
                "%s:%u: parameter %s has to be given: %s", graph->file, token->line,
                parameter->name, parameter->help);
  else
    g_set_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER,
                "%s:%u: parameter %s is \"%s\", expected %s in caps: %s", graph->file, token->line,
                parameter->name, parameter->value, expected, parameter->help);
  return FALSE;
}

gboolean astro_values_check(AstroGraph *graph, GError **error)
{
  g_autoptr(GHashTable) set = g_hash_table_new(NULL, NULL);
  g_autofree char *element = NULL;
  GObjectClass *klass = NULL;
  GParamSpec *spec = NULL;
  gboolean good = TRUE;

  for (guint i = 0; good && i < graph->tokens->len; i++) {
    AstroToken *token = graph->tokens->pdata[i];
    if (token->kind == ASTRO_TOKEN_VALUE && spec)
      good = check_once(graph, token, element, spec, set, error) &&
             check(graph, token, element, spec, error);
    if (token->kind == ASTRO_TOKEN_CAPS && i > 0 && token->parts->len > 0)
      good = check_caps(graph, i, error);
    spec = NULL;
    if (token->kind != ASTRO_TOKEN_WORD)
      continue;
    g_autofree char *word = astro_token_text(graph, token);
    if (g_str_has_suffix(word, "=")) {
      word[strlen(word) - 1] = 0;
      spec = klass ? g_object_class_find_property(klass, word) : NULL;
    } else {
      g_clear_pointer(&klass, g_type_class_unref);
      g_hash_table_remove_all(set);
      klass = class_of(word);
      g_free(element);
      element = g_steal_pointer(&word);
    }
  }
  g_clear_pointer(&klass, g_type_class_unref);
  return good && check_names(graph, error);
}

char *astro_checked_line(AstroGraph *graph, GError **error)
{
  return astro_values_check(graph, error) ? astro_graph_line(graph, error) : NULL;
}
