/* gst-astro: runs and explains graphs. */
#include "config.h"
#include "graphs/arguments.h"
#include "graphs/clock.h"
#include "graphs/control.h"
#include "graphs/devices.h"
#include "graphs/explain.h"
#include "graphs/find.h"
#include "graphs/machine.h"
#include "graphs/near.h"
#include "graphs/plan.h"
#include "graphs/qualify.h"
#include "graphs/sequence.h"
#include "graphs/watchdog.h"
#include <errno.h>
#include <gst/gst.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#define EXIT_USAGE 2

static const AstroOption run_options[] = {
  { "--stats", NULL, "end with a table of each element's work",
    G_STRUCT_OFFSET(AstroArguments, stats) },
  { "--machine", "MACHINE",
    "with --stats: beside each stage what bounds it on h100, h200, server-64 or a file's machine",
    G_STRUCT_OFFSET(AstroArguments, machine) },
  { "--dot", "FILE", "write the running pipeline to FILE, for Graphviz",
    G_STRUCT_OFFSET(AstroArguments, dot) },
  { "--clock", "CLOCK", "the pipeline's clock: system, realtime, or ptp:DOMAIN",
    G_STRUCT_OFFSET(AstroArguments, clock), astro_clock_check },
  { "--keep", "FOLDER", "keep the files that rounds pass on in FOLDER",
    G_STRUCT_OFFSET(AstroArguments, keep) },
  { "--control", "ADDRESS:PORT", "metrics, state and control over HTTP",
    G_STRUCT_OFFSET(AstroArguments, control), astro_control_check },
  { "--control-token", "FILE", "the token that requests have to bring",
    G_STRUCT_OFFSET(AstroArguments, control_token) },
  { "--watchdog", "SECONDS", "a watchdog: end with status 3 if no data move for that long",
    G_STRUCT_OFFSET(AstroArguments, watchdog), astro_watchdog_check },
  { "--quiet", NULL, "no progress, only warnings and errors",
    G_STRUCT_OFFSET(AstroArguments, quiet) },
  { "--verbose", NULL, "print what elements report, such as clipped samples",
    G_STRUCT_OFFSET(AstroArguments, verbose) },
  { NULL },
};

static const AstroOption plan_options[] = {
  { "--machine", "MACHINE",
    "plan for h100, h200, server-64 or a file; else this machine is measured",
    G_STRUCT_OFFSET(AstroArguments, machine) },
  { NULL },
};

static const AstroOption qualify_options[] = {
  { "--quick", NULL, "a few shapes of each kind, in less than a minute",
    G_STRUCT_OFFSET(AstroArguments, quick) },
  { "--output", "NAME", "write NAME.html and NAME.json", G_STRUCT_OFFSET(AstroArguments, output) },
  { "--compare", "OLD.json", "say what is worse than in an older report",
    G_STRUCT_OFFSET(AstroArguments, compare) },
  { "--quiet", NULL, "do not say what is looked at", G_STRUCT_OFFSET(AstroArguments, quiet) },
  { NULL },
};

#define GRAPH_HELP                                                                                 \
  "GRAPH is a name that gst-astro list shows, the path of a .graph file, or - for the standard "   \
  "input."

static const AstroCommand commands[] = {
  { "run", "GRAPH [name=value ...] [OPTION ...]", "Runs a graph to its end.",
    GRAPH_HELP
    "\nInterrupt it once to end the stream and keep the results so far, twice to stop at once.",
    TRUE, TRUE, run_options, astro_run },
  { "list", "", "Lists all graphs.", NULL, FALSE, FALSE, NULL, astro_list },
  { "show", "GRAPH", "Shows what a graph does, its parameters and its pipeline.", GRAPH_HELP, TRUE,
    FALSE, NULL, astro_show },
  { "print", "GRAPH [name=value ...]",
    "Prints the shell command that runs the graph with gst-launch-1.0.", GRAPH_HELP, TRUE, TRUE,
    NULL, astro_print },
  { "devices", "",
    "Lists the CPU's kernels, the GPUs of backend=cuda with their links, and OpenCL's devices.",
    NULL, FALSE, FALSE, NULL, astro_devices },
  { "plan", "GRAPH [name=value ...] [OPTION ...]",
    "Says what a graph needs and what bounds it on a machine.",
    GRAPH_HELP
    "\nNothing is run or written. Times are those that the machine allows at best, by what each "
    "stage computes and moves: kernels take longer.",
    TRUE, TRUE, plan_options, astro_plan },
  { "machine", "", "Measures this machine, for gst-astro plan.",
    "Write the output to a file: gst-astro machine > here.machine. It takes less than a minute, "
    "and is right only if nothing else runs.",
    FALSE, FALSE, NULL, astro_machine },
  { "qualify", "[OPTION ...]", "Reports what holds on this machine.",
    "Compares every kernel with its reference, looks for injected losses in the counts of a file, "
    "cuts runs short, and times stages beside what the machine allows. The exit status is 1 if "
    "anything falls short.",
    FALSE, FALSE, qualify_options, astro_qualify },
};

