/* UDP sockets that receive many datagrams at once. */
#include "config.h"
#include "core/packets/udp.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include "core/packets/packets.h"

#ifndef UDP_GRO
#define UDP_GRO 104
#endif

/* Most messages in a call. The kernel may bundle datagrams of one sender, as many as fit in a
 * message. */
#define MESSAGES 64
#define MESSAGE_BYTES 65536
#define CONTROL_BYTES 96
/* The buffer size to ask for unless the user sets one. */
#define BUFFER ((gsize)64 << 20)

struct _AstroUdp {
  GSocket *socket;
  gint fd, wake;
  gsize buffer;
  guint64 drops; /* atomic access is enough: only one thread writes */
  guint32 last_drops;
  guint8 *bytes;
  struct mmsghdr messages[MESSAGES];
  struct iovec places[MESSAGES];
  struct sockaddr_storage names[MESSAGES];
  guint8 controls[MESSAGES][CONTROL_BYTES] __attribute__((aligned(16)));
  AstroUdpDatagram datagrams[ASTRO_UDP_MOST];
};

/* Privileged processes may exceed the system's limit; others get at most the limit. */
static void set_buffer(AstroUdp *udp, gsize wished)
{
  const int bytes = (int)MIN(wished ? wished : BUFFER, G_MAXINT / 2);
  int got = 0;
  socklen_t size = sizeof got;
  if (setsockopt(udp->fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
    setsockopt(udp->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  getsockopt(udp->fd, SOL_SOCKET, SO_RCVBUF, &got, &size);
  udp->buffer = (gsize)got / 2; /* the kernel includes its own overhead */
}

static gboolean listen_at(AstroUdp *udp, const AstroUdpWish *wish, GError **error)
{
  g_autoptr(GError) cause = NULL;
  g_autoptr(GSocketAddress) address = g_inet_socket_address_new(wish->address, (guint16)wish->port);
  const gboolean is_group = g_inet_address_get_is_multicast(wish->address);
  /* GLib would use another interface. */
  if (wish->interface && if_nametoindex(wish->interface) == 0)
    return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                      "there is no interface %s, given as multicast-iface", wish->interface);
  udp->socket = g_socket_new(g_inet_address_get_family(wish->address), G_SOCKET_TYPE_DATAGRAM,
                             G_SOCKET_PROTOCOL_UDP, &cause);
  if (udp->socket && g_socket_bind(udp->socket, address, is_group, &cause) &&
      (!is_group ||
       g_socket_join_multicast_group(udp->socket, wish->address, FALSE, wish->interface, &cause)))
    return TRUE;
  g_autofree char *text = g_inet_address_to_string(wish->address);
  return astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT,
                    "cannot listen at %s, port %u%s%s: %s", text, wish->port,
                    wish->interface ? ", of interface " : "",
                    wish->interface ? wish->interface : "", cause->message);
}

static void set_messages(AstroUdp *udp)
{
  udp->bytes = g_malloc((gsize)MESSAGES * MESSAGE_BYTES);
  for (guint i = 0; i < MESSAGES; i++) {
    udp->places[i] = (struct iovec){ udp->bytes + (gsize)i * MESSAGE_BYTES, MESSAGE_BYTES };
    udp->messages[i].msg_hdr = (struct msghdr){ .msg_iov = &udp->places[i], .msg_iovlen = 1 };
  }
}

AstroUdp *astro_udp_new(const AstroUdpWish *wish, GError **error)
{
  g_autoptr(AstroUdp) udp = g_new0(AstroUdp, 1);
  const int on = 1;
  udp->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (!listen_at(udp, wish, error))
    return NULL;
  udp->fd = g_socket_get_fd(udp->socket);
  set_buffer(udp, wish->buffer);
  /* Kernels without these options do not report drops, and deliver datagrams one at a time. */
  setsockopt(udp->fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  setsockopt(udp->fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
  set_messages(udp);
  return g_steal_pointer(&udp);
}

void astro_udp_free(AstroUdp *udp)
{
  g_clear_object(&udp->socket);
  if (udp->wake >= 0)
    close(udp->wake);
  g_free(udp->bytes);
  g_free(udp);
}

gsize astro_udp_buffer(const AstroUdp *udp)
{
  return udp->buffer;
}

void astro_udp_tell_arrival(AstroUdp *udp, gboolean is_told)
{
  const int value = is_told;
  setsockopt(udp->fd, SOL_SOCKET, SO_TIMESTAMPNS, &value, sizeof value);
}

void astro_udp_wake(AstroUdp *udp)
{
  const guint64 one = 1;
  if (write(udp->wake, &one, sizeof one) < 0)
    g_warn_if_fail(errno == EAGAIN); /* it has been woken already */
}

guint64 astro_udp_drops(const AstroUdp *udp)
{
  return __atomic_load_n(&udp->drops, __ATOMIC_RELAXED);
}

/* ---- datagrams ---- */

/* A hash of an address and port; never 0, which means no sender. */
static guint64 hash_of(const void *name, gsize bytes)
{
  guint64 hash = 0xcbf29ce484222325u;
  for (gsize i = 0; i < bytes; i++)
    hash = (hash ^ ((const guint8 *)name)[i]) * 0x100000001b3u;
  return hash | 1;
}

/* The kernel's count has 32 bits and wraps. */
static void note_drops(AstroUdp *udp, guint32 drops)
{
  const guint64 all = udp->drops + (guint32)(drops - udp->last_drops);
  udp->last_drops = drops;
  __atomic_store_n(&udp->drops, all, __ATOMIC_RELAXED);
}

static gint64 read_time(const struct cmsghdr *control)
{
  struct timespec time;
  memcpy(&time, CMSG_DATA(control), sizeof time);
  return time.tv_sec * (gint64)1000000000 + time.tv_nsec;
}

/* Notes drops, and returns the size of each datagram in a bundle, and when it arrived. */
static gsize read_controls(AstroUdp *udp, struct msghdr *header, gsize size, gint64 *arrived)
{
  gsize each = size;
  *arrived = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
    guint32 value;
    memcpy(&value, CMSG_DATA(c), sizeof value);
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL)
      note_drops(udp, value);
    else if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO && value > 0)
      each = MIN(value, size);
    else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS)
      *arrived = read_time(c);
  }
  return each;
}

