/* Receiving packets over loopback into blocks, beside a bare loop of recvmmsg that looks at none of
 * them, and SPEAD heaps beside spead2's receiver into chunks, if Python finds it (packet-peers,
 * which make check-packets makes, or PYTHON): packets that a core's time is enough for in a second,
 * in one run. The sender, on another core, goes no faster than they are taken. */
#include "config.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/memory/pool.h"
#include "core/packets/receiver.h"
#include "core/packets/spead.h"
#include "core/packets/udp.h"
#include "tests/bench/bench.h"

#define PLAIN_HEADER 16
#define SPEAD_ITEMS 7
#define SPEAD_HEADER (ASTRO_SPEAD_HEADER + SPEAD_ITEMS * ASTRO_SPEAD_POINTER)
#define PACKETS 60000u
#define IN_FLIGHT ((guint64)2 << 20) /* bytes */
#define MOST_QUIET 2000              /* waits in which nothing came */
#define BUNDLE ((gsize)57344)        /* bytes that the kernel cuts into packets */
#define DESCRIPTION "bench-packets.txt"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

typedef struct {
  const char *what;
  const char *order; /* and extents, of the packet's samples */
  const char *layout;
  guint payload, stations, channels;
  double wanted; /* of the bare loop's packets */
  gboolean is_spead;
} Case;

static const Case cases[] = {
  { "8192 bytes, in place", "order time:pol\nsteps 2048\npols 2\n", "station:time:pol", 8192, 4, 0,
    0.9 },
  { "1408 bytes, in place", "order time:pol\nsteps 352\npols 2\n", "station:time:pol", 1408, 4, 0,
    0.8 },
  { "8192 bytes, to channel:time:station:pol",
    "order channel:time:pol\nchannels 128\nsteps 16\npols 2\n", "channel:time:station:pol", 8192,
    16, 128, 0 },
  { "8192 bytes, SPEAD heaps in place", "order time:pol\nsteps 2048\npols 2\n", "station:time:pol",
    8192, 4, 0, 0, TRUE },
  { "1408 bytes, SPEAD heaps in place", "order time:pol\nsteps 352\npols 2\n", "station:time:pol",
    1408, 4, 0, 0, TRUE },
};

static gsize header_of(const Case *what)
{
  return what->is_spead ? SPEAD_HEADER : PLAIN_HEADER;
}

typedef struct {
  const Case *what;
  guint port;
  guint64 *taken; /* bytes, atomic; shared with other processes */
} Link;

static void write_big(guint8 *at, guint bytes, guint64 value)
{
  for (guint i = bytes; i-- > 0; value >>= 8)
    at[i] = (guint8)value;
}

static void write_header(const Case *what, guint packet, guint8 *at)
{
  const guint64 step = packet / what->stations, station = packet % what->stations;
  if (!what->is_spead) {
    write_big(at, 6, step);
    write_big(at + 6, 2, station);
    return;
  }
  AstroSpeadItemWriter writer = astro_spead_begin(at, 48);
  astro_spead_put_heap(&writer, packet + 1, what->payload, 0, what->payload);
  astro_spead_put(&writer, TRUE, 0x1600, step);
  astro_spead_put(&writer, TRUE, 0x3101, station);
  astro_spead_put(&writer, FALSE, 0x3300, 0);
  astro_spead_end(&writer);
}

/* Waits until few bytes are on their way, or until nothing comes any more since some got lost.
 * Returns how many bytes count as sent. */
static guint64 wait_for(const Link *link, guint64 sent)
{
  guint64 before = 0, taken;
  for (guint quiet = 0; sent > (taken = __atomic_load_n(link->taken, __ATOMIC_RELAXED)) + IN_FLIGHT;
       quiet++) {
    if (taken != before)
      quiet = 0;
    else if (quiet == MOST_QUIET)
      return taken;
    before = taken;
    g_usleep(20);
  }
  return sent;
}