static void print_command(const char *name, const char *arguments, const char *summary)
{
  printf("  %-7s %-36s %s\n", name, arguments, summary);
}

static void print_help(void)
{
  printf("Usage: gst-astro COMMAND ...\n\nRuns and explains graphs: GStreamer pipelines for radio "
         "astronomy.\n\nCommands:\n");
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    print_command(commands[i].name, commands[i].arguments, commands[i].summary);
  print_command("help", "[COMMAND | GRAPH]",
                "Shows this help, or that of a command, or a graph's parameters.");
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
  { "--version", print_version },
};

static const AstroCommand *find_command(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    if (g_str_equal(name, commands[i].name))
      return &commands[i];
  return NULL;
}

static void add_command_names(GStrvBuilder *names)
{
  for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
    g_strv_builder_add(names, commands[i].name);
  g_strv_builder_add(names, "help");
}

/* what: the kind of thing that was named, such as "command". */
static int unknown(const char *what, const char *word, GStrvBuilder *names)
{
  g_auto(GStrv) known = g_strv_builder_end(names);
  g_autofree char *hint = astro_near_hint(word, (const char *const *)known);
  fprintf(stderr, "gst-astro: no %s %s%s (gst-astro --help shows all)\n", what, word, hint);
  return EXIT_USAGE;
}

static int unknown_option(const char *word)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  for (guint i = 0; i < G_N_ELEMENTS(options); i++)
    g_strv_builder_add(names, options[i].name);
  return unknown("option", word, names);
}

static int unknown_command(const char *word)
{
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  g_auto(GStrv) graphs = astro_find_graph_names();
  if (g_strv_contains((const char *const *)graphs, word)) {
    fprintf(stderr, "gst-astro: no command %s, did you mean run %s? (gst-astro --help shows all)\n",
            word, word);
    return EXIT_USAGE;
  }
  if (g_str_equal(word, "version")) {
    fprintf(stderr, "gst-astro: no command version, did you mean --version?\n");
    return EXIT_USAGE;
  }
  add_command_names(names);
  return unknown("command", word, names);
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

/* A name that is not a graph's may be a mistyped command. */
static int help_on_graph(char **words)
{
  const AstroArguments arguments = { .graph = words[0] };
  g_auto(GStrv) graphs = astro_find_graph_names();
  if (words[1]) {
    fprintf(stderr, "gst-astro help: unexpected argument %s (gst-astro --help shows all)\n",
            words[1]);
    return EXIT_USAGE;
  }
  if (astro_is_graph_path(words[0]) || g_strv_contains((const char *const *)graphs, words[0]))
    return astro_explain(&arguments);
  g_autoptr(GStrvBuilder) names = g_strv_builder_new();
  add_command_names(names);
  g_strv_builder_addv(names, (const char **)graphs);
  return unknown("command or graph", words[0], names);
}

static const char *const general[] = { "help", "--help", "-h", NULL };

/* words: the words after help. For a command, shows the same as --help after the words. */
static int help(char **words)
{
  const AstroCommand *command = *words ? find_command(*words) : NULL;
  if (!*words || g_strv_contains(general, *words)) {
    print_help();
    return EXIT_SUCCESS;
  }
  if (!command)
    return help_on_graph(words);
  g_autoptr(GStrvBuilder) asked = g_strv_builder_new();
  g_strv_builder_addv(asked, (const char **)words + 1);
  g_strv_builder_add(asked, "--help");
  g_auto(GStrv) argv = g_strv_builder_end(asked);
  return run_command(command, argv);
}

static int run(int argc, char **argv)
{
  if (argc < 2) {
    fprintf(stderr, "gst-astro: name a command (gst-astro --help shows all)\n");
    return EXIT_USAGE;
  }
  for (guint i = 0; i < G_N_ELEMENTS(options); i++)
    if (g_str_equal(argv[1], options[i].name)) {
      options[i].print();
      return EXIT_SUCCESS;
    }
  if (g_str_equal(argv[1], "help"))
    return help(argv + 2);
  const AstroCommand *command = find_command(argv[1]);
  if (command)
    return run_command(command, argv + 2);
  return *argv[1] == '-' ? unknown_option(argv[1]) : unknown_command(argv[1]);
}

/* A full disk only shows when the output is flushed. */
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
