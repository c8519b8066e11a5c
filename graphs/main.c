/* gst-astro: runs and explains graphs. */
#include "config.h"
#include "graphs/arguments.h"
#include "graphs/devices.h"
#include "graphs/explain.h"
#include "graphs/near.h"
#include "graphs/run.h"
#include <errno.h>
#include <gst/gst.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2

static const AstroOption run_options[] = {
  { "--stats", NULL, "end with a table of what every element did",
    G_STRUCT_OFFSET(AstroArguments, stats) },
  { "--dot", "FILE", "write the running pipeline to FILE, for Graphviz",
    G_STRUCT_OFFSET(AstroArguments, dot) },
  { "--quiet", NULL, "no progress, only warnings and errors",
    G_STRUCT_OFFSET(AstroArguments, quiet) },
  { "--verbose", NULL, "print what elements report, such as clipped samples",
    G_STRUCT_OFFSET(AstroArguments, verbose) },
  { NULL },
};

#define GRAPH_HELP                                                                                 \
  "GRAPH is a name that gst-astro list shows, the path of a .graph file, or - for the standard "   \
  "input."

static const AstroCommand commands[] = {
  { "run", "GRAPH [name=value ...] [OPTION ...]", "Runs a graph to its end.",
    GRAPH_HELP
    "\nInterrupt it once to end the stream and keep what was made, twice to stop at once.",
    TRUE, TRUE, run_options, astro_run },
  { "list", "", "Lists the graphs there are.", NULL, FALSE, FALSE, NULL, astro_list },
  { "show", "GRAPH", "Shows what a graph does, its parameters and its text.", GRAPH_HELP, TRUE,
    FALSE, NULL, astro_show },
  { "print", "GRAPH [name=value ...]",
    "Prints the line for a shell that runs the graph with gst-launch-1.0.", GRAPH_HELP, TRUE, TRUE,
    NULL, astro_print },
  { "devices", "", "Lists the CPU's kernels and the GPUs that backend=cuda can use.", NULL, FALSE,
    FALSE, NULL, astro_devices },
};

static void print_help(void)
{
  printf("Usage: gst-astro COMMAND ...\n\nRuns and explains graphs: GStreamer pipelines for radio "
         "astronomy.\n\nCommands:\n");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    printf("  %-7s %-36s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
  printf("\nOptions:\n  --help       show this help; after a command, that command's\n"
         "  --version    show the versions of gst-astro and GStreamer\n");
}

static void print_version(void)
{
  g_autofree char *gstreamer = gst_version_string();
  printf("gst-astro %s (%s)\n", PACKAGE_VERSION, gstreamer);
}

static const struct {
  const char *name;
  void (*print)(void);
} options[] = {
  { "--help", print_help },
  { "-h", print_help },
  { "help", print_help }, /* as of other programs */
  { "--version", print_version },
};

static int unknown_command(const char *word)
{
  const char *names[G_N_ELEMENTS(commands) + 1] = { NULL };
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    names[i] = commands[i].name;
  g_autofree char *hint = astro_near_hint(word, names);
  fprintf(stderr, "gst-astro: no %s %s%s (gst-astro --help shows all)\n",
          *word == '-' ? "option" : "command", word, hint);
  return EXIT_USAGE;
}

static int run_command(const AstroCommand *command, char **argv)
{
  AstroArguments arguments;
  int status = EXIT_SUCCESS;
  switch (astro_arguments_parse(command, argv, &arguments)) {
  case ASTRO_PARSED:
    status = command->run(&arguments);
    break;
  case ASTRO_PARSED_HELP:
    astro_command_help(command);
    if (arguments.graph) {
      printf("\n");
      status = astro_explain(&arguments);
    }
    break;
  case ASTRO_PARSED_WRONG:
    status = EXIT_USAGE;
    break;
  }
  astro_arguments_clear(&arguments);
  return status;
}

static int run(int argc, char **argv)
{
  if (argc < 2) {
    fprintf(stderr, "gst-astro: which command? (gst-astro --help shows all)\n");
    return EXIT_USAGE;
  }
  for (guint i = 0; i < G_N_ELEMENTS(options); i++)
    if (g_str_equal(argv[1], options[i].name)) {
      options[i].print();
      return EXIT_SUCCESS;
    }
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    if (g_str_equal(argv[1], commands[i].name))
      return run_command(&commands[i], argv + 2);
  return unknown_command(argv[1]);
}

/* A full disk is seen when what was printed is written. */
static int close_output(int status)
{
  if (fflush(stdout) == 0 && !ferror(stdout))
    return status;
  fprintf(stderr, "gst-astro: standard output: %s\n", g_strerror(errno));
  return status == EXIT_SUCCESS ? EXIT_FAILURE : status;
}

int main(int argc, char **argv)
{
  setlocale(LC_ALL, "");
  setlocale(LC_NUMERIC, "C");
  return close_output(run(argc, argv));
}
