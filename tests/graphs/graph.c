/* The parser of graphs: what it accepts, how it explains errors, and that GStreamer gets every
 * value as the user gave it. */
#include "graphs/graph.h"
#include "graphs/near.h"
#include "tests/tests.h"

static AstroGraph *parse(const char *text)
{
  g_autoptr(GError) error = NULL;
  AstroGraph *graph = astro_graph_parse("g", text, strlen(text), &error);
  g_assert_no_error(error);
  g_assert_nonnull(graph);
  return graph;
}

static void test_lines(void)
{
  static const char *const cases[][2] = {
    { "a ! b", "a ! b" },
    { "a!b", "a ! b" },
    { "\n# x\na # y ! z\n  ! b\r\n", "a ! b" },
    { "\xef\xbb\xbf# x\na ! b", "a ! b" },
    { "a color=#fff ! b", "a color=\\#fff ! b" },
    { "a x=\"p # q\" ! b", "a x=p\\ \\#\\ q ! b" },
    { "a x='p # q' ! b", "a x=p\\ \\#\\ q ! b" },
    { "a x=p\\ \\ q ! b", "a x=p\\ \\ q ! b" },
    { "a x=\"1,\n 2\" ! b", "a x=1,\\ \\ 2 ! b" },
    { "a x = 1 y=\n2 ! b", "a x=1 y=2 ! b" },
    { "a x=\"\" ! b", "a x=\"\" ! b" },
    { "a x=\\${p} ! b", "a x=\\$\\{p\\} ! b" },
    { "a x=$p ! b", "a x=\\$p ! b" },
    { "a ! x/y, f=1 , # one\n g = (string)q ; z/w ! b", "a ! x/y,f=1,g=(string)q;z/w ! b" },
    { "a ! x/y(memory:Z),f=\"p q!\" ! b", "a ! x/y(memory:Z),f=\"p\\040q\\041\" ! b" },
    { "a ! x/y,f={ 1, 2 },g=[ 1, 2 ] ! b", "a ! x/y,f={1,2},g=[1,2] ! b" },
    { "a ! x/y,f=\"\\303\\251\" ! b", "a ! x/y,f=\"\\303\\251\" ! b" },
    { "bin.( a ! b name=c ) c. ! d t.src_0 ! e", "bin. ( a ! b name=c ) c. ! d t.src_0 ! e" },
    { "a : b", "a : b" },
    { "a x=1 y::z=2 ! b", "a x=1 y::z=2 ! b" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroGraph) graph = parse(cases[i][0]);
    g_autofree char *line = astro_graph_line(graph, NULL);
    g_assert_cmpstr(line, ==, cases[i][1]);
  }
}

static void test_description(void)
{
  g_autoptr(AstroGraph) graph =
      parse("#!/usr/bin/env x\n\n# One\n#\n#two \n@a 1 \"A\"\n# not\nb c=${a}");
  g_assert_cmpstr(graph->description, ==, "One\n\ntwo");
  g_autoptr(AstroGraph) none = parse("a\n# late\n");
  g_assert_cmpstr(none->description, ==, "");
}

static void test_declarations(void)
{
  g_autoptr(AstroGraph) graph =
      parse("  @n-1 64 \"how \\\"many\\\"\" # why\n@e \"\" 'none'\n"
            "@q \"a \\\\ \\\" b\" \"it's\"\r\na x=${n-1} y=${e} z='<${q}>' ! b\n");
  g_assert_cmpuint(graph->parameters->len, ==, 3);
  static const char *const expected[][3] = {
    { "n-1", "64", "how \"many\"" },
    { "e", "", "none" },
    { "q", "a \\ \" b", "it's" },
  };
  for (guint i = 0; i < 3; i++) {
    const AstroParameter *parameter = astro_graph_parameter(graph, expected[i][0]);
    g_assert_nonnull(parameter);
    g_assert_cmpstr(parameter->value, ==, expected[i][1]);
    g_assert_cmpstr(parameter->help, ==, expected[i][2]);
    g_assert_cmpuint(parameter->line, ==, i + 1);
  }
  g_autofree char *line = astro_graph_line(graph, NULL);
  g_assert_cmpstr(line, ==, "a x=64 y=\"\" z=\\<a\\ \\\\\\ \\\"\\ b\\> ! b");
}

/* A default may be another parameter's current value, until the parameter gets a value of its own.
 */
