/* The graphs transmit, receive and record, one sending packets to another over loopback. */
#include "tests/graphs/program.h"

/* The sender begins once the receiver listens, and the receiver ends after the sender has finished.
 * Their output goes to the files received and sent. */
static void exchange(const char *receiver, const char *sender)
{
  g_autofree char *quoted = g_shell_quote(program);
  g_autofree char *script = g_strdup_printf(
      "port=$((20000 + RANDOM %% 20000)); "
      "%s run %s port=$port >received 2>&1 & receiver=$!; "
      "hex=$(printf ':%%04X' $port); n=0; "
      "until grep -q \"$hex \" /proc/net/udp; do sleep 0.05; n=$((n + 1)); [ $n -lt 1000 ] || exit "
      "3; "
      "done; sleep 0.2; "
      "%s run transmit %s port=$port >sent 2>&1 || exit 4; sleep 0.5; "
      "kill -INT $receiver; wait $receiver; status=$?; cat received sent; exit $status",
      quoted, receiver, quoted, sender);
  g_auto(Result) result = run_shell(script);
  g_assert_cmpint(result.status, ==, 0);
}

static guint64 count(const char *file, const char *name)
{
  g_autofree char *path = in_folder(file), *text = NULL;
  g_autofree char *pattern = g_strdup_printf("[ ,]%s ([0-9]+)", name);
  g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  const char *line = strstr(text, ": packets: ");
  g_assert_nonnull(line);
  g_assert_true(g_regex_match(regex, line + strlen(": packets"), 0, &match));
  g_autofree char *number = g_match_info_fetch(match, 1);
  return g_ascii_strtoull(number, NULL, 10);
}

static gboolean has_udp(void)
{
  g_auto(Result) found = run("run transmit duration=0.001 live=false port=9");
  return !skips(&found);
}

static void test_receive(void)
{
  if (!has_udp())
    return;
  exchange("receive stations=0-2 rate=100000 frequency=150e6 array=vla-like centre=zenith "
           "channels=16 integration=500 output=received.uvfits",
           "stations=3 bandwidth=1e5 duration=1 loss=0.05 reorder=0.1 duplicate=0.1");
  g_autofree char *path = in_folder("received"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_nonnull(strstr(text, "\nreceived.uvfits: format UVFITS, stations 3, baselines 6, "
                                "channels 16, products 4, "));
  g_assert_nonnull(strstr(text, "start 2026-11-20T12:00:00"));
  g_assert_cmpuint(count("sent", "dropped"), >, 0);
  g_assert_cmpuint(count("received", "kernel-drops"), ==, 0);
  g_assert_cmpuint(count("received", "packets") + count("received", "duplicate"), ==,
                   count("sent", "packets"));
  g_assert_cmpuint(count("received", "duplicate"), ==, count("sent", "duplicated"));
}

static void test_record(void)
{
  if (!has_udp())
    return;
  exchange("record stations=0-2 pols=2 rate=100000 output=recorded.fits",
           "stations=3 bandwidth=1e5 duration=0.5");
  g_assert_cmpint(file_size("recorded.fits"), >, 0);
  g_assert_cmpuint(count("received", "packets"), ==, count("sent", "packets"));
  g_assert_cmpuint(count("received", "lost"), ==, 0);
  /* The file gives the same stream again. */
  write_file("again.graph",
             "astrofitssrc location=recorded.fits ! application/x-astro-voltages,stations=3,pols=2,"
             "counts=true ! fakesink",
             -1);
  g_auto(Result) again = run("run ./again.graph");
  g_assert_cmpint(again.status, ==, 0);
}

/* Where packets only count, the run's clock tells when they were sampled, and a line says so. */
static void test_clock(void)
{
  if (!has_udp())
    return;
  write_file("count.packet",
             "sequence big 0 8\npayload 8\norder time:pol\nsteps 100\npols 2\nbits 8 complex\n"
             "counts packets\n",
             -1);
  exchange("record packet=@count.packet rate=100000 output=clocked.fits --clock=realtime",
           "packet=@count.packet stations=1 bandwidth=1e5 duration=0.5");
  g_autofree char *path = in_folder("received"), *text = NULL;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_nonnull(strstr(text, ": start: "));
  g_assert_nonnull(strstr(text, "clock realtime"));
  g_assert_nonnull(strstr(text, "synchronised "));
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autofree char *day = g_date_time_format(now, "start %Y-%m-");
  g_assert_nonnull(strstr(text, day));
}

static void add_tests(void)
{
  g_test_add_func("/packets/receive", test_receive);
  g_test_add_func("/packets/record", test_record);
  g_test_add_func("/packets/clock", test_clock);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
