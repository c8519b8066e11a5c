/* The graphs transmit, receive and record, one sending packets to another over loopback. */
#include "tests/graphs/program.h"

/* The sender begins once the receiver listens, and the receiver ends after the sender has finished
 * and no packet waits in its socket. Their output goes to the files received and sent. */
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
      "%s run transmit %s port=$port >sent 2>&1 || exit 4; "
      "until grep \"$hex \" /proc/net/udp | grep -q ' 00000000:00000000 '; do sleep 0.05; "
      "n=$((n + 1)); [ $n -lt 1000 ] || exit 5; done; sleep 0.5; "
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

/* Runs a script with the functions of its shell that wait, with port, hex (the port as the kernel
 * prints it) and receiver set. Exit status 77 skips the test, for the reason it prints. */
static gboolean run_script(const char *body)
{
  g_autofree char *quoted = g_shell_quote(program);
  g_autofree char *script = g_strdup_printf(
      "astro=%s; port=$((20000 + RANDOM %% 20000)); hex=$(printf ':%%04X' $port)\n"
      "skip() { echo \"$*\"; exit 77; }\n"
      "listens() { for i in $(seq 500); do ! grep -q \"$hex \" /proc/net/udp || return 0; sleep "
      "0.02; done; exit 3; }\n%s",
      quoted, body);
  g_auto(Result) result = run_shell(script);
  if (result.status == 77)
    g_test_skip(result.out);
  else
    g_assert_cmpint(result.status, ==, 0);
  return result.status == 0;
}

/* A sender that is killed, and started again with the same times, restarts the stream. */
static void test_killed(void)
{
  if (!has_udp())
    return;
  const gboolean has_run = run_script(
      "$astro run record stations=0-1 pols=2 rate=100000 output=killed.fits port=$port >received "
      "2>&1 & receiver=$!\n"
      "listens; sleep 0.2\n"
      "$astro run transmit stations=2 bandwidth=1e5 duration=60 port=$port >sent 2>&1 & sender=$!\n"
      "for i in $(seq 1000); do [ ! -s killed.fits ] || break; sleep 0.02; done\n"
      "sleep 1; kill -KILL $sender; wait $sender\n"
      "$astro run transmit stations=2 bandwidth=1e5 duration=1 port=$port >sent 2>&1 || exit 4\n"
      "sleep 0.3; kill -INT $receiver; wait $receiver");
  g_assert_true(has_run);
  g_assert_cmpuint(count("received", "restarts"), ==, 1);
  g_assert_cmpuint(count("received", "alien"), ==, 0);
  g_assert_cmpuint(count("received", "packets"), >, count("sent", "packets"));
  g_assert_cmpint(file_size("killed.fits"), >, 0);
}

/* The interface goes down and up again, in a network of our own: the receiver goes on, and what was
 * not received meanwhile is lost. The kernel's counters say when, since on a busy machine programs
 * start and send as late as they like: it goes down while packets come, and up once some were lost,
 * and the sender ends after more than those have come again. */
static void test_interface(void)
{
  if (!has_udp())
    return;
  if (!run_script(
          "command -v ip >/dev/null || skip 'there is no ip (iproute2)'\n"
          "unshare -rn true 2>/dev/null || skip 'networks of our own are not allowed here'\n"
          "came() { awk '/^Udp: [0-9]/ { print $2 }' /proc/net/snmp; }\n"
          "lost() { awk '/^Udp: [0-9]/ { print $5 - $2 }' /proc/net/snmp; }\n"
          "until_over() { for i in $(seq 1000); do [ $($1) -le $2 ] || return 0; sleep 0.02; done; "
          "cat received sent; exit $3; }\n"
          "taken() { for i in $(seq 500); do ! grep \"$hex \" /proc/net/udp | grep -q ' "
          "00000000:00000000 ' || return 0; sleep 0.02; done; exit 8; }\n"
          "export astro port hex; export -f listens came lost until_over taken\n"
          "unshare -rn bash -c '\n"
          "ip link set lo up\n"
          "$astro run record stations=0-1 pols=2 rate=100000 output=interface.fits port=$port "
          ">received 2>&1 & receiver=$!\n"
          "listens\n"
          "$astro run transmit stations=2 bandwidth=1e5 duration=0 port=$port >sent 2>&1 & "
          "sender=$!\n"
          "until_over came 10 5; ip link set lo down; until_over lost 3 6; ip link set lo up\n"
          "until_over came $((2 * $(came) + 2 * $(lost))) 7\n"
          "kill -INT $sender; wait $sender || exit 4\n"
          "taken; kill -INT $receiver; wait $receiver'"))
    return;
  const guint64 came = count("received", "packets"), sent = count("sent", "packets");
  g_assert_cmpuint(came, <, sent);
  g_assert_cmpuint(came, >, sent / 2);
  g_assert_cmpuint(came + count("received", "lost"), ==, sent);
  g_assert_cmpuint(count("received", "restarts"), ==, 0);
}

/* While packets come, a browser gets pictures, and the file is as without. */
static void test_live(void)
{
  g_autofree char *path = in_folder("answer"), *answer = NULL;
  gsize length;
  if (!has_udp())
    return;
  if (!run_script(
          "for element in astrohttpsink jpegenc; do gst-inspect-1.0 $element >inspected 2>&1 || "
          "skip "
          "\"gst-inspect-1.0 does not find $element\"; done\n"
          "$astro run receive stations=0-2 rate=100000 frequency=150e6 array=vla-like "
          "centre=zenith channels=16 integration=500 output=live.uvfits live=0 size=64 port=$port "
          ">received 2>&1 & receiver=$!\n"
          "listens; sleep 0.2\n"
          "$astro run transmit stations=3 bandwidth=1e5 duration=4 port=$port >sent 2>&1 & "
          "sender=$!\n"
          "page=$(sed -n 's|^open http://127.0.0.1:\\([0-9]*\\)/$|\\1|p' received)\n"
          "[ -n \"$page\" ] || exit 5\n"
          "for i in $(seq 100); do\n"
          "  exec 3<>/dev/tcp/127.0.0.1/$page\n"
          "  printf 'GET /picture HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nConnection: "
          "close\\r\\n\\r\\n' $page >&3\n"
          "  cat <&3 >answer; exec 3>&-\n"
          "  ! head -n 1 answer | grep -q ' 200 ' || break\n"
          "  sleep 0.1\n"
          "done\n"
          "kill -0 $sender || exit 6\n"
          "wait $sender; sleep 0.3; kill -INT $receiver; wait $receiver"))
    return;
  g_assert_true(g_file_get_contents(path, &answer, &length, NULL));
  g_assert_true(g_str_has_prefix(answer, "HTTP/1.1 200 OK"));
  g_assert_nonnull(strstr(answer, "image/jpeg"));
  g_assert_cmpuint(length, >, 1000);
  g_assert_cmpuint(count("received", "packets"), ==, count("sent", "packets"));
  g_assert_cmpint(file_size("live.uvfits"), >, 0);
}

static void add_tests(void)
{
  g_test_add_func("/packets/receive", test_receive);
  g_test_add_func("/packets/record", test_record);
  g_test_add_func("/packets/clock", test_clock);
  g_test_add_func("/packets/live", test_live);
  g_test_add_func("/packets/killed", test_killed);
  g_test_add_func("/packets/interface", test_interface);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
