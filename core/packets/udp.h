/* A UDP socket that receives many datagrams at once. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  GInetAddress *address; /* to listen on; multicast groups are joined */
  guint port;
  const char *interface; /* for the multicast group; NULL: the system chooses */
  gsize buffer; /* size of the kernel's buffer in bytes; 0: as large as it allows, up to 64 MiB */
} AstroUdpWish;

typedef struct {
  const guint8 *bytes;
  gsize size;
  guint64 sender; /* differs for each address and port; never 0 */
  gint64 arrived; /* by the kernel's clock, CLOCK_REALTIME in ns; 0: not asked for */
} AstroUdpDatagram;

/* Most datagrams in a call. */
#define ASTRO_UDP_MOST 4096

typedef struct _AstroUdp AstroUdp;

AstroUdp *astro_udp_new(const AstroUdpWish *wish, GError **error);
void astro_udp_free(AstroUdp *udp);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroUdp, astro_udp_free)

/* Size of the kernel's buffer for the socket, in bytes. */
gsize astro_udp_buffer(const AstroUdp *udp);

/* Whether the kernel tells when datagrams arrived. To be asked for from the start, since those that
 * it already keeps have no time. */
void astro_udp_tell_arrival(AstroUdp *udp, gboolean is_told);

/* Waits up to so many ms for packets and returns how many came. 0: none, or astro_udp_wake was
 * called. They are valid until the next call. -1 and the error: the socket is broken. */
gint astro_udp_receive(AstroUdp *udp, gint wait_ms, const AstroUdpDatagram **datagrams,
                       GError **error);
/* Ends the current wait, or the next one; from any thread. */
void astro_udp_wake(AstroUdp *udp);
/* Datagrams that the kernel dropped for lack of room, as far as it has reported; from any
 * thread. */
guint64 astro_udp_drops(const AstroUdp *udp);

G_END_DECLS
