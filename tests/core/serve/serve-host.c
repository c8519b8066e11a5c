/* Which hosts a request may name. */
#include "core/serve/host.h"
#include "tests/tests.h"

static gboolean is_ours(const char *host, const char *address)
{
  g_autoptr(GInetAddress) ours = g_inet_address_new_from_string(address);
  return astro_host_is_ours(host, ours);
}

static void hosts(void)
{
  static const struct {
    const char *host, *address;
    gboolean is_ours;
  } cases[] = {
    { NULL, "127.0.0.1", TRUE },
    { "localhost", "127.0.0.1", TRUE },
    { "LOCALHOST:8080", "127.0.0.1", TRUE },
    { "127.0.0.1:8080", "127.0.0.1", TRUE },
    { "127.0.0.1:9000", "127.0.0.1", TRUE }, /* a tunnel's port */
    { "127.0.0.1", "127.0.0.1", TRUE },
    { "[::1]:8080", "::1", TRUE },
    { "[::1]", "::1", TRUE },
    { "localhost:8080", "192.168.1.5", TRUE }, /* a tunnel's end */
    { "192.168.1.5:8080", "192.168.1.5", TRUE },
    { "192.168.1.5:8080", "0.0.0.0", TRUE },
    { "[2001:db8::1]:8080", "::", TRUE },
    { "192.168.1.6:8080", "192.168.1.5", FALSE },
    { "192.168.1.5:8080", "127.0.0.1", FALSE },
    { "evil.example", "127.0.0.1", FALSE },
    { "evil.example:8080", "127.0.0.1", FALSE },
    { "evil.example:8080", "0.0.0.0", FALSE },
    { "localhost.evil.example", "127.0.0.1", FALSE },
    { "127.0.0.1.evil.example", "0.0.0.0", FALSE },
    { "localhost:80:80", "127.0.0.1", FALSE },
    { "localhost:http", "127.0.0.1", FALSE },
    { "user@localhost", "127.0.0.1", FALSE },
    { "[::1", "::1", FALSE },
    { "[]", "::1", FALSE },
    { ":8080", "127.0.0.1", FALSE },
    { "", "127.0.0.1", FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_test_message("%s at %s", cases[i].host, cases[i].address);
    g_assert_cmpint(is_ours(cases[i].host, cases[i].address), ==, cases[i].is_ours);
  }
}

/* Other machines know a machine by its name, but cannot reach a server that only listens
 * locally. */
static void own_name(void)
{
  g_autofree char *with_port = g_strconcat(g_get_host_name(), ":8080", NULL);
  g_autofree char *local = g_strconcat(g_get_host_name(), ".local", NULL);
  g_assert_true(is_ours(with_port, "0.0.0.0"));
  g_assert_true(is_ours(local, "192.168.1.5"));
  if (g_ascii_strcasecmp(g_get_host_name(), "localhost") != 0)
    g_assert_false(is_ours(with_port, "127.0.0.1"));
}

static void pages(void)
{
  g_autofree char *everywhere = g_strdup_printf("http://%s:80/", g_get_host_name());
  const struct {
    const char *address, *page;
  } cases[] = { { "127.0.0.1", "http://127.0.0.1:80/" },
                { "::1", "http://[::1]:80/" },
                { "0.0.0.0", everywhere } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(cases[i].address);
    g_autofree char *page = astro_host_page(address, 80);
    g_assert_cmpstr(page, ==, cases[i].page);
  }
}

static void add_tests(void)
{
  g_test_add_func("/host/hosts", hosts);
  g_test_add_func("/host/own-name", own_name);
  g_test_add_func("/host/pages", pages);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
