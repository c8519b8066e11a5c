/* Writes reports. JSON has a line for each result, which a comparison reads again. */
#include "graphs/qualify-report.h"

#include <math.h>
#include <string.h>

/* The tests are those of doc/requirements.md. */
static const struct {
  const char *requirement, *title;
  const char *tests; /* files and folders of the sources, with spaces between */
} requirements[] = {
  { "exact", "Every kernel gives what the reference gives",
    "tests/graphs/qualify.c tests/graphs/planted.c tests/core/power/power-variants.c "
    "tests/core/correlator "
    "tests/core/beamform tests/core/channelizer tests/core/dedisperse tests/core/fold "
    "tests/core/convert tests/core/transpose tests/core/phaseshift tests/core/fft "
    "tests/core/delay tests/core/gridder tests/core/image tests/core/clean tests/core/calibrate "
    "tests/core/flag tests/core/search tests/core/histogram "
    "tests/core/backend/opencl.c" },
  { "rate", "Rates beside what the machine allows", "tests/bench tests/graphs/planted.c" },
  { "image", "Errors of images beside direct transforms are as small as asked for",
    "tests/core/gridder/gridder.c tests/elements/astrogridder.c" },
  { "adjoint", "Degridding is the adjoint of gridding", "tests/core/gridder/degrid.c" },
  { "losses", "What is lost is missing from the weights in a file",
    "tests/elements/astropower.c tests/elements/misfits.c tests/graphs/packets.c" },
  { "stops", "Runs that are cut short leave whole files, or none",
    "tests/graphs/interrupt.c tests/graphs/refused.c" },
  { "energy", "Energy of the timed work, beside each rate",
    "tests/graphs/usage.c tests/core/machine/nvml.c" },
  { "peers", "Other programs count the same", "tests/bench/peers-tpacf" },
  { "seeds", "Published experiments, run again; their own figures in the remarks",
    "tests/bench/correlator.c tests/bench/wprojection.c tests/bench/histogram.c" },
};

/* ---- JSON ---- */

static void append_quoted(GString *text, const char *word)
{
  g_string_append_c(text, '"');
  for (const char *c = word ? word : ""; *c; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_printf(text, "\\%c", *c);
    else if ((guchar)*c < 0x20)
      g_string_append_printf(text, "\\u%04x", *c);
    else
      g_string_append_c(text, *c);
  }
  g_string_append_c(text, '"');
}

static void append_number(GString *text, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append(text,
                  isfinite(value) ? g_ascii_formatd(number, sizeof number, "%.6g", value) : "null");
}

static void append_field(GString *text, const char *name, const char *value)
{
  g_string_append_printf(text, "  \"%s\": ", name);
  append_quoted(text, value);
  g_string_append(text, ",\n");
}

static void append_result(GString *text, const AstroQualifyResult *result)
{
  g_string_append(text, "    {\"requirement\": ");
  append_quoted(text, result->requirement);
  g_string_append(text, ", \"subject\": ");
  append_quoted(text, result->subject);
  g_string_append(text, ", \"state\": ");
  append_quoted(text, astro_qualify_state_name(result->state));
  g_string_append(text, ", \"value\": ");
  append_number(text, result->value);
  g_string_append(text, ", \"limit\": ");
  append_number(text, result->limit);
  g_string_append(text, ", \"remark\": ");
  append_quoted(text, result->remark);
  g_string_append_c(text, '}');
}

/* Each requirement with the tests that look at it too. */
static void append_requirements(GString *text)
{
  g_string_append(text, "  \"requirements\": [\n");
  for (guint i = 0; i < G_N_ELEMENTS(requirements); i++) {
    g_auto(GStrv) tests = g_strsplit(requirements[i].tests, " ", -1);
    g_autofree char *list = g_strjoinv("\", \"", tests);
    g_string_append_printf(text, "    {\"requirement\": \"%s\", \"tests\": [\"%s\"]}%s\n",
                           requirements[i].requirement, list,
                           i + 1 < G_N_ELEMENTS(requirements) ? "," : "");
  }
  g_string_append(text, "  ],\n");
}

static char *to_json(const AstroQualifyReport *report)
{
  GString *text = g_string_new("{\n");
  append_field(text, "host", report->host);
  append_field(text, "versions", report->versions);
  append_field(text, "machine", report->machine->name);
  g_string_append_printf(text, "  \"seed\": %u,\n  \"quick\": %s,\n  \"seconds\": ", report->seed,
                         report->is_quick ? "true" : "false");
  append_number(text, report->seconds);
  g_string_append(text, ",\n");
  append_requirements(text);
  g_string_append(text, "  \"results\": [\n");
  for (guint i = 0; i < report->results->len; i++) {
    append_result(text, report->results->pdata[i]);
    g_string_append(text, i + 1 < report->results->len ? ",\n" : "\n");
  }
  g_string_append(text, "  ]\n}\n");
  return g_string_free(text, FALSE);
}

/* ---- HTML ---- */

static const char style[] =
    "body { font: 10pt sans-serif; margin: 2em; } table { border-collapse: collapse; }\n"
    "td, th { border: 1px solid #999; padding: 2px 6px; text-align: left; }\n"
    ".pass { background: #dfd; } .short { background: #fcc; } .not { background: #eee; }\n"
    "h1 { font-size: 16pt; } h2 { font-size: 12pt; } @media print { body { margin: 0; } }\n";

static char *format_value(double value)
{
  return isfinite(value) ? g_strdup_printf("%.4g", value) : g_strdup("differs");
}