static void test_following(void)
{
  g_autoptr(AstroGraph) graph =
      parse("@ra RA \"one\"\n@other ${ra} \"two\"\n@third \"${other}\" \"three\"\n"
            "a x=${other} y=${third}");
  const char *const steps[][2] = { { NULL, "a x=RA y=RA" },
                                   { "ra=b c", "a x=b\\ c y=b\\ c" },
                                   { "other=", "a x=\"\" y=\"\"" },
                                   { "third=d", "a x=\"\" y=d" } };
  for (guint i = 0; i < G_N_ELEMENTS(steps); i++) {
    g_assert_true(!steps[i][0] || astro_graph_set(graph, steps[i][0], NULL));
    g_autofree char *line = astro_graph_line(graph, NULL);
    g_assert_cmpstr(line, ==, steps[i][1]);
  }
}

/* Lines that are there only if a parameter has a value, or only if it has none. */
static void test_conditions(void)
{
  static const char text[] = "@input \"\" \"file\"\n@noise 5 \"noise\"\n@size 7 \"size\"\n"
                             "@if input # a comment\n  a x=${input} s=${size}\n@else\n"
                             "b y=${noise}\n  @end\n! c z=${size}\n";
  static const char *const cases[][3] = {
    { NULL, NULL, "b y=5 ! c z=7" },
    { "input=f", NULL, "a x=f s=7 ! c z=7" },
    { "noise=2", "size=3", "b y=2 ! c z=3" },
    { "input=f", "size=3", "a x=f s=3 ! c z=3" },
    { "input=", "noise=1", "b y=1 ! c z=7" },
    { "input=f", "noise=2", "g: parameter noise is not used with input" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroGraph) graph = parse(text);
    g_autoptr(GError) error = NULL;
    for (guint k = 0; k < 2; k++)
      g_assert_true(!cases[i][k] || astro_graph_set(graph, cases[i][k], NULL));
    if (astro_graph_settle(graph, &error)) {
      g_autofree char *line = astro_graph_line(graph, NULL);
      g_assert_cmpstr(line, ==, cases[i][2]);
    } else {
      g_assert_cmpstr(error->message, ==, cases[i][2]);
    }
  }
  /* A value that is used only with another. */
  g_autoptr(AstroGraph) graph =
      parse("@i \"\" \"i\"\n@n 5 \"n\"\n@if i\na x=${n}\n@else\nb\n@end\n");
  g_autoptr(GError) error = NULL;
  g_assert_true(astro_graph_set(graph, "n=1", NULL));
  g_assert_false(astro_graph_settle(graph, &error));
  g_assert_cmpstr(error->message, ==, "g: parameter n is not used without i");
}

