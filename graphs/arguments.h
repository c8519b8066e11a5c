/* The command line: commands, their options, and what the user gave. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  const char *graph;
  GPtrArray *values; /* "name=value" */
  gboolean stats, quiet, verbose, quick;
  const char *dot, *clock, *keep, *control, *control_token, *watchdog;
  const char *machine, *output, *compare;
} AstroArguments;

typedef struct {
  const char *name;  /* "--stats" */
  const char *value; /* kind of value, such as "FILE"; NULL: it is a switch */
  const char *help;
  gsize field; /* in AstroArguments: a gboolean, or a string if the option has a value */
  char *(*check)(const char *value); /* says what is wrong with a value; NULL: takes any */
} AstroOption;

typedef struct {
  const char *name;
  const char *arguments; /* as shown by help */
  const char *summary;
  const char *help; /* further lines, or NULL */
  gboolean takes_graph, takes_values;
  const AstroOption *options; /* ends with one without a name; or NULL */
  int (*run)(const AstroArguments *arguments);
} AstroCommand;

typedef enum { ASTRO_PARSED, ASTRO_PARSED_HELP, ASTRO_PARSED_WRONG } AstroParsed;

/* argv: the words after the command, ending with NULL. Prints what is wrong with them. */
AstroParsed astro_arguments_parse(const AstroCommand *command, char **argv,
                                  AstroArguments *arguments);
void astro_arguments_clear(AstroArguments *arguments);

void astro_command_help(const AstroCommand *command);

G_END_DECLS