static void append_row(GString *page, const AstroQualifyResult *result)
{
  static const char *const classes[] = { "pass", "short", "not" };
  g_autofree char *subject = g_markup_escape_text(result->subject, -1),
                  *remark = g_markup_escape_text(result->remark ? result->remark : "", -1),
                  *value = format_value(result->value), *limit = format_value(result->limit);
  const gboolean ran = result->state != ASTRO_QUALIFY_NOT_RUN;
  g_string_append_printf(page,
                         "<tr><td>%s</td><td>%s</td><td>%s</td><td class=\"%s\">%s</td>"
                         "<td>%s</td></tr>\n",
                         subject, ran ? value : "", ran ? limit : "", classes[result->state],
                         astro_qualify_state_name(result->state), remark);
}

static void append_section(GString *page, const AstroQualifyReport *report, const char *requirement,
                           const char *title, const char *tests)
{
  g_string_append_printf(
      page,
      "<h2>%s: %s</h2>\n<p>tests: %s</p>\n<table>\n<tr><th>subject</th><th>measured</th>"
      "<th>limit</th><th>state</th><th>remark</th></tr>\n",
      requirement, title, tests);
  for (guint i = 0; i < report->results->len; i++) {
    const AstroQualifyResult *result = report->results->pdata[i];
    if (g_str_equal(result->requirement, requirement))
      append_row(page, result);
  }
  g_string_append(page, "</table>\n");
}

static void append_worse(GString *page, const GPtrArray *worse)
{
  if (!worse)
    return;
  g_string_append(page, "<h2>Compared with an older report</h2>\n<ul>\n");
  for (guint i = 0; i < worse->len; i++) {
    g_autofree char *line = g_markup_escape_text(worse->pdata[i], -1);
    g_string_append_printf(page, "<li>%s</li>\n", line);
  }
  g_string_append(page, worse->len ? "</ul>\n" : "<li>nothing is worse</li></ul>\n");
}

static char *to_html(const AstroQualifyReport *report)
{
  g_autofree char *host = g_markup_escape_text(report->host, -1),
                  *versions = g_markup_escape_text(report->versions, -1);
  GString *page = g_string_new(NULL);
  g_string_append_printf(page,
                         "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                         "<title>gst-astro qualified</title>\n<style>\n%s</style></head><body>\n"
                         "<h1>gst-astro qualified</h1>\n<p>%s<br>%s<br>seed %u, %s, %.0f s</p>\n",
                         style, host, versions, report->seed, report->is_quick ? "quick" : "whole",
                         report->seconds);
  for (guint i = 0; i < G_N_ELEMENTS(requirements); i++)
    append_section(page, report, requirements[i].requirement, requirements[i].title,
                   requirements[i].tests);
  append_worse(page, report->worse);
  g_string_append(page, "</body></html>\n");
  return g_string_free(page, FALSE);
}

gboolean astro_qualify_write(const AstroQualifyReport *report, const char *name, GError **error)
{
  g_autofree char *json = to_json(report), *html = to_html(report);
  g_autofree char *json_file = g_strconcat(name, ".json", NULL);
  g_autofree char *html_file = g_strconcat(name, ".html", NULL);
  return g_file_set_contents(json_file, json, -1, error) &&
         g_file_set_contents(html_file, html, -1, error);
}

/* ---- comparison ---- */

static const AstroQualifyResult *find(const GPtrArray *results, const char *requirement,
                                      const char *subject)
{
  for (guint i = 0; i < results->len; i++) {
    const AstroQualifyResult *result = results->pdata[i];
    if (g_str_equal(result->requirement, requirement) && g_str_equal(result->subject, subject))
      return result;
  }
  return NULL;
}

static void compare(const GPtrArray *results, const GMatchInfo *old, GPtrArray *worse)
{
  g_autofree char *requirement = g_match_info_fetch(old, 1), *subject = g_match_info_fetch(old, 2),
                  *state = g_match_info_fetch(old, 3), *text = g_match_info_fetch(old, 4);
  const AstroQualifyResult *now = find(results, requirement, subject);
  const double before = g_ascii_strtod(text, NULL);
  if (!g_str_equal(state, "pass"))
    return;
  if (!now)
    g_ptr_array_add(worse, g_strdup_printf("%s: %s: it held, and is no longer looked at",
                                           requirement, subject));
  else if (now->state != ASTRO_QUALIFY_PASS)
    g_ptr_array_add(worse, g_strdup_printf("%s: %s: it held, and now is %s: %s", requirement,
                                           subject, astro_qualify_state_name(now->state),
                                           now->remark ? now->remark : ""));
  else if (g_str_equal(requirement, "rate") && now->value < before * 2 / 3)
    g_ptr_array_add(worse, g_strdup_printf("%s: %s: %.3g of what the machine allows, was %.3g",
                                           requirement, subject, now->value, before));
}

GPtrArray *astro_qualify_compare(const GPtrArray *results, const char *path, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr(GRegex) line =
      g_regex_new("\\{\"requirement\": \"([^\"]*)\", \"subject\": \"([^\"]*)\", \"state\": "
                  "\"([^\"]*)\", \"value\": ([^,]*),",
                  0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  if (!g_file_get_contents(path, &text, NULL, error))
    return NULL;
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  if (!g_regex_match(line, valid, 0, &match)) {
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "%s: it has no results, expected the JSON of gst-astro qualify", path);
    return NULL;
  }
  GPtrArray *worse = g_ptr_array_new_with_free_func(g_free);
  for (; g_match_info_matches(match); g_match_info_next(match, NULL))
    compare(results, match, worse);
  return worse;
}