static void test_errors(void)
{
  static const char *const cases[][2] = {
    { "", "g:1: no pipeline: only comments and parameters" },
    { "# only\n\n", "g:3: no pipeline: only comments and parameters" },
    { "a\n ! b x=${y}", "g:2: ${y} is not declared: @y default \"help\" declares it" },
    { "@x 1 \"x\"\na", "g:1: parameter x is declared but never used" },
    { "@x 1 \"x\"\n\n@x 2 \"x\"\na b=${x}", "g:3: parameter x is already declared on line 1" },
    { "@x 1\na", "g:1: parameter x has no help: @x default \"help\"" },
    { "@x 1 \" \"\na", "g:1: parameter x has an empty help text" },
    { "@x 1 help\na", "g:1: parameter x has no help: @x default \"help\"" },
    { "@x\na", "g:1: a parameter is declared as: @name default \"help\"" },
    { "@ x 1 \"x\"\na", "g:1: a parameter is declared as: @name default \"help\"" },
    { "@1 1 \"x\"\na", "g:1: a parameter is declared as: @name default \"help\"" },
    { "@x 1 \"x\" y\na", "g:1: text after the help of parameter x" },
    { "a\n@if x\nb\n@end", "g:2: @if x: expected a parameter that is declared above" },
    { "@x 1 \"x\"\n@if x\nb", "g:2: @if without an @end" },
    { "@x 1 \"x\"\n@if x\n@if x\nb", "g:3: @if within the @if of line 2, expected its @end first" },
    { "@x 1 \"x\"\n@if x\na\n@else\nb\n@else\nc\n@end",
      "g:6: @else, expected it alone on a line between @if and @end, once" },
    { "a\n@else\nb", "g:2: @else, expected it alone on a line between @if and @end, once" },
    { "a\n@end", "g:2: @end, expected it alone on a line after an @if" },
    { "@x 1 \"x\"\na\n@if x\n! b\n@else\n!\n@end", "g:6: ! has no element after it" },
    { "@x 1 \"x\"\n@if x\na !\n@end\n! c", "g:5: ! has no element before it" },
    { "@x \"1\na", "g:1: the quote is not closed on this line" },
    { "@x 1 \"x\na", "g:1: the quote is not closed on this line" },
    { "@x ${y \"x\"\na", "g:1: the default of x uses another parameter: expected plain text, or "
                         "${name} and nothing else" },
    { "@y 1 \"y\"\n@x a${y} \"x\"\na", "g:2: the default of x uses another parameter: expected "
                                       "plain text, or ${name} and nothing else" },
    { "@y 1 \"y\"\n@x ${y}${y} \"x\"\na", "g:2: the default of x uses another parameter: expected "
                                          "plain text, or ${name} and nothing else" },
    { "@x ${y} \"x\"\n@y 1 \"y\"\na",
      "g:1: the default of x is ${y}, expected a parameter that is declared above" },
    { "@x ${x} \"x\"\na",
      "g:1: the default of x is ${x}, expected a parameter that is declared above" },
    { "a b=${", "g:1: ${ is not followed by a parameter's name and }" },
    { "a b=${x", "g:1: ${ is not followed by a parameter's name and }" },
    { "a b=\"${x y}\"", "g:1: ${ is not followed by a parameter's name and }" },
    { "a\nb=\"c\nd", "g:2: the quote \" that begins here is not closed" },
    { "a b='c", "g:1: the quote ' that begins here is not closed" },
    { "a b=c\\\n", "g:1: a backslash at the end of a line" },
    { "a !\n!\nb", "g:2: ! has no element before it" },
    { "! a", "g:1: ! has no element before it" },
    { "a\n ! ", "g:2: ! has no element after it" },
    { "a ! ( b ! ) ! c", "g:1: ! has no element after it" },
    { "a ! ( ! b ) ! c", "g:1: ! has no element before it" },
    { "a : : b", "g:1: : has no element before it" },
    { "a ! (\n b", "g:1: ( is not closed" },
    { "a ! b )", "g:1: ) without a ( before it" },
    { "a !\n x/y,\n f=1\n", "g:2: caps need a ! and an element after them" },
    { "a ! x/y,f=\"q ! b", "g:1: the quote that begins here is not closed" },
    { "a ! x/y,f=q\\r ! b", "g:1: \\ in caps, outside quotes" },
    { "a ! x/y,f=$ {f} ! b", "g:1: $ in caps, outside quotes" },
    { "a ! x/y,f=\"\\000\" ! b", "g:1: \\000 in a string" },
    { "a ! \"x/y\" ! b",
      "g:1: \" where an element, a link or caps should be (caps need no quotes around them)" },
    { "a -v ! b", "g:1: an option of gst-launch: a graph may hold only the pipeline" },
    { "a !# b\nc", "g:1: a comment needs a space before its #" },
    { "a @x 1 \"x\"", "g:1: a declaration (@name default \"help\") needs a line of its own" },
    { "a =b", NULL },
    { "( =b )", "g:1: = without a property's name before it" },
    { "@x a \"x\"\na ! ${x}/y ! b", "g:2: a parameter cannot be part of a media type" },
    { "a\n\x01", "g:2: not text: a control character (0x01)" },
    { "a\n\n\xff", "g:3: not text: invalid UTF-8 (0xff)" },
    { "caf\xc3", "g:1: not text: invalid UTF-8 (0xc3)" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroGraph) graph = astro_graph_parse("g", cases[i][0], strlen(cases[i][0]), &error);
    if (!cases[i][1]) {
      g_assert_nonnull(graph);
      continue;
    }
    g_assert_null(graph);
    g_assert_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_SYNTAX);
    g_assert_cmpstr(error->message, ==, cases[i][1]);
  }
}

static void test_nul_and_size(void)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_graph_parse("g", "a\n\0b", 4, &error));
  g_assert_cmpstr(error->message, ==, "g:2: not text: a control character (0x00)");
  g_clear_error(&error);
  g_autofree char *large = g_strnfill(ASTRO_GRAPH_MAX_BYTES + 1, ' ');
  g_assert_null(astro_graph_parse("g", large, ASTRO_GRAPH_MAX_BYTES + 1, &error));
  g_assert_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_FILE);
  g_clear_error(&error);
  large[0] = 'a';
  g_autoptr(AstroGraph) graph = astro_graph_parse("g", large, ASTRO_GRAPH_MAX_BYTES, &error);
  g_assert_nonnull(graph);
}

