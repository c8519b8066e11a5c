/* Commands that README and other texts tell users to type work as written, and mistakes in them are
 * explained in a line. */
#include "tests/graphs/program.h"

/* The path of a source file; NULL if the tests are installed without the sources. */
static char *source_file(const char *name)
{
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *path = g_build_filename(source ? source : ".", name, NULL);
  if (g_file_test(path, G_FILE_TEST_EXISTS))
    return g_canonicalize_filename(path, NULL);
  g_test_skip("there are no sources here");
  return NULL;
}

/* Replaces run by print, which refuses the same mistakes and needs no files. tests/graphs/qualify
 * runs qualify, which takes a minute. */
static void check_command(const char *line)
{
  g_autofree char *words = g_strdup(line + strlen("./gst-astro "));
  char *comment = strstr(words, " #"), *options = strstr(words, " --");
  if (comment)
    *comment = 0;
  if (options)
    *options = 0;
  if (g_str_has_prefix(words, "qualify"))
    return;
  const gboolean is_run = g_str_has_prefix(words, "run ");
  g_auto(Result) result = run("%s%s", is_run ? "print " : "", is_run ? words + 4 : words);
  g_assert_cmpstr(result.err, ==, "");
  g_assert_cmpint(result.status, ==, 0);
}

static void test_readme(void)
{
  g_autofree char *path = source_file("README.md"), *text = NULL;
  guint n = 0;
  if (!path)
    return;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_autoptr(GRegex) broken = g_regex_new("\\\\\n *", 0, 0, NULL);
  g_autofree char *whole = g_regex_replace_literal(broken, text, -1, 0, "", 0, NULL);
  g_auto(GStrv) lines = g_strsplit(whole, "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    if (g_str_has_prefix(lines[i], "./gst-astro ")) {
      check_command(lines[i]);
      n++;
    }
    /* After bootstrap gst-astro is not on the path. */
    g_assert_false(g_str_has_prefix(lines[i], "gst-astro "));
  }
  g_assert_cmpuint(n, >=, 10);
}

/* bootstrap's help and errors, before anything is installed or built. */
static void test_bootstrap(void)
{
  g_autofree char *path = source_file("bootstrap");
  if (!path)
    return;
  char *help[] = { path, (char *)"--help", NULL },
       *late[] = { path, (char *)"check", (char *)"-h", NULL },
       *wrong[] = { path, (char *)"check", (char *)"chekc", NULL };
  g_auto(Result) helped = run_argv(help);
  g_assert_cmpint(helped.status, ==, 0);
  g_assert_cmpstr(helped.err, ==, "");
  g_assert_true(g_str_has_prefix(helped.out, "Usage: ./bootstrap [TARGET...]\n"));
  g_assert_nonnull(strstr(helped.out, "\n  first-light "));
  g_auto(Result) also = run_argv(late);
  g_assert_cmpstr(also.out, ==, helped.out);
  g_auto(Result) refused = run_argv(wrong);
  assert_refused(&refused, 2, "bootstrap: no target chekc; ./bootstrap --help lists all");
  /* Every target that it offers exists, as a rule of ours or of automake's. */
  g_autofree char *script = g_strdup_printf(
      "cd \"$(dirname '%s')\" && ./bootstrap --help | sed -n 's/^  \\([a-z-]*\\) .*/\\1/p' | "
      "grep -vE '^(check|distcheck|install)$' | while read -r target; do "
      "grep -qE \"^$target:\" Makefile.am $(find core doc elements gpu graphs tests "
      "-name '*.mk') || echo \"no rule for $target\"; done",
      path);
  g_auto(Result) rules = run_shell(script);
  g_assert_cmpint(rules.status, ==, 0);
  g_assert_cmpstr(rules.out, ==, "");
}

/* Writes a program with this name to bin/, which is first on the path. */
static void write_program(const char *name, const char *script)
{
  g_autofree char *file = g_strconcat("bin/", name, NULL), *path = in_folder(file);
  g_autofree char *text = g_strconcat("#!/bin/sh\n", script, "\n", NULL);
  write_file(file, text, -1);
  g_assert_cmpint(g_chmod(path, 0700), ==, 0);
}

/* Programs that do nothing simulate a machine without the packages: bootstrap announces each step.
 */
