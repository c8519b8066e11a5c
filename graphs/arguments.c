/* Parses command lines, and prints help on commands. */
#include "graphs/arguments.h"
#include "graphs/near.h"
#include <stdio.h>
#include <string.h>

static const AstroOption no_options[] = { { NULL } };

static const AstroOption *options_of(const AstroCommand *command)
{
  return command->options ? command->options : no_options;
}

/* Finds the option that the argument names, as --name or --name=value. */
static const AstroOption *find_option(const AstroCommand *command, const char *argument)
{
  for (const AstroOption *option = options_of(command); option->name; option++) {
    gsize n = strlen(option->name);
    if (!strncmp(argument, option->name, n) &&
        (!argument[n] || (option->value && argument[n] == '=')))
      return option;
  }
  return NULL;
}

G_GNUC_PRINTF(2, 3)
static AstroParsed wrong(const AstroCommand *command, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *reason = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  fprintf(stderr, "gst-astro %s: %s (gst-astro %s --help says more)\n", command->name, reason,
          command->name);
  return ASTRO_PARSED_WRONG;
}

static AstroParsed unknown_option(const AstroCommand *command, const char *argument)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (const AstroOption *option = options_of(command); option->name; option++)
    g_ptr_array_add(names, (gpointer)option->name);
  g_ptr_array_add(names, NULL);
  g_autofree char *hint = astro_near_hint(argument, (const char *const *)names->pdata);
  return wrong(command, "no option %s%s", argument, hint);
}

static AstroParsed take_option(const AstroCommand *command, char ***argv, AstroArguments *arguments)
{
  const char *argument = *(*argv)++;
  const AstroOption *option = find_option(command, argument);
  if (g_str_equal(argument, "--help") || g_str_equal(argument, "-h"))
    return ASTRO_PARSED_HELP;
  if (!option)
    return unknown_option(command, argument);
  if (!option->value) {
    G_STRUCT_MEMBER(gboolean, arguments, option->field) = TRUE;
    return ASTRO_PARSED;
  }
  const char *value = strchr(argument, '=');
  value = value ? value + 1 : **argv ? *(*argv)++ : "";
  if (!*value)
    return wrong(command, "%s needs a %s", option->name, option->value);
  g_autofree char *trouble = option->check ? option->check(value) : NULL;
  if (trouble)
    return wrong(command, "%s", trouble);
  G_STRUCT_MEMBER(const char *, arguments, option->field) = value;
  return ASTRO_PARSED;
}

static AstroParsed take_word(const AstroCommand *command, char *word, AstroArguments *arguments)
{
  if (command->takes_graph && !arguments->graph)
    arguments->graph = word;
  else if (!command->takes_values)
    return wrong(command, "unexpected argument %s", word);
  else if (!strchr(word, '='))
    return wrong(command,
                 "unexpected argument %s: parameters are given as name=value; their names are in "
                 "gst-astro help %s",
                 word, arguments->graph);
  else
    g_ptr_array_add(arguments->values, word);
  return ASTRO_PARSED;
}

AstroParsed astro_arguments_parse(const AstroCommand *command, char **argv,
                                  AstroArguments *arguments)
{
  AstroParsed parsed = ASTRO_PARSED;
  gboolean options = TRUE;
  *arguments = (AstroArguments){ .values = g_ptr_array_new() };
  while (*argv && parsed == ASTRO_PARSED) {
    if (options && g_str_equal(*argv, "--")) {
      options = FALSE;
      argv++;
    } else if (options && (*argv)[0] == '-' && (*argv)[1]) {
      parsed = take_option(command, &argv, arguments);
    } else {
      parsed = take_word(command, *argv++, arguments);
    }
  }
  if (parsed == ASTRO_PARSED && command->takes_graph && !arguments->graph)
    return wrong(command, "name a graph");
  return parsed;
}

void astro_arguments_clear(AstroArguments *arguments)
{
  g_clear_pointer(&arguments->values, g_ptr_array_unref);
}

void astro_command_help(const AstroCommand *command)
{
  printf("Usage: gst-astro %s%s%s\n\n%s\n", command->name, *command->arguments ? " " : "",
         command->arguments, command->summary);
  if (command->help)
    printf("\n%s\n", command->help);
  printf("\nOptions:\n");
  for (const AstroOption *option = options_of(command); option->name; option++) {
    g_autofree char *left =
        g_strjoin(option->value ? " " : NULL, option->name, option->value, NULL);
    printf("  %-22s  %s\n", left, option->help);
  }
  printf("  %-22s  %s\n", "--help",
         command->takes_graph ? "show this help, and after GRAPH its parameters"
                              : "show this help");
}