static void test_random_bytes(void)
{
  for (guint seed = 0; seed < 200; seed++) {
    char bytes[300];
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    for (guint i = 0; i < sizeof bytes; i++)
      bytes[i] = g_rand_int(rand);
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_graph_parse("g", bytes, sizeof bytes, &error));
    g_assert_true(g_str_has_prefix(error->message, "g:"));
    g_assert_null(strchr(error->message, '\n'));
  }
}

static void test_values(void)
{
  static const char *const cases[][2] = {
    { "nn=1", "g: no parameter nn; it has number, output" },
    { "numbr=1", "g: no parameter numbr, did you mean number? It has number, output" },
    { "number", "g: parameter number needs a value, as in name=value" },
    { "output=a\nb", "g: parameter output has a value with a line break" },
    { "output=a\xff", "g: parameter output has a value that is not valid UTF-8" },
  };
  g_autoptr(AstroGraph) graph =
      parse("@number 1 \"n\"\n@output x \"o\"\na n=${number} o=${output} ! ${number}");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_graph_set(graph, cases[i][0], &error));
    g_assert_error(error, ASTRO_GRAPH_ERROR, ASTRO_GRAPH_ERROR_PARAMETER);
    g_assert_cmpstr(error->message, ==, cases[i][1]);
  }
  g_autoptr(GError) error = NULL;
  g_assert_true(astro_graph_set(graph, "output=a=b", NULL));
  g_assert_cmpstr(astro_graph_parameter(graph, "output")->value, ==, "a=b");
  g_assert_cmpstr(astro_graph_parameter(graph, "output")->fallback, ==, "x");
  g_assert_false(astro_graph_set(graph, "output=c", &error));
  g_assert_cmpstr(error->message, ==, "g: parameter output is given twice");
  g_clear_error(&error);
  g_assert_true(astro_graph_set(graph, "number=a ! b", NULL));
  g_assert_null(astro_graph_line(graph, &error));
  g_assert_cmpstr(error->message, ==,
                  "g:3: parameter number: \"a ! b\" cannot be an element or a part of its name");
  g_clear_error(&error);
  g_autoptr(AstroGraph) none = parse("a");
  g_assert_false(astro_graph_set(none, "x=1", &error));
  g_assert_cmpstr(error->message, ==, "g: no parameter x; it has none");
}

static const char *const hostile[] = {
  "plain",
  "a b",
  "  a  b  ",
  "\"",
  "\"\"",
  "\"a\"",
  "'a'",
  "'",
  "\\",
  "\\\\",
  "a\\",
  "\\ ",
  " \\",
  "a\\\" b=\\\"c",
  "! fakesink",
  "a!b",
  "#",
  " # a",
  "$HOME",
  "${x}",
  "`id`",
  "$(id)",
  ";",
  "&& id",
  "a -v",
  "-v",
  "--gst-version",
  "a\tb",
  "*",
  "~",
  "=",
  "a=b c=d",
  "(",
  ")",
  "{a,b}",
  "[1,2]",
  ",",
  "h\xc3\xa9llo",
  "\"a b",
  "a b\"",
  "%s",
  "<a>",
  "|",
  "video/x-raw,a=b ! x",
  "1/2",
  "64",
  "\\041",
  "@",
};

/* Finds the capsfilter, whose name contains the number of such filters in this process. */
static GstElement *find_filter(GstElement *pipeline)
{
  GValue value = G_VALUE_INIT;
  GstIterator *filters =
      gst_bin_iterate_all_by_element_factory_name(GST_BIN(pipeline), "capsfilter");
  g_assert_cmpint(gst_iterator_next(filters, &value), ==, GST_ITERATOR_OK);
  GstElement *filter = g_value_dup_object(&value);
  g_value_unset(&value);
  gst_iterator_free(filters);
  return filter;
}

/* Checks the values that elements got, wherever the value was inserted. */
static void check_elements(GstElement *pipeline, const char *value)
{
  static const struct {
    const char *element, *before, *after;
  } places[] = { { "bare", "", "" }, { "part", "/a/", ".raw" }, { "quoted", "<", ">" } };
  for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
    g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), places[i].element);
    g_autofree char *location = NULL;
    g_autofree char *expected = g_strconcat(places[i].before, value, places[i].after, NULL);
    g_assert_nonnull(element);
    g_object_get(element, "location", &location, NULL);
    g_assert_cmpstr(location, ==, expected);
  }
  g_autoptr(GstElement) filter = find_filter(pipeline);
  g_autoptr(GstCaps) caps = NULL;
  g_autofree char *quoted = g_strconcat("<", value, ">", NULL);
  g_object_get(filter, "caps", &caps, NULL);
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  g_assert_cmpint(gst_structure_n_fields(structure), ==, 2);
  g_assert_cmpstr(gst_structure_get_string(structure, "s"), ==, value);
  g_assert_cmpstr(gst_structure_get_string(structure, "t"), ==, quoted);
}

