/* Tokens: which files hold one, and which requests bring it. */
#include "core/serve/token.h"
#include "tests/tests.h"

#include <glib/gstdio.h>

static char *read_from(const char *bytes, gssize length, GError **error)
{
  g_autofree char *path = NULL;
  const int fd = g_file_open_tmp("token-XXXXXX", &path, NULL);
  g_close(fd, NULL);
  g_assert_true(g_file_set_contents(path, bytes, length, NULL));
  char *token = astro_token_read(path, error);
  g_unlink(path);
  return token;
}

static void good_files(void)
{
  static const char *const texts[] = { "0123456789abcdef", "0123456789abcdef\n",
                                       "0123456789abcdef\r\nmore" };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    GError *error = NULL;
    g_autofree char *token = read_from(texts[i], -1, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(token, ==, "0123456789abcdef");
  }
  g_autofree char *most = g_strnfill(ASTRO_TOKEN_MOST, 'x'), *token = read_from(most, -1, NULL);
  g_assert_cmpstr(token, ==, most);
}

static void bad_files(void)
{
  g_autofree char *longer = g_strnfill(ASTRO_TOKEN_MOST + 1, 'x');
  const struct {
    const char *text, *says;
    gssize length;
  } cases[] = { { "", "an empty line", -1 },
                { "\n0123456789abcdef", "an empty line", -1 },
                { "0123456789abcde", "a shorter line", -1 },
                { "0123456789 abcdef", "a blank", -1 },
                { "0123456789\0abcdef", "a blank", 17 },
                { "0123456789\xc3\xa4 cdef", "not ASCII", -1 },
                { longer, "a longer line", -1 } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *token = read_from(cases[i].text, cases[i].length, &error);
    g_assert_null(token);
    g_test_message("%s", error->message);
    test_says(error->message, cases[i].says);
    test_says(error->message, "expected a token of 16 to 1024");
  }
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_token_read("/nowhere/token", &error));
  test_says(error->message, "the token's file: ");
}

static void requests(void)
{
  static const struct {
    const char *authorization;
    gboolean is_in;
  } cases[] = {
    { "Bearer 0123456789abcdef", TRUE },
    { "bearer 0123456789abcdef", TRUE },
    { "Bearer 0123456789abcdeF", FALSE },
    { "Bearer 0123456789abcde", FALSE },
    { "Bearer 0123456789abcdef0", FALSE },
    { "Bearer  0123456789abcdef", FALSE },
    { "Basic 0123456789abcdef", FALSE },
    { "0123456789abcdef", FALSE },
    { "Bearer ", FALSE },
    { "Bearer", FALSE },
    { "", FALSE },
    { NULL, FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("%s", cases[i].authorization);
    g_assert_cmpint(astro_token_is_in("0123456789abcdef", cases[i].authorization), ==,
                    cases[i].is_in);
  }
}

static void add_tests(void)
{
  g_test_add_func("/token/good-files", good_files);
  g_test_add_func("/token/bad-files", bad_files);
  g_test_add_func("/token/requests", requests);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