static void test_bootstrap_steps(void)
{
  g_autofree char *path = source_file("bootstrap");
  if (!path)
    return;
  g_autofree char *script = g_strdup_printf("mkdir -p tree/core tree/doc tree/elements tree/gpu "
                                            "tree/graphs tree/tests bin && cp '%s' tree/ && "
                                            "echo first-light: > tree/Makefile.am",
                                            path);
  g_auto(Result) prepared = run_shell(script);
  g_assert_cmpint(prepared.status, ==, 0);
  write_program("dpkg-query", "exit 1");
  write_program("sudo", "exec \"$@\"");
  write_program("apt-get", "case \"$*\" in *' -s '*) echo Inst a; echo Inst b ;; "
                           "*' install '*) echo Setting up a; echo Setting up b ;; esac");
  write_program("autoreconf", "printf '#!/bin/sh\\necho checking a; touch config.status\\n' "
                              ">configure; chmod +x configure");
  write_program("make", "case \"$*\" in '-n '*) echo 'echo \"  CC      \" a.o' ;; "
                        "*first-light*) echo made first-light ;; *) echo '  CC      a.o' ;; esac");
  g_auto(Result) result = run_shell("PATH=$PWD/bin:$PATH tree/bootstrap first-light");
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpstr(result.out, ==, "made first-light\n");
  g_assert_true(g_regex_match_simple("^bootstrap: these packages are missing: autoconf [^\n]*\n"
                                     "bootstrap: installing\n"
                                     "bootstrap: making configure\n"
                                     "bootstrap: configuring\n"
                                     "bootstrap: building\n$",
                                     result.err, 0, 0));
  g_autofree char *link = in_folder("tree/gst-astro"), *target = g_file_read_link(link, NULL);
  g_assert_cmpstr(target, ==, "build/graphs/gst-astro");
  /* Without a target it says which commands can be typed now. */
  g_auto(Result) plain = run_shell("PATH=$PWD/bin:$PATH tree/bootstrap");
  g_assert_cmpint(plain.status, ==, 0);
  g_assert_nonnull(strstr(plain.err, "bootstrap: done: ./gst-astro list shows all graphs"));
  g_assert_nonnull(strstr(plain.err, "/tree/build/elements/.libs\n"));
  /* A failed step says so, with the end of its output. */
  write_program("apt-get",
                "case \"$*\" in *' -s '*) echo Inst a ;; *) echo no network; exit 1 ;; esac");
  g_auto(Result) offline = run_shell("PATH=$PWD/bin:$PATH tree/bootstrap");
  g_assert_nonnull(
      strstr(offline.err, "no network\nbootstrap: continuing with what is installed\n"));
}