static gpointer send_all(gpointer data)
{
  Link *link = data;
  const gsize size = header_of(link->what) + link->what->payload;
  const guint n = (guint)(BUNDLE / size);
  const int segment = (int)size, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in to = { .sin_family = AF_INET,
                                  .sin_port = htons((guint16)link->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  g_autofree guint8 *bytes = g_malloc0(n * size);
  guint64 sent = 0;
  if (connect(fd, (const struct sockaddr *)&to, sizeof to) != 0 ||
      setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment) != 0)
    g_error("the sender cannot be made");
  for (guint i = 0; i < PACKETS;) {
    guint k = 0;
    for (; k < n && i < PACKETS; k++, i++)
      write_header(link->what, i, bytes + k * size);
    sent = wait_for(link, sent);
    if (send(fd, bytes, k * size, 0) > 0)
      sent += k * size;
  }
  close(fd);
  return NULL;
}

/* ---- the receiver ---- */

static GstBufferPool *pool;

static gboolean describe(gpointer user, GstCaps *caps, GError **error)
{
  (void)user;
  (void)caps;
  (void)error;
  return TRUE;
}

static GstBuffer *allocate(gpointer user, gsize bytes)
{
  GstBuffer *buffer = NULL;
  (void)user;
  if (!pool)
    pool = astro_buffer_pool_new_active(NULL, NULL, bytes, 1, 0);
  gst_buffer_pool_acquire_buffer(pool, &buffer, NULL);
  return buffer;
}

static void begin(gpointer user, const AstroObservation *observation, gboolean is_by_arrival)
{
  (void)user;
  (void)observation;
}

static void take_block(gpointer user, GstBuffer *block)
{
  (void)user;
  gst_buffer_unref(block);
}

static void warn(gpointer user, const char *text)
{
  (void)user;
  g_printerr("%s\n", text);
}

static AstroReceiver *new_receiver(const Case *what)
{
  static const AstroReceiverFunctions functions = { describe, allocate, begin, take_block, warn };
  g_autofree char *text = g_strdup_printf(
      "%s\n%sbits 8 complex\ncounts packets\n",
      what->is_spead ? "spead 48\nsequence item 0x1600\nstation item 0x3101\nsamples item 0x3300"
                     : "sequence big 0 6\nstation big 6 2\npayload " G_STRINGIFY(PLAIN_HEADER),
      what->order);
  g_autofree char *stations = g_strdup_printf("0-%u", what->stations - 1);
  g_autoptr(GError) error = NULL;
  g_file_set_contents(DESCRIPTION, text, -1, NULL);
  const AstroPacketSettings settings = { .packet = (char *)"@" DESCRIPTION,
                                         .stations = stations,
                                         .layout = (char *)what->layout,
                                         .rate = (char *)"1000000",
                                         .block_ms = what->channels ? 1 : 4,
                                         .latency_ms = 1 };
  AstroReceiver *receiver = astro_receiver_new(&settings, &functions, NULL, &error);
  if (!receiver)
    g_error("%s", error->message);
  unlink(DESCRIPTION);
  return receiver;
}

static double cpu_seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Packets a second of this thread's own time. receiver: NULL of the bare loop. */
static double receive(Link *link, AstroUdp *udp, AstroReceiver *receiver)
{
  g_autoptr(GError) error = NULL;
  const AstroUdpDatagram *came;
  guint64 packets = 0;
  guint quiet = 0;
  __atomic_store_n(link->taken, 0, __ATOMIC_RELAXED);
  GThread *sender = g_thread_new("sender", send_all, link);
  const double before = cpu_seconds();
  while (packets < PACKETS && quiet < 20) {
    const gint n = astro_udp_receive(udp, 50, &came, &error);
    guint64 bytes = 0;
    for (gint i = 0; i < n; i++) {
      bytes += came[i].size;
      if (receiver && !astro_receiver_take(receiver, came[i].bytes, came[i].size, 0, &error))
        g_error("%s", error->message);
    }
    packets += (guint64)n;
    quiet = n > 0 ? 0 : quiet + 1;
    __atomic_fetch_add(link->taken, bytes, __ATOMIC_RELAXED);
  }
  const double seconds = cpu_seconds() - before;
  g_thread_join(sender);
  if (packets < PACKETS)
    g_printerr("%" G_GUINT64_FORMAT " packets of %u came\n", packets, PACKETS);
  return (double)packets / seconds;
}

static int compare(const void *a, const void *b)
{
  return bench_compare(a, b);
}

#define ROUNDS 5
#define MESSAGES 64

/* As programs receive that do not know of bundles. */
static double receive_plainly(Link *link)
{
  const struct timeval wait = { 1, 0 };
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), room = 64 << 20;
  const struct sockaddr_in at = { .sin_family = AF_INET,
                                  .sin_port = htons((guint16)link->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
  g_autofree guint8 *bytes = g_malloc(MESSAGES * (gsize)9000);
  struct mmsghdr messages[MESSAGES] = { 0 };
  struct iovec places[MESSAGES];
  guint packets = 0;
  for (guint i = 0; i < MESSAGES; i++) {
    places[i] = (struct iovec){ bytes + i * (gsize)9000, 9000 };
    messages[i].msg_hdr = (struct msghdr){ .msg_iov = &places[i], .msg_iovlen = 1 };
  }
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  if (bind(fd, (const struct sockaddr *)&at, sizeof at) != 0)
    g_error("the port %u is taken", link->port);
  __atomic_store_n(link->taken, 0, __ATOMIC_RELAXED);
  GThread *sender = g_thread_new("sender", send_all, link);
  const double before = cpu_seconds();
  while (packets < PACKETS) {
    const int n = recvmmsg(fd, messages, MESSAGES, MSG_WAITFORONE, NULL);
    if (n <= 0)
      break;
    packets += (guint)n;
    __atomic_fetch_add(link->taken, (guint64)n * (header_of(link->what) + link->what->payload),
                       __ATOMIC_RELAXED);
  }
  const double seconds = cpu_seconds() - before;
  g_thread_join(sender);
  close(fd);
  return packets / seconds;
}

static double middle(double *values)
{
  qsort(values, ROUNDS, sizeof *values, compare);
  return values[ROUNDS / 2] * 1e-3;
}

/* ---- spead2 ---- */

#define TAKEN "bench-packets.taken"

/* A Python that may have spead2; NULL: there is none. */
static const char *find_python(void)
{
  static const char made[] = "packet-peers/bin/python";
  const char *given = g_getenv("PYTHON");
  return given ? given : access(made, X_OK) == 0 ? made : "python3";
}

/* As receive, in a process of spead2. 0: Python does not find it. */
static double receive_by_spead2(Link *link)
{
  const Case *what = link->what;
  guint64 *const ours = link->taken;
  g_autofree char *script = g_build_filename(g_getenv("srcdir") ? g_getenv("srcdir") : ".", "tests",
                                             "bench", "peers-spead2", NULL);
  g_autofree char *line = g_strdup_printf("%s %s %u %u %u %u " TAKEN, find_python(), script,
                                          link->port, PACKETS, what->payload, what->stations);
  char text[100];
  double packets = 0, seconds = 1;
  const guint64 nothing = 0;
  g_file_set_contents(TAKEN, (const char *)&nothing, sizeof nothing, NULL);
  FILE *taken = fopen(TAKEN, "r+");
  link->taken =
      mmap(NULL, sizeof nothing, PROT_READ | PROT_WRITE, MAP_SHARED, taken ? fileno(taken) : -1, 0);
  FILE *told = popen(line, "r");
  const gboolean is_ready =
      link->taken != MAP_FAILED && told && fgets(text, sizeof text, told) && *text == 'r';
  if (is_ready) {
    GThread *sender = g_thread_new("sender", send_all, link);
    if (!fgets(text, sizeof text, told) || sscanf(text, "%lf %lf", &packets, &seconds) != 2)
      g_error("spead2 took nothing");
    g_thread_join(sender);
  }
  if (told)
    pclose(told);
  munmap(link->taken, sizeof nothing);
  fclose(taken);
  unlink(TAKEN);
  link->taken = ours;
  return packets / seconds;
}

static void measure(const Case *what)
{
  g_autoptr(GInetAddress) loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
  g_autoptr(GError) error = NULL;
  guint64 taken = 0;
  Link link = { what, 20000 + (guint)g_random_int_range(0, 20000), &taken };
  const AstroUdpWish wish = { loopback, link.port + 1, NULL, 0 };
  g_autoptr(AstroUdp) udp = astro_udp_new(&wish, &error);
  double plain[ROUNDS], bare[ROUNDS], ours[ROUNDS], theirs[ROUNDS] = { 0 };
  if (!udp)
    g_error("%s", error->message);
  for (guint i = 0; i < ROUNDS; i++) {
    plain[i] = receive_plainly(&link);
    link.port++;
    bare[i] = receive(&link, udp, NULL);
    g_autoptr(AstroReceiver) receiver = new_receiver(what);
    ours[i] = receive(&link, udp, receiver);
    link.port--;
    theirs[i] = what->is_spead ? receive_by_spead2(&link) : 0;
    astro_receiver_finish(receiver);
    const AstroReceiverTotals totals = astro_receiver_totals(receiver);
    if (totals.sum.packets + totals.sum.late < PACKETS)
      g_printerr("%" G_GUINT64_FORMAT " packets placed\n", totals.sum.packets);
  }
  astro_buffer_pool_clear(&pool);
  const double all = middle(ours), alone = middle(bare);
  g_autofree char *beside = g_strdup_printf("%s, beside our socket alone", what->what);
  bench_row(what->what, all, middle(plain), "k/s", what->wanted);
  bench_row(beside, all, alone, "k/s", 0);
  const double chunks = middle(theirs);
  g_autofree char *spead2 = g_strdup_printf("%s, beside spead2's chunks", what->what);
  if (chunks > 0)
    bench_row(spead2, all, chunks, "k/s", 1.5);
  else if (what->is_spead)
    printf("%s: skipped: %s does not find it\n", spead2, find_python());
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  printf("packets for which a second of a core is enough, beside a bare loop of recvmmsg\n");
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    measure(&cases[i]);
  return 0;
}
