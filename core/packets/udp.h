/* A UDP socket that gives many datagrams at once. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct {
  GInetAddress *address; /* to listen at; a multicast group is joined */
  guint port;
  const char *interface; /* of the group; NULL: as the system chooses */
  gsize buffer;          /* bytes of the kernel's; 0: as many as it gives */
} AstroUdpWish;

typedef struct {
  const guint8 *bytes;
  gsize size;
  guint64 sender; /* another one for each address and port; not 0 */
} AstroUdpDatagram;

/* Datagrams of a call, at most. */
#define ASTRO_UDP_MOST 4096

typedef struct _AstroUdp AstroUdp;

AstroUdp *astro_udp_new(const AstroUdpWish *wish, GError **error);
void astro_udp_free(AstroUdp *udp);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroUdp, astro_udp_free)

/* Bytes that the kernel keeps for it. */
gsize astro_udp_buffer(const AstroUdp *udp);

/* Waits up to so many ms for packets and returns how many came; 0: none, or somebody woke it. They
 * last until the next call. -1 and the error: the socket is broken. */
gint astro_udp_receive(AstroUdp *udp, gint wait_ms, const AstroUdpDatagram **datagrams,
                       GError **error);
/* Ends a wait, now or the next one: any thread. */
void astro_udp_wake(AstroUdp *udp);
/* Datagrams that the kernel had no room for, as far as it has said: any thread. */
guint64 astro_udp_drops(const AstroUdp *udp);

G_END_DECLS