/* picture.sh finds the program beside the examples if it is not on the path. */
static void test_picture(void)
{
  g_autofree char *path = source_file("examples/picture.sh");
  if (!path)
    return;
  g_auto(Result) made = run("run first-light stations=4 channels=4 integration=500 duration=0.01 "
                            "size=64 output=p.uvfits image=p.fits picture=p.png");
  if (skips(&made))
    return;
  g_assert_cmpint(made.status, ==, 0);
  g_autofree char *place = g_path_get_dirname(program);
  const struct {
    const char *arguments, *says;
    int status;
  } cases[] = {
    { "p.fits out.png stretch=log colormap=inferno", NULL, 0 },
    { "p.fits out.png title='a b'", NULL, 0 },
    { "none.fits out.png", "none.fits: No such file", 1 },
    { "p.fits out.png strech=log", "no property \"strech\" in element \"astrorender\"", 1 },
    { "p.fits out.png stretch=no", "expected linear, asinh, log", 1 },
    { "p.fits out.png log", "picture.sh: log: expected a property of astrorender as NAME=VALUE",
      2 },
    { "p.fits absent/out.png", "folder absent does not exist", 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *script =
        g_strdup_printf("PATH='%s':$PATH '%s' %s", place, path, cases[i].arguments);
    g_auto(Result) result = run_shell(script);
    if (cases[i].says) {
      assert_refused(&result, cases[i].status, cases[i].says);
      continue;
    }
    g_assert_cmpstr(result.err, ==, "");
    g_assert_cmpint(result.status, ==, 0);
    assert_png("out.png");
  }
  g_autofree char *lost = g_strdup_printf(
      "mkdir -p far/off && cp '%s' far/off && PATH=/usr/bin:/bin far/off/picture.sh a b", path);
  if (g_file_test("/usr/bin/gst-astro", G_FILE_TEST_EXISTS))
    return;
  g_auto(Result) nowhere = run_shell(lost);
  assert_refused(&nowhere, 1, "picture.sh: gst-astro is not on PATH");
}

/* Examples for gst-launch-1.0 find the built elements, although GStreamer does not know them. */
static void test_launched(void)
{
  g_autofree char *path = source_file("examples/transpose.sh");
  const char *build = g_getenv("G_TEST_BUILDDIR");
  if (!path || !build || !can_launch()) {
    g_test_skip("needs the sources and GStreamer's own programs, without a sanitizer");
    return;
  }
  g_autofree char *help = g_strdup_printf("'%s' --help", path);
  g_auto(Result) usage = run_shell(help);
  g_assert_cmpint(usage.status, ==, 0);
  g_assert_cmpstr(usage.err, ==, "");
  g_assert_nonnull(strstr(usage.out, "\n  transpose.sh IN OUT STATIONS"));
  g_assert_null(strstr(usage.out, "gst-launch"));
  g_autofree char *place = g_path_get_dirname(program);
  g_autofree char *script = g_strdup_printf(
      "head -c 65536 /dev/zero >in.ci8 && GST_PLUGIN_PATH_1_0='%s/tests/plugins' "
      "GST_REGISTRY_1_0=\"$PWD/launched.bin\" PATH='%s':$PATH '%s' in.ci8 out.ci8 2",
      build, place, path);
  g_auto(Result) result = run_shell(script);
  g_test_message("%s", result.err);
  g_assert_cmpint(result.status, ==, 0);
  g_assert_cmpint(file_size("out.ci8"), ==, 65536);
}

/* Python's modules may be missing, which is explained in a line. */
static void test_look(void)
{
  g_autofree char *path = source_file("examples/look.py"),
                  *python = g_find_program_in_path("python3");
  if (!path)
    return;
  if (!python) {
    g_test_skip("no python3");
    return;
  }
  write_file("numpy.py", "raise ImportError(\"No module named 'numpy'\")\n", -1);
  g_autofree char *script = g_strdup_printf("PYTHONPATH=. '%s' spectrum x.uvfits", path);
  g_auto(Result) result = run_shell(script);
  assert_refused(&result, 1, "look.py: No module named 'numpy': apt install python3-astropy");
}

/* Whether all elements of a graph that are told a backend have it, as the text of its parameter
 * says. */
static void check_offer(const char *graph, AstroBackendKind kind)
{
  const char *name = astro_backend_kind_name(kind);
  /* Only receive asks for values. */
  const char *more = g_str_equal(graph, "receive") ? "frequency=1e8 bandwidth=1e6" : "";
  g_auto(Result) result = run("print %s backend=%s %s", graph, name, more);
  g_autofree char *pattern = g_strdup_printf("\\bastro([a-z]+) [^!]*\\bbackend=%s\\b", name);
  g_autoptr(GRegex) told = g_regex_new(pattern, 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  g_assert_cmpstr(result.status ? result.err : "", ==, "");
  for (g_regex_match(told, result.out, 0, &match); g_match_info_matches(match);
       g_match_info_next(match, NULL)) {
    g_autofree char *stage = g_match_info_fetch(match, 1);
    if (!astro_module_backend_of(kind, stage))
      g_error("%s offers backend=%s, and astro%s has none", graph, name, stage);
  }
}

static void test_backends(void)
{
  static const AstroBackendKind kinds[] = { ASTRO_BACKEND_CUDA, ASTRO_BACKEND_OPENCL };
  g_auto(Result) list = run("list");
  g_auto(GStrv) lines = g_strsplit(list.out, "\n", -1);
  for (guint i = 0; lines[i] && *lines[i]; i++) {
    *strchr(lines[i], ' ') = '\0';
    g_auto(Result) shown = run("help %s", lines[i]);
    const char *begin = strstr(shown.out, "\n  backend=");
    if (!begin)
      continue;
    g_autofree char *text = g_strndup(begin, strcspn(begin + 1, "\n") + 1);
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
      if (strstr(text, astro_backend_kind_name(kinds[k])) && astro_module_of(kinds[k], NULL))
        check_offer(lines[i], kinds[k]);
  }
}

static void add_tests(void)
{
  g_test_add_func("/commands/readme", test_readme);
  g_test_add_func("/commands/bootstrap", test_bootstrap);
  g_test_add_func("/commands/bootstrap-steps", test_bootstrap_steps);
  g_test_add_func("/commands/picture", test_picture);
  g_test_add_func("/commands/launched", test_launched);
  g_test_add_func("/commands/look", test_look);
  g_test_add_func("/commands/backends", test_backends);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