static void test_gstreamer(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(hostile); i++) {
    g_autoptr(AstroGraph) graph = parse("@v x \"value\"\nfilesrc name=bare location=${v}\n"
                                        "! application/x-a,s=(string)${v},t=\"<${v}>\" ! fakesink\n"
                                        "filesrc name=part location=/a/${v}.raw ! fakesink\n"
                                        "filesrc name=quoted location=\"<${v}>\" ! fakesink\n");
    g_autofree char *assignment = g_strconcat("v=", hostile[i], NULL);
    g_assert_true(astro_graph_set(graph, assignment, NULL));
    g_autofree char *line = astro_graph_line(graph, NULL);
    g_autofree char *arguments = astro_graph_shell_arguments(line);
    g_auto(GStrv) words = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(g_shell_parse_argv(arguments, NULL, &words, NULL));
    for (guint w = 0; words[w]; w++)
      g_assert_false(*words[w] == '-'); /* an option of gst-launch-1.0 */
    g_test_message("%s", line);
    g_autoptr(GstElement) direct = gst_parse_launch(line, &error);
    g_assert_no_error(error);
    check_elements(direct, hostile[i]);
    g_autoptr(GstElement) shell = gst_parse_launchv((const char **)words, &error);
    g_assert_no_error(error);
    check_elements(shell, hostile[i]);
  }
}

static void test_caps_numbers(void)
{
  g_autoptr(AstroGraph) graph =
      parse("@n 64 \"n\"\n@r 1000 \"r\"\nfakesrc ! application/x-a,n=${n},r=${r}/3 ! fakesink");
  g_autofree char *line = astro_graph_line(graph, NULL);
  g_assert_cmpstr(line, ==, "fakesrc ! application/x-a,n=64,r=1000/3 ! fakesink");
}

/* Finds the line that GStreamer's own error messages are about. */
static void test_locate(void)
{
  static const struct {
    const char *text;
    guint line;
  } cases[] = {
    { "fakesrc\n ! nosuch\n ! fakesink", 2 },
    { "fakesrc\n ! identity foo=1\n ! fakesink", 2 },
    { "fakesrc\n\n num-buffers=abc ! fakesink", 3 },
    { "fakesrc ! identity sync=true\n ! identity foo=1 ! fakesink", 2 },
    { "fakesrc ! fakesink\nfakesrc ! identity name=x\n ! fakesrc", 2 },
    { "fakesrc ! identity name=z\n ! fakesrc name=y ! fakesink", 1 },
    { "fakesrc ! . fakesink", 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroGraph) graph = parse(cases[i].text);
    g_autofree char *line = astro_graph_line(graph, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GstElement) element =
        gst_parse_launch_full(line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
    g_assert_null(element);
    g_test_message("%s", error->message);
    g_assert_cmpuint(astro_graph_locate(graph, error->message), ==, cases[i].line);
  }
}

static void test_near(void)
{
  static const char *const names[] = { "first-light", "correlate", "run", NULL };
  static const char *const cases[][2] = {
    { "first-ligth", "first-light" },
    { "firstlight", "first-light" },
    { "first-light.graph", "first-light" },
    { "corelate", "correlate" },
    { "corr", "correlate" },
    { "rn", "run" },
    { "zzzzzz", NULL },
    { "x", NULL },
    { "", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    g_assert_cmpstr(astro_near(cases[i][0], names), ==, cases[i][1]);
  g_autofree char *endless = g_strnfill(5000, 'r');
  g_assert_null(astro_near(endless, names));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  g_test_add_func("/graph/lines", test_lines);
  g_test_add_func("/graph/description", test_description);
  g_test_add_func("/graph/declarations", test_declarations);
  g_test_add_func("/graph/following", test_following);
  g_test_add_func("/graph/conditions", test_conditions);
  g_test_add_func("/graph/errors", test_errors);
  g_test_add_func("/graph/nul-and-size", test_nul_and_size);
  g_test_add_func("/graph/random-bytes", test_random_bytes);
  g_test_add_func("/graph/values", test_values);
  g_test_add_func("/graph/gstreamer", test_gstreamer);
  g_test_add_func("/graph/caps-numbers", test_caps_numbers);
  g_test_add_func("/graph/locate", test_locate);
  g_test_add_func("/graph/near", test_near);
  int status = g_test_run();
  gst_deinit();
  return status;
}