static gint cut(AstroUdp *udp, guint messages)
{
  gint n = 0;
  for (guint i = 0; i < messages; i++) {
    struct msghdr *header = &udp->messages[i].msg_hdr;
    const guint8 *bytes = udp->places[i].iov_base;
    const guint64 sender = hash_of(&udp->names[i], header->msg_namelen);
    gsize left = udp->messages[i].msg_len;
    gint64 arrived;
    const gsize each = read_controls(udp, header, left, &arrived);
    while (left > 0 && n < ASTRO_UDP_MOST) {
      const gsize size = MIN(each, left);
      udp->datagrams[n++] = (AstroUdpDatagram){ bytes, size, sender, arrived };
      bytes += size;
      left -= size;
    }
  }
  return n;
}

static gint try_receive(AstroUdp *udp)
{
  for (guint i = 0; i < MESSAGES; i++) {
    struct msghdr *header = &udp->messages[i].msg_hdr;
    header->msg_name = &udp->names[i];
    header->msg_namelen = sizeof udp->names[i];
    header->msg_control = udp->controls[i];
    header->msg_controllen = CONTROL_BYTES;
    memset(&udp->names[i], 0, sizeof udp->names[i]);
  }
  return recvmmsg(udp->fd, udp->messages, MESSAGES, MSG_DONTWAIT, NULL);
}

static gboolean is_passing(int code)
{
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR || code == ECONNREFUSED ||
         code == ENOBUFS || code == ENETDOWN;
}

gint astro_udp_receive(AstroUdp *udp, gint wait_ms, const AstroUdpDatagram **datagrams,
                       GError **error)
{
  *datagrams = udp->datagrams;
  gint messages = try_receive(udp);
  if (messages < 0 && is_passing(errno)) {
    struct pollfd polled[] = { { udp->fd, POLLIN, 0 }, { udp->wake, POLLIN, 0 } };
    guint64 woken;
    if (poll(polled, G_N_ELEMENTS(polled), wait_ms) <= 0)
      return 0;
    if (polled[1].revents && read(udp->wake, &woken, sizeof woken) == sizeof woken)
      return 0;
    messages = try_receive(udp);
    if (messages < 0 && is_passing(errno))
      return 0;
  }
  if (messages >= 0)
    return cut(udp, (guint)messages);
  astro_fail(error, ASTRO_PACKET_ERROR, ASTRO_PACKET_ERROR_FORMAT, "cannot receive packets: %s",
             g_strerror(errno));
  return -1;
}
